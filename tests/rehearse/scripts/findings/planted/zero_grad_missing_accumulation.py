# SPDX-License-Identifier: Apache-2.0
# Accumulates four micro batches and never begins anew.
# rehearse: --gpu a100-40gb --steps 4
# true: gradients_kept
import torch
from torch import nn

model = nn.Sequential(nn.Linear(2048, 4096), nn.ReLU(), nn.Linear(4096, 64)).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)


def step_of(batches):
    for batch in batches:
        (model(batch).square().mean() / len(batches)).backward()
    optimizer.step()  # fault: zero_grad_missing


for step in range(100):
    step_of([torch.randn(512, 2048, device="cuda") for _ in range(4)])
