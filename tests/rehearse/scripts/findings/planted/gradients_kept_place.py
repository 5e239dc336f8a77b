# SPDX-License-Identifier: Apache-2.0
# zero_grad between forward and backward pass: the old gradients live while activations are made.
import torch
import torchvision
from torch.nn import functional as F

with torch.device("cuda"):
    model = torchvision.models.vgg11(num_classes=100)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, foreach=False)
for step in range(1000):
    images = torch.rand(32, 3, 224, 224, device="cuda")
    labels = torch.randint(100, (32,), device="cuda")
    loss = F.cross_entropy(model(images), labels)
    optimizer.zero_grad()  # fault: gradients_kept
    loss.backward()
    optimizer.step()
