# SPDX-License-Identifier: Apache-2.0
"""The FLOPs of a step program's products and attention, exactly, against torch.utils.flop_counter.FlopCounterMode around a
training step of the reference loop under the stand-in libraries."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

from conftest import ROOT, ullage

SMALL = {"vocab_size": 300, "hidden_size": 128, "intermediate_size": 192, "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "pad_token_id": 0}
CONFIGS = {
    "gpt2": {"vocab_size": 300, "n_embd": 128, "n_head": 4, "n_layer": 2, "n_positions": 128},
    "opt": {"vocab_size": 300, "hidden_size": 128, "ffn_dim": 192, "num_hidden_layers": 2, "num_attention_heads": 4,
            "word_embed_proj_dim": 64, "do_layer_norm_before": False, "max_position_embeddings": 128},
    "gpt_neox": {"vocab_size": 300, "hidden_size": 128, "intermediate_size": 192, "num_hidden_layers": 2, "num_attention_heads": 4},
    "llama": {**SMALL, "attention_bias": True, "tie_word_embeddings": True},
    "mistral": {**SMALL, "head_dim": 32},
    "qwen2": SMALL,
    "qwen3": {**SMALL, "head_dim": 64},
    "gemma2": {**SMALL, "head_dim": 64},
    "phi3": SMALL,
}
#: family, precision, attention, checkpoint, GPU: every kernel of attention comes up (flash, efficient, cudnn, math, eager)
CASES = (
    ("gpt2", "bf16-autocast", "sdpa", "none", "a100-80gb"),
    ("gpt2", "fp32", "eager", "full", "a100-80gb"),
    ("opt", "bf16", "sdpa", "full", "h100-80gb"),
    ("gpt_neox", "fp16-autocast", "sdpa", "none", "t4"),
    ("llama", "bf16", "sdpa", "full", "a100-80gb"),
    ("llama", "bf16-autocast", "sdpa", "none", "t4"),
    ("mistral", "tf32", "sdpa", "none", "a100-80gb"),
    ("qwen2", "bf16-autocast", "sdpa", "full", "h100-80gb"),
    ("qwen3", "fp32", "eager", "none", "a100-80gb"),
    ("gemma2", "bf16-autocast", "eager", "full", "a100-80gb"),
    ("phi3", "fp16-autocast", "sdpa", "none", "a100-80gb"),
)
#: inference, and generations: a pass over 96 tokens, the same and ten tokens one by one
GENERATIONS = tuple((family, precision, attention, "none", gpu, "--mode", "infer", *cache)
                    for family, precision, attention, gpu in (
                        ("gpt2", "bf16-autocast", "sdpa", "a100-80gb"), ("opt", "fp32", "eager", "a100-80gb"), ("llama", "bf16", "sdpa", "a100-80gb"),
                        ("gemma2", "bf16", "eager", "a100-80gb"), ("gpt_neox", "fp16-autocast", "sdpa", "t4"), ("qwen2", "bf16", "sdpa", "h100-80gb"))
                    for cache in ((), ("--cache", "96"), ("--cache", "106")))
ATTENTION = "_scaled_dot_product"


@pytest.fixture(scope="module")
def profiles(tmp_path_factory):
    """GPU -> the description of it that the stand-in libraries read."""
    found = {}
    for gpu in {case[4] for case in CASES}:
        folder = tmp_path_factory.mktemp("profile") / gpu
        subprocess.run([ullage(), "rehearse", "--gpu", gpu, "--out", str(folder), "--", "env"], capture_output=True, timeout=60)
        lines = (folder / "stdout.log").read_text(errors="replace").splitlines()
        found[gpu] = next(line.split("=", 1)[1] for line in lines if line.startswith("ULLAGE_VGPU_PROFILE="))
    return found


def flags_of(case):
    _, precision, attention, checkpoint, _, *more = case
    return ["--precision", precision, "--attention", attention, "--checkpoint", checkpoint, "--micro-batch", "2", "--seq", "96",
            "--optimizer", "sgd", *more]


def config_of(case):
    return {"model_type": case[0], **CONFIGS[case[0]]}


def counted_by_torch(cases, profiles):
    """PyTorch's count of each case, of one GPU: PyTorch asks once what the device can do."""
    libraries = sorted((pathlib.Path(ullage()).resolve().parent.parent / "lib/ullage/cuda13").iterdir())
    environment = {**os.environ, "LD_PRELOAD": ":".join(map(str, libraries)), "ULLAGE_VGPU_PROFILE": profiles[cases[0][4]],
                   "PYTHONPATH": str(ROOT / "bench/accuracy"), "HF_HUB_OFFLINE": "1"}
    lines = "".join(json.dumps({"config": config_of(case), "flags": flags_of(case), "profile": profiles[case[4]], "flops": True}) + "\n"
                    for case in cases)
    done = subprocess.run([sys.executable, str(ROOT / "bench/accuracy/run_cases.py")], input=lines, env=environment, capture_output=True,
                          text=True, timeout=300)
    results = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert len(results) == len(cases), done.stderr[-3000:]
    return results


def planned(case, folder):
    """FLOPs of products and of attention in the lowered program, by class."""
    path = folder / "config.json"
    path.write_text(json.dumps(config_of(case)))
    driver = pathlib.Path(ullage()).resolve().parent / "lowering_driver"
    done = subprocess.run([str(driver), str(path), *flags_of(case), "--gpu", case[4], "--work", "all" if "--cache" in case else "yes"], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    totals = {"matmul": 0, "attention": 0}
    for line in done.stdout.splitlines():
        _, kind, flops, *_ = line.split()
        totals[kind] = totals.get(kind, 0) + int(flops)
    return totals


def real_counts(all_cases, profiles):
    """(case, FLOPs by class, names of the kernels) of each."""
    for gpu in profiles:
        cases = [case for case in all_cases if case[4] == gpu]
        for case, result in zip(cases, counted_by_torch(cases, profiles) if cases else (), strict=True):
            assert "flops" in result, (case, result)
            real = {"matmul": 0, "attention": 0}
            for name, flops in result["flops"].items():
                real["attention" if ATTENTION in name else "matmul"] += flops
            yield case, real, {name.split(".")[-1] for name in result["flops"]}


def test_flops_of_generations_are_those_that_pytorch_counts(profiles, tmp_path):
    counts = {case: real for case, real, _ in real_counts(GENERATIONS, profiles)}
    assert len(counts) == len(GENERATIONS)
    for case, real in counts.items():
        assert sum(real.values()) > 0
        mine = planned(case, tmp_path)
        assert {kind: mine[kind] for kind in real} == real, case
    for case in (case for case in GENERATIONS if case[-1] == "106"):
        prefill, whole = (sum(counts[(*case[:-1], cache)].values()) for cache in ("96", "106"))
        assert 0 < whole - prefill < prefill, case


def test_flops_are_those_that_pytorch_counts(profiles, tmp_path):
    kernels = set()
    for case, real, names in real_counts(CASES, profiles):
        kernels |= names
        mine = planned(case, tmp_path)
        assert {kind: mine[kind] for kind in real} == real, (case, names)
        assert all(flops == 0 for kind, flops in mine.items() if kind not in real), (case, mine)
    assert {f"{ATTENTION}_{name}_attention_backward" for name in ("flash", "efficient", "cudnn")} <= kernels, kernels
