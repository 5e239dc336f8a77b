# SPDX-License-Identifier: Apache-2.0
"""`ullage plan`: FLOPs of a step, its time, and what a training comes to."""
import json
import os
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = os.environ.get("ULLAGE_BIN", "")
pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
SCHEMA = json.loads((ROOT / "docs/schemas/plan.schema.json").read_text(encoding="utf-8"))
STEP = ["gpt2", "--gpu", "a100-40gb", "--micro-batch", "2", "--seq", "256"]
LAYERS, HIDDEN, VOCABULARY, TOKENS = 12, 768, 50257, 512


def plan(*words, status=0):
    variables = {**os.environ, "HF_HUB_OFFLINE": "1"}
    variables.pop("ULLAGE_GPU", None)
    done = subprocess.run([BIN, "plan", *map(str, words)], capture_output=True, text=True, timeout=60, env=variables)
    assert done.returncode == status, done.stdout + done.stderr
    return done


def result(*words):
    made = json.loads(plan(*words, "--json").stdout)
    jsonschema.validate(made, SCHEMA, cls=jsonschema.Draft202012Validator)
    return made


def test_a_step_has_flops_and_a_time():
    made = result(*STEP, "--tokens", "1B", "--flops-rate", "100TFLOP/s", "--checkpoint", "full")
    assert {"flops", "time", "envelope"} <= set(made) and "training" in made["time"]
    without = result(*STEP)
    assert {"flops", "time"} <= set(without) and "envelope" not in without and "training" not in without["time"]
    assert not {"flops", "time"} & set(result("gpt2", "--gpu", "a100-40gb"))


def test_flops_of_gpt2_by_hand():
    flops = result(*STEP)["flops"]
    weights = LAYERS * 12 * HIDDEN * HIDDEN + VOCABULARY * HIDDEN  # of a layer 3 + 1 + 4 + 4 matrices; the head
    scores = 2 * LAYERS * 2 * 256 * 256 * HIDDEN  # two sequences, every head at once
    forward, backward = flops["passes"]
    assert forward == {"name": "forward", "matmul": 2 * weights * TOKENS, "attention": 2 * scores}
    assert backward == {"name": "backward", "matmul": 4 * weights * TOKENS, "attention": 5 * scores}
    assert flops["total"] == 6 * weights * TOKENS + 7 * scores


def test_the_rule_of_thumb_and_what_lies_between():
    made = result(*STEP, "--checkpoint", "full")
    rule = made["flops"]["rule_of_thumb"]
    assert rule["flops"] == 6 * made["model"]["parameters"] * TOKENS
    assert sum(rule.values()) == made["flops"]["total"]
    assert rule["recomputed"] == sum(p["matmul"] + p["attention"] for p in made["flops"]["passes"] if p["name"] == "recomputed") > 0
    assert rule["not_multiplied"] < 0 and rule["not_trained"] == 0
    frozen = result(*STEP, "--freeze", "transformer.h.0.*")["flops"]["rule_of_thumb"]
    assert frozen["not_trained"] < 0 and frozen["recomputed"] == 0


def test_accumulated_micro_batches_add_up():
    assert result(*STEP, "--accumulate", "3")["flops"]["total"] == 3 * result(*STEP)["flops"]["total"]


def test_the_time_adds_up_and_has_an_interval():
    time = result(*STEP)["time"]
    assert time["low"] < time["seconds"] < time["high"]
    assert sum(time["bounds"].values()) == pytest.approx(time["seconds"])
    assert sum(time["passes"].values()) == pytest.approx(time["seconds"])
    assert sum(row["seconds"] for row in time["operators"]) <= time["seconds"] * (1 + 1e-9)
    assert time["bound_by"] == max(time["bounds"], key=time["bounds"].get).removesuffix("_seconds")
    assert time["tokens_per_second"] == pytest.approx(TOKENS / time["seconds"])
    assert 0 < time["mfu"] < 1


def test_a_small_step_is_bound_by_launches_and_a_large_one_by_compute():
    small = result("gpt2", "--gpu", "h100-80gb", "--seq", "16", "--optimizer", "adamw-forloop")
    large = result("llama-3.1-8b", "--gpu", "h200", "--seq", "8192", "--precision", "bf16", "--checkpoint", "full")
    assert small["time"]["bound_by"] == "launch" and large["time"]["bound_by"] == "compute"


def test_a_faster_gpu_takes_less_time():
    seconds = {gpu: result("gpt2-xl", "--gpu", gpu, "--seq", "1024", "--checkpoint", "full") for gpu in ("a100-80gb", "h100-80gb", "b200")}
    times = [made["time"]["seconds"] for made in seconds.values()]
    assert times == sorted(times, reverse=True)


def test_a_type_without_units_is_said_to_be_emulated():
    words = ["gpt2", "--gpu", "t4", "--seq", "128"]
    assert result(*words, "--precision", "bf16-autocast")["time"]["emulated"]
    assert not result(*words, "--precision", "fp16-autocast")["time"]["emulated"]
    assert "no matrix units" in plan(*words, "--precision", "bf16-autocast").stdout


def test_hours_of_a_training():
    made = result(*STEP, "--tokens", "1B")
    training = made["time"]["training"]
    assert training["seconds"] == pytest.approx(1e9 / made["time"]["tokens_per_second"])
    assert training["gpu_hours"] == pytest.approx(training["seconds"] / 3600)
    assert training["low"] < training["seconds"] < training["high"]
    shown = re.search(r"1B tokens on one such GPU: .*; (\S+) GPU-hours \((\S+) to (\S+)\)\n", plan(*STEP, "--tokens", "1B").stdout)
    assert [float(number) for number in shown.groups()] == pytest.approx([training["seconds"] / 3600, training["low"] / 3600, training["high"] / 3600], rel=0.01)


def test_the_back_of_an_envelope_needs_no_gpu():
    envelope = result("--params", "175B", "--tokens", "300B", "--flops-rate", "143PFLOP/s")["envelope"]
    assert envelope["flops"] == 6 * 175e9 * 300e9
    assert envelope["seconds"] == pytest.approx(envelope["flops"] / 143e15)
    assert "seconds" not in result("--params", "7B", "--tokens", "2T")["envelope"]
    assert "envelope" not in result("--params", "7B")


def test_a_table_of_gpus_has_step_times():
    text = plan("gpt2", "--gpu", "t4,h100-80gb", "--seq", "256").stdout
    assert "step time" in text and text.count("~") == 2
    points = result("gpt2", "--gpu", "t4,h100-80gb", "--seq", "256")["points"]
    assert all({"flops", "time"} <= set(point) for point in points)


def test_tables_have_gpu_hours_where_tokens_are_given():
    words = ("gpt2", "--gpu", "t4,h100-80gb", "--seq", "256")
    shown, points = plan(*words, "--tokens", "1B").stdout, result(*words, "--tokens", "1B")["points"]
    rows = [re.search(rf"^{point['device']['short_name']} .*  ~(\S+)  fits$", shown, re.M)[1] for point in points]
    assert [float(hours) for hours in rows] == pytest.approx([point["time"]["training"]["gpu_hours"] for point in points], rel=0.01)
    assert "GPU-hours" not in plan(*words).stdout
    assert "not planned" in plan("gpt2", "--gpu", "t4", "--seq", "512,2048", "--tokens", "1B").stdout


def test_one_token_is_one():
    assert "FLOPS of a step of 1 token, 2 for" in plan("gpt2", "--gpu", "t4", "--seq", "1").stdout


REFUSED = {
    "tokens": (["gpt2", "--tokens", "many"], "not a number of tokens"),
    "no tokens": (["gpt2", "--tokens", "0"], "not a number of tokens"),
    "a rate": (["gpt2", "--tokens", "1B", "--flops-rate", "fast"], "not a rate"),
    "a rate of bytes": (["gpt2", "--tokens", "1B", "--flops-rate", "2TB/s"], "not a rate"),
    "a rate alone": (["gpt2", "--flops-rate", "1PFLOP/s"], "how many tokens?"),
    "inference": (["gpt2", "--mode", "infer", "--tokens", "1B"], "inference has no such thing"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mistakes_say_what_is_allowed(case):
    words, message = REFUSED[case]
    assert message in plan(*words, status=2).stderr


def test_a_generation_has_flops_and_a_time_by_token():
    words = ("llama-3.2-1b", "--gpu", "h100-80gb", "--mode", "infer", "--precision", "bf16", "--micro-batch", 4, "--seq", 512)
    made = result(*words, "--cache", 520)["generation"]
    prefill, decode = made["prefill"], made["decode"]
    assert (prefill["tokens"], decode["tokens"], decode["passes"]) == (4 * 512, 4 * 8, 8)
    alone = result(*words, "--cache", 512)["generation"]
    assert alone["prefill"] == prefill and "decode" not in alone
    head, rest = 128256 * 2048, 1235814400 - 128256 * 2048 - 33 * 2048  # norms are not multiplied; one logit a sequence
    assert prefill["flops"]["matmul"] == 2 * 4 * (512 * rest + head)
    assert decode["flops"]["matmul"] == 2 * 4 * 8 * (rest + head)
    weights, cache = 2 * 1235814400, 2 * 16 * 8 * 64 * 2 * 512 * 4
    assert decode["bytes"] > 8 * (weights + 2 * cache)  # every token copies the cache
    bandwidth = 3.35e12
    assert 8 * weights / bandwidth < decode["device_seconds"] < decode["time"]["seconds"] < 8 * 0.1
    assert decode["bound_by"] == "launch" and decode["time"]["low"] < decode["time"]["seconds"] < decode["time"]["high"]
    assert decode["tokens_per_second"] == pytest.approx(32 / decode["time"]["seconds"])
    assert made["last_token"]["seconds"] >= 0.999 * decode["time"]["seconds"] / 8
    assert "tokens/s" in plan(*words, "--cache", 520).stdout


def test_slow_memory_bounds_a_token():
    words = ("llama-3.2-1b", "--gpu", "t4", "--mode", "infer", "--precision", "fp32", "--micro-batch", 8, "--seq", 512, "--cache", 516)
    assert result(*words)["generation"]["decode"]["bound_by"] == "memory"
    table = plan("llama-3.2-1b", "--gpu", "t4,l4", *words[3:]).stdout
    assert "last token" in table and "step time" not in table


def test_the_rule_of_thumb_of_inference_has_no_backward_pass():
    flops = result("gpt2", "--gpu", "a100-40gb", "--mode", "infer", "--seq", 256)["flops"]
    assert flops["rule_of_thumb"]["flops"] == 2 * 124439808 * 256 and flops["rule_of_thumb"]["not_trained"] == 0
    assert sum(value for name, value in flops["rule_of_thumb"].items()) == flops["total"]
