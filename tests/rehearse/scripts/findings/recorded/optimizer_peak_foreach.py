# SPDX-License-Identifier: Apache-2.0
# AdamW by its default, on a model whose activations are small beside its weights.
# fault: optimizer_peak
import torch
from torch import nn

model = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(8)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), foreach=True)
for step in range(8):
    model(torch.randn(16, 1024, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
