# SPDX-License-Identifier: Apache-2.0
# Clones weights and optimizer state on the GPU before a checkpoint is written.
# true: weight_copies
import torch
from torch import nn
from torch.nn import functional as F


def save(model, optimizer, step):
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}  # fault: peak_between_steps
    moments = [{name: value.clone() for name, value in state.items()} for state in optimizer.state.values()]  # fault: peak_between_steps
    torch.save({"step": step, "shapes": [tuple(w.shape) for w in weights.values()], "states": len(moments)}, f"step{step}.pt")


with torch.device("cuda"):
    model = nn.Sequential(nn.Linear(1024, 8192), nn.GELU(), nn.Linear(8192, 8192), nn.GELU(), nn.Linear(8192, 1000))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
for step in range(1000):
    x = torch.randn(512, 1024, device="cuda")
    y = torch.randint(1000, (512,), device="cuda")
    loss = F.cross_entropy(model(x), y)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 500 == 0:
        save(model, optimizer, step)
