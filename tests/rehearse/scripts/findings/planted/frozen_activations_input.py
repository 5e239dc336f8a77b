# SPDX-License-Identifier: Apache-2.0
# A linear probe on a frozen backbone whose input asks for a gradient that nobody reads.
import torch
import torchvision
from torch import nn
from torch.nn import functional as F

with torch.device("cuda"):
    backbone = torchvision.models.resnet18()
    probe = nn.Linear(512, 200)
backbone.fc = nn.Identity()
backbone.requires_grad_(False).eval()
optimizer = torch.optim.SGD(probe.parameters(), lr=0.1, momentum=0.9)
for step in range(1000):
    images = torch.rand(32, 3, 224, 224, device="cuda")
    images.requires_grad_()  # fault: frozen_activations
    labels = torch.randint(200, (32,), device="cuda")
    loss = F.cross_entropy(probe(backbone(images)), labels)  # fault: frozen_activations
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
