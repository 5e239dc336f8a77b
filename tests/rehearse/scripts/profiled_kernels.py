# SPDX-License-Identifier: Apache-2.0
"""torch.profiler with device activities: writes tables and traces for the test to read."""
import argparse
import json

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

parser = argparse.ArgumentParser()
parser.add_argument("out")
parser.add_argument("--schedule", action="store_true")
options = parser.parse_args()

WIDTH = 1024
model = torch.nn.Sequential(torch.nn.Linear(WIDTH, 4 * WIDTH), torch.nn.GELU(), torch.nn.Linear(4 * WIDTH, WIDTH)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]


def step():
    x = torch.randn(256, WIDTH).cuda()
    with record_function("the_forward"):
        loss = model(x).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.empty(1 << 20, device="cuda").zero_()
    return loss.item()


def rows(averages):
    return [{"name": e.key, "count": e.count, "device_us": e.self_device_time_total,
             "device_memory": e.self_device_memory_usage, "shapes": str(e.input_shapes)} for e in averages]


def one_trace():
    step()
    with profile(activities=activities, profile_memory=True, record_shapes=True, with_stack=True,
                 with_flops=True) as profiler:
        step()
    averages = profiler.key_averages(group_by_input_shape=True)
    print(averages.table(sort_by="self_cuda_time_total", row_limit=15))
    print(profiler.key_averages(group_by_stack_n=3).table(sort_by="self_cuda_memory_usage", row_limit=5))
    profiler.export_chrome_trace(options.out + "/trace.json")
    with open(options.out + "/rows.json", "w", encoding="utf-8") as file:
        json.dump(rows(averages), file)


def scheduled():
    names = []

    def ready(profiler):
        names.append(f"{options.out}/cycle{len(names)}.json")
        profiler.export_chrome_trace(names[-1])

    with profile(activities=activities, schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
                 on_trace_ready=ready) as profiler:
        for _ in range(10):
            step()
            profiler.step()
    print("script: cycles", len(names))


scheduled() if options.schedule else one_trace()
