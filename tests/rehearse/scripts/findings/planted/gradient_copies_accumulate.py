# SPDX-License-Identifier: Apache-2.0
# Accumulates gradients by hand in buffers beside those of PyTorch.
# true: gradients_kept
import torch
from torch import nn
from torch.nn import functional as F

with torch.device("cuda"):
    model = nn.Sequential(nn.Linear(1024, 8192), nn.GELU(), nn.Linear(8192, 8192), nn.GELU(), nn.Linear(8192, 1000))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, foreach=False)
sums = [torch.zeros_like(p) for p in model.parameters()]  # fault: gradient_copies
for step in range(1000):
    for micro_batch in range(4):
        x = torch.randn(2048, 1024, device="cuda")
        y = torch.randint(1000, (2048,), device="cuda")
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        for total, p in zip(sums, model.parameters()):
            total.add_(p.grad, alpha=0.25)
            p.grad = None
    for total, p in zip(sums, model.parameters()):
        p.grad = total
    optimizer.step()
    for total, p in zip(sums, model.parameters()):
        total.zero_()
        p.grad = None
