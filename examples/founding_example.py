# SPDX-License-Identifier: Apache-2.0
"""Trains a GPT-2 of 1.3 billion parameters on random tokens: bf16 autocast, AdamW, an optional change or two to make it fit."""
import argparse

import torch
from transformers import GPT2Config, GPT2LMHeadModel


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attention", choices=["eager", "sdpa"], default="eager")
    parser.add_argument("--micro-batch", type=int, default=4)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--checkpointing", action="store_true", help="recompute activations in the backward pass")
    parser.add_argument("--steps", type=int, default=20)
    return parser.parse_args()


def make_model(args):
    config = GPT2Config(n_embd=2048, n_layer=24, n_head=16, n_positions=1024, attn_implementation=args.attention)
    with torch.device("cuda"):
        model = GPT2LMHeadModel(config)
    model.train()
    if args.checkpointing:
        model.gradient_checkpointing_enable()
    return model


def main():
    args = arguments()
    torch.manual_seed(0)
    model = make_model(args)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4, weight_decay=0.1)
    for step in range(args.steps):
        tokens = torch.randint(model.config.vocab_size, (args.micro_batch, args.sequence), device="cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(input_ids=tokens, labels=tokens, use_cache=False).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    print(f"loss after {args.steps} steps: {loss.item():.3f}")


if __name__ == "__main__":
    main()
