# SPDX-License-Identifier: Apache-2.0
# Averages the weights on the host, every 200 steps.
import torch
from torch import nn
from torch.nn import functional as F

model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 2048), nn.GELU(), nn.Linear(2048, 512))
average = {name: p.detach().clone() for name, p in model.named_parameters()}
model.cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
for step in range(1, 2001):
    x = torch.randn(16384, 512, device="cuda")
    loss = F.mse_loss(model(x), x)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 200 == 0:
        for name, p in model.named_parameters():
            average[name].lerp_(p.detach().cpu(), 0.1)
