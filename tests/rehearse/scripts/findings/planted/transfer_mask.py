# SPDX-License-Identifier: Apache-2.0
# Builds the same causal mask on the host in every layer's forward pass and copies it over.
# true: synchronisation, pageable_copies
import torch
from torch import nn
from torch.nn import functional as F

class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.mlp = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in self.qkv(self.norm(x)).chunk(3, dim=-1))
        mask = torch.full((x.shape[1], x.shape[1]), float("-inf")).triu(1).to(x.device)  # fault: transfer
        x = x + F.scaled_dot_product_attention(q, k, v, attn_mask=mask).transpose(1, 2).flatten(2)
        return x + self.mlp(x)


with torch.device("cuda"):
    embedding = nn.Embedding(256, 1024)
    blocks = nn.Sequential(*(Block(1024, 16) for _ in range(3)))
    head = nn.Linear(1024, 256)
parameters = [p for module in (embedding, blocks, head) for p in module.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=3e-4, fused=True)
for step in range(1000):
    text = torch.randint(256, (8, 1025), device="cuda")
    loss = F.cross_entropy(head(blocks(embedding(text[:, :-1]))).flatten(0, 1), text[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
