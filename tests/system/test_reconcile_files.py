# SPDX-License-Identifier: Apache-2.0
"""`ullage reconcile` of published snapshots with plans of their models, and of results that are left in the history."""
import gzip
import json
import os
import subprocess
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = os.environ.get("ULLAGE_BIN", "")
pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
SNAPSHOTS = ROOT / "tests/data/snapshots"
#: 24 layers of 1024, three matrices of 4096 in each, two embeddings of 10,000: tests/data/snapshots/README.md
MEDIUM = {"model_type": "llama", "hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 24, "num_attention_heads": 16,
          "num_key_value_heads": 16, "vocab_size": 10000, "max_position_embeddings": 512, "tie_word_embeddings": False,
          "hidden_act": "silu"}


def ullage(*words, status=0, **variables):
    done = subprocess.run([BIN, *map(str, words)], capture_output=True, text=True, timeout=120, env={**os.environ, **variables})
    assert done.returncode == status, (words, done.stdout[-2000:], done.stderr[-2000:])
    return done


def plan(folder, name="plan.json", **flags):
    (folder / "config.json").write_text(json.dumps(MEDIUM))
    words = [word for key, value in flags.items() for word in (f"--{key.replace('_', '-')}", str(value))]
    made = ullage("plan", folder / "config.json", "--gpu", "h100-80gb", *words, "--json", status=0)
    (folder / name).write_text(made.stdout)
    return folder / name


def reconcile(*words):
    result = json.loads(ullage("reconcile", *words, "--json").stdout)
    jsonschema.validate(result, json.loads((ROOT / "docs/schemas/reconcile.schema.json").read_text()))
    check(result["ledger"], [column["id"] for column in result["columns"]])
    for one in result["comparisons"]:
        assert sum(line["difference_bytes"] for line in one["lines"]) == one["difference_bytes"]
    return result


def check(line, columns):
    for column in columns:
        if line.get("children"):
            assert sum(child["bytes"][column] for child in line["children"]) == line["bytes"][column], line["id"]
    for child in line.get("children", ()):
        check(child, columns)


def test_a_snapshot_and_the_plan_of_its_model(tmp_path):
    """The plan is of another loop (transformers' Llama, torch.optim.AdamW), and the owners of some blocks are not known."""
    made = plan(tmp_path, micro_batch=4, seq=128, precision="fp32", optimizer="adamw-forloop", attention="eager")
    snapshot = SNAPSHOTS / "wedson_medium_128_training.pickle.gz"
    result = reconcile(snapshot, "--plan", made)
    assert result["ledger"]["id"] == "reserved" and "PyTorch's memory alone" in " ".join(result["notes"])
    assert result["ledger"]["bytes"]["measured"] == 7235174400
    accounts = {line["id"]: line for line in result["ledger"]["children"]}
    weights = 4 * 423_183_360
    assert accounts["parameters"]["bytes"]["plan"] == weights + 2 * 4 * 32  # and two buffers of the rotary embedding
    assert abs(accounts["parameters"]["difference_bytes"]["plan"]) < weights / 1000
    comparison = result["comparisons"][0]
    assert comparison["lines"] and comparison["explained_bytes"] + comparison["unexplained_bytes"] == sum(
        abs(line["difference_bytes"]) for line in comparison["lines"])
    assert comparison["unexplained_bytes"] > 0
    text = ullage("reconcile", snapshot, "--plan", made).stdout
    assert "unexplained residue" in text and comparison["largest"] in text.splitlines()[0]


def test_a_plan_of_states_says_what_it_lacks(tmp_path):
    made = plan(tmp_path, precision="fp32", optimizer="adamw-forloop")
    result = reconcile(SNAPSHOTS / "wedson_medium_512_training.pickle.gz", "--plan", made)
    causes = {line["id"].partition("/")[0].partition(".")[0]: line.get("cause", {}).get("id") for line in result["comparisons"][0]["lines"]}
    assert causes["activations"] == "states_alone"


@pytest.mark.parametrize("spoil, said", [
    (lambda plan: plan.update(command="rehearse"), "no plan"),
    (lambda plan: plan.pop("ledger"), "no ledger"),
    (lambda plan: plan["ledger"].update(bytes=1), "do not add up"),
    (lambda plan: plan.update(points=[]), "several points"),
    (lambda plan: plan["ledger"]["children"][0].update(id=""), "no name"),
    (lambda plan: plan["time"].update(high=-1), "the time of this plan"),
])
def test_a_spoilt_plan(tmp_path, spoil, said):
    made = plan(tmp_path, micro_batch=1, seq=64)
    spoilt = json.loads(made.read_text())
    spoil(spoilt)
    made.write_text(json.dumps(spoilt))
    assert said in ullage("reconcile", SNAPSHOTS / "wedson_medium_128_training.pickle.gz", "--plan", made, status=3).stderr


@pytest.mark.parametrize("word, model", [("gpt2", "gpt2"), ("made.json", "MODEL")])
def test_a_plan_is_a_file(tmp_path, word, model):
    said = ullage("reconcile", SNAPSHOTS / "wedson_medium_128_training.pickle.gz", "--plan", word, status=4).stderr
    assert "ullage plan ... --json" in said and f"ullage plan {model} --gpu NAME" in said


def test_a_compressed_plan_and_one_that_is_cut(tmp_path):
    made = plan(tmp_path, micro_batch=1, seq=64)
    packed = tmp_path / "plan.json.gz"
    packed.write_bytes(gzip.compress(made.read_bytes()))
    assert reconcile(SNAPSHOTS / "wedson_medium_128_training.pickle.gz", "--plan", packed)["columns"][0]["id"] == "plan"
    packed.write_bytes(packed.read_bytes()[:-40])
    ullage("reconcile", SNAPSHOTS / "wedson_medium_128_training.pickle.gz", "--plan", packed, status=3)


def test_what_is_unusual_of_a_plan_is_printed(tmp_path):
    made = plan(tmp_path, micro_batch=1, seq=64, world=4, zero=3)
    shown = {entry["key"]: entry["values"]["plan"] for entry in
             reconcile(SNAPSHOTS / "wedson_medium_128_training.pickle.gz", "--plan", made)["configuration"] if "plan" in entry["values"]}
    assert (shown["ranks"], shown["ZeRO stage"]) == ("4", "3")
