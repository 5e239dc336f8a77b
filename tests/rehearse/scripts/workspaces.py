# SPDX-License-Identifier: Apache-2.0
"""Scratch memory of convolutions and recurrent nets, as the script itself can see it."""
import json
import sys

import torch
from torch import nn


def extra_of(call):
    """Bytes allocated at the worst moment of a call, and left behind by it."""
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    kept = call()
    return torch.cuda.max_memory_allocated() - before, torch.cuda.memory_allocated() - before, kept


def convolution(layout, dtype):
    net = nn.Conv2d(64, 128, 3, padding=1, bias=False).cuda().to(dtype).to(memory_format=layout)
    images = torch.randn(32, 64, 56, 56, device="cuda", dtype=dtype).to(memory_format=layout)
    peak, left, _ = extra_of(lambda: net(images))
    return peak - left


def without_room():
    """When what a plan wants does not fit, PyTorch takes one that wants less."""
    net = nn.Conv2d(64, 128, 3, padding=1, bias=False).cuda()
    images = torch.randn(32, 64, 56, 56, device="cuda")
    net(images)
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info()
    filler = torch.empty(free - (54 << 20), dtype=torch.uint8, device="cuda")  # the output takes 49 MiB
    return tuple(net(images).shape), filler.numel()


def recurrent(kind):
    net = kind(123, 320, 4).cuda()
    inputs = torch.randn(100, 25, 123, device="cuda")
    _, kept, _held = extra_of(lambda: net(inputs))
    with torch.no_grad():
        _, not_kept, _held = extra_of(lambda: net(inputs))
    return kept - not_kept


result = {
    "contiguous": convolution(torch.contiguous_format, torch.bfloat16),
    "channels_last": convolution(torch.channels_last, torch.bfloat16),
    "lstm": recurrent(nn.LSTM), "gru": recurrent(nn.GRU),
}
result["shape"], _ = without_room()
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump(result, file)
