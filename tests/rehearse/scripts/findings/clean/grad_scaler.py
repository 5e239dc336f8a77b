# SPDX-License-Identifier: Apache-2.0
# fp16 autocast with a GradScaler, unscaling and clipping in place.
import torch
from torch import nn
from torch.nn import functional as F

def stage(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))

model = nn.Sequential(stage(3, 64), stage(64, 64), nn.MaxPool2d(2), stage(64, 128), stage(128, 128), nn.AdaptiveAvgPool2d(1),
                      nn.Flatten(), nn.Linear(128, 100)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scaler = torch.amp.GradScaler("cuda")
for step in range(1000):
    images = torch.rand(64, 3, 96, 96, device="cuda")
    labels = torch.randint(100, (64,), device="cuda")
    with torch.autocast("cuda", dtype=torch.float16):
        loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    scaler.step(optimizer)
    scaler.update()
