# SPDX-License-Identifier: Apache-2.0
"""The training loop that `ullage plan` stands for: a model built from a config.json on the device, three steps of plain PyTorch."""
import argparse
import contextlib
import json

import torch
from transformers import AutoConfig, AutoModelForCausalLM

WEIGHTS = {"bf16": torch.bfloat16}
AUTOCAST = {"bf16-autocast": torch.bfloat16, "fp16-autocast": torch.float16}


def optimizer_of(name, parameters):
    if name == "sgd":
        return torch.optim.SGD(parameters, lr=1e-4, momentum=0.9)
    return torch.optim.AdamW(parameters, **{"adamw": {}, "adamw-fused": {"fused": True}, "adamw-forloop": {"foreach": False}}[name])


def build(config, precision, attention, checkpoint):
    kind = json.loads(config)["model_type"]
    description = AutoConfig.for_model(kind, **{key: value for key, value in json.loads(config).items() if key != "model_type"})
    with torch.device("cuda"):
        model = AutoModelForCausalLM.from_config(description, dtype=WEIGHTS.get(precision, torch.float32), attn_implementation=attention)
    model.train()
    if checkpoint == "full":
        model.gradient_checkpointing_enable()
    return model


def main():
    flags = argparse.ArgumentParser()
    flags.add_argument("config", help="a config.json")
    flags.add_argument("--precision", default="bf16-autocast", choices=("fp32", "tf32", "bf16", *AUTOCAST))
    flags.add_argument("--optimizer", default="adamw", choices=("adamw", "adamw-fused", "adamw-forloop", "sgd"))
    flags.add_argument("--attention", default="sdpa", choices=("eager", "sdpa"))
    flags.add_argument("--checkpoint", default="none", choices=("none", "full"))
    flags.add_argument("--micro-batch", type=int, default=1)
    flags.add_argument("--seq", type=int, default=1024)
    flags.add_argument("--steps", type=int, default=3)
    chosen = flags.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = chosen.precision == "tf32"
    with open(chosen.config, encoding="utf-8") as file:
        model = build(file.read(), chosen.precision, chosen.attention, chosen.checkpoint)
    optimizer = optimizer_of(chosen.optimizer, model.parameters())
    autocast = (lambda: torch.autocast("cuda", AUTOCAST[chosen.precision])) if chosen.precision in AUTOCAST else contextlib.nullcontext
    tokens = torch.randint(0, model.config.vocab_size, (chosen.micro_batch, chosen.seq), device="cuda")
    for _ in range(chosen.steps):
        with autocast():
            loss = model(input_ids=tokens, labels=tokens, use_cache=False).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
