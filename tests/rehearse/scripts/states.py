# SPDX-License-Identifier: Apache-2.0
"""Trains small models one after the other, two steps each, and lets the gradients be: python states.py CASES. CASES is a
JSON list of {config, precision, optimizer, freeze}."""
import fnmatch
import gc
import importlib
import json
import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.optimization import Adafactor

OPTIMIZERS = {
    "adamw": torch.optim.AdamW,
    "adamw-fused": lambda parameters: torch.optim.AdamW(parameters, fused=True),
    "adamw-forloop": lambda parameters: torch.optim.AdamW(parameters, foreach=False),
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=1e-3, momentum=0.9),
    "adafactor": Adafactor,
    "adamw-8bit": lambda parameters: importlib.import_module("bitsandbytes").optim.AdamW8bit(parameters),
}


def train(case):
    torch.backends.cuda.matmul.allow_tf32 = case["precision"] == "tf32"
    dtype = torch.bfloat16 if case["precision"] == "bf16" else torch.float32
    config = AutoConfig.for_model(**case["config"])
    model = AutoModelForCausalLM.from_config(config, dtype=dtype).to("cuda")
    for name, parameter in model.named_parameters():
        parameter.requires_grad = not any(fnmatch.fnmatchcase(name, pattern) for pattern in case["freeze"])
    optimizer = OPTIMIZERS[case["optimizer"]]([one for one in model.parameters() if one.requires_grad])
    half = {"bf16-autocast": torch.bfloat16, "fp16-autocast": torch.float16}.get(case["precision"])
    for _ in range(2):
        tokens = torch.randint(0, 50, (1, 16), device="cuda")
        with torch.autocast("cuda", dtype=half or torch.bfloat16, enabled=half is not None):
            loss = model(input_ids=tokens, labels=tokens, use_cache=False).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


with open(sys.argv[1]) as file:
    cases = json.load(file)
for one in cases:
    train(one)
    gc.collect()
