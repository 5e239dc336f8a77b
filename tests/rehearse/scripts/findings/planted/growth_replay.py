# SPDX-License-Identifier: Apache-2.0
# A replay buffer that never drops its oldest frames, on the GPU.
import random

import torch
from torch import nn
from torch.nn import functional as F

def stage(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))

class Replay:
    def __init__(self):
        self.frames = []
        self.actions = []

    def add(self, frames, actions):
        self.frames.append(frames.to(torch.uint8))  # fault: growth
        self.actions.append(actions)

    def sample(self):
        index = random.randrange(len(self.frames))
        return self.frames[index].float().div_(255), self.actions[index]


policy = nn.Sequential(stage(4, 32), nn.MaxPool2d(2), stage(32, 64), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(1024, 18)).cuda()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-4)
replay = Replay()
for update in range(1000):
    for _ in range(2):
        replay.add(torch.randint(0, 255, (4096, 4, 84, 84), dtype=torch.int16, device="cuda"),
                   torch.randint(18, (4096,), device="cuda"))
    frames, actions = replay.sample()
    loss = F.cross_entropy(policy(frames[:512]), actions[:512])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
