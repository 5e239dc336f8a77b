# SPDX-License-Identifier: Apache-2.0
# Batches of spectrograms from a NumPy array, copied to the device as they are.
# true: synchronisation
import numpy
import torch
from torch import nn
from torch.nn import functional as F

recordings = numpy.random.default_rng(0).random((256, 128, 400), dtype=numpy.float32)
model = nn.Sequential(nn.Conv1d(128, 512, 5, padding=2), nn.GELU(), nn.Conv1d(512, 512, 5, stride=2), nn.GELU(),
                      nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(512, 35)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
for step in range(1000):
    chosen = numpy.arange(step * 64, step * 64 + 64) % len(recordings)
    sound = torch.from_numpy(recordings[chosen]).cuda()  # fault: pageable_copies
    words = torch.from_numpy(chosen % 35).cuda()
    loss = F.cross_entropy(model(sound), words)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
