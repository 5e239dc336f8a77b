# SPDX-License-Identifier: Apache-2.0
"""Generates text with a small GPT-2 and a key-value cache, also after the pool was dirtied with ones."""
import torch
from transformers import GPT2Config, GPT2LMHeadModel

model = GPT2LMHeadModel(GPT2Config(n_embd=64, n_layer=2, n_head=2)).cuda().eval()
dirty = [torch.ones(1 << n, device="cuda") for n in range(4, 20)]
del dirty
for mode in ({"do_sample": False}, {"do_sample": True, "top_k": 50}):
    ids = torch.randint(0, 50000, (2, 5), device="cuda")
    out = model.generate(ids, max_new_tokens=32, pad_token_id=0, **mode)
    assert out.shape == (2, 37), out.shape
    assert out[:, :5].tolist() == ids.tolist()
print("script: generated")
