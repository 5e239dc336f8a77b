# SPDX-License-Identifier: Apache-2.0
# Pads short documents to the model's full length; nine of ten tokens are padding.
# true: synchronisation, full_logits
import torch
from transformers import LlamaConfig, LlamaForCausalLM

LENGTH = 1024


def collate(documents):
    ids = torch.zeros(len(documents), LENGTH, dtype=torch.long)
    mask = torch.zeros(len(documents), LENGTH, dtype=torch.long)
    for row, document in enumerate(documents):
        ids[row, :len(document)] = document
        mask[row, :len(document)] = 1
    return {"input_ids": ids, "attention_mask": mask, "labels": ids.masked_fill(mask == 0, -100)}


documents = [torch.randint(1, 4096, (40 + 5 * (n % 25),)) for n in range(256)]
loader = torch.utils.data.DataLoader(documents, batch_size=8, collate_fn=collate, pin_memory=True)
config = LlamaConfig(vocab_size=4096, hidden_size=1024, intermediate_size=2816, num_hidden_layers=2, num_attention_heads=16)
model = LlamaForCausalLM(config).to("cuda", torch.bfloat16)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
for batch in loader:
    batch = {name: tensor.to("cuda", non_blocking=True) for name, tensor in batch.items()}
    loss = model(**batch, use_cache=False).loss  # fault: padding
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
