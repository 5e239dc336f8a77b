# SPDX-License-Identifier: Apache-2.0
"""Thousands of modules that no other module holds, each called by the loop itself."""
import sys

import torch

COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
modules = [torch.nn.Linear(32, 32).cuda() for _ in range(COUNT)]
optimizer = torch.optim.AdamW([p for m in modules for p in m.parameters()])
for step in range(10):
    x = torch.randn(8, 32, device="cuda")
    for module in modules:
        x = module(x)
    x.square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
