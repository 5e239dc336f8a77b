# SPDX-License-Identifier: Apache-2.0
# A recommender with wide embeddings; NAdam's temporaries make the peak.
import torch
from torch import nn
from torch.nn import functional as F


class Recommender(nn.Module):
    def __init__(self, users=400_000, items=400_000, width=128):
        super().__init__()
        self.users = nn.Embedding(users, width)
        self.items = nn.Embedding(items, width)
        self.top = nn.Sequential(nn.Linear(2 * width, 1024), nn.ReLU(), nn.Linear(1024, 1))

    def forward(self, user, item):
        return self.top(torch.cat([self.users(user), self.items(item)], dim=-1)).squeeze(-1)


with torch.device("cuda"):
    model = Recommender()
optimizer = torch.optim.NAdam(model.parameters(), lr=1e-3)
for step in range(1000):
    user = torch.randint(400_000, (8192,), device="cuda")
    item = torch.randint(400_000, (8192,), device="cuda")
    clicked = torch.randint(2, (8192,), device="cuda").float()
    loss = F.binary_cross_entropy_with_logits(model(user, item), clicked)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # fault: optimizer_peak
