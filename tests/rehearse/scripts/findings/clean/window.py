# SPDX-License-Identifier: Apache-2.0
# Compares a batch with the last two, whose features wait in a queue of fixed length.
# true: full_logits
from collections import deque

import torch
from torch import nn
from torch.nn import functional as F

encoder = nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 4096), nn.GELU(), nn.Linear(4096, 256)).cuda()
optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05, momentum=0.9)
queue = deque([torch.randn(4096, 256, device="cuda")], maxlen=2)
same = torch.arange(4096, device="cuda")


def train_step(x):
    a = F.normalize(encoder(x + 0.1 * torch.randn_like(x)), dim=-1)
    b = F.normalize(encoder(x + 0.1 * torch.randn_like(x)), dim=-1)
    known = torch.cat([b, *queue])
    loss = F.cross_entropy(a @ known.T / 0.1, same)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    queue.append(b.detach())


for step in range(1000):
    train_step(torch.randn(4096, 1024, device="cuda"))
