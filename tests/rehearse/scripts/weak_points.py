# SPDX-License-Identifier: Apache-2.0
"""Memory that depends on what the device says of itself, printed as JSON."""
import json

import torch


def peak_of(action):
    """Bytes that an action needs beyond what it leaves."""
    torch.cuda.reset_peak_memory_stats()
    kept = action()
    extra = torch.cuda.max_memory_allocated() - torch.cuda.memory_allocated()
    del kept
    return extra


data = torch.empty(1 << 26, device="cuda")
scratch = peak_of(lambda: data.sum())

before = torch.cuda.memory_allocated()
a = torch.randn(256, 256, device="cuda", requires_grad=True)
out = a @ a
forward = torch.cuda.memory_allocated() - before - 2 * 256 * 256 * 4
out.sum().backward()
both = torch.cuda.memory_allocated() - before - 3 * 256 * 256 * 4

embedding = torch.nn.Embedding(1000, 64).cuda()
embedding(torch.zeros(8192, dtype=torch.long, device="cuda")).sum().backward()

print("JSON" + json.dumps({"scratch": scratch, "forward": forward, "both": both}))
