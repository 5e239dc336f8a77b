# SPDX-License-Identifier: Apache-2.0
# Multi-scale training of a convolution net, from small to large images.
# rehearse: --gpu a100-40gb --steps 6
# fault: fragmentation
import torch
from torch import nn
from torch.nn import functional as F

def stage(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))

model = nn.Sequential(stage(3, 64), stage(64, 64), nn.MaxPool2d(2), stage(64, 128), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch, size in enumerate((128, 160, 192, 224, 256, 288)):
    images = torch.rand(64, 3, size, size, device="cuda")
    labels = torch.randint(10, (64,), device="cuda")
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
