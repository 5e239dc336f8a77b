# SPDX-License-Identifier: Apache-2.0
import torch

model = torch.nn.Sequential(*[torch.nn.Linear(2048, 2048) for _ in range(8)]).cuda().eval()
with torch.no_grad():
    for _ in range(3):
        model(torch.randn(512, 2048, device="cuda"))
