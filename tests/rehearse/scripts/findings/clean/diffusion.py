# SPDX-License-Identifier: Apache-2.0
# A denoising step: a small U-Net learns the noise that was added.
import torch
from torch import nn
from torch.nn import functional as F


def stage(inputs, outputs):
    return nn.Sequential(nn.Conv2d(inputs, outputs, 3, padding=1), nn.GroupNorm(8, outputs), nn.SiLU())


class UNet(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(1, 4 * width), nn.SiLU(), nn.Linear(4 * width, 2 * width))
        self.first = stage(3, width)
        self.down = stage(width, 2 * width)
        self.middle = stage(2 * width, 2 * width)
        self.up = stage(3 * width, width)
        self.last = nn.Conv2d(width, 3, 3, padding=1)

    def forward(self, x, t):
        first = self.first(x)
        low = self.down(F.avg_pool2d(first, 2)) + self.time(t[:, None])[:, :, None, None]
        low = self.middle(low)
        return self.last(self.up(torch.cat([first, F.interpolate(low, scale_factor=2)], dim=1)))


model = UNet().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4, fused=True)
kept = torch.linspace(0.9999, 0.98, 1000, device="cuda").cumprod(dim=0)
for step in range(1000):
    images = torch.rand(32, 3, 64, 64, device="cuda") * 2 - 1
    t = torch.randint(1000, (32,), device="cuda")
    noise = torch.randn_like(images)
    share = kept[t, None, None, None]
    noisy = share.sqrt() * images + (1 - share).sqrt() * noise
    loss = F.mse_loss(model(noisy, t / 1000), noise)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
