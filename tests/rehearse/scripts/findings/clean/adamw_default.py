# SPDX-License-Identifier: Apache-2.0
# An MLP with AdamW as it is by default: a step's temporaries are its peak, and that is all there is to say.
# true: optimizer_peak
import torch
from torch import nn
from torch.nn import functional as F

with torch.device("cuda"):
    model = nn.Sequential(nn.Linear(1024, 8192), nn.ReLU(), nn.Linear(8192, 8192), nn.ReLU(), nn.Linear(8192, 100))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(1000):
    x = torch.randn(512, 1024, device="cuda")
    y = torch.randint(100, (512,), device="cuda")
    optimizer.zero_grad()
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
