# SPDX-License-Identifier: Apache-2.0
# Rank 0 keeps an average of the weights that nobody else has.
# ranks: 2
# fault: rank_imbalance
import copy
import os

import torch
from torch import nn

model = nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(4)]).cuda()
average = copy.deepcopy(model) if os.environ["RANK"] == "0" else None
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    model(torch.randn(16, 1024, device="cuda")).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
