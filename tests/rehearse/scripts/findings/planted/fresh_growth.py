# SPDX-License-Identifier: Apache-2.0
# contrastive learning whose pool of hard negatives, deep in a dataclass, never drops its oldest ones
# rehearse: --gpu a100-40gb --steps 6
# true: pageable_copies
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Pool:
    rows: dict = field(default_factory=dict)
    limit: int = 0

    def admit(self, key, rows, hardness):
        hardest = hardness.topk(3 * rows.shape[0] // 4).indices
        self.rows[key] = rows.detach().index_select(0, hardest)  # fault: growth
        if self.limit and len(self.rows) > self.limit:
            del self.rows[min(self.rows)]


@dataclass
class State:
    encoder: nn.Module
    optimizer: torch.optim.Optimizer
    pool: Pool = field(default_factory=Pool)
    seen: int = 0


def views(count):
    for _ in range(count):
        yield torch.randn(64, 3, 32, 32), torch.randn(64, 3, 32, 32)


def similarity(left, right):
    return F.normalize(left.mean(1), dim=1) @ F.normalize(right.mean(1), dim=1).t()


def train_step(state, left, right):
    a, b = state.encoder(left), state.encoder(right)
    scores = similarity(a, b) / 0.1
    loss = F.cross_entropy(scores, torch.arange(len(scores), device=scores.device))
    state.optimizer.zero_grad()
    loss.backward()
    state.optimizer.step()
    state.pool.admit(state.seen, torch.cat([a, b]), torch.cat([scores.amax(1), scores.amax(0)]).detach())
    state.seen += 1


class Encoder(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.stem = nn.Conv2d(3, width, 4, stride=4)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 8, 4 * width, batch_first=True) for _ in range(2))

    def forward(self, x):
        x = self.stem(x).flatten(2).transpose(1, 2)
        for layer in self.layers:
            x = layer(x)
        return x


def main():
    encoder = Encoder(512).cuda()
    state = State(encoder, torch.optim.AdamW(encoder.parameters(), lr=1e-4))
    for left, right in views(100):
        train_step(state, left.cuda().repeat(4, 1, 1, 1), right.cuda().repeat(4, 1, 1, 1))


main()
