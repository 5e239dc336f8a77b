# SPDX-License-Identifier: Apache-2.0
# A Hugging Face loop that keeps a whole step's outputs, for a line in the log now and then.
# true: full_logits, synchronisation
import torch
from transformers import GPT2Config, GPT2LMHeadModel

config = GPT2Config(n_embd=512, n_layer=2, n_head=8, n_positions=512)
with torch.device("cuda"):
    model = GPT2LMHeadModel(config).bfloat16()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True)
for step in range(1000):
    batch = torch.randint(config.vocab_size, (16, 512), device="cuda")
    outputs = model(input_ids=batch, labels=batch, use_cache=False)  # fault: outputs_kept
    outputs.loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    last = outputs  # fault: outputs_kept
    if (step + 1) % 100 == 0:
        print(step, last.loss.item(), last.logits[0, -1].argmax().item())
