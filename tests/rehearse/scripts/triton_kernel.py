# SPDX-License-Identifier: Apache-2.0
"""A kernel of Triton's: what the driver says of it, and what a tensor that it wrote to holds."""
import pathlib

import torch
import triton
import triton.language as tl


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


x = torch.ones(100, dtype=torch.int32, device="cuda")
y = torch.zeros(100, dtype=torch.int32, device="cuda")
print("before", int(y[7]))
kernel = double[(1,)](x, y, 100, BLOCK=128)
print("after", (y == 0).any().item(), (y != 0).any().item())
print("registers", kernel.n_regs, "spills", kernel.n_spills)
pathlib.Path("kernel.cubin").write_bytes(kernel.asm["cubin"])
