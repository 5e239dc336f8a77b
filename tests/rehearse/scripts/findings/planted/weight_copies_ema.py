# SPDX-License-Identifier: Apache-2.0
# An exponential moving average of the weights, kept on the GPU.
import torch
from torch import nn
from torch.nn import functional as F


class Average:
    def __init__(self, model, decay=0.999):
        self.decay = decay
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}  # fault: weight_copies

    @torch.no_grad()
    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name].lerp_(p, 1 - self.decay)


with torch.device("cuda"):
    model = nn.Sequential(nn.Linear(1024, 8192), nn.GELU(), nn.Linear(8192, 8192), nn.GELU(), nn.Linear(8192, 1000))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
average = Average(model)
for step in range(1000):
    x = torch.randn(4096, 1024, device="cuda")
    y = torch.randint(1000, (4096,), device="cuda")
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    average.update(model)
