# SPDX-License-Identifier: Apache-2.0
# A loop without zero_grad().
import torch
from torch import nn

model = nn.Linear(512, 512).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    model(torch.randn(64, 512, device="cuda")).square().mean().backward()
    optimizer.step()  # fault: zero_grad_missing
