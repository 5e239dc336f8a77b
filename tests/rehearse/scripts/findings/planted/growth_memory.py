# SPDX-License-Identifier: Apache-2.0
# A recurrent memory of earlier segments that is concatenated and never cut.
import torch
from torch import nn
from torch.nn import functional as F

class Segment(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
        self.register_buffer("memory", torch.empty(8, 0, width), persistent=False)

    def forward(self, x):
        self.memory = torch.cat([self.memory, x.detach()], dim=1)  # fault: growth
        near = self.memory[:, -512:]
        q, k, v = (t.unflatten(-1, (self.heads, -1)).transpose(1, 2) for t in (self.query(x), self.key(near), near))
        x = x + F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        return x + self.mlp(x)


with torch.device("cuda"):
    embedding = nn.Embedding(256, 1024)
    layers = nn.Sequential(*(Segment(1024, 16) for _ in range(3)))
    head = nn.Linear(1024, 256)
parameters = [p for module in (embedding, layers, head) for p in module.parameters()]
optimizer = torch.optim.AdamW(parameters, lr=3e-4, fused=True)
for segment in range(1000):
    text = torch.randint(256, (8, 1025), device="cuda")
    loss = F.cross_entropy(head(layers(embedding(text[:, :-1]))).flatten(0, 1), text[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
