# SPDX-License-Identifier: Apache-2.0
# Embeds documents with an encoder for a search index; no_grad is missing.
import torch
from torch import nn

with torch.device("cuda"):
    words = nn.Embedding(30000, 1024)
    layer = nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True, activation="gelu", norm_first=True)
    encoder = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
words.eval()
encoder.eval()


def embed(ids):
    hidden = encoder(words(ids))  # fault: inference_without_no_grad
    return nn.functional.normalize(hidden.mean(dim=1), dim=-1)


index = torch.empty(4 * 64, 1024, device="cuda")
for number in range(4):
    documents = torch.randint(30000, (64, 256), device="cuda")
    index[number * 64:(number + 1) * 64] = embed(documents).detach()
torch.save(index.cpu(), "index.pt")
