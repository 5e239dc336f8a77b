# SPDX-License-Identifier: Apache-2.0
"""One step with planted copies, or with the views that do the same without copying."""
import sys

import torch
from torch import nn
from torch.nn import functional


class Copies(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        padded = functional.pad(x, (0, 64))[..., :256].contiguous()
        mask = torch.ones(1, 1, 256, 256, device=x.device).expand(8, 4, 256, 256).clone()
        turned = x.transpose(1, 2).reshape(8, -1)
        return (padded * self.scale).sum() + (mask * self.scale).sum() + (turned * self.scale).sum()


class Views(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))

    def forward(self, x):
        sliced = x[..., :256]
        mask = torch.ones(1, 1, 256, 256, device=x.device).expand(8, 4, 256, 256)
        turned = x.transpose(1, 2)
        for view, base in ((sliced, x), (turned, x), (x.view(8, -1), x)):
            assert view.data_ptr() == base.data_ptr()
            assert view.untyped_storage().data_ptr() == base.untyped_storage().data_ptr()
        assert mask.untyped_storage().nbytes() == 256 * 256 * 4
        assert x.transpose(1, 2).contiguous().data_ptr() != x.data_ptr()
        return (sliced * self.scale).sum() + (turned * self.scale).sum()


model = {"copies": Copies, "views": Views}[sys.argv[1]]().cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    data = torch.randn(8, 256, 256, device="cuda")
    loss = model(data)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
