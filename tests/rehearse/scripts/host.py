# SPDX-License-Identifier: Apache-2.0
"""Host memory: an array of --array MiB is held; each of --workers workers holds --each MiB; batches are pinned or not."""
import argparse

import numpy
import torch

MiB = 1 << 20
parser = argparse.ArgumentParser()
parser.add_argument("--array", type=int, default=0)
parser.add_argument("--spike", type=int, default=0)
parser.add_argument("--workers", type=int, default=0)
parser.add_argument("--each", type=int, default=0)
parser.add_argument("--pinned", action="store_true")
parser.add_argument("--untouched", type=int, default=0)
parser.add_argument("--non-blocking", action="store_true")
parser.add_argument("--steps", type=int, default=3)
parser.add_argument("--rows", type=int, default=8)
parser.add_argument("--layers", type=int, default=1)
arguments = parser.parse_args()


def held(mib):
    return numpy.ones(mib * MiB, dtype=numpy.uint8)


class Rows(torch.utils.data.Dataset):
    def __init__(self):
        self.held = None

    def __len__(self):
        return arguments.rows * (arguments.steps + 2 * arguments.workers)

    def __getitem__(self, index):
        if self.held is None and torch.utils.data.get_worker_info() is not None:
            self.held = held(arguments.each)
        return torch.full((1 << 16,), float(index))  # 256 KiB


if __name__ == "__main__":
    array = held(arguments.array)
    held(arguments.spike)  # gone at once
    buffer = torch.empty(arguments.untouched * MiB, dtype=torch.uint8, pin_memory=True) if arguments.untouched else None
    model = torch.nn.Sequential(torch.nn.Linear(1 << 16, 64), *(torch.nn.Linear(64, 64) for _ in range(arguments.layers)))
    model.cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = torch.utils.data.DataLoader(Rows(), batch_size=arguments.rows, num_workers=arguments.workers,
                                         pin_memory=arguments.pinned)
    for step, batch in enumerate(loader):
        model(batch.to("cuda", non_blocking=arguments.non_blocking)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        if step + 1 == arguments.steps:
            break
