# SPDX-License-Identifier: Apache-2.0
"""FLOPs of the model over what the device can do: counted by the rule, given by the script, or not known."""
import json
import sys

import pytest
from conftest import ullage
from recordings import of_kind, only_run, result_of, run

GPT = """
import json, sys
import torch, transformers, ullage
STEPS, SETTINGS, CHANGE = 6, dict(SETTINGS_HERE), "CHANGE_HERE"
config = transformers.GPT2Config(n_layer=2, n_embd=128, n_head=4, n_positions=64, vocab_size=1000, tie_word_embeddings=True)
model = transformers.GPT2LMHeadModel(config).to("cuda").train()
exec(CHANGE)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad])
with ullage.record("gpt", model=model, optimizer=optimizer, interval=0, **SETTINGS) as run:
    for step in range(STEPS):
        if step == 3: run.metrics()
        ids = torch.zeros(8, 64, dtype=torch.long, device="cuda")
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(input_ids=ids, labels=ids, use_cache=False).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        run.tokens(ids.numel(), effective=ids.numel() // 4 * 3)
    print(json.dumps(run.metrics()))
    print(sum(p.numel() for p in model.parameters()))
"""
RULE = "6 N + 12 layers heads head_dim sequence"


def gpt(folder, change="pass", **settings):
    """(metrics, parameters, throughput of the result) of the training."""
    script = GPT.replace("SETTINGS_HERE", repr(settings)).replace("CHANGE_HERE", change)
    metrics, parameters = run(folder, sys.executable, "-c", script).stdout.splitlines()
    return json.loads(metrics), int(parameters), result_of(folder, only_run(folder))["throughput"]


def test_it_is_counted_by_the_rule_of_palm(tmp_path):
    metrics, parameters, throughput = gpt(tmp_path)
    counted = 6 * (parameters - 64 * 128) + 12 * 2 * 128 * 64  # positions are looked up; the tied words are multiplied with
    assert throughput["flops_per_token"] == counted and throughput["flops_known_by"] == RULE
    assert throughput["peak_flops_per_second"] == 312e12 and throughput["peak_known_by"] == "a100-80gb, bf16, dense"
    assert throughput["flops_per_second"] == pytest.approx(counted * throughput["tokens_per_second"])
    assert throughput["mfu"] == pytest.approx(throughput["flops_per_second"] / 312e12)
    assert throughput["padding"] == 0.25 and metrics["padding(%)"] == 25
    assert metrics["tflops"] == pytest.approx(metrics["throughput(tps)"] * counted / 1e12)
    assert metrics["mfu(%)"] == pytest.approx(metrics["tflops"] / 3.12)


def test_it_is_a_metric_with_a_budget(tmp_path):
    _, _, throughput = gpt(tmp_path)
    words = [ullage(), "check", only_run(tmp_path), "--budget", "mfu=99%,padding=25%", "--json"]
    mfu, padding = json.loads(run(tmp_path, *words, check=False).stdout)["checks"]
    assert mfu["status"] == "over" and mfu["unit"] == "percent" and mfu["value"] == round(1e4 * throughput["mfu"])
    assert padding["status"] == "ok" and padding["value"] == 2500
    shown = run(tmp_path, ullage(), "check", only_run(tmp_path), "--budget", "mfu=99%", check=False).stdout
    assert "<= " not in shown and "99.00 %" in shown and "UNDER by" in shown


def test_what_the_script_gives_goes_first(tmp_path):
    metrics, _, throughput = gpt(tmp_path, flops_per_token=1e6, peak_flops=1e9)
    assert throughput["flops_per_token"] == 1_000_000 and throughput["flops_known_by"] == "given by the script"
    assert throughput["peak_flops_per_second"] == 1e9 and throughput["peak_known_by"] == "given by the script"
    assert metrics["mfu(%)"] == pytest.approx(100 * 1e6 * metrics["throughput(tps)"] / 1e9)


@pytest.mark.parametrize("change", ["model.transformer.wte.requires_grad_(False)",                  # its backward is shorter
                                    "other = torch.nn.Linear(8, 8).cuda(); model.parameters = lambda p=model.parameters, **k: p(**k)\\n"
                                    "whole = torch.optim.AdamW; torch.optim.AdamW = lambda ps: whole([*ps, *other.parameters()])",
                                    "model.config.num_local_experts = 8", "model.config.sliding_window = 32"])
def test_where_the_rule_is_not_true_nothing_is_said(change, tmp_path):
    metrics, _, throughput = gpt(tmp_path, change)
    assert "flops_per_token" not in throughput and "mfu" not in throughput and throughput["tokens_per_second"] > 0
    assert "tflops" not in metrics and "mfu(%)" not in metrics and "throughput(tps)" in metrics


def test_numbers_that_are_none_are_a_problem_and_no_harm(tmp_path):
    metrics, _, throughput = gpt(tmp_path, flops_per_token="many", peak_flops=-1.0)
    assert throughput["flops_known_by"] == RULE and "mfu(%)" in metrics
    assert of_kind(only_run(tmp_path), "end")[0]["problems"] == 2
