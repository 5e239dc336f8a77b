# SPDX-License-Identifier: Apache-2.0
# A dataset that takes its time, read in the training's own process.
# fault: data_wait
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Slow(Dataset):
    def __len__(self):
        return 80

    def __getitem__(self, index):
        time.sleep(0.005)
        return torch.zeros(64)


model = nn.Linear(64, 64).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in DataLoader(Slow(), batch_size=4):
    model(batch.cuda()).mean().backward()
    optimizer.step()
    optimizer.zero_grad()
