# SPDX-License-Identifier: Apache-2.0
"""Three steps of a small GPT-2, of which the profiler records the last two with their memory: argv[1] is the trace, argv[2] a micro batch."""
import sys

import torch
from torch.profiler import ProfilerActivity, profile, record_function
from transformers import GPT2Config, GPT2LMHeadModel

model = GPT2LMHeadModel(GPT2Config(n_embd=256, n_layer=3, n_head=4, n_positions=128, vocab_size=1024,
                                   attn_implementation="eager")).cuda().train()
optimizer = torch.optim.AdamW(model.parameters())


def step():
    tokens = torch.randint(1024, (int(sys.argv[2]), 128)).to("cuda")
    loss = model(input_ids=tokens, labels=tokens, use_cache=False).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


step()
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True, record_shapes=True) as profiler:
    step()
    step()
profiler.export_chrome_trace(sys.argv[1])
