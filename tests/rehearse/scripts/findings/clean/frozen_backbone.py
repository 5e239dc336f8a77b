# SPDX-License-Identifier: Apache-2.0
# Trains a head on a frozen ResNet that runs in eval mode under no_grad.
import torch
import torchvision
from torch import nn
from torch.nn import functional as F

with torch.device("cuda"):
    backbone = torchvision.models.resnet18()
backbone.fc = nn.Identity()
backbone.requires_grad_(False).eval()
head = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 37)).cuda()
optimizer = torch.optim.SGD(head.parameters(), lr=0.05, momentum=0.9)
for step in range(1000):
    images = torch.rand(64, 3, 160, 160, device="cuda")
    labels = torch.randint(37, (64,), device="cuda")
    with torch.no_grad():
        features = backbone(images)
    loss = F.cross_entropy(head(features), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
