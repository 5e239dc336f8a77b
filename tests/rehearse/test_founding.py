# SPDX-License-Identifier: Apache-2.0
"""The founding example to the byte, on the reference stack and an A100 with 40 GB."""
import json
import subprocess
import sys

import pytest
from conftest import ROOT, WORKSPACES_STAY, ullage

SCRIPT = ROOT / "examples" / "founding_example.py"
MICRO_BATCH_4 = ["--micro-batch", "4", "--sequence", "1024"]


def by_torch(reference, newest):
    """What the reference stack needs, and what torch 2.15 does (docs/newest_torch.md)."""
    return reference if WORKSPACES_STAY else newest


def founding(rehearse, *arguments):
    return rehearse(command=[sys.executable, str(SCRIPT), *arguments], gpu="a100-40gb", check=False)


def test_eager_attention_does_not_fit(rehearse):
    run = founding(rehearse, "--attention", "eager", *MICRO_BATCH_4)
    assert (run.status, run.verdict) == (1, "oom")
    oom = run.out_of_memory[-1]
    assert (oom["step"], oom["phase"], oom["requested_bytes"]) == (2, "forward", 128 << 20)
    assert oom["module"] == "GPT2LMHeadModel.transformer.h.19.mlp.act"
    assert run.needed_reserved_bytes == by_torch(50_199_527_424, 50_170_167_296)
    assert run.peak["allocated_bytes"] == by_torch(49_525_429_248, 49_507_341_312)
    explained = json.loads(subprocess.run([ullage(), "explain", str(run.directory), "--json"], capture_output=True, text=True).stdout)
    sdpa = next(change for change in explained["without_limit"]["changes"] if "sdpa" in change["text"])
    saved = by_torch(49_525_429_248 - 38_257_456_128, 49_507_341_312 - 38_239_368_192)  # the next test
    assert sdpa["saves"]["high_bytes"] == pytest.approx(saved, rel=0.002)


def test_sdpa_is_tight(rehearse):
    run = founding(rehearse, "--attention", "sdpa", *MICRO_BATCH_4)
    assert (run.status, run.verdict) == (0, "tight")
    assert run.peak["reserved_bytes"] == by_torch(38_895_878_144, 38_879_100_928)
    assert run.peak["allocated_bytes"] == by_torch(38_257_456_128, 38_239_368_192)


def test_checkpointing_and_half_the_batch_fit(rehearse):
    run = founding(rehearse, "--attention", "eager", "--micro-batch", "2", "--sequence", "768", "--checkpointing")
    assert (run.status, run.verdict) == (0, "fits")
    assert run.peak["reserved_bytes"] == by_torch(26_677_870_592, 26_679_967_744)
    assert run.peak["allocated_bytes"] == by_torch(26_291_671_552, 26_273_059_328)
    assert not run.evidence["partial"], "recorded in spite of checkpointing's early stop"
