# SPDX-License-Identifier: Apache-2.0
"""A loop over experts as Mixtral wrote it; prints how many tokens each expert got."""
import torch

tokens, experts, hidden = 4096, 8, 64
gate = torch.nn.Linear(hidden, experts).cuda()
mlps = torch.nn.ModuleList(torch.nn.Linear(hidden, hidden) for _ in range(experts)).cuda()
x = torch.randn(tokens, hidden, device="cuda")
weights, chosen = torch.topk(torch.softmax(gate(x), dim=-1), 2, dim=-1)
mask = torch.nn.functional.one_hot(chosen, num_classes=experts).permute(2, 1, 0)
out = torch.zeros_like(x)
counts = []
for expert in range(experts):
    which, rows = torch.where(mask[expert])
    counts.append(len(rows))
    out.index_add_(0, rows, mlps[expert](x[rows]) * weights[rows, which, None])
out.sum().backward()
print("script: tokens", counts)
