# SPDX-License-Identifier: Apache-2.0
# A two-layer LSTM that tags words.
import torch
from torch import nn
from torch.nn import functional as F


class Tagger(nn.Module):
    def __init__(self, words=20000, width=512, tags=17):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width, num_layers=2, batch_first=True, bidirectional=True)
        self.tag = nn.Linear(2 * width, tags)

    def forward(self, words):
        return self.tag(self.lstm(self.embedding(words))[0])


model = Tagger().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
for step in range(1000):
    words = torch.randint(20000, (128, 200), device="cuda")
    tags = torch.randint(17, (128, 200), device="cuda")
    loss = F.cross_entropy(model(words).transpose(1, 2), tags)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=False)
    optimizer.step()
