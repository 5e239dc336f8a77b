# SPDX-License-Identifier: Apache-2.0
# Compares every query with every document by repeating both, where a view would do.
import torch
from torch import nn
from torch.nn import functional as F


class Matcher(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.query = nn.Linear(width, width)
        self.document = nn.Linear(width, width)
        self.gate = nn.Parameter(torch.ones(width))

    def forward(self, queries, documents):
        count = len(documents)
        q = self.query(queries).unsqueeze(1).repeat(1, count, 1)  # fault: avoidable_copies
        d = (self.document(documents) * self.gate).unsqueeze(0)
        return (q * d).sum(dim=-1)


model = Matcher().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
target = torch.arange(1536, device="cuda")
for step in range(1000):
    queries, documents = torch.randn(2, 1536, 128, device="cuda")
    loss = F.cross_entropy(model(queries, documents), target)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
