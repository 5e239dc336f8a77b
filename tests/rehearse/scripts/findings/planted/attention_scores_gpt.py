# SPDX-License-Identifier: Apache-2.0
# A GPT that writes its attention out: softmax(QK^T) as full matrices.
import torch
from torch import nn
from torch.nn import functional as F

class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(x).chunk(3, dim=-1))
        scores = q @ k.transpose(-2, -1) * q.shape[-1] ** -0.5
        mask = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool, device=x.device).triu(1)
        weights = scores.masked_fill(mask, float("-inf")).softmax(dim=-1)  # fault: attention_scores
        return self.out((weights @ v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.mlp(self.norm2(x))


with torch.device("cuda"):
    embedding = nn.Embedding(256, 768)
    blocks = nn.Sequential(*(Block(768, 12) for _ in range(3)))
    head = nn.Linear(768, 256)
parameters = [p for module in (embedding, blocks, head) for p in module.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=3e-4, fused=True)
for step in range(1000):
    text = torch.randint(256, (4, 2049), device="cuda")
    loss = F.cross_entropy(head(blocks(embedding(text[:, :-1]))).flatten(0, 1), text[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
