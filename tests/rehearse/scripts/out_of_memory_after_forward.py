# SPDX-License-Identifier: Apache-2.0
"""A GPT-2 that asks for more than is free when its forward pass is done: eager, sdpa or checkpointing."""
import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel

how = sys.argv[1]
config = GPT2Config(n_embd=512, n_layer=8, n_head=8, n_positions=512, vocab_size=4096,
                    attn_implementation="sdpa" if how == "sdpa" else "eager")
model = GPT2LMHeadModel(config).cuda().train()
if how == "checkpointing":
    model.gradient_checkpointing_enable()
tokens = torch.randint(4096, (4, 512), device="cuda")
with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = model(input_ids=tokens, labels=tokens, use_cache=False).loss
free, total = torch.cuda.mem_get_info()
torch.empty(free + (1 << 28), dtype=torch.uint8, device="cuda")
loss.backward()
