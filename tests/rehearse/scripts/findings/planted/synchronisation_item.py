# SPDX-License-Identifier: Apache-2.0
# Reads loss and accuracy back in every step for a running mean.
# true: gradients_kept
import torch
import torchvision
from torch.nn import functional as F

with torch.device("cuda"):
    model = torchvision.models.resnet18(num_classes=10)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
running = 0.0
for step in range(500):
    images = torch.rand(64, 3, 128, 128, device="cuda")
    labels = torch.randint(10, (64,), device="cuda")
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()
    loss.backward()
    running += loss.item()  # fault: synchronisation
    optimizer.step()
print(running / 500)
