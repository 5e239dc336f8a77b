# SPDX-License-Identifier: Apache-2.0
"""The planner's step program against the reference loop on the virtual GPU: every request and its end, one by one, and the peaks.

Some are drawn (the same each time), some are cases that once differed. `bench/accuracy/accuracy.py` draws new ones.
"""
import importlib.util
import json
import pathlib
import subprocess
import sys

import pytest
from conftest import ROOT, WORKSPACES_STAY, ullage

sys.path.insert(0, str(ROOT / "bench/accuracy"))
import request_lists  # noqa: E402
from bare_runs import Runner  # noqa: E402
from drawn import drawn  # noqa: E402

pytestmark = pytest.mark.skipif(not WORKSPACES_STAY, reason="the plan is of the pinned torch")
GPUS = ("a100-40gb", "t4", "h100-80gb")  # each is a process that imports PyTorch
SEED, COUNT = 20260, 30
SMALL = {"vocab_size": 1000, "hidden_size": 256, "intermediate_size": 520, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 4, "pad_token_id": 0}
OPT = {"model_type": "opt", "vocab_size": 1000, "hidden_size": 256, "ffn_dim": 520, "num_hidden_layers": 2, "num_attention_heads": 4}


def case(config, *flags, gpu="a100-40gb", batch=2, tokens=256):
    """Of a llama-like family, unless the configuration says all."""
    whole = config if "vocab_size" in config else {**SMALL, "model_type": "llama", **config}
    precision = () if "--precision" in flags else ("--precision", "bf16-autocast")
    return {"gpu": gpu, "config": whole, "flags": [*precision, *flags, "--micro-batch", str(batch), "--seq", str(tokens)]}


def heads(width):
    return {"hidden_size": 4 * width, "head_dim": width}


FIXED = {
    "math attention in bf16 with dropout": case({"attention_dropout": 0.1}, "--precision", "bf16", gpu="t4"),
    "math attention in fp32 with dropout": case({"attention_dropout": 0.1, "num_key_value_heads": 2}, "--precision", "fp32"),
    "keys split in flash attention": case({}, "--precision", "bf16", batch=1, tokens=777),
    "OPT with norms after": case({**OPT, "do_layer_norm_before": False}),
    "OPT with a narrow embedding": case({**OPT, "word_embed_proj_dim": 128}, "--attention", "eager"),
    "Phi-3 with full rotation": case({"model_type": "phi3", "partial_rotary_factor": 1.0}),
    "Gemma 2: two masks and checkpoints": case({"model_type": "gemma2", "sliding_window": 128, "head_dim": 64}, "--attention", "eager",
                                               "--checkpoint", "full"),
    "a sorted gradient of the embedding": case({}, batch=4, tokens=1024),
    "one sequence": case({}, batch=1),
    "two micro batches": case({}, "--accumulate", "2"),
    "two micro batches and checkpoints": case({"model_type": "qwen3"}, "--accumulate", "2", "--checkpoint", "full", "--precision", "fp16-autocast"),
    **{f"efficient attention in fp32, heads of {width}, {gpu}": case(heads(width), "--precision", "fp32", gpu=gpu)
       for width in (64, 96, 160) for gpu in ("a100-40gb", "t4")},
    "a window and SDPA": case({"model_type": "mistral", "sliding_window": 100}),
    "a window and SDPA, rows that are padded": case({"model_type": "mistral", "sliding_window": 100, "num_key_value_heads": 2}, tokens=300 + 1),
    "a window and SDPA in fp32": case({"model_type": "mistral", "sliding_window": 100, **heads(96)}, "--precision", "fp32", gpu="t4"),
    "cuDNN's attention": case({"num_key_value_heads": 2}, gpu="h100-80gb"),
    "a window and SDPA on Hopper": case({"model_type": "mistral", "sliding_window": 100}, gpu="h100-80gb"),
    **{f"inference of {family}": case({"model_type": family} if family != "opt" else OPT, "--mode", "infer", *flags, gpu=gpu)
       for family, gpu, *flags in (("llama", "a100-40gb"), ("gpt_neox", "t4", "--precision", "fp16-autocast"),
                                   ("opt", "h100-80gb", "--attention", "eager"), ("qwen3", "h100-80gb", "--precision", "bf16"))},
    **{f"Adafactor, {precision}": case({"num_key_value_heads": 2}, "--optimizer", "adafactor", "--precision", precision)
       for precision in ("bf16", "fp32", "fp16-autocast")},
    **{f"padding, {name}": case(config, "--padding", *flags, gpu=gpu, batch=batch, tokens=250) for name, config, gpu, batch, *flags in (
        ("SDPA", {"num_key_value_heads": 2}, "a100-40gb", 3), ("one sequence", {}, "a100-40gb", 1), ("OPT", OPT, "a100-40gb", 1),
        ("eager and OPT", OPT, "t4", 3, "--attention", "eager"), ("the fallback", {"num_key_value_heads": 2}, "t4", 2, "--precision", "bf16"),
        ("cuDNN", {"attention_dropout": 0.1}, "h100-80gb", 2), ("inference", {"model_type": "qwen3"}, "h100-80gb", 5, "--mode", "infer"),
        ("a window", {"model_type": "mistral", "sliding_window": 100}, "a100-40gb", 3, "--attention", "eager"),
        ("checkpoints", {"model_type": "mistral", "sliding_window": 100}, "h100-80gb", 2, "--checkpoint", "full", "--accumulate", "2"))},
    "efficient attention of many heads that sums keys": case({**heads(128), "num_hidden_layers": 1}, "--padding", gpu="l4", batch=8, tokens=777),
    "a window and checkpoints": case({"model_type": "mistral", "sliding_window": 100}, "--checkpoint", "full", tokens=301),
    **{f"FlashAttention alone, {name}": case(config, "--attention", "flash", *flags, gpu=gpu, tokens=301) for name, config, gpu, *flags in (
        ("A100", {"num_key_value_heads": 2}, "a100-40gb"), ("H100", {"attention_dropout": 0.1}, "h100-80gb", "--checkpoint", "full"),
        ("heads of 224", heads(224), "a100-40gb"), ("heads of 36", heads(36), "h100-80gb"))},
    "heads of 36": case(heads(36), tokens=301),
    **{f"a KV cache of {name}": case(config, "--mode", "infer", "--cache", str(length + 8), *flags, gpu=gpu, batch=batch, tokens=length)
       for name, config, gpu, batch, length, *flags in (
        ("Llama", {"num_key_value_heads": 2}, "a100-40gb", 3, 93), ("GPT-NeoX", {"model_type": "gpt_neox"}, "t4", 1, 93, "--precision", "bf16"),
        ("OPT", OPT, "h100-80gb", 2, 93, "--attention", "eager"), ("Phi-3", {"model_type": "phi3"}, "h100-80gb", 1, 600, "--precision", "bf16"),
        ("Mistral, past its window", {"model_type": "mistral", "sliding_window": 64, "num_key_value_heads": 2}, "a100-40gb", 2, 93),
        ("Mistral, into its window", {"model_type": "mistral", "sliding_window": 97, "num_key_value_heads": 2}, "t4", 1, 93),
        ("Gemma 2", {"model_type": "gemma2", "sliding_window": 64}, "a100-40gb", 2, 93, "--attention", "eager"),
        ("FlashAttention alone", {"num_key_value_heads": 1}, "a100-40gb", 1, 600, "--attention", "flash", "--precision", "bf16"),
        ("a large vocabulary", {**SMALL, "model_type": "llama", "vocab_size": 200000}, "h100-80gb", 1, 100, "--precision", "bf16"))},
    **{f"a KV cache and padding, {name}": case(config, "--mode", "infer", "--padding", "--cache", str(length + 8), *flags, gpu=gpu, batch=batch,
                                               tokens=length)
       for name, config, gpu, batch, length, *flags in (
        ("Llama", {"num_key_value_heads": 2}, "a100-40gb", 3, 93), ("one sequence", {}, "a100-40gb", 1, 93, "--precision", "bf16"),
        ("GPT-NeoX", {"model_type": "gpt_neox"}, "t4", 2, 93, "--precision", "fp16-autocast"), ("OPT", OPT, "h100-80gb", 2, 93),
        ("OPT, eager", OPT, "a100-40gb", 1, 93, "--attention", "eager"), ("Qwen3", {"model_type": "qwen3"}, "h100-80gb", 3, 93, "--precision", "bf16"),
        ("Mistral, before its window", {"model_type": "mistral", "sliding_window": 128}, "a100-40gb", 2, 93),
        ("Gemma 2", {"model_type": "gemma2", "sliding_window": 128}, "a100-40gb", 2, 93, "--attention", "eager"),
        ("the fallback", {"num_key_value_heads": 2}, "t4", 2, 93, "--precision", "bf16"))},
    "for each parameter a kernel": case({}, "--optimizer", "adamw-forloop"),
}


def small(seed, index):
    """A drawn case with as few layers as show what is between layers."""
    made = drawn(seed, index, GPUS, "small")
    layers = "n_layer" if made["family"] == "gpt2" else "num_hidden_layers"
    made["config"][layers] = min(made["config"][layers], 2)
    return made


CASES = {**{f"drawn {index}": small(SEED, index) for index in range(COUNT)}, **FIXED}


def lowering_driver():
    return str(pathlib.Path(ullage()).resolve().parent / "lowering_driver")


def driver(case, config, *more):
    words = [lowering_driver(), str(config), *case["flags"], "--gpu", case["gpu"], *more]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def runner():
    """That of a GPU; there is one at a time."""
    kept = {}

    def of(gpu):
        if gpu not in kept:
            close()
            kept[gpu] = Runner(ullage(), gpu)
        return kept[gpu]

    def close():
        for one in kept.values():
            one.__exit__()
        kept.clear()

    yield of
    close()


@pytest.mark.parametrize("refused, real, said", [
    (case({"model_type": "gemma2"}, "--attention", "sdpa"), "does not support an attention implementation", "transformers refuses SDPA"),
    *((case(config, "--attention", "flash", *flags, gpu=gpu), "No available kernel", "PyTorch has no FlashAttention for this")
      for config, gpu, *flags in (({}, "a100-40gb", "--precision", "fp32"), ({}, "a100-40gb", "--padding"), ({}, "t4"), (heads(264), "a100-40gb"),
                                  ({"model_type": "mistral", "sliding_window": 256}, "a100-40gb"), (heads(224), "l4")))])
def test_what_the_run_refuses_is_refused(refused, real, said, runner, tmp_path):
    assert real in runner(refused["gpu"]).run(refused["config"], refused["flags"])["error"]
    config = tmp_path / "config.json"
    config.write_text(json.dumps(refused["config"]))
    done = subprocess.run([lowering_driver(), str(config), *refused["flags"], "--gpu", refused["gpu"]], capture_output=True, text=True)
    assert done.returncode == 1 and said in done.stderr


@pytest.mark.skipif(not importlib.util.find_spec("bitsandbytes"), reason="bitsandbytes is not installed")
@pytest.mark.parametrize("precision", ("bf16", "fp16-autocast"))
def test_bitsandbytes(precision, runner, tmp_path):
    compare(case({}, "--optimizer", "adamw-8bit", "--precision", precision), runner, tmp_path)


@pytest.mark.parametrize("name", sorted(CASES, key=lambda name: CASES[name]["gpu"]))
def test_requests_and_peaks_are_equal(name, runner, tmp_path):
    compare(CASES[name], runner, tmp_path)


def compare(chosen, runner, tmp_path):
    events, config = tmp_path / "events", tmp_path / "config.json"
    config.write_text(json.dumps(chosen["config"]))
    real = runner(chosen["gpu"]).run(chosen["config"], chosen["flags"], events)
    assert "error" not in real, real
    planned = driver(chosen, config)
    assert planned.count("\na ") > 200, "a program this short compares little"
    assert not request_lists.first_difference(events.read_text().splitlines(), planned.splitlines()), chosen
    peaks = tuple(map(int, driver(chosen, config, "--peaks", "1").split()))
    assert peaks == (real["allocated"], real["reserved"]), chosen


def test_the_drawn_cases_are_of_every_kind():
    drawn_cases = [case for name, case in CASES.items() if name.startswith("drawn")]
    for what, count in (("family", 9), ("gpu", 3), ("precision", 5), ("attention", 2)):
        assert len({case[what] for case in drawn_cases}) == count, what
    words = {word for case in drawn_cases for word in case["flags"]}
    assert {"full", "adamw", "adamw-fused", "adamw-forloop", "sgd"} <= words


def test_a_difference_is_found():
    real = ["a 0 512", "a 1 1024", "f 0", "f 1"]
    assert request_lists.first_difference(real, ["a 7 512 x", "a 8 1024 y", "f 8", "f 7"]) is None
    assert "event 1" in request_lists.first_difference(real, ["a 0 512 x", "a 1 512 y"])
    assert "nothing" in request_lists.first_difference([*real, "a 2 8"], real)
    assert "the end of request 0" in request_lists.first_difference(["a 0 512", "f 0", "a 1 512"], ["a 0 512", "a 1 512"])
