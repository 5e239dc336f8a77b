# SPDX-License-Identifier: Apache-2.0
"""The states that `ullage plan` gives, to the byte, against those of a rehearsed training after its second step."""
import importlib.util
import json
import subprocess

import pytest

from conftest import find_line, ullage

SMALL = {"vocab_size": 300, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "pad_token_id": 0}
CONFIGS = {
    "gpt2": {"vocab_size": 300, "n_embd": 64, "n_head": 4, "n_layer": 2, "n_positions": 64},
    "opt": {"vocab_size": 300, "hidden_size": 64, "ffn_dim": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
            "word_embed_proj_dim": 32, "do_layer_norm_before": False},
    "gpt_neox": {"vocab_size": 300, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4},
    "llama": {**SMALL, "attention_bias": True, "tie_word_embeddings": True},
    "mistral": {**SMALL, "head_dim": 32},
    "qwen2": SMALL,
    "qwen3": {**SMALL, "head_dim": 32},
    "gemma2": {**SMALL, "head_dim": 32},
    "phi3": SMALL,
}
PRECISIONS = ("fp32", "tf32", "bf16-autocast", "fp16-autocast", "bf16")
OPTIMIZERS = ("adamw", "adamw-fused", "adamw-forloop", "sgd", "adafactor")
FREEZES = {"llama": ["model.layers.0.*", "*norm*"], "gpt2": ["transformer.wte.weight"], "qwen3": ["*embed_tokens*"]}


def cases():
    """Every family with two precisions and optimizers, so that every precision and every optimizer comes up."""
    for number, (family, config) in enumerate(CONFIGS.items()):
        for turn in range(2):
            yield {"config": {"model_type": family, **config}, "precision": PRECISIONS[(number + 2 * turn + turn) % 5],
                   "optimizer": OPTIMIZERS[(2 * number + turn) % 5], "freeze": FREEZES.get(family, []) if turn else []}


def planned(case, path):
    path.write_text(json.dumps(case["config"]))
    freeze = [word for pattern in case["freeze"] for word in ("--freeze", pattern)]
    done = subprocess.run([ullage(), "plan", str(path), "--precision", case["precision"], "--optimizer", case["optimizer"],
                           *freeze, "--json"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["ledger"]


def rehearsed(run, step):
    done = subprocess.run([ullage(), "ledger", str(run.directory), "--at", f"phase:{step}:optimizer", "--top", "0", "--json"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["ledger"]


def states(ledger):
    """Bytes by line, the state names of the optimizer with them."""
    found = {name: find_line(ledger, name) for name in ("parameters", "gradients", "optimizer_state")}
    sizes = {name: line["bytes"] for name, line in found.items() if line}
    for kind in ("parameters.weights", "parameters.buffers"):
        sizes[kind] = (find_line(ledger, kind) or {"bytes": 0})["bytes"]
    sizes.update({child["id"]: child["bytes"] for child in found["optimizer_state"].get("children", ())})
    return sizes


def assert_equal(rehearse, folder, every):
    (folder / "cases.json").write_text(json.dumps(every))
    run = rehearse("states.py", folder / "cases.json", flags=["--steps", "all"])
    for number, case in enumerate(every):
        plan = states(planned(case, folder / "config.json"))
        assert plan == states(rehearsed(run, 2 * number + 2)), case


def test_states_are_those_of_a_rehearsal_to_the_byte(rehearse, tmp_path):
    every = list(cases())
    assert {case["precision"] for case in every} == set(PRECISIONS)
    assert {case["optimizer"] for case in every} == set(OPTIMIZERS)
    assert_equal(rehearse, tmp_path, every)


@pytest.mark.skipif(not importlib.util.find_spec("bitsandbytes"), reason="bitsandbytes is not installed")
def test_eight_bit_states_too(rehearse, tmp_path):
    assert_equal(rehearse, tmp_path, [{"config": {"model_type": family, **config}, "precision": precision, "optimizer": "adamw-8bit",
                                       "freeze": []} for family, config in CONFIGS.items() for precision in ("bf16-autocast", "bf16")])
