# SPDX-License-Identifier: Apache-2.0
"""`ullage models`: the names that `ullage plan` knows."""
import json
import os
import subprocess
from pathlib import Path

import jsonschema
import pytest

BIN = os.environ.get("ULLAGE_BIN", "")
pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
ROOT = Path(__file__).resolve().parents[2]


def ullage(*words, status=0):
    done = subprocess.run([BIN, *words], capture_output=True, text=True, timeout=60, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    assert done.returncode == status, done.stdout + done.stderr
    return done


def models(*words):
    made = json.loads(ullage("models", *words, "--json").stdout)
    jsonschema.validate(made, json.loads((ROOT / "docs/schemas/models.schema.json").read_text(encoding="utf-8")))
    return made["models"]


def test_every_name_of_the_list_can_be_planned():
    listed = models()
    names = [model["name"] for model in listed]
    assert len(set(names)) == len(names) > 30
    table = ullage("models").stdout.split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in table[1:]] == names
    for model in listed:
        planned = json.loads(ullage("plan", model["name"], "--json").stdout)["model"]
        assert planned["parameters"] == model["parameters"] and planned["architecture"] == model["architecture"]


def test_one_with_its_configuration_by_any_of_its_names(tmp_path):
    model, = models("llama-3.1-8b")
    assert model == models("meta-llama/Llama-3.1-8B")[0] and model["layers"] == 32 and model["kv_heads"] == 8
    shown = ullage("models", "llama-3.1-8b").stdout
    assert "LlamaForCausalLM, 8,030,261,248 parameters" in shown and model["config"] in shown and model["source"] in shown
    config = tmp_path / "config.json"
    config.write_text(model["config"])
    assert json.loads(ullage("plan", str(config), "--json").stdout)["model"]["parameters"] == model["parameters"]


def test_an_unknown_name_leads_to_the_list():
    assert "'ullage models' lists the catalogue" in ullage("plan", "nothing-like-it", status=2).stderr
    assert "did you mean 'gpt2'" in ullage("models", "gpt", status=2).stderr
    assert "'ullage models' lists the catalogue" in ullage("models", "nothing-like-it", status=2).stderr
