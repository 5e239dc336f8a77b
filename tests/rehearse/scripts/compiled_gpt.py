# SPDX-License-Identifier: Apache-2.0
"""Under torch.compile: compiled_gpt.py MODE [train|infer|product]. Three steps of a small GPT, three forward passes of it, or
three of a single product of matrices."""
import sys

import torch
import torch.nn.functional as F
from torch import nn

WIDTH, HEADS, VOCABULARY = 64, 2, 128


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(attended.transpose(1, 2).reshape(x.shape))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.block, self.head = nn.Embedding(VOCABULARY, WIDTH), Block(), nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        return self.head(self.block(self.embedding(ids)))


mode, what = sys.argv[1], sys.argv[2]
model = GPT().cuda() if what != "product" else nn.Linear(128, 32).cuda()
compiled = torch.compile(model, mode=mode, fullgraph=True)
optimizer = torch.optim.AdamW(model.parameters())
ids = torch.randint(0, VOCABULARY, (4, 128), device="cuda")
given = ids if what != "product" else torch.randn(32, 128, device="cuda")
for step in range(3):
    torch.compiler.cudagraph_mark_step_begin()
    if what == "train":
        loss = F.cross_entropy(compiled(ids).flatten(0, 1), ids.flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    else:
        with torch.inference_mode():
            print(compiled(given).shape)
print("done")
