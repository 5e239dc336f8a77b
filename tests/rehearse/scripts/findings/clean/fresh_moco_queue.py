# SPDX-License-Identifier: Apache-2.0
# momentum contrast: a queue of fixed size that is a new tensor in every step, and keys without a graph
# rehearse: --gpu a100-40gb --steps 6
# true: full_logits
import copy

import torch
import torch.nn.functional as F
from torch import nn
from torchvision.models import resnet18


class MoCo(nn.Module):
    def __init__(self, dim=256, size=65536, momentum=0.999, temperature=0.2):
        super().__init__()
        self.query = resnet18(num_classes=dim)
        self.key = copy.deepcopy(self.query).requires_grad_(False)
        self.momentum, self.temperature = momentum, temperature
        self.register_buffer("queue", F.normalize(torch.randn(dim, size), dim=0))

    @torch.no_grad()
    def encode_keys(self, images):
        torch._foreach_lerp_(list(self.key.parameters()), list(self.query.parameters()), 1 - self.momentum)
        order = torch.randperm(len(images), device=images.device)
        return F.normalize(self.key(images[order]), dim=1)[order.argsort()]

    def forward(self, left, right):
        q, k = F.normalize(self.query(left), dim=1), self.encode_keys(right)
        positive = torch.einsum("nc,nc->n", q, k)[:, None]
        negative = q @ self.queue
        self.queue = torch.cat([self.queue[:, len(k):], k.t()], dim=1)
        logits = torch.cat([positive, negative], dim=1) / self.temperature
        return F.cross_entropy(logits, logits.new_zeros(len(logits), dtype=torch.long))


def pairs():
    while True:
        images = torch.rand(128, 3, 96, 96, device="cuda")
        yield images.flip(3), images + 0.1


model = MoCo().cuda().to(memory_format=torch.channels_last)
optimizer = torch.optim.SGD(model.query.parameters(), lr=0.03, momentum=0.9, weight_decay=1e-4)
for left, right in pairs():
    optimizer.zero_grad()
    model(left, right).backward()
    optimizer.step()
