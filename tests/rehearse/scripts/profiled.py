# SPDX-License-Identifier: Apache-2.0
"""torch.profiler around a training step, its table printed."""
import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

model = torch.nn.Linear(512, 512).cuda()
optimizer = torch.optim.AdamW(model.parameters())
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True, record_shapes=True,
             with_stack=True, schedule=schedule(wait=1, warmup=1, active=2)) as profiler:
    for _ in range(4):
        with record_function("forward"):
            loss = model(torch.randn(64, 512, device="cuda")).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        profiler.step()
table = profiler.key_averages(group_by_input_shape=True).table(sort_by="self_cpu_time_total", row_limit=20)
assert "aten::addmm" in table or "aten::linear" in table, table
assert "Self CUDA Mem" in table or "CUDA Mem" in table, table
print("script: profiled")
