# SPDX-License-Identifier: Apache-2.0
"""The measuring idioms of tutorials: what they print must not change when the script is recorded."""
import json
import re

import torch

MiB = 1 << 20


def three_marks_a_step(model, optimizer):
    """Peaks between resets, and the whole dictionary of statistics."""
    figures = []
    for rows in (64, 256, 32):
        torch.cuda.reset_peak_memory_stats()
        batch = torch.randn(rows, 1024, device="cuda")
        loss = model(batch).square().mean()
        figures.append([torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()])
        loss.backward()
        figures.append([torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()])
        optimizer.step()
        optimizer.zero_grad()
        figures.append([torch.cuda.max_memory_allocated(), torch.cuda.memory_stats()["requested_bytes.all.peak"]])
    figures.append(dict(torch.cuda.memory_stats()))
    figures.append(torch.cuda.memory_summary())
    if hasattr(torch.accelerator, "max_memory_allocated"):
        figures.append(torch.accelerator.max_memory_allocated())
    return figures


def profiler_table(model, optimizer):
    """torch.profiler's operators, sorted by the memory of the device: the columns of sizes of its table, and the figures."""
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, profile_memory=True) as profiler:
        model(torch.randn(64, 1024, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    table = profiler.key_averages().table(sort_by="self_cuda_memory_usage", row_limit=20, max_name_column_width=80)
    shown = [[line.split()[0], re.findall(r"-?[\d.]+ [KMG]?[bB](?!\w)", line)] for line in table.splitlines() if "aten::" in line]
    rows = [[e.key, e.count, e.self_device_memory_usage] for e in profiler.key_averages() if e.key.startswith("aten::")]
    return [shown, sorted(rows, key=lambda row: (-row[2], row[0]))[:30]]


def inference_beside_training(model, optimizer):
    figures = []
    batch = torch.randn(128, 1024, device="cuda")
    torch.cuda.reset_peak_memory_stats()
    with torch.no_grad():
        model(batch)
    figures.append(torch.cuda.max_memory_allocated())
    torch.cuda.reset_peak_memory_stats()
    model(batch).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    figures.append(torch.cuda.max_memory_allocated())
    return figures


def main():
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[torch.nn.Sequential(torch.nn.Linear(1024, 1024), torch.nn.GELU()) for _ in range(6)]).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for idiom in (three_marks_a_step, profiler_table, inference_beside_training):
        print(json.dumps([idiom.__name__, idiom(model, optimizer)], default=str))


if __name__ == "__main__":
    main()
