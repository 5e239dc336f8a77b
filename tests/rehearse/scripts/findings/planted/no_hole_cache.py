# SPDX-License-Identifier: Apache-2.0
# Casts a checkpoint tensor by tensor on the GPU, then asks for a key-value cache in one piece.
# rehearse: --gpu a100-40gb --memory 6GiB
# true: fragmentation
import torch


def load(matrices, rows, columns):
    """An fp32 checkpoint on the GPU, as bf16."""
    checkpoint = []
    weights = []
    for _ in range(matrices):
        checkpoint.append(torch.zeros(rows, columns, device="cuda"))
        weights.append(checkpoint[-1].bfloat16())
    return weights


weights = load(matrices=400, rows=1024, columns=2048)
cache = torch.zeros(12, 2, 8, 16, 4096, 128, dtype=torch.bfloat16, device="cuda")  # fault: no_hole
hidden = torch.zeros(8, 1024, dtype=torch.bfloat16, device="cuda")
for weight in weights[:4]:
    hidden = hidden + (hidden @ weight)[:, :1024]
print(hidden.shape, cache.shape)
