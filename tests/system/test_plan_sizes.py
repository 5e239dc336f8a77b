# SPDX-License-Identifier: Apache-2.0
"""Models that the command line describes: --layers, --hidden and their like, with a MODEL and without one."""
import json

import pytest
from test_plan import BIN, plan, result

pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
FLAGS = ("--layers", 3, "--hidden", 64, "--heads", 4, "--intermediate", 96, "--vocab", 33000)
FIELDS = {"num_hidden_layers": 3, "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 96, "vocab_size": 33000}
RENAMED = {"gpt2": {"num_hidden_layers": "n_layer", "hidden_size": "n_embd", "num_attention_heads": "n_head", "intermediate_size": "n_inner"},
           "opt": {"intermediate_size": "ffn_dim"}}
FEWER_HEADS = {"gemma2", "llama", "mistral", "phi3", "qwen2", "qwen3"}


@pytest.mark.parametrize("family", ["gemma2", "gpt2", "gpt_neox", "llama", "mistral", "opt", "phi3", "qwen2", "qwen3"])
def test_sizes_are_those_of_a_configuration_with_them(family, tmp_path):
    fewer = family in FEWER_HEADS
    fields = {**FIELDS, **({"num_key_value_heads": 2} if fewer else {})}
    config = {"model_type": family, **{RENAMED.get(family, {}).get(name, name): value for name, value in fields.items()}}
    (tmp_path / "config.json").write_text(json.dumps(config))
    told = result("--family", family, *FLAGS, *(("--kv-heads", 2) if fewer else ()))
    read = result(tmp_path / "config.json")
    assert told["model"]["parameters"] == read["model"]["parameters"]
    assert told["model"].get("assumed") == read["model"].get("assumed")
    assert told["ledger"] == read["ledger"]


def test_sizes_stand_in_for_those_of_a_model():
    half = result("gpt2", "--layers", 6)
    whole = result("gpt2")
    layer = 12 * 768 * 768 + 13 * 768
    assert whole["model"]["parameters"] - half["model"]["parameters"] == 6 * layer
    assert "with --layers 6" in plan("gpt2", "--layers", 6).stdout
    # One entry for each layer is not left behind, and one of two equal names does not win over the flag.
    assert result("qwen3-8b", "--layers", 4, "--gpu", "a100-80gb", "--seq", 64)["verdict"] == "fits"


def test_the_family_is_llama_unless_said():
    made = result("--layers", 2, "--hidden", 128)
    assert made["model"]["model_type"] == "llama" and "family" in made["setup"]["assumed"]
    assert "intermediate_size = 11008" in str(made["model"]["assumed"])


@pytest.mark.parametrize("family, offset", [("gpt2", 0), ("opt", 2)])
def test_a_model_of_sizes_has_as_many_positions_as_are_asked_for(family, offset):
    words = ("--family", family, "--layers", 2, "--hidden", 64, "--heads", 4, "--gpu", "t4")
    made = result(*words, "--seq", "1024,4096")
    assert "positions = 4096 (as long as the sequence)" in made["model"]["assumed"]
    assert not any("position_embeddings" in field or "n_positions" in field for field in made["model"]["assumed"])
    assert next(entry["shape"] for entry in made["model"]["parameter_list"] if "wpe" in entry["name"] or "positions" in entry["name"]) == [4096 + offset, 64]
    default = result(*words, "--seq", 64)["model"]
    assert not any("as long as" in field for field in default["assumed"])
    assert result(*words, "--mode", "infer", "--seq", 2040, "--cache", 2060)["verdict"] == "fits"
    found = result(*words, "--intermediate", 64, "--vocab", 64, "--memory", "1GiB", "--headroom", "0%", "--attention", "eager", "--fit", "seq")
    assert found["values"]["largest"] > 1024 and f"positions = {found['values']['largest']} (as long as the sequence)" in found["model"]["assumed"]


def test_a_model_with_a_name_has_its_own_positions():
    assert "no positions for so long a sequence" in plan("gpt2", "--layers", 2, "--gpu", "t4", "--seq", 2048, status=2).stderr


@pytest.mark.parametrize("words, said", [
    (("--family", "gpt2", "--kv-heads", 2), "num_key_value_heads: this family has no such size"),
    (("--family", "nope"), "no family that can be planned"),
    (("gpt2", "--family", "gpt2"), "the model has a family"),
    (("--params", "7B", "--layers", 2), "no layers"),
    (("--hidden", 100, "--heads", 3), "not a multiple"),
    (("--hidden", 0), "not a size"),
    (("gpt2", "--layers", 2, "--fit", "layers", "--seq", 8, "--gpu", "t4"), "looked for and given at once")])
def test_what_is_refused(words, said):
    assert said in plan(*words, status=2).stderr
