# SPDX-License-Identifier: Apache-2.0
# Unscales by hand into an fp32 list of all gradients, to clip them by their norm.
import torch
from torch import nn
from torch.nn import functional as F

class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, dim=-1))
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


class GPT(nn.Module):
    def __init__(self, vocabulary=256, width=1024, layers=3, heads=16, length=1024):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, width)
        self.positions = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, vocabulary, bias=False)

    def forward(self, ids):
        x = self.tokens(ids) + self.positions.weight[:ids.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))

def clip(parameters, scale, limit=1.0):
    gradients = [p.grad.float() / scale for p in parameters]  # fault: gradient_copies
    norm = torch.linalg.vector_norm(torch.stack([torch.linalg.vector_norm(g) for g in gradients]))
    factor = (limit / (norm + 1e-6)).clamp(max=1.0)
    for p, gradient in zip(parameters, gradients):
        p.grad.copy_(gradient.mul_(factor))


with torch.device("cuda"):
    model = GPT(width=2048, layers=2).bfloat16()
parameters = list(model.parameters())
optimizer = torch.optim.SGD(parameters, lr=1e-2, foreach=False)
for step in range(1000):
    text = torch.randint(256, (2, 513), device="cuda")
    loss = F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
    (loss * 1024).backward()
    clip(parameters, scale=1024)
    optimizer.step()
    optimizer.zero_grad()
