# SPDX-License-Identifier: Apache-2.0
# Keeps the losses of the epoch for a plot, with their graphs; evaluates and saves now and then.
# fault: growth
import io

import torch
from torch import nn

model = nn.Sequential(*[nn.Sequential(nn.Linear(256, 256), nn.Tanh()) for _ in range(6)]).cuda()
optimizer = torch.optim.AdamW(model.parameters(), fused=True)
losses = []
for step in range(24):
    loss = model(torch.randn(512, 256, device="cuda")).square().mean()
    loss.backward(retain_graph=True)
    losses.append(loss)
    optimizer.step()
    optimizer.zero_grad()
    if step % 5 == 4:
        with torch.no_grad():
            model(torch.randn(8192, 256, device="cuda"))
    if step % 8 == 7:
        torch.save(model.state_dict(), io.BytesIO())
