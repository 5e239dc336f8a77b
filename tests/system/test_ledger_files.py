# SPDX-License-Identifier: Apache-2.0
"""`ullage ledger`, `diff` and `operators` on published files, against an independent reading of them in plain Python."""
import collections
import gzip
import json
import os
import pickle
import subprocess
from pathlib import Path

import jsonschema
import pytest

BIN = os.environ.get("ULLAGE_BIN", "")
pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
SCHEMAS = Path(__file__).resolve().parents[2] / "docs/schemas"
DATA = Path(__file__).resolve().parents[1] / "data"
SNAPSHOTS = sorted((DATA / "snapshots").glob("*.pickle.gz"))
RESERVED = {"wedson_medium_128_training": 7235174400, "wedson_medium_512_training": 12660506624,
            "wedson_medium_128_inference": 1763704832, "silmont_forward_bf16_128": 861929472,
            "silmont_mem_snapshot": 3781165056, "yiyi_1.3b_snapshot_a": 6658457600, "yiyi_oom_snapshot": 11844714496,
            "mosaic_output": 262144000}


def ullage(*arguments):
    return subprocess.run([BIN, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def result(command, *arguments):
    """The JSON of a command, which fits its schema."""
    done = ullage(command, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    jsonschema.validate(made, json.loads((SCHEMAS / f"{command}.schema.json").read_text()))
    return made


def name_of(path):
    return path.name.removesuffix(".pickle.gz")


def load(path):
    with gzip.open(path) as file:
        snapshot = pickle.load(file)  # our own data; Ullage itself never executes a pickle
    return {"segments": snapshot} if isinstance(snapshot, list) else snapshot


def requested_of(block):
    if block.get("requested_size"):
        return block["requested_size"]
    history = block.get("history") or ()
    return history[0]["real_size"] if history else 0


def rewound_requested_peak(snapshot):
    """Walks back from the state at the dump."""
    live = sum(requested_of(b) for s in snapshot["segments"] for b in s["blocks"] if b["state"] != "inactive")
    peak = live
    traces = snapshot.get("device_traces") or [[]]
    for event in reversed(max(traces, key=len)):
        if event["action"] == "alloc":
            live -= event["size"]
        elif event["action"] == "free_completed":
            live += event["size"]
        peak = max(peak, live)
    return peak


def check_adds_up(line):
    if line.get("children"):
        assert sum(child["bytes"] for child in line["children"]) == line["bytes"], line["id"]
        for child in line["children"]:
            check_adds_up(child)


@pytest.mark.parametrize("path", SNAPSHOTS, ids=name_of)
def test_totals_of_a_snapshot(path):
    made = result("ledger", path, "--at", "end", "--by", "kind,line,tensor", "--top", "0")
    snapshot = load(path)
    check_adds_up(made["ledger"])
    assert sum(s["total_size"] for s in snapshot["segments"]) == RESERVED[name_of(path)]
    if name_of(path) == "mosaic_output":  # synthetic: its blocks lie outside its segments
        assert made["evidence"]["contradictions"]
        return
    assert made["ledger"]["bytes"] == RESERVED[name_of(path)]
    allocated = sum(b["size"] for s in snapshot["segments"] for b in s["blocks"] if b["state"] == "active_allocated")
    cached = next(c["bytes"] for c in made["ledger"]["children"] if c["id"] == "cached")
    assert made["ledger"]["bytes"] - cached == allocated
    assert made["evidence"]["contradictions"] == []


@pytest.mark.parametrize("path", [p for p in SNAPSHOTS if name_of(p).startswith("wedson")], ids=name_of)
def test_peaks_by_rewinding(path):
    assert result("ledger", path)["peak"]["requested_bytes"] == rewound_requested_peak(load(path))


def owners(made):
    return {line["id"]: line["bytes"] for line in made["ledger"]["children"]}


def test_owners_of_a_published_training_step():
    """Worked out by hand from the stacks: basics/model.py has 423,183,360 fp32 parameters; its AdamW replaces its moments
    in every step (basics/optimizer.py), so that those from before die inside the step that makes the new ones."""
    at_peak = owners(result("ledger", DATA / "snapshots/wedson_medium_128_training.pickle.gz"))
    parameters = 4 * 423_183_360
    assert abs(at_peak["parameters"] - parameters) < 0.01 * parameters
    assert abs(at_peak["gradients"] - parameters) < 0.01 * parameters
    embedding = 4 * 10_000 * 1024  # the moments of it are there twice while they are replaced
    assert at_peak["optimizer_state"] == 2 * parameters + 2 * embedding
    assert at_peak["unattributed"] < 0.02 * parameters


def test_saved_activations_of_a_published_forward_pass():
    """By hand: 24 layers, 16 heads, width 1024, inner width 4096, micro batch 4, context 512, bf16 autocast."""
    path = DATA / "snapshots/wedson_medium_512_training.pickle.gz"
    made = result("ledger", path, "--by", "kind,line", "--top", "0")
    activations = next(line for line in made["ledger"]["children"] if line["id"] == "activations")
    saved = {line["name"].split("/")[-1]: line["bytes"] for line in activations["children"][0]["children"]}
    tokens, scores = 4 * 512, 4 * 16 * 512 * 512
    assert saved["nn_utils.py:6 softmax"] == 24 * scores * 4
    assert saved["model.py:532 silu"] == 24 * 2 * tokens * 4096 * 2
    assert saved["model.py:399 forward"] == 24 * scores
    assert saved["model.py:102 forward"] == 49 * tokens * 1024 * 4
    longer = owners(result("ledger", DATA / "snapshots/wedson_medium_512_training.pickle.gz"))
    assert longer["activations"] > 6 << 30  # the peak is in the backward pass of a four times longer context


def test_a_difference_adds_up():
    before, after = (DATA / f"snapshots/wedson_medium_{n}_training.pickle.gz" for n in (128, 512))
    made = result("diff", before, after, "--by", "kind,line")
    root = made["difference"]

    def check(line):
        assert line["after_bytes"] - line["before_bytes"] == line["difference_bytes"]
        if line.get("children"):
            assert sum(c["difference_bytes"] for c in line["children"]) == line["difference_bytes"]
            for child in line["children"]:
                check(child)

    check(root)
    one, other = result("ledger", before), result("ledger", after)
    assert root["difference_bytes"] == other["ledger"]["bytes"] - one["ledger"]["bytes"]
    assert "activations" in ullage("diff", before, after).stdout


def test_operators_of_a_published_trace():
    path = DATA / "traces/kineto_resnet50_profile_memory.json.gz"
    made = result("operators", path, "--top", "0")
    with gzip.open(path) as file:
        events = json.load(file)["traceEvents"]
    memory = [e["args"] for e in events if e.get("name") == "[memory]"]
    assert len(memory) == 12838
    on_device = sum(a["Bytes"] for a in memory if a["Device Type"] == 1 and a["Bytes"] > 0)
    total = made["total"]
    assert total["self_allocated_bytes"] + total["outside_allocated_bytes"] == on_device
    assert sum(row["self_allocated_bytes"] for row in made["operators"]) == total["self_allocated_bytes"]
    calls = collections.Counter(e["name"] for e in events if e.get("ph") == "X" and e.get("cat") == "Operator")
    assert {row["name"]: row["calls"] for row in made["operators"]} == calls
    kernels = sum(e["dur"] for e in events if e.get("ph") == "X" and e.get("cat") in ("Kernel", "Memcpy", "Memset"))
    assert total["self_device_ns"] == pytest.approx(kernels * 1000, rel=0.02)


@pytest.mark.parametrize("command", ["ledger", "operators"])
def test_what_is_no_evidence_is_refused(tmp_path, command):
    path = tmp_path / "x.txt"
    path.write_text("just a text")
    done = ullage(command, path)
    assert done.returncode in (2, 3) and done.stdout == "" and "expected" in done.stderr


def test_a_cut_snapshot_is_partial(tmp_path):
    whole = gzip.decompress((DATA / "snapshots/wedson_medium_128_training.pickle.gz").read_bytes())
    path = tmp_path / "cut.pickle"
    path.write_bytes(whole[: len(whole) // 2])
    done = ullage("ledger", path, "--json")
    assert done.returncode == 3
    made = json.loads(done.stdout)
    assert made["evidence"]["partial"]
    assert any("byte" in text for text in made["evidence"]["missing"])
    check_adds_up(made["ledger"])


def test_a_cut_trace_is_partial(tmp_path):
    whole = gzip.decompress((DATA / "traces/hta_alexnet.json.gz").read_bytes())
    path = tmp_path / "cut.json"
    path.write_bytes(whole[: len(whole) // 2])
    done = ullage("operators", path, "--json")
    assert done.returncode == 3
    made = json.loads(done.stdout)
    assert made["evidence"]["partial"] and made["operators"]
    assert any("byte" in text for text in made["evidence"]["missing"])


def test_a_trace_on_the_standard_input():
    path = DATA / "traces/kineto_resnet50_profile_memory.json.gz"
    done = subprocess.run([BIN, "ledger", "-", "--json"], input=path.read_bytes(), capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["ledger"] == result("ledger", path)["ledger"]


def test_a_trace_without_totals_says_nothing_of_reserved_memory():
    made = result("ledger", DATA / "traces/kineto_resnet50_profile_memory.json.gz")
    assert made["ledger"]["id"] == "allocated" and made["ledger"]["bytes"] == made["peak"]["allocated_bytes"]
    assert "reserved_bytes" not in made["peak"]
    assert all(line["id"] != "cached" for line in made["ledger"]["children"])
