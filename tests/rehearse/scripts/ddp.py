# SPDX-License-Identifier: Apache-2.0
"""DistributedDataParallel over NCCL in a world of one."""
import torch
import torch.distributed as dist

dist.init_process_group("nccl")
torch.cuda.set_device(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1024, 1024).cuda())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    model(torch.randn(64, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
value = torch.ones(1, device="cuda")
dist.all_reduce(value)
gathered = [None]
dist.all_gather_object(gathered, {"rank": dist.get_rank()})
print("script:", value.item(), gathered)
dist.destroy_process_group()
