# SPDX-License-Identifier: Apache-2.0
"""A training step captured as a CUDA graph and replayed."""
import torch

model = torch.nn.Linear(1024, 1024).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
static = torch.randn(64, 1024, device="cuda")
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        optimizer.zero_grad(set_to_none=True)
        model(static).sum().backward()
torch.cuda.current_stream().wait_stream(side)

graph = torch.cuda.CUDAGraph()
optimizer.zero_grad(set_to_none=True)
with torch.cuda.graph(graph):
    loss = model(static).sum()
    loss.backward()
before = torch.cuda.memory_allocated()
for _ in range(5):
    static.copy_(torch.randn(64, 1024, device="cuda"))
    graph.replay()
assert torch.cuda.memory_allocated() == before
torch.cuda.synchronize()
print("script: replayed")
