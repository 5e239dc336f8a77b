# SPDX-License-Identifier: Apache-2.0
# GAN: one forward of the generator serves both updates, so its graph lives through the discriminator's step; lazy R1
# rehearse: --gpu a100-40gb --steps 8
import torch
import torch.nn.functional as F
from torch import nn


def generator(width=96):
    layers, channels = [nn.Linear(128, 16 * width), nn.Unflatten(1, (width, 4, 4))], width
    for _ in range(4):
        layers += [nn.Upsample(scale_factor=2), nn.Conv2d(channels, width, 3, padding=1), nn.GroupNorm(8, width), nn.SiLU()]
    return nn.Sequential(*layers, nn.Conv2d(width, 3, 1), nn.Tanh())


def critic(width=96):
    layers, channels = [], 3
    for _ in range(4):
        layers += [nn.Conv2d(channels, width, 4, 2, 1), nn.SiLU()]
        channels = width
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(16 * width, 1))


class Game:
    def __init__(self):
        self.g, self.d = generator().cuda(), critic().cuda()
        self.opt_g = torch.optim.Adam(self.g.parameters(), lr=1e-4, betas=(0.0, 0.99))
        self.opt_d = torch.optim.Adam(self.d.parameters(), lr=2e-4, betas=(0.0, 0.99))

    def r1(self, real):
        real = real.requires_grad_()
        (gradient,) = torch.autograd.grad(self.d(real).sum(), real, create_graph=True)
        return gradient.square().sum((1, 2, 3)).mean()

    def round(self, real, lazy):
        fake = self.g(torch.randn(len(real), 128, device="cuda"))
        loss = F.softplus(self.d(fake.detach())).mean() + F.softplus(-self.d(real)).mean()
        if lazy:
            loss = loss + 8 * self.r1(real)
        self.opt_d.zero_grad()
        loss.backward()
        self.opt_d.step()

        self.d.requires_grad_(False)
        self.opt_g.zero_grad()
        F.softplus(-self.d(fake)).mean().backward()
        self.opt_g.step()
        self.d.requires_grad_(True)


game = Game()
for i in range(100):
    game.round(torch.rand(128, 3, 64, 64, device="cuda"), lazy=i % 2 == 0)
