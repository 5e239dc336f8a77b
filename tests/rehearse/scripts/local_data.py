# SPDX-License-Identifier: Apache-2.0
"""Trains on a local file through the datasets library: local_data.py json|csv FILE"""
import sys

import torch
from datasets import load_dataset

kind, path = sys.argv[1:]
rows = load_dataset(kind, data_files=path, split="train")
rows = rows.map(lambda row: {"tokens": [ord(letter) % 128 for letter in row["text"]]})
rows = rows.filter(lambda row: len(row["tokens"]) >= 4)


def collate(batch):
    width = max(len(row["tokens"]) for row in batch)
    padded = [row["tokens"] + [0] * (width - len(row["tokens"])) for row in batch]
    return torch.tensor(padded), torch.tensor([row["label"] for row in batch])


loader = torch.utils.data.DataLoader(rows, batch_size=4, shuffle=True, collate_fn=collate, num_workers=1)
table, head = torch.nn.Embedding(128, 64).cuda(), torch.nn.Linear(64, 3).cuda()
optimizer = torch.optim.AdamW([*table.parameters(), *head.parameters()])
print("script: rows", len(rows))
for epoch in range(2):
    for tokens, labels in loader:
        loss = torch.nn.functional.cross_entropy(head(table(tokens.cuda()).mean(1)), labels.cuda())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
print("script: done")
