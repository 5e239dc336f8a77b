# SPDX-License-Identifier: Apache-2.0
"""Buffers used on a side stream: a block may be used again only when the side stream has passed its event."""
import torch

side = torch.cuda.Stream()
for _ in range(20):
    buffer = torch.empty(256 << 18, device="cuda")  # 256 MiB
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(4):
            buffer.mul_(2)
    buffer.record_stream(side)
    del buffer
print("reserved MiB", torch.cuda.max_memory_reserved() >> 20)
