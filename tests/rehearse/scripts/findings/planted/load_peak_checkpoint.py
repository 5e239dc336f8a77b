# SPDX-License-Identifier: Apache-2.0
# Loads a checkpoint to the GPU beside the model that it is for, then trains a head.
# true: weight_copies
import pathlib

import torch
from torch import nn
from torch.nn import functional as F

CHECKPOINT = pathlib.Path("backbone.pt")


def backbone():
    return nn.Sequential(nn.Linear(1024, 6144), nn.GELU(), nn.Linear(6144, 6144), nn.GELU(), nn.Linear(6144, 1024))


def load():
    model = backbone().cuda()
    model.load_state_dict(torch.load(CHECKPOINT, map_location="cuda"))  # fault: load_peak
    return model.requires_grad_(False)


if not CHECKPOINT.exists():
    torch.save(backbone().state_dict(), CHECKPOINT)
model = load()
head = nn.Linear(1024, 10).cuda()
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
for step in range(1000):
    x = torch.randn(512, 1024, device="cuda")
    y = torch.randint(10, (512,), device="cuda")
    with torch.no_grad():
        features = model(x)
    loss = F.cross_entropy(head(features), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
