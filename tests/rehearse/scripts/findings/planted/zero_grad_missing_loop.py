# SPDX-License-Identifier: Apache-2.0
# Fine-tunes a regression head; zero_grad() was lost when the loop was rewritten.
# rehearse: --gpu a100-40gb --steps 4
# true: gradients_kept
import torch
from torch import nn

model = nn.Sequential(nn.Linear(2048, 4096), nn.GELU(), nn.Linear(4096, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 10))
for step in range(100):
    batch = torch.randn(1024, 2048, device="cuda")
    loss = nn.functional.mse_loss(model(batch).squeeze(-1), torch.zeros(1024, device="cuda"))
    loss.backward()
    optimizer.step()  # fault: zero_grad_missing
    scheduler.step()
