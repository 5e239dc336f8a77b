# SPDX-License-Identifier: Apache-2.0
"""What public training scripts do and our own tests did not: one kind per run, named by the first argument."""
import importlib.util
import sys

KIND = sys.argv[1]
if KIND == "asks_for_torch":  # as datasets and transformers do before they import it
    spec = importlib.util.find_spec("torch")
    assert spec.origin.endswith("__init__.py") and spec.loader.get_filename("torch") == spec.origin

import torch


def train(model, batch, steps=10):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def masks():
    """Labels of a contrastive loss: a matrix of floating-point numbers that selects."""
    names = torch.arange(256).repeat(2)
    labels = (names.unsqueeze(0) == names.unsqueeze(1)).float().cuda()
    others = ~torch.eye(512, dtype=torch.bool).cuda()
    labels = labels[others].view(512, -1)
    scores = torch.randn(512, 511, device="cuda")
    print("script: positives", *scores[labels.bool()].view(512, -1).shape, flush=True)
    print("script: negatives", *scores[~labels.bool()].view(512, -1).shape, flush=True)


class Graph(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(64, 64)

    def forward(self, adjacency):
        return torch.sparse.mm(adjacency, self.layer(self.features))


def sparse():
    model = Graph().cuda()
    model.features = torch.randn(1 << 14, 64, device="cuda")
    edges = torch.randint(0, 1 << 14, (2, 1 << 18))
    adjacency = torch.sparse_coo_tensor(edges, torch.ones(1 << 18), (1 << 14, 1 << 14)).coalesce()
    train(model, adjacency.cuda())


class Writer(torch.nn.Linear):
    def generate(self, length):
        x = torch.zeros(1, 64, device="cuda")
        with torch.no_grad():
            for _ in range(length):
                x = self(x)
        return x


def generates():
    model = Writer(64, 64).cuda()
    model.eval()
    model.generate(4)
    model.train()
    train(model, torch.randn(8, 64, device="cuda"))


def average():
    """A copy of the model that no step calls: only its weights move."""
    model = torch.nn.Linear(1024, 1024).cuda()
    copy = torch.optim.swa_utils.AveragedModel(model, device="cuda")
    train(model, torch.randn(8, 1024, device="cuda"))
    print(copy)


def leaves_a_socket():
    import socket

    left = socket.socket(socket.AF_UNIX)
    left.bind("left.socket")
    open("left.txt", "w").close()
    train(torch.nn.Linear(64, 64).cuda(), torch.randn(8, 64, device="cuda"))


if KIND in ("masks", "sparse", "generates", "average", "leaves_a_socket"):
    globals()[KIND]()
if KIND in ("asks_for_torch", "masks"):
    train(torch.nn.Linear(64, 64).cuda(), torch.randn(8, 64, device="cuda"))
