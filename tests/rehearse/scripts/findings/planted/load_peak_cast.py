# SPDX-License-Identifier: Apache-2.0
# Builds the model in fp32 on the GPU, casts it to bf16, then trains only small adapters.
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

class Adapter(nn.Module):
    def __init__(self, base, rank=8):
        super().__init__()
        self.base = base
        self.down = nn.Linear(base.in_features, rank, bias=False, dtype=torch.bfloat16, device="cuda")
        self.up = nn.Linear(rank, base.out_features, bias=False, dtype=torch.bfloat16, device="cuda")
        nn.init.zeros_(self.up.weight)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))


model = GPT(width=1536, layers=3).requires_grad_(False)
model = model.to("cuda")  # fault: load_peak
model = model.bfloat16()  # fault: load_peak
for block in model.blocks:
    block.qkv = Adapter(block.qkv)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=3e-4, fused=True)
for step in range(1000):
    text = torch.randint(256, (1, 257), device="cuda")
    loss = F.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
