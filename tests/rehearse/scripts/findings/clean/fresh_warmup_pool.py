# SPDX-License-Identifier: Apache-2.0
# offline RL: features of the last three rounds stay on the device; the window is full after three steps
# rehearse: --gpu a100-40gb --steps 8
from collections import deque
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Replay:
    rounds: deque = field(default_factory=lambda: deque(maxlen=3))

    def sample(self, count):
        everything = torch.cat(list(self.rounds))
        return everything[torch.randint(len(everything), (count,), device="cuda")]


class Agent(nn.Module):
    def __init__(self, width=1024):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(512, width), nn.Mish(), nn.Linear(width, width), nn.Mish())
        self.policy, self.value = nn.Linear(width, 32), nn.Linear(width, 1)

    def forward(self, observation):
        hidden = self.trunk(observation)
        return self.policy(hidden), self.value(hidden).squeeze(-1)


def rollout(agent, horizon, count=4096):
    observation = torch.randn(count, 512, device="cuda")
    with torch.no_grad():
        for _ in range(horizon):
            logits, _ = agent(observation)
            action = torch.distributions.Categorical(logits=logits, validate_args=False).sample()
            yield observation
            observation = observation.roll(1, 0) + action[:, None] / 32


def learn(agent, optimizer, replay):
    observation = replay.sample(8192)
    logits, value = agent(observation)
    with torch.no_grad():
        target = 1 + 0.99 * agent(observation.roll(1, 0))[1]
    advantage = (target - value).detach()
    distribution = torch.distributions.Categorical(logits=logits, validate_args=False)
    loss = F.mse_loss(value, target) - (advantage * distribution.log_prob(distribution.sample())).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


agent, replay = Agent().cuda(), Replay()
optimizer = torch.optim.RMSprop(agent.parameters(), lr=3e-4)
for _ in range(100):
    replay.rounds.append(torch.cat(list(rollout(agent, 16))))
    learn(agent, optimizer, replay)
