# SPDX-License-Identifier: Apache-2.0
# Keeps the features of every batch on the GPU, for a kNN evaluation at the end of the epoch.
import torch
from torch import nn
from torch.nn import functional as F

encoder = nn.Sequential(nn.Linear(2048, 8192), nn.ReLU(), nn.Linear(8192, 8192), nn.ReLU(), nn.Linear(8192, 2048)).cuda()
classifier = nn.Linear(2048, 100).cuda()
parameters = [*encoder.parameters(), *classifier.parameters()]
optimizer = torch.optim.SGD(parameters, lr=0.05, momentum=0.9)
bank = []
for step in range(200):
    batch = torch.randn(16384, 2048, device="cuda")
    labels = torch.randint(100, (16384,), device="cuda")
    features = encoder(batch)
    loss = F.cross_entropy(classifier(F.relu(features)), labels)
    bank.append(F.normalize(features.detach(), dim=-1))  # fault: growth
    del features
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
