# SPDX-License-Identifier: Apache-2.0
# Copies the full prediction maps to the host in every step, for metrics there.
import torch
from torch import nn
from torch.nn import functional as F

def stage(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))

model = nn.Sequential(stage(3, 64), stage(64, 64), nn.Conv2d(64, 21, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
predicted = torch.empty(8, 21, 256, 256, pin_memory=True)
for step in range(1000):
    images = torch.rand(8, 3, 256, 256, device="cuda")
    masks = torch.randint(21, (8, 256, 256), device="cuda")
    scores = model(images)
    loss = F.cross_entropy(scores, masks)
    predicted.copy_(scores.detach(), non_blocking=True)  # fault: transfer
    del scores
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
