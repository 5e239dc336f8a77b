# SPDX-License-Identifier: Apache-2.0
"""What transformers makes of configurations: python model_parameters.py CONFIGS RESULTS. CONFIGS is a JSON list of
config.json objects; RESULTS gets for each its parameters, shared ones and buffers, or why it was refused."""
import json
import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM


def built(config):
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(AutoConfig.for_model(**config))


def described(config):
    try:
        model = built(dict(config))
    except Exception as error:  # whatever it is that transformers and torch raise
        return {"refused": f"{type(error).__name__}: {error}"[:200]}
    parameters = dict(model.named_parameters())
    names = {id(parameter): name for name, parameter in parameters.items()}
    everything = dict(model.named_parameters(remove_duplicate=False))
    return {"parameters": [[name, list(parameter.shape)] for name, parameter in parameters.items()],
            "tied": {name: names[id(parameter)] for name, parameter in everything.items() if name not in parameters},
            "buffers": {name: [buffer.numel(), buffer.element_size()] for name, buffer in model.named_buffers()}}


torch.ones(1, device="cuda")
with open(sys.argv[1]) as file:
    configs = json.load(file)
with open(sys.argv[2], "w") as file:
    json.dump([described(config) for config in configs], file)
