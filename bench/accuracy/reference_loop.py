# SPDX-License-Identifier: Apache-2.0
"""The training loop that `ullage plan` stands for: a model built from a config.json on the device, three steps of plain PyTorch.

    ullage rehearse --gpu a100-80gb --steps all -- python bench/accuracy/reference_loop.py CONFIG [FLAGS]
"""
import argparse
import contextlib
import json

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from transformers import Adafactor, AutoConfig, AutoModelForCausalLM, DynamicCache

WEIGHTS = {"bf16": torch.bfloat16}
AUTOCAST = {"bf16-autocast": torch.bfloat16, "fp16-autocast": torch.float16}
ADAMW = {"adamw": {}, "adamw-fused": {"fused": True}, "adamw-forloop": {"foreach": False}}


def flags():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("config", help="a config.json")
    parser.add_argument("--precision", default="bf16-autocast", choices=("fp32", "tf32", "bf16", *AUTOCAST))
    parser.add_argument("--optimizer", default="adamw", choices=(*ADAMW, "sgd", "adafactor", "adamw-8bit"))
    parser.add_argument("--attention", default="sdpa", choices=("eager", "sdpa", "flash"))
    parser.add_argument("--checkpoint", default="none", choices=("none", "full"))
    parser.add_argument("--micro-batch", type=int, default=1)
    parser.add_argument("--seq", type=int, default=1024)
    parser.add_argument("--accumulate", type=int, default=1)
    parser.add_argument("--padding", action="store_true", help="the last token of each row is padding")
    parser.add_argument("--mode", default="train", choices=("train", "infer"), help="infer: forward passes alone, up to the logits")
    parser.add_argument("--cache", type=int, default=0, help="with infer: token by token until the KV cache holds so many")
    parser.add_argument("--steps", type=int, default=3)
    return parser


def build(config, chosen):
    fields = {key: value for key, value in config.items() if key != "model_type"}
    description = AutoConfig.for_model(config["model_type"], **fields)
    with torch.device("cuda"):
        model = AutoModelForCausalLM.from_config(description, dtype=WEIGHTS.get(chosen.precision, torch.float32),
                                                 attn_implementation="eager" if chosen.attention == "eager" else "sdpa")
    model.train()
    if chosen.checkpoint == "full":
        model.gradient_checkpointing_enable()
    return model


def optimizer_of(name, parameters):
    if name == "sgd":
        return torch.optim.SGD(parameters, lr=1e-4, momentum=0.9)
    if name == "adafactor":  # as the Trainer makes it
        return Adafactor(parameters, lr=1e-4, scale_parameter=False, relative_step=False)
    if name == "adamw-8bit":
        from bitsandbytes.optim import AdamW8bit  # a package that not everybody has
        return AdamW8bit(parameters, lr=1e-4)
    return torch.optim.AdamW(parameters, **ADAMW[name])


def autocast_of(precision):
    return torch.autocast("cuda", AUTOCAST[precision]) if precision in AUTOCAST else contextlib.nullcontext()


def batch_of(tokens, chosen):
    """What a collator hands over: with padding, a mask that tells which tokens are none, and labels without them."""
    if not chosen.padding:
        return {"input_ids": tokens, "labels": tokens}
    mask = torch.ones_like(tokens, device="cpu")
    mask[:, -1] = 0
    mask = mask.to("cuda")
    return {"input_ids": tokens, "attention_mask": mask, "labels": tokens.masked_fill(mask == 0, -100)}


def kernel_of(attention):
    """Around the whole loop: a checkpointed region runs again in the backward pass."""
    return sdpa_kernel(SDPBackend.FLASH_ATTENTION) if attention == "flash" else contextlib.nullcontext()


def infer(model, batch, chosen):
    model.eval()
    for _ in range(chosen.steps):
        with torch.no_grad(), autocast_of(chosen.precision):
            logits = model(**batch, use_cache=False).logits  # noqa: F841  lives until the next


def generate(model, tokens, mask, chosen):
    """A prefill of all tokens, then one after the other, as model.generate() without sampling; a mask of padding grows with them."""
    model.eval()
    cache = DynamicCache(config=model.config)
    while cache.get_seq_length() < chosen.cache:
        with torch.no_grad(), autocast_of(chosen.precision):
            logits = model(input_ids=tokens, attention_mask=mask, past_key_values=cache, use_cache=True, logits_to_keep=1).logits
        tokens = logits.argmax(dim=-1)
        if mask is not None:
            mask = torch.cat([mask, mask.new_ones((mask.shape[0], 1))], dim=-1)


def train(config, chosen, after_backward=lambda model, optimizer: None):
    torch.backends.cuda.matmul.allow_tf32 = chosen.precision == "tf32"
    model = build(config, chosen)
    tokens = torch.randint(0, model.config.vocab_size, (chosen.micro_batch, chosen.seq), device="cuda")
    batch = batch_of(tokens, chosen)
    with kernel_of(chosen.attention):
        if chosen.mode == "infer":
            del batch["labels"]
            generate(model, tokens, batch.get("attention_mask"), chosen) if chosen.cache else infer(model, batch, chosen)
        else:
            steps(model, batch, chosen, after_backward)


def steps(model, batch, chosen, after_backward):
    optimizer = optimizer_of(chosen.optimizer, model.parameters())
    for _ in range(chosen.steps):
        for _ in range(chosen.accumulate):
            with autocast_of(chosen.precision):
                loss = model(**batch, use_cache=False).loss
            loss.backward()
        after_backward(model, optimizer)
        optimizer.step()
        optimizer.zero_grad()


def main():
    chosen = flags().parse_args()
    with open(chosen.config, encoding="utf-8") as file:
        train(json.load(file), chosen)


if __name__ == "__main__":
    main()
