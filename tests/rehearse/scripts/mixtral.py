# SPDX-License-Identifier: Apache-2.0
"""Two training steps of transformers' Mixtral with 8 experts, 2 for each token; prints how many tokens each expert got."""
import sys

import torch
from transformers import MixtralConfig, MixtralForCausalLM

config = MixtralConfig(vocab_size=256, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                       num_key_value_heads=2, num_local_experts=8, num_experts_per_tok=2, output_router_logits=True)
config._experts_implementation = sys.argv[1] if len(sys.argv) > 1 else "eager"
model = MixtralForCausalLM(config).cuda().train()
optimizer = torch.optim.AdamW(model.parameters())


def count(module, inputs, output):
    chosen = inputs[1]
    print("script: tokens", torch.bincount(chosen.reshape(-1), minlength=8).tolist(), flush=True)


for layer in model.model.layers:
    layer.mlp.experts.register_forward_hook(count)
tokens = torch.randint(256, (4, 512), device="cuda")
for step in range(2):
    loss = model(input_ids=tokens, labels=tokens).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
