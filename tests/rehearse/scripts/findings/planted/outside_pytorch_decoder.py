# SPDX-License-Identifier: Apache-2.0
# A video decoder of its own takes its frame pool from the CUDA runtime, beside PyTorch.
# fault: outside_pytorch
import ctypes

import torch
from torch import nn
from torch.nn import functional as F


class FramePool:
    """Device memory that another library owns."""

    def __init__(self, size):
        self.runtime = ctypes.CDLL("libcudart.so.13")
        self.pointer = ctypes.c_void_p()
        status = self.runtime.cudaMalloc(ctypes.byref(self.pointer), ctypes.c_size_t(size))
        if status != 0:
            raise MemoryError(f"cudaMalloc: {status}")


model = nn.Sequential(nn.Conv3d(3, 64, 3, padding=1), nn.ReLU(), nn.MaxPool3d(2), nn.Conv3d(64, 128, 3, padding=1), nn.ReLU(),
                      nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(128, 400)).cuda()
frames = FramePool(3 << 30)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for step in range(1000):
    clips = torch.rand(8, 3, 16, 112, 112, device="cuda")
    labels = torch.randint(400, (8,), device="cuda")
    loss = F.cross_entropy(model(clips), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
