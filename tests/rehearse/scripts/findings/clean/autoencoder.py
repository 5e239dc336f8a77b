# SPDX-License-Identifier: Apache-2.0
# A convolutional autoencoder; the loss is shown at the first step and at every hundredth.
import torch
from torch import nn
from torch.nn import functional as F

model = nn.Sequential(
    nn.Conv2d(3, 64, 4, 2, 1), nn.GELU(), nn.Conv2d(64, 128, 4, 2, 1), nn.GELU(), nn.Conv2d(128, 16, 3, 1, 1),
    nn.ConvTranspose2d(16, 128, 4, 2, 1), nn.GELU(), nn.ConvTranspose2d(128, 64, 4, 2, 1), nn.GELU(), nn.Conv2d(64, 3, 3, 1, 1))
model.cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, fused=True)
for step in range(2000):
    images = torch.rand(32, 3, 192, 192, device="cuda")
    loss = F.mse_loss(model(images), images)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step}: {loss.item():.4f}")
