# SPDX-License-Identifier: Apache-2.0
# GAN: the pictures for the discriminator are detached, but the generator has built its graph for them
# true: graph_kept
import torch
import torch.nn.functional as F
from torch import nn


def up(i, o):
    return nn.Sequential(nn.Upsample(scale_factor=2), nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())


def down(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 4, stride=2, padding=1), nn.LeakyReLU(0.2))


class Generator(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.project = nn.Linear(128, 8 * width * 16)
        self.blocks = nn.Sequential(up(8 * width, 4 * width), up(4 * width, 2 * width), up(2 * width, width), up(width, width))
        self.colour = nn.Conv2d(width, 3, 1)

    def forward(self, z):
        x = self.project(z).unflatten(1, (-1, 4, 4))
        x = self.blocks(x)  # fault: unused_graph
        return torch.tanh(self.colour(x))


class Discriminator(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.blocks = nn.Sequential(down(3, width), down(width, 2 * width), down(2 * width, 4 * width), nn.Flatten())
        self.score = nn.Linear(4 * width * 64, 1)

    def forward(self, x):
        return self.score(self.blocks(x)).squeeze(1)


class Trainer:
    def __init__(self):
        self.networks = {"g": Generator().cuda(), "d": Discriminator().cuda()}
        self.optimizers = {k: torch.optim.Adam(n.parameters(), lr=2e-4, betas=(0.5, 0.99)) for k, n in self.networks.items()}

    def update(self, name, loss):
        self.optimizers[name].zero_grad()
        loss.backward()
        self.optimizers[name].step()

    def discriminate(self, real):
        z = torch.randn(len(real), 128, device="cuda")
        fake = self.networks["g"](z)  # fault: unused_graph
        d = self.networks["d"]
        loss = F.softplus(d(fake.detach())).mean() + F.softplus(-d(real)).mean()
        self.update("d", loss)

    def generate(self, count):
        z = torch.randn(count, 128, device="cuda")
        self.update("g", F.softplus(-self.networks["d"](self.networks["g"](z))).mean())

    def run(self, rounds):
        for _ in range(rounds):
            real = torch.rand(256, 3, 64, 64, device="cuda") * 2 - 1
            self.discriminate(real)
            self.generate(len(real))


Trainer().run(100)
