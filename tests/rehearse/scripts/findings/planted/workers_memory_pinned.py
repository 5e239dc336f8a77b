# SPDX-License-Identifier: Apache-2.0
# Volumes as float32, made in workers that run far ahead and are pinned, for a machine with 2 GiB.
# rehearse: --gpu a100-40gb --host-memory 2GiB
# fault: workers_memory
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Volumes(Dataset):
    def __len__(self):
        return 400

    def __getitem__(self, index):
        return torch.zeros(1, 128, 128, 96)


if __name__ == "__main__":
    model = nn.Conv3d(1, 8, 3, stride=2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Volumes(), batch_size=4, num_workers=2, prefetch_factor=40, pin_memory=True)
    for volumes in loader:
        model(volumes.cuda(non_blocking=True)).mean().backward()
        optimizer.step()
        optimizer.zero_grad()
