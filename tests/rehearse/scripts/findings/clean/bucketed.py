# SPDX-License-Identifier: Apache-2.0
# Sentences of like length in a batch, so that hardly a word is padding; the longest batch comes first.
import torch
from torch import nn
from torch.nn import functional as F


class Classifier(nn.Module):
    def __init__(self, words=20000, width=768, classes=5):
        super().__init__()
        self.embedding = nn.Embedding(words, width, padding_idx=0)
        layer = nn.TransformerEncoderLayer(width, 12, 4 * width, dropout=0.0, batch_first=True, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(width, classes)

    def forward(self, ids):
        return self.head(self.encoder(self.embedding(ids), src_key_padding_mask=ids == 0)[:, 0])


def batches(longest, rows):
    for length in range(longest, 32, -4):
        ids = torch.randint(1, 20000, (rows, length))
        lengths = torch.randint(length - 3, length + 1, (rows, 1))
        yield (ids * (torch.arange(length) < lengths)).pin_memory(), torch.randint(5, (rows,)).pin_memory()


with torch.device("cuda"):
    model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
for ids, labels in batches(longest=256, rows=64):
    loss = F.cross_entropy(model(ids.to("cuda", non_blocking=True)), labels.to("cuda", non_blocking=True))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
