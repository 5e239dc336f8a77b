# SPDX-License-Identifier: Apache-2.0
# A residual block that clones its input, to be safe.
import torch
from torch import nn
from torch.nn import functional as F


class Residual(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width, 1, 1))
        self.conv1 = nn.Conv2d(width, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x):
        shortcut = x.clone()  # fault: avoidable_copies
        x = self.conv2(F.relu(self.conv1(x)))
        return F.relu(x + shortcut * self.scale)


model = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), *(Residual(64) for _ in range(4)), nn.Conv2d(64, 3, 3, padding=1)).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)
for step in range(1000):
    clean = torch.rand(16, 3, 128, 128, device="cuda")
    noisy = clean + 0.1 * torch.randn_like(clean)
    loss = F.mse_loss(model(noisy), clean)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
