# SPDX-License-Identifier: Apache-2.0
# a curriculum: every step has longer sequences, so the logits that the loop's variable still holds are larger each time
# rehearse: --gpu a100-40gb --steps 8
import torch
import torch.nn.functional as F
from torch import nn


class Decoder(nn.Module):
    def __init__(self, vocabulary=8000, width=512, depth=4):
        super().__init__()
        self.embed, self.place = nn.Embedding(vocabulary, width), nn.Embedding(1024, width)
        self.layers = nn.ModuleList(nn.TransformerEncoderLayer(width, 8, batch_first=True, norm_first=True) for _ in range(depth))
        self.out = nn.Linear(width, vocabulary, bias=False)

    def forward(self, tokens):
        length = tokens.shape[1]
        x = self.embed(tokens) + self.place(torch.arange(length, device=tokens.device))
        mask = nn.Transformer.generate_square_subsequent_mask(length, device=tokens.device)
        for layer in self.layers:
            x = layer(x, src_mask=mask, is_causal=True)
        return self.out(x)


def curriculum(start=128, grow=32):
    length = start
    while True:
        yield torch.randint(8000, (8, length + 1), device="cuda")
        length = min(length + grow, 1024)


model = Decoder().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
for tokens in curriculum():
    logits = model(tokens[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
