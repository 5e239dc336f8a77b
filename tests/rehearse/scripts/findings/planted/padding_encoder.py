# SPDX-License-Identifier: Apache-2.0
# Classifies sentences with nn.TransformerEncoder, all padded to 512 words.
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
        padding = ids == 0
        hidden = self.encoder(self.embedding(ids), src_key_padding_mask=padding)  # fault: padding
        return self.head(hidden[:, 0])


def batches(count, rows, length):
    for _ in range(count):
        ids = torch.randint(1, 20000, (rows, length))
        lengths = torch.randint(10, 90, (rows, 1))
        yield ids * (torch.arange(length) < lengths), torch.randint(5, (rows,))


with torch.device("cuda"):
    model = Classifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
for ids, labels in batches(count=1000, rows=32, length=512):
    ids, labels = ids.pin_memory().to("cuda", non_blocking=True), labels.to("cuda", non_blocking=True)
    loss = F.cross_entropy(model(ids), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
