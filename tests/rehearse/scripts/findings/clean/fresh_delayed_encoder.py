# SPDX-License-Identifier: Apache-2.0
# one encoding for three updates of the head: the encoder's graph outlives them, and its backward comes last
# true: gradients_kept
# rehearse: --gpu a100-40gb --steps 12
import torch
import torch.nn.functional as F
from torch import nn


class Encoder(nn.Module):
    def __init__(self, width=512, depth=4):
        super().__init__()
        self.embed = nn.Embedding(8000, width)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 8, batch_first=True) for _ in range(depth))

    def forward(self, tokens):
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x)
        return x


class Alternating:
    def __init__(self, inner=3):
        self.inner = inner
        self.encoder, self.head = Encoder().cuda(), nn.Sequential(nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 50)).cuda()
        self.slow = torch.optim.AdamW(self.encoder.parameters(), lr=1e-4)
        self.fast = torch.optim.SGD(self.head.parameters(), lr=0.1)

    def round(self, tokens, labels):
        encoded = self.encoder(tokens)
        leaf = encoded.detach().requires_grad_()
        for i in range(self.inner):
            self.fast.zero_grad()
            F.cross_entropy(self.head(leaf).flatten(0, 1), labels[i].flatten()).backward()
            self.fast.step()
        self.slow.zero_grad()
        encoded.backward(leaf.grad / self.inner)
        self.slow.step()


loop = Alternating()
for _ in range(100):
    loop.round(torch.randint(8000, (64, 128), device="cuda"), torch.randint(50, (3, 64, 128), device="cuda"))
