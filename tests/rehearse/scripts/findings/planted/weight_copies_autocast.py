# SPDX-License-Identifier: Apache-2.0
# The backward pass within autocast: the bf16 copies of all weights stay to its end.
import torch
from torch import nn
from torch.nn import functional as F

with torch.device("cuda"):
    model = nn.Sequential(nn.Linear(1024, 8192), nn.GELU(), nn.Linear(8192, 8192), nn.GELU(), nn.Linear(8192, 1024))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(1000):
    x = torch.randn(2048, 1024, device="cuda")
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.mse_loss(model(x), x)  # fault: weight_copies
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
