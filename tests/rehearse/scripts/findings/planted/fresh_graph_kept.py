# SPDX-License-Identifier: Apache-2.0
# seq2seq with teacher forcing: a free-running decode for the log stays in the metrics with its graph
# rehearse: --gpu a100-40gb --steps 5
# true: unused_graph, outputs_kept, full_logits
import random
from dataclasses import dataclass
from typing import Optional

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Metrics:
    step: int = 0
    sample: Optional[torch.Tensor] = None


class Seq2Seq(nn.Module):
    def __init__(self, vocabulary=4000, width=512):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, width)
        self.encoder = nn.GRU(width, width, num_layers=2, batch_first=True)
        self.cell = nn.GRUCell(width, width)
        self.attend = nn.Linear(width, width)
        self.out = nn.Linear(2 * width, vocabulary)

    def decode(self, memory, state, first, length, forced=None):
        token, steps = first, []
        for t in range(length):
            state = self.cell(self.embed(token), state)
            weights = torch.softmax(torch.einsum("bd,bsd->bs", self.attend(state), memory), dim=-1)
            context = torch.einsum("bs,bsd->bd", weights, memory)
            steps.append(self.out(torch.cat([state, context], -1)))  # fault: graph_kept
            token = forced[:, t] if forced is not None else steps[-1].detach().argmax(-1)
        return torch.stack(steps, 1)  # fault: graph_kept

    def forward(self, source, target, forcing):
        memory, state = self.encoder(self.embed(source))
        return self.decode(memory, state[-1], target[:, 0], target.shape[1] - 1, target[:, 1:] if forcing else None)


class Loop:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.metrics = Metrics()

    def training_step(self, source, target):
        logits = self.model(source, target, forcing=True)
        return F.cross_entropy(logits.transpose(1, 2), target[:, 1:])

    def log(self, source, target):
        self.metrics.step += 1
        self.metrics.sample = self.model(source, target, forcing=False)  # fault: graph_kept

    def fit(self, batches):
        for source, target in batches:
            self.optimizer.zero_grad()
            self.training_step(source, target).backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            self.log(source[:128], target[:128])


def batches():
    random.seed(0)
    while True:
        length = random.choice((20, 22, 24))
        yield torch.randint(4000, (256, 40)).cuda(), torch.randint(4000, (256, length)).cuda()


Loop(Seq2Seq().cuda()).fit(batches())
