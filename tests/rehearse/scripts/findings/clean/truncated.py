# SPDX-License-Identifier: Apache-2.0
# A recurrent language model with truncated backpropagation: the state goes on, its graph does not.
import torch
from torch import nn
from torch.nn import functional as F


class Model(nn.Module):
    def __init__(self, words=256, width=1024):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.cell = nn.GRU(width, width, num_layers=2, batch_first=True)
        self.head = nn.Linear(width, words)

    def forward(self, text, state):
        hidden, state = self.cell(self.embedding(text), state)
        return self.head(hidden), state


model = Model().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
state = torch.zeros(2, 256, 1024, device="cuda")
text = torch.randint(256, (256, 6401), device="cuda")
for start in range(0, 6400, 64):
    scores, state = model(text[:, start:start + 64], state.detach())
    loss = F.cross_entropy(scores.transpose(1, 2), text[:, start + 1:start + 65])
    del scores
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
