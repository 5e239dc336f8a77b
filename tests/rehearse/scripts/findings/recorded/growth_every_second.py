# SPDX-License-Identifier: Apache-2.0
# Keeps every second batch's features on the GPU.
# fault: growth
import torch
from torch import nn

model = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 512)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
kept = []
for step in range(30):
    features = model(torch.randn(1024, 512, device="cuda"))
    features.square().mean().backward()
    if step % 2 == 0:
        kept.append(features.detach())
    optimizer.step()
    optimizer.zero_grad()
