# SPDX-License-Identifier: Apache-2.0
"""Every second of many tensors is freed, then one is asked for that is larger than each hole: 24 GiB are held, 15 lie idle."""
import torch

held = [torch.empty(384 << 20, dtype=torch.uint8, device="cuda") for _ in range(22)]
pairs = []
for _ in range(30):
    # One segment each: a small request after the large one's free would split it.
    block = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    del block
    pairs.append((torch.empty(512 << 20, dtype=torch.uint8, device="cuda"), torch.empty(512 << 20, dtype=torch.uint8, device="cuda")))
kept = [left for left, right in pairs]
del pairs
wanted = torch.empty(4 << 30, dtype=torch.uint8, device="cuda")
print(len(kept), len(held), wanted.numel())
