# SPDX-License-Identifier: Apache-2.0
"""Memory of single operators as Liger-Kernel's benchmark defines it, for its provider `huggingface` (PyTorch's own operators).

Definition (benchmark/scripts of linkedin/Liger-Kernel): both providers' modules are made; then ten times the peak is reset,
forward and backward run, and max_memory_allocated is read; the median in MiB, as a 32-bit float, is the figure. Gradients are
never cleared.

usage: operators.py ROWS.csv    prints `id,MiB` for each row
"""
import csv
import gc
import json
import sys

import torch


class RootMeanSquareNorm(torch.nn.Module):
    """As in transformers' Llama: computed in fp32, scaled in the weight's type."""

    def __init__(self, size, eps):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        exact = x.to(torch.float32)
        mean = exact.pow(2).mean(-1, keepdim=True)
        exact = exact * torch.rsqrt(mean + self.eps)
        return self.weight * exact.to(x.dtype)


def cross_entropy(vocabulary, settings):
    tokens = settings["B"] * settings["T"]
    loss = torch.nn.CrossEntropyLoss()
    logits = torch.randn(tokens, vocabulary, requires_grad=True, device="cuda")
    target = torch.randint(vocabulary, (tokens, 1), device="cuda").squeeze(1)
    return lambda: loss(logits, target).backward()


def embedding(vocabulary, settings):
    size, dtype = settings["D"], getattr(torch, settings["dtype"])
    table, other = (torch.nn.Embedding(vocabulary, size).to("cuda").to(dtype) for _ in range(2))
    tokens = torch.randint(0, vocabulary, (settings["B"], settings["T"]), device="cuda")

    def full():
        output = table(tokens)
        output.backward(torch.randn_like(output))

    full.other = other  # the other provider's module is there too
    return full


def norm(make):
    def setup(size, settings):
        dtype = getattr(torch, settings["dtype"])
        layer, other = (make(size, settings["eps"]).to("cuda") for _ in range(2))
        x = torch.randn(settings["M"], size, dtype=dtype, device="cuda")
        gradient = torch.randn_like(x)
        x.requires_grad_(True)

        def full():
            layer(x).backward(gradient, retain_graph=True)

        full.other = other
        return full

    return setup


SETUPS = {"cross_entropy": cross_entropy, "embedding": embedding,
          "layer_norm": norm(lambda size, eps: torch.nn.LayerNorm(size, eps=eps)), "rms_norm": norm(RootMeanSquareNorm)}


def peak(function):
    torch.cuda.reset_peak_memory_stats()
    function()
    return torch.cuda.max_memory_allocated() / 2**20


def measure(row):
    """The median of ten calls, in a process state that earlier rows do not touch."""
    function = SETUPS[row["operator"]](int(row["size"]), json.loads(row["settings"]))
    figure = torch.quantile(torch.tensor([peak(function) for _ in range(10)], dtype=torch.float32), 0.5).item()
    del function
    gc.collect()
    torch.cuda.empty_cache()
    return figure


if __name__ == "__main__":
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            print(f"{row['id']},{measure(row):.4f}", flush=True)
