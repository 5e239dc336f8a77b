# SPDX-License-Identifier: Apache-2.0
"""`ullage plan --seq`: whole steps, as a person asks for them. That they equal rehearsals is tests/rehearse/test_plan_program.py's."""
import pytest
from test_plan import BIN, ROOT, plan, result

pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
GPT = str(ROOT / "examples/gpt_1.3b.json")
A100 = ("--gpu", "a100-40gb")
MIB = 1 << 20


def assert_adds_up(line):
    children = line.get("children", [])
    if children:
        assert sum(child["bytes"] for child in children) == line["bytes"], line["id"]
    for child in children:
        assert_adds_up(child)


def test_the_founding_example_to_the_numbers_of_its_rehearsal():
    eager = result(GPT, *A100, "--micro-batch", 4, "--seq", 1024, "--attention", "eager", status=1)
    assert eager["verdict"] == "oom"
    assert eager["shortage"]["requested_bytes"] == 128 * MIB
    assert (eager["shortage"]["step"], eager["shortage"]["phase"]) == (2, "forward")
    assert eager["shortage"]["where"] == "transformer.h.19.mlp"
    assert round(eager["peak"]["reserved_bytes"] / 2**30, 2) == 46.75
    assert round(eager["needed_bytes"] / 2**30, 2) == 47.19
    sdpa = result(GPT, *A100, "--micro-batch", 4, "--seq", 1024)
    assert sdpa["verdict"] == "tight"
    assert round(sdpa["peak"]["reserved_bytes"] / 2**30, 2) == 36.22


@pytest.mark.parametrize("flags", [(), ("--checkpoint", "full"), ("--checkpoint", "every:2"), ("--accumulate", 2), ("--keep-gradients",),
                                   ("--attention", "eager"), ("--precision", "bf16", "--optimizer", "adamw-fused"), ("--freeze", "*wte*")])
def test_the_ledger_adds_up_to_what_is_used(flags):
    made = result("gpt2", *A100, "--seq", 256, "--micro-batch", 2, *flags)
    assert_adds_up(made["ledger"])
    assert made["ledger"]["bytes"] == made["needed_bytes"] == made["peak"]["used_bytes"]
    assert max(phase["peak_reserved_bytes"] for phase in made["phases"]) == made["peak"]["reserved_bytes"]
    assert max(phase["peak_allocated_bytes"] for phase in made["phases"]) == made["peak"]["allocated_bytes"]
    assert made["evidence"]["partial"] is False


def test_states_of_a_step_are_those_of_the_states():
    whole = result("llama-3.2-1b", "--gpu", "h100-80gb", "--seq", 128)
    alone = result("llama-3.2-1b", "--gpu", "h100-80gb")

    def bytes_of(ledger, name):
        return next(line["bytes"] for line in ledger["children"][1]["children"] if line["id"] == name)

    for name in ("parameters", "optimizer_state"):
        assert bytes_of(whole["ledger"], name) == bytes_of(alone["ledger"], name)


def test_tables_and_what_fits():
    made = result("gpt2", *A100, "--seq", "128,256", "--micro-batch", "1,2")
    assert [(p["values"]["sequence"], p["values"]["micro_batch"]) for p in made["points"]] == [(128, 1), (128, 2), (256, 1), (256, 2)]
    found = result("gpt2", *A100, "--seq", 1024, "--fit", "micro-batch")
    largest = found["values"]["largest"]
    assert largest > 1 and found["verdict"] == "fits"
    assert result("gpt2", *A100, "--seq", 1024, "--micro-batch", largest + 1)["verdict"] != "fits"
    assert "NOT EVEN ONE" in plan(GPT, "--gpu", "t4", "--seq", 1024, "--fit", "micro-batch", status=1).stdout


@pytest.mark.parametrize("flags, said", [
    (("--micro-batch", 1), "how long are the sequences?"),
    (("--seq", 0), "not a list of whole numbers"),
    (("--seq", "1,x"), "not a list of whole numbers"),
    (("--seq", 128, "--checkpoint", "some"), "none, full or every:N"),
    (("--seq", 128, "--optimizer", "adafactor"), "only states are planned of this optimizer"),
    (("--seq", 128, "--precision", "bf16-master"), "only states are planned of this bookkeeping"),
    (("--seq", 128, "--mode", "infer"), "inference"),
    (("--seq", 128, "--world", 2), "one device"),
    (("--seq", 128, "--fit", "seq"), "one of the two"),
])
def test_what_is_refused(flags, said):
    assert said in plan("gpt2", *A100, *flags, status=2).stderr


def test_a_step_needs_a_gpu():
    assert "on which GPU?" in plan("gpt2", "--seq", 128, status=2).stderr
