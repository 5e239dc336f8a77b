# SPDX-License-Identifier: Apache-2.0
# Contrastive training of an image and a text tower.
# true: full_logits
import torch
from torch import nn
from torch.nn import functional as F


def tower(inputs, width=2048, output=512):
    return nn.Sequential(nn.Linear(inputs, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, output))


images, texts = tower(1024).cuda(), tower(768).cuda()
temperature = nn.Parameter(torch.tensor(2.6, device="cuda"))
optimizer = torch.optim.AdamW([*images.parameters(), *texts.parameters(), temperature], lr=1e-3, fused=True)
same = torch.arange(8192, device="cuda")
for step in range(1000):
    a = F.normalize(images(torch.randn(8192, 1024, device="cuda")), dim=-1)
    b = F.normalize(texts(torch.randn(8192, 768, device="cuda")), dim=-1)
    loss = F.cross_entropy(temperature.exp() * a @ b.T, same)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
