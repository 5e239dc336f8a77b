# SPDX-License-Identifier: Apache-2.0
"""The founding example to the byte, on the reference stack and an A100 with 40 GB."""
import sys

from conftest import ROOT

SCRIPT = ROOT / "examples" / "founding_example.py"
MICRO_BATCH_4 = ["--micro-batch", "4", "--sequence", "1024"]


def founding(rehearse, *arguments):
    return rehearse(command=[sys.executable, str(SCRIPT), *arguments], gpu="a100-40gb", check=False)


def test_eager_attention_does_not_fit(rehearse):
    run = founding(rehearse, "--attention", "eager", *MICRO_BATCH_4)
    assert (run.status, run.verdict) == (1, "oom")
    oom = run.out_of_memory[-1]
    assert (oom["step"], oom["phase"], oom["requested_bytes"]) == (2, "forward", 128 << 20)
    assert oom["module"] == "GPT2LMHeadModel.transformer.h.19.mlp.act"
    assert run.needed_reserved_bytes == 50_199_527_424
    assert run.peak["allocated_bytes"] == 49_525_429_248


def test_sdpa_is_tight(rehearse):
    run = founding(rehearse, "--attention", "sdpa", *MICRO_BATCH_4)
    assert (run.status, run.verdict) == (0, "tight")
    assert run.peak["reserved_bytes"] == 38_895_878_144
    assert run.peak["allocated_bytes"] == 38_257_456_128


def test_checkpointing_and_half_the_batch_fit(rehearse):
    run = founding(rehearse, "--attention", "eager", "--micro-batch", "2", "--sequence", "768", "--checkpointing")
    assert (run.status, run.verdict) == (0, "fits")
    assert run.peak["reserved_bytes"] == 26_677_870_592
    assert run.peak["allocated_bytes"] == 26_291_671_552
    assert not run.evidence["partial"], "recorded in spite of checkpointing's early stop"
