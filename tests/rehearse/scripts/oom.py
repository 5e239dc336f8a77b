# SPDX-License-Identifier: Apache-2.0
"""Halves its batch on an OutOfMemoryError, as accelerate's find_executable_batch_size does; --once does not."""
import sys

import torch

model = torch.nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
batch = 1 << 20  # 4 GiB of inputs
while True:
    try:
        for _ in range(3):
            model(torch.randn(batch, 1024, device="cuda")).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        break
    except torch.OutOfMemoryError:
        if "--once" in sys.argv:
            raise
        torch.cuda.empty_cache()
        batch //= 2
print("script: batch", batch)
