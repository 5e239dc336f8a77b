# SPDX-License-Identifier: Apache-2.0
# Appends the reconstruction of a fixed batch to a list after every step, to make a film of it.
# true: growth, unused_graph
import torch
from torch import nn
from torch.nn import functional as F

encoder = nn.Sequential(nn.Conv2d(3, 64, 4, 2, 1), nn.GELU(), nn.Conv2d(64, 128, 4, 2, 1), nn.GELU(), nn.Conv2d(128, 16, 3, 1, 1))
decoder = nn.Sequential(nn.ConvTranspose2d(16, 128, 4, 2, 1), nn.GELU(), nn.ConvTranspose2d(128, 64, 4, 2, 1), nn.GELU(),
                        nn.Conv2d(64, 3, 3, 1, 1))
model = nn.Sequential(encoder, decoder).cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
fixed = torch.rand(16, 3, 256, 256, device="cuda")
film = []
for step in range(2000):
    images = torch.rand(64, 3, 256, 256, device="cuda")
    loss = F.mse_loss(model(images), images)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    film.append(model(fixed))  # fault: graph_kept
torch.save([frame.cpu() for frame in film], "film.pt")
