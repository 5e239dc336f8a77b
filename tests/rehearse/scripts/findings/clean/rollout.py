# SPDX-License-Identifier: Apache-2.0
# Policy gradient: a rollout under no_grad into buffers that are made once, then one update.
import torch
from torch import nn
from torch.nn import functional as F

HORIZON, PLACES = 16, 2048


class Policy(nn.Module):
    def __init__(self, inputs=64, width=1024, actions=6):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.actions = nn.Linear(width, actions)

    def forward(self, x):
        return self.actions(self.body(x))


policy = Policy().cuda()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-4, fused=True)
seen = torch.zeros(HORIZON, PLACES, 64, device="cuda")
done = torch.zeros(HORIZON, PLACES, dtype=torch.long, device="cuda")
rewards = torch.zeros(HORIZON, PLACES, device="cuda")
state = torch.randn(PLACES, 64, device="cuda")
for update in range(1000):
    with torch.no_grad():
        for t in range(HORIZON):
            seen[t] = state
            done[t] = policy(state).softmax(dim=-1).multinomial(1).squeeze(-1)
            state = torch.tanh(state + 0.1 * torch.randn_like(state))
            rewards[t] = state.mean(dim=-1)
        returns = rewards.flip(0).cumsum(dim=0).flip(0)
    loss = (F.cross_entropy(policy(seen.flatten(0, 1)), done.flatten(), reduction="none") * returns.flatten()).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
