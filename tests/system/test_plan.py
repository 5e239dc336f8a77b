# SPDX-License-Identifier: Apache-2.0
"""`ullage plan`: what it prints, its exit codes, where it looks for models, what it refuses."""
import json
import os
import subprocess
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = os.environ.get("ULLAGE_BIN", "")
pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
SMALL = {"model_type": "llama", "vocab_size": 100, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
         "num_attention_heads": 4}


def plan(*words, status=0, environment=None, **options):
    variables = {**os.environ, "HF_HUB_OFFLINE": "1", **(environment or {})}
    variables.pop("ULLAGE_GPU", None)
    done = subprocess.run([BIN, "plan", *map(str, words)], capture_output=True, text=True, timeout=60, env=variables, **options)
    assert status is None or done.returncode == status, done.stdout + done.stderr
    return done


def result(*words, **options):
    made = json.loads(plan(*words, "--json", **options).stdout)
    schema = json.loads((ROOT / "docs/schemas/plan.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(made, schema, cls=jsonschema.Draft202012Validator)
    return made


CASES = {
    "no device": (["gpt2"], 0),
    "one device": (["gpt2", "--gpu", "t4"], 0),
    "too large": (["gpt2-xl", "--gpu", "t4", "--reserve", "1GiB"], 1),
    "several": (["llama-3.1-8b", "--gpu", "t4,h100-80gb"], 0),
    "all": (["llama-3.1-8b", "--gpu", "all"], 0),
    "inference": (["llama-3.1-8b", "--mode", "infer"], 0),
    "a bare count": (["--params", "7B"], 0),
    "sharded": (["llama-3.1-405b", "--world", "512", "--zero", "3", "--precision", "bf16-master"], 0),
    "frozen": (["gpt2", "--freeze", "transformer.h.*", "--freeze", "*wpe*"], 0),
    "biases alone": (["gpt2", "--freeze", "*weight", "--optimizer", "adafactor"], 0),
    "8 bit": (["gemma-2-2b", "--optimizer", "adamw-8bit", "--precision", "bf16"], 0),
}


@pytest.mark.parametrize("case", CASES)
def test_the_result_fits_its_schema(case):
    words, status = CASES[case]
    made = result(*words, status=status)
    assert ("verdict" in made) == (status == 1)
    assert made == result(*words, status=status), "the same words, the same bytes"


def test_a_reserve_beyond_the_device_is_missing_too():
    made = result("gpt2", "--gpu", "a100-40gb", "--seq", 1024, "--reserve", "40GiB", status=1)
    assert made["missing_bytes"] == made["needed_bytes"] + (40 << 30) - made["device"]["capacity_bytes"]


def test_a_folder_is_not_asked_for_on_the_hub(tmp_path):
    (tmp_path / "some/model").mkdir(parents=True)
    said = plan("some/model", status=4, cwd=tmp_path).stderr
    assert "the folder holds no config.json" in said and "hub may not" not in said


def test_flags_that_need_another_are_named():
    assert "--cache without --seq" in plan("gpt2", "--gpu", "t4", "--mode", "infer", "--cache", 128, status=2).stderr
    assert "N is a whole number from 1" in plan("gpt2", "--gpu", "t4", "--seq", 8, "--checkpoint", "every:0", status=2).stderr


def test_a_search_that_ends_at_its_last_value_says_so(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(SMALL))
    text = plan(tmp_path, "--gpu", "a100-40gb", "--seq", 1, "--fit", "micro-batch").stdout
    assert "\nmicro-batch 4096 FITS with 15 % headroom, the most that --fit tries: a larger one may fit too\n" in text
    assert "LARGEST" not in text


def test_the_verdict_is_a_bound():
    made = result("gpt2-xl", "--gpu", "a100-40gb")
    assert made["at_best"] == "fits" and "verdict" not in made
    assert made["needed_at_least_bytes"] + made["headroom"]["bytes"] == made["device"]["capacity_bytes"]
    assert result("gpt2-xl", "--gpu", "a100-40gb", "--memory", "25GiB")["at_best"] == "tight"
    assert result("gpt2-xl", "--gpu", "a100-40gb", "--memory", "25GiB", "--headroom", "1%")["at_best"] == "fits"
    short = result("gpt2-xl", "--gpu", "a100-40gb", "--memory", "25GiB", "--reserve", "2GiB", status=1)
    assert short["missing_bytes"] == short["needed_at_least_bytes"] - (23 << 30)
    assert "activations" in made["evidence"]["missing"]
    assert "These are states alone" in plan("gpt2-xl").stdout


def test_a_table_of_cards_ends_with_0():
    text = plan("llama-3.1-8b", "--gpu", "all").stdout
    assert "does not fit" in text and "at best" in text


def test_the_gpu_of_the_environment():
    done = subprocess.run([BIN, "plan", "gpt2", "--json"], capture_output=True, text=True, env={**os.environ, "ULLAGE_GPU": "t4"})
    assert json.loads(done.stdout)["device"]["short_name"] == "t4"


def test_a_model_is_a_file_a_folder_a_name_or_stdin(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(SMALL))
    expected = result(tmp_path / "config.json")["model"]["parameters"]
    assert result(tmp_path)["model"]["parameters"] == expected
    assert result("-", input=json.dumps(SMALL))["model"]["parameters"] == expected
    assert result("meta-llama/Llama-3.1-8B")["model"]["parameters"] == result("LLAMA-3.1-8b")["model"]["parameters"]


def test_a_path_comes_before_the_catalogue(tmp_path):
    (tmp_path / "gpt2").mkdir()
    assert result("gpt2", cwd=tmp_path)["model"]["model_type"] == "gpt2"
    (tmp_path / "gpt2" / "config.json").write_text(json.dumps(SMALL))
    assert result("gpt2", cwd=tmp_path)["model"]["model_type"] == "llama"


def test_assumed_and_ignored_fields_are_listed(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({**SMALL, "rope_theta": 1e4, "something": 1}))
    model = result(tmp_path)["model"]
    assert "num_key_value_heads = 4 (num_attention_heads)" in model["assumed"]
    assert model["ignored"] == ["rope_theta", "something"]
    assert result("gpt2")["setup"]["assumed"] == ["mode", "precision", "optimizer"]


REFUSED = {
    "no model": ([], 2, "no model was named"),
    "two models": (["gpt2", "--params", "7B"], 2, "both a model and --params"),
    "a mistyped name": (["lama-3.1-8b"], 2, "did you mean 'llama-3.1-8b'"),
    "a mistyped id": (["meta-lama/Llama-3.1-8B"], 2, "did you mean 'meta-llama/Llama-3.1-8B'"),
    "no such file": (["./nowhere.json"], 4, "no such file"),
    "a precision": (["gpt2", "--precision", "bf17"], 2, "did you mean 'bf16'"),
    "an optimizer": (["gpt2", "--optimizer", "adamx"], 2, "did you mean 'adamw'"),
    "a framework": (["gpt2", "--precision", "bf16", "--framework", "megatron"], 2, "does not keep its states that way"),
    "a pattern": (["gpt2", "--freeze", "model.*"], 2, "no parameter has such a name"),
    "nothing is left": (["llama-3.2-1b", "--freeze", "*weight"], 2, "every parameter is frozen"),
    "nothing is left of a step": (["llama-3.2-1b", "--freeze", "*weight", "--seq", "64", "--gpu", "t4"], 2, "every parameter is frozen"),
    "a pattern without names": (["--params", "7B", "--freeze", "*"], 2, "has no names"),
    "a mode": (["gpt2", "--mode", "eval"], 2, "one of train, infer"),
    "an optimizer in inference": (["gpt2", "--mode", "infer", "--optimizer", "sgd"], 2, "inference has no such thing"),
    "shapes": (["--params", "7B", "--optimizer", "adafactor"], 2, "depends on the shapes"),
    "a master copy": (["gpt2", "--precision", "bf16-master", "--optimizer", "adamw-8bit"], 2, "adamw or sgd"),
    "a stage": (["gpt2", "--world", "2", "--zero", "4"], 2, "0, 1, 2 or 3"),
    "Megatron's stages": (["gpt2", "--world", "2", "--zero", "2", "--precision", "fp16-master", "--framework", "megatron"], 2, "distributed optimizer"),
    "ranks": (["gpt2", "--zero", "1"], 2, "--world N as well"),
    "no ranks": (["gpt2", "--world", "0"], 2, "not a number of ranks"),
    "a GPU": (["gpt2", "--gpu", "h100-80gb,t5"], 2, "unknown GPU"),
    "memory of nothing": (["gpt2", "--memory", "40GiB"], 2, "of which GPU?"),
    "less than the context": (["gpt2", "--gpu", "t4", "--memory", "100MiB"], 2, "smaller than its context"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mistakes_say_what_is_allowed(case):
    words, status, message = REFUSED[case]
    assert message in plan(*words, status=status).stderr


@pytest.mark.parametrize("count", ["0", "-1", "7Q", "", "1e9", "nan", "infB", "99999999T", "7 B x", "."])
def test_counts_that_are_none(count):
    assert "not a number of parameters" in plan(f"--params={count}", status=2).stderr


@pytest.mark.parametrize("count, expected", [("7B", 7e9), ("1.3b", 1.3e9), ("350M", 350e6), ("10k", 1e4), ("6738415616", 6738415616)])
def test_counts(count, expected):
    assert result("--params", count)["model"]["parameters"] == expected


def test_a_bad_file_names_the_field_and_the_place(tmp_path):
    for text, message in (("{", "not JSON"), ("[]", "not a JSON object"), (json.dumps({**SMALL, "hidden_size": -1}), "hidden_size: -1"),
                          (json.dumps({**SMALL, "model_type": "lama"}), "did you mean 'llama'")):
        (tmp_path / "config.json").write_text(text)
        stderr = plan(tmp_path, status=3).stderr
        assert message in stderr and str(tmp_path) in stderr
