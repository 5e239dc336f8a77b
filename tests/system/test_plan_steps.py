# SPDX-License-Identifier: Apache-2.0
"""`ullage plan --seq`: whole steps, as a person asks for them. That they equal rehearsals is tests/rehearse/test_plan_program.py's."""
import json
import os
import re
import subprocess

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


def test_gpus_of_a_table_are_planned_as_each_alone():
    words = ("gpt2", "--seq", 512, "--micro-batch", 4, "--padding")
    points = result(*words, "--gpu", "all")["points"]
    assert len({point["device"]["short_name"] for point in points}) == len(points) > 30
    for point in points[::5]:
        made = result(*words, "--gpu", point["device"]["short_name"], status=int(point["verdict"] == "oom"))
        assert {key: made[key] for key in point} == point


@pytest.mark.parametrize("what, of, flags", [
    ("micro-batch", "micro_batch", ("--seq", 512)), ("micro-batch", "micro_batch", ("--seq", 300, "--padding", "--attention", "eager")),
    ("seq", "sequence", ("--micro-batch", 3, "--padding")), ("layers", "layers", ("--seq", 512, "--freeze", "*mlp*"))])
def test_what_fits_is_found_and_the_next_does_not(what, of, flags):
    model = ("--family", "mistral", "--hidden", 1024, "--heads", 16, "--intermediate", 2048, "--vocab", 32000)
    words = (*model, *(() if what == "layers" else ("--layers", 8)), *A100, "--memory", "8GiB", *flags)
    found = result(*words, "--fit", what)
    largest, after = found["values"]["largest"], found["values"]["next"]
    assert after["value"] == largest + 1
    assert result(*words, f"--{what}", largest)["needed_bytes"] == found["needed_bytes"]
    beyond = plan(*words, f"--{what}", largest + 1, "--json", status=None)
    assert json.loads(beyond.stdout)["needed_bytes"] == after["needed_bytes"]
    assert json.loads(beyond.stdout)["verdict"] != "fits"


def test_a_search_goes_on_behind_a_hole():
    """Sequences that are no multiple of 8 have their mask padded, and need more than the next that is one."""
    words = ("--family", "mistral", "--layers", 8, "--hidden", 1024, "--heads", 16, "--intermediate", 2048, "--vocab", 32000, *A100, "--padding", "--micro-batch", 2)
    even, odd = (result(*words, "--seq", length)["needed_bytes"] for length in (1536, 1535))
    assert odd > even
    memory = round(even / 0.85) + 1024  # what leaves 15 %
    found = result(*words, "--fit", "seq", "--memory", f"{memory}B")
    assert found["values"]["largest"] >= 1536
    assert result(*words, "--seq", 1535, "--memory", f"{memory}B")["verdict"] != "fits"


@pytest.mark.parametrize("words, largest, why", [
    (("gpt2", *A100, "--fit", "seq"), 1024, "the model has no positions for so long a sequence"),
    (("gpt2", *A100, "--mode", "infer", "--cache", 600, "--fit", "seq"), 600, "the cache holds the sequence first")])
def test_a_search_says_what_ended_it_if_that_is_not_the_memory(words, largest, why):
    values = result(*words)["values"]
    assert values["largest"] == largest and values["next"] == {"value": largest + 1, "refused": why}
    assert f"not for memory: {largest + 1} is refused, {why}" in plan(*words).stdout


def test_a_search_for_layers_ends_somewhere():
    made = result("--family", "gpt2", "--hidden", 8, "--heads", 1, "--vocab", 8, *A100, "--seq", 8, "--fit", "layers")
    assert made["values"]["largest"] == 1024 and made["values"]["search_ended"] is True


def test_progress_is_for_terminals_alone():
    words = [BIN, "plan", "llama-3.1-8b", "--layers", "2500", "--gpu", "all", "--seq", "1024"]
    outer, inner = os.openpty()
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=inner) as running:
        os.close(inner)
        shown = running.stdout.read().decode()
        talk = os.read(outer, 1 << 16).decode()
    os.close(outer)
    assert "planning " in talk and " of 34: " in talk and talk.endswith("\x1b[K")
    assert "planning" not in shown and plan("gpt2", "--gpu", "all", "--seq", 64).stderr == ""


@pytest.mark.parametrize("flags, said", [
    (("--micro-batch", 1), "how long are the sequences?"),
    (("--seq", 0), "not a list of whole numbers"),
    (("--seq", "1,x"), "not a list of whole numbers"),
    (("--seq", 128, "--checkpoint", "some"), "none, full or every:N"),
    (("--seq", 128, "--attention", "flash", "--precision", "fp32"), "bf16, bf16-autocast or fp16-autocast"),
    (("--seq", 128, "--attention", "flash", "--padding"), "a mask, of padding"),
    (("--seq", 128, "--cache", 256), "a training has no KV cache"),
    (("--seq", 128, "--cache", 64, "--mode", "infer"), "at least 128 tokens"),
    (("--seq", 128, "--cache", 2048, "--mode", "infer"), "at most 1024 tokens"),
    (("--seq", 128, "--precision", "bf16-master"), "only states are planned of this bookkeeping"),
    (("--seq", 128, "--mode", "infer", "--checkpoint", "full"), "inference has no such thing"),
    (("--seq", 128, "--fit", "seq"), "one of the two"),
])
def test_what_is_refused(flags, said):
    assert said in plan("gpt2", *A100, *flags, status=2).stderr


def test_a_step_needs_a_gpu():
    assert "on which GPU?" in plan("gpt2", "--seq", 128, status=2).stderr


def test_single_changes_are_ranked_and_are_plans_of_their_own():
    words = (GPT, *A100, "--micro-batch", 4, "--seq", 1024, "--attention", "eager")
    made = result(*words, "--what-if", status=1)
    saved = [change["saved_bytes"] for change in made["changes"]]
    assert saved == sorted(saved, reverse=True)
    assert {change["change"] for change in made["changes"]} >= {"--checkpoint full", "--attention sdpa", "--micro-batch 2 --accumulate 2", "--seq 512"}
    for change in made["changes"]:
        assert change["needed_bytes"] + change["saved_bytes"] == made["needed_bytes"]
    full = next(change for change in made["changes"] if change["change"] == "--checkpoint full")
    assert result(*words, "--checkpoint", "full")["needed_bytes"] == full["needed_bytes"]


def test_popular_rules_stand_beside_the_plan():
    made = result(GPT, *A100, "--micro-batch", 4, "--seq", 1024, "--attention", "eager", "--compare-rules", status=1)
    says = {rule["rule"]: rule["bytes"] / 1e9 for rule in made["rules"]}
    assert round(says["and b s h (34 + 5 L)"], 1) == 22.3  # the figure of the README
    assert round(says["and s b h (34 + 5 a s / h) L"] / 1.073741824, 1) == 33.4
    assert all(rule["against_plan"] < -0.25 for rule in made["rules"])
    assert "POPULAR RULES" in plan(GPT, *A100, "--seq", 64, "--compare-rules").stdout
    assert "beside which plan?" in plan(GPT, *A100, "--seq", "64,128", "--compare-rules", status=2).stderr


def test_the_back_of_the_envelope_of_the_folklore():
    text = plan("--params", "1.3B", "--tokens", "32768", "--flops-rate", "1e14").stdout
    assert "= 255.59 TFLOP; at 100.00 TFLOP/s: 2.56 s" in text


def test_a_kv_cache_grows_token_by_token():
    words = ("llama-3.2-1b", "--gpu", "h100-80gb", "--mode", "infer", "--seq", 256)
    made = result(*words, "--cache", 260)
    phases = {phase["name"]: phase for phase in made["phases"]}
    assert list(phases) == ["load", "prefill", "decode"]
    assert made["setup"]["cache"] == 260 and "flops" not in made
    assert_adds_up(made["ledger"])
    a_token = 2 * 16 * 8 * 64 * 2  # keys and values, layers, key heads, width, bytes
    assert phases["decode"]["allocated_bytes"] - phases["prefill"]["allocated_bytes"] == 4 * a_token
    assert "until the KV cache holds 260" in plan(*words, "--cache", 260).stdout


def test_a_kv_cache_goes_with_padding_up_to_a_window():
    words = ("--family", "mistral", "--layers", 2, "--hidden", 256, "--heads", 8, *A100, "--mode", "infer", "--micro-batch", 2, "--seq", 256)
    bare, padded = (result(*words, "--cache", 260, *flags) for flags in ((), ("--padding",)))
    assert padded["peak"]["allocated_bytes"] > bare["peak"]["allocated_bytes"]
    assert padded["generation"]["decode"]["flops"] == bare["generation"]["decode"]["flops"]
    assert "beyond a sliding window" in plan(*words, "--cache", 4100, "--padding", status=2).stderr
    assert result("gpt2", *A100, "--mode", "infer", "--seq", 128, "--cache", 256, "--padding")["verdict"] == "fits"


def test_padding_needs_a_mask_in_memory():
    words = ("gpt2", *A100, "--seq", 512, "--micro-batch", 2)
    bare, padded = result(*words), result(*words, "--padding")
    assert padded["setup"]["padding"] is True and "padding" not in bare["setup"]
    assert padded["peak"]["allocated_bytes"] > bare["peak"]["allocated_bytes"]
    assert "batches with padding" in plan(*words, "--padding").stdout


def test_inference_keeps_no_activations():
    made = result("gpt2", *A100, "--mode", "infer", "--seq", 1024, "--micro-batch", 4)
    accounts = {line["id"] for line in made["ledger"]["children"][1]["children"]}
    assert "activations" not in accounts and "gradients" not in accounts and "optimizer_state" not in accounts
    assert {phase["name"] for phase in made["phases"]} == {"load", "forward"}
    assert_adds_up(made["ledger"])
    logits = 4 * 1024 * 50257 * 2
    assert made["phases"][-1]["allocated_bytes"] > logits  # those of the last pass are still there


def lines_of(line):
    return {line["id"]: line} | {name: found for child in line.get("children", []) for name, found in lines_of(child).items()}


def test_every_line_says_how_it_comes_about():
    made = result(GPT, *A100, "--micro-batch", 4, "--seq", 1024, "--explain")
    formulas = {formula["line"]: formula for formula in made["formulas"]}
    lines = lines_of(made["ledger"])
    accounts = [lines[name] for name in ("activations", "temporaries")]
    for line in [child for account in accounts for child in account["children"]] + [lines[name] for name in ("inputs", "rounding", "cached", "context")]:
        assert line["id"] in formulas, line["id"]
    inner = formulas["activations.transformer.h.*.mlp.c_proj"]
    assert inner["formula"] == "24 x 64.00 MiB + 24 x 32.00 MiB = 2.25 GiB"
    assert inner["there_from"] == "step 1 forward, transformer.h.0.mlp.c_proj (aten::_to_copy)"
    shown = plan(GPT, *A100, "--micro-batch", 4, "--seq", 1024, "--explain").stdout
    # At that moment only a part of the gradients is there: the closed form of all of them would not be the line's.
    part = result("llama-3.2-1b", *A100, "--seq", 1000, "--micro-batch", 4, "--checkpoint", "full", "--optimizer", "sgd", "--precision", "fp32", "--explain")
    gradients = lines_of(part["ledger"])["gradients"]["bytes"]
    said = [formula["formula"] for formula in part["formulas"] if formula["line"].startswith("gradients")]
    assert gradients < 4 * 1235814400 and said and all(text.endswith(f"= {gradients / 2**30:.2f} GiB") for text in said)
    assert "HOW THE LINES COME ABOUT" in shown and inner["formula"] in shown


def test_a_table_says_which_points_cannot_be_planned():
    made = result("llama-3.2-1b", "--gpu", "t4,a100-40gb", "--seq", 128, "--attention", "flash")["points"]
    assert "refused" in made[0] and made[1]["verdict"] == "fits"
    shown = plan("gpt2", "--gpu", "t4", "--seq", "512,2048").stdout
    assert "not planned: the model has no positions for so long a sequence" in shown and "fits" in shown
    assert "no positions" in plan("gpt2", "--gpu", "t4", "--seq", "2048,4096", status=2).stderr


def test_formulas_call_the_passes_of_a_cache_as_the_plan_does():
    made = result("gpt2", *A100, "--seq", 32, "--mode", "infer", "--cache", 40, "--explain")
    said = " ".join(formula["there_from"] for formula in made["formulas"])
    assert "step 1 prefill" in said and "forward" not in said


def test_the_accuracy_that_is_printed_is_that_of_the_page():
    page = (ROOT / "docs/plan_accuracy.md").read_text(encoding="utf-8")
    counts = {int(draw): (int(count), part) for part in page.split("<!-- begin")[1:]
              for draw, count in [(re.search(r"draw (\d); do not edit", part)[1], re.search(r"(\d+) cases, seed", part)[1])]}
    assert set(counts) == {1, 2}
    for count, part in counts.values():
        assert re.search(r"^\| peak reserved \| (\d+) \| (\d+) \(100.0 %\)", part, re.M)[2] == str(count)
    words = ("gpt2", *A100, "--seq", 64)
    both, second = sum(count for count, _ in counts.values()), counts[2][0]
    assert result(*words)["accuracy"] == {"drawn": both, "most_off": 0}
    shown = plan(*words).stdout
    assert f"{both} such loops were drawn at random, planned, and rehearsed: each reserved exactly what was planned." in shown
    assert f"fewer than 1 in {both // 3} " in shown
    for flags in (("--padding",), ("--attention", "flash"), ("--optimizer", "adafactor")):
        assert result(*words, *flags)["accuracy"]["drawn"] == second
    for flags in (("--keep-gradients",), ("--freeze", "*wte*"), ("--checkpoint", "every:2"), ("--world", 2, "--zero", 1), ("--mode", "infer")):
        assert "accuracy" not in result(*words, *flags)


def test_memory_given_back_is_not_taken_for_a_need():
    words = ("gpt2", *A100, "--seq", 300, "--memory", "3894MiB", "--micro-batch")
    made = result(*words, 4)
    assert made["verdict"] == "tight" and made["retries"] == 1
    taken, capacity = made["used_with_limit_bytes"], made["device"]["capacity_bytes"]
    assert 0.9 * capacity < taken <= capacity < made["needed_bytes"]
    taken, needed = f"{taken / 2**30:.2f} GiB", f"{made['needed_bytes'] / 2**30:.2f} GiB"
    shown = plan(*words, 4).stdout
    assert f"takes {taken} of 3.80 GiB (a100-40gb), and only because PyTorch gives cached memory back once\n" in shown
    assert f"without a limit it would take {needed}" in shown
    assert "needs" not in shown and " left" not in shown
    table = plan(*words, "1,4").stdout
    assert re.search(rf" 4 +300 +{re.escape(taken)}\* .*tight$", table, re.M)
    assert f"\n* passes only because PyTorch gives cached memory back; without a limit it would take {needed}\n" in table
    assert "*" not in re.search(r"^a100-40gb.* 1 +300 .*$", table, re.M)[0]
    changes = {change["change"]: change for change in result(*words, 4, "--keep-gradients", "--what-if", status=1)["changes"]}
    assert [name for name, change in changes.items() if "used_with_limit_bytes" in change] == ["without --keep-gradients"]
    assert f"  {taken}*  " in plan(*words, 4, "--keep-gradients", "--what-if", status=1).stdout


def test_all_tokens_of_a_decode_are_the_steps_that_its_phase_names():
    words = ("gpt2", *A100, "--seq", 32, "--mode", "infer", "--cache", 40)
    phases = {phase["name"]: phase for phase in result(*words)["phases"]}
    assert (phases["decode"]["step"], phases["decode"]["last_step"]) == (2, 9) and "last_step" not in phases["prefill"]
    assert re.search(r"^2 to 9  decode ", plan(*words).stdout, re.M)
    assert "last_step" not in result("gpt2", *A100, "--seq", 32, "--mode", "infer", "--cache", 33)["phases"][-1]


def test_a_rule_that_is_too_high_says_what_it_counts():
    words = ("llama-3.2-1b", "--gpu", "b200", "--seq", 8192, "--compare-rules")
    rules = {rule["rule"]: rule for rule in result(*words)["rules"]}
    scores = rules["and s b h (34 + 5 a s / h) L"]
    assert scores["against_plan"] > 0 and "score matrices, which fused attention does not keep" in scores["counts"]
    assert "counts score matrices" in plan(*words).stdout
    eager = {rule["rule"]: rule for rule in result(*words, "--attention", "eager", status=None)["rules"]}
    assert not any("score" in reason for reason in eager["and s b h (34 + 5 a s / h) L"]["counts"])
    shared = ("llama-3.2-1b", "--gpu", "b200", "--seq", 64, "--world", 8, "--zero", 3, "--compare-rules")
    first = result(*shared)["rules"][0]
    assert first["against_plan"] > 0 and first["counts"] == ["16 bytes a parameter, where the states here have 2.00"]
    assert "counts 16 bytes a parameter, where the states here have 2.00" in plan(*shared).stdout
    half = result("llama-3.2-1b", "--gpu", "b200", "--seq", 64, "--precision", "bf16", "--compare-rules")["rules"][0]
    assert half["counts"] == ["16 bytes a parameter, where the states here have 8.00"]


def test_a_line_is_there_from_the_request_that_holds_most_of_it():
    made = result(GPT, *A100, "--micro-batch", 4, "--seq", 1024, "--attention", "eager", "--explain", status=1)
    formulas = {formula["line"]: formula for formula in made["formulas"]}
    model = formulas["temporaries.the model itself"]
    assert " + " in model["formula"]
    assert model["there_from"] == "step 1 forward (aten::_to_copy)"  # not that of 4 bytes, from load on
