# SPDX-License-Identifier: Apache-2.0
# Adds up an auxiliary loss for the log, with its graph, and never calls backward on it.
# true: growth, unused_graph
import torch
from torch import nn
from torch.nn import functional as F

class Routed(nn.Module):
    """A classifier with a router whose balance is only watched."""

    def __init__(self, width, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.router = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, 64))
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        balance = self.router(x).softmax(dim=-1).mean(dim=0).square().sum()  # fault: graph_kept
        return self.head(x + self.body(x)), balance


model = Routed(1024, 1000).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total_balance = 0.0
for step in range(500):
    x = torch.randn(32768, 1024, device="cuda")
    y = torch.randint(1000, (32768,), device="cuda")
    prediction, balance = model(x)  # fault: graph_kept
    loss = F.cross_entropy(prediction, y)
    del prediction
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    total_balance = total_balance + balance  # fault: graph_kept
print(f"mean balance {float(total_balance) / 500:.3f}")
