# SPDX-License-Identifier: Apache-2.0
"""FSDP2 over NCCL in a world of one."""
import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

dist.init_process_group("nccl")
model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(4)]).cuda()
for layer in model:
    fully_shard(layer)
fully_shard(model)
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    model(torch.randn(32, 256, device="cuda")).sum().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad()
dist.destroy_process_group()
print("script: sharded")
