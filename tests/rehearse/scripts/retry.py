# SPDX-License-Identifier: Apache-2.0
"""Fits only because the allocator gives a cached segment back."""
import torch

first = torch.empty(2 << 30, dtype=torch.uint8, device="cuda")
del first
second = torch.empty(5 << 29, dtype=torch.uint8, device="cuda")  # 2.5 GiB
