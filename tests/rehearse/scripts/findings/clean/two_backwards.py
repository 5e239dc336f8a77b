# SPDX-License-Identifier: Apache-2.0
# Two losses on one graph, one after the other: retain_graph=True where it is needed.
import torch
from torch import nn
from torch.nn import functional as F

def stage(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))

trunk = nn.Sequential(stage(3, 64), stage(64, 64), nn.MaxPool2d(2), stage(64, 128)).cuda()
classes = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 50)).cuda()
edges = nn.Conv2d(128, 1, 1).cuda()
parameters = [p for module in (trunk, classes, edges) for p in module.parameters()]
optimizer = torch.optim.SGD(parameters, lr=0.05, momentum=0.9)
for step in range(1000):
    images = torch.rand(32, 3, 128, 128, device="cuda")
    labels = torch.randint(50, (32,), device="cuda")
    outline = torch.rand(32, 1, 64, 64, device="cuda")
    features = trunk(images)
    first = F.cross_entropy(classes(features), labels)
    second = F.mse_loss(edges(features), outline)
    del features
    optimizer.zero_grad()
    first.backward(retain_graph=True)
    second.backward()
    optimizer.step()
