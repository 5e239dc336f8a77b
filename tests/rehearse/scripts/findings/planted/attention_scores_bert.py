# SPDX-License-Identifier: Apache-2.0
# Masked language modelling with a Hugging Face BERT that asks for eager attention.
import torch
from transformers import BertConfig, BertForMaskedLM

config = BertConfig(num_hidden_layers=2, vocab_size=2000, max_position_embeddings=1024, attn_implementation="eager")
with torch.device("cuda"):
    model = BertForMaskedLM(config).bfloat16()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
for step in range(1000):
    ids = torch.randint(config.vocab_size, (8, 1024), device="cuda")
    loss = model(input_ids=ids, labels=ids).loss  # fault: attention_scores
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
