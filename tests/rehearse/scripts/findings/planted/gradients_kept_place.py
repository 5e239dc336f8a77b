# SPDX-License-Identifier: Apache-2.0
# zero_grad between forward and backward pass: the old gradients live while activations are made.
import torch
from torch import nn
from torch.nn import functional as F


class Translator(nn.Module):
    def __init__(self, words=256, width=1024, layers=2):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.transformer = nn.Transformer(width, 16, layers, layers, 4 * width, dropout=0.0, batch_first=True)
        self.head = nn.Linear(width, words)

    def forward(self, source, target):
        return self.head(self.transformer(self.embedding(source), self.embedding(target), tgt_is_causal=True,
                                          tgt_mask=nn.Transformer.generate_square_subsequent_mask(target.shape[1], target.device)))


with torch.device("cuda"):
    model = Translator()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-4, fused=True)
for step in range(1000):
    source = torch.randint(256, (16, 256), device="cuda")
    target = torch.randint(256, (16, 257), device="cuda")
    loss = F.cross_entropy(model(source, target[:, :-1]).flatten(0, 1), target[:, 1:].flatten())
    optimizer.zero_grad()  # fault: gradients_kept
    loss.backward()
    optimizer.step()
