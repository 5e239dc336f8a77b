# SPDX-License-Identifier: Apache-2.0
"""Training by hand: a subclass of torch.optim.Optimizer, a plain class, own master weights, a memory-mapped loader."""
import argparse
import sys

import numpy
import torch

parser = argparse.ArgumentParser()
parser.add_argument("kind", choices=["subclass", "plain", "marked"])
parser.add_argument("--steps", type=int, default=100)
args = parser.parse_args()


class Subclass(torch.optim.Optimizer):
    """Sign SGD with a momentum of its own."""

    def __init__(self, parameters):
        super().__init__(parameters, {"lr": 0.1})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                momentum = self.state[p].setdefault("momentum", torch.zeros_like(p))
                momentum.mul_(0.9).add_(p.grad)
                p.add_(momentum.sign(), alpha=-group["lr"])


class Plain:
    """fp32 master weights of a bf16 model; PyTorch knows nothing of it."""

    def __init__(self, parameters):
        self.parameters = list(parameters)
        self.masters = [p.detach().float() for p in self.parameters]

    @torch.no_grad()
    def step(self):
        for p, master in zip(self.parameters, self.masters):
            master.sub_(p.grad.float(), alpha=0.1)
            p.copy_(master)

    def zero_grad(self):
        for p in self.parameters:
            p.grad = None


numpy.arange(1 << 16, dtype=numpy.float32).tofile("tokens.bin")
tokens = numpy.memmap("tokens.bin", dtype=numpy.float32, mode="r")
dtype = torch.float32 if args.kind == "subclass" else torch.bfloat16
model = torch.nn.Linear(1024, 1024).to("cuda", dtype)
optimizer = (Subclass if args.kind == "subclass" else Plain)(model.parameters())
for step in range(args.steps):
    rows = torch.from_numpy(numpy.array(tokens[step * 1024:(step + 1) * 1024])).view(1, 1024)
    model(rows.to("cuda", dtype)).sum().backward()
    optimizer.step()
    if args.kind == "marked" and "ullage_hook" in sys.modules:
        sys.modules["ullage_hook"].step()
    optimizer.zero_grad()
print("script: end")
