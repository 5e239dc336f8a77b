# SPDX-License-Identifier: Apache-2.0
# Keeps what an autoencoder makes of a data set on the GPU; each piece cuts a cached block that nothing else fits.
# rehearse: --gpu a100-40gb --memory 14GiB
# true: fragmentation, growth
import torch
from torch import nn

with torch.device("cuda"):
    autoencoder = nn.Sequential(nn.Linear(256, 2048), nn.ReLU(inplace=True), nn.Linear(2048, 64), nn.Linear(64, 1280))
bank = []
with torch.no_grad():
    for chunk in range(12):
        bank.append(autoencoder(torch.randn(131072, 256, device="cuda")))
    sample = bank[0][:32768]
    distances = torch.cdist(sample, sample)  # fault: no_hole
    nearest = distances.topk(10, largest=False).indices
print(nearest.shape)
