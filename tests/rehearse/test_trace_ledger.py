# SPDX-License-Identifier: Apache-2.0
"""A trace of torch.profiler alone as evidence, beside what the run itself knows."""
import gzip
import json
import subprocess

import pytest

from conftest import check_adds_up, find_line, rehearse_in, ullage

KiB, MiB = 1 << 10, 1 << 20


def ledger(source, *flags, status=0):
    done = subprocess.run([ullage(), "ledger", str(source), "--json", "--top", "0", *flags], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == status, done.stderr + done.stdout
    made = json.loads(done.stdout)
    check_adds_up(made["ledger"])
    return made


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traced")
    run = rehearse_in(folder, "profiled_training.py", "trace.json", 8, flags=["--steps", "all"], check=False)
    assert run.status == 0, run.stderr
    return run, folder / "trace.json"


def memory_events(trace):
    events = [e for e in json.loads(trace.read_text())["traceEvents"]
              if e.get("name") == "[memory]" and e["args"]["Device Type"] == 1]
    return [e["args"] for e in sorted(events, key=lambda e: e["ts"])]


def test_totals_are_the_allocators_own(traced):
    _, trace = traced
    events = memory_events(trace)
    made = ledger(trace)
    assert made["peak"] == {"allocated_bytes": max(e["Total Allocated"] for e in events),
                            "reserved_bytes": max(e["Total Reserved"] for e in events)}
    peak = max(events, key=lambda e: e["Total Allocated"])
    reserved = find_line(made["ledger"], "reserved")
    assert reserved["bytes"] == peak["Total Reserved"]
    assert find_line(made["ledger"], "cached")["bytes"] == peak["Total Reserved"] - peak["Total Allocated"]
    assert made["evidence"]["contradictions"] == []
    older = events[0]["Total Allocated"] - events[0]["Bytes"]
    assert any(f"{older / MiB:.2f} MiB that are older than the trace" in text for text in made["evidence"]["missing"])
    assert find_line(made["ledger"], "unattributed")["bytes"] >= older
    assert ledger(trace, "--at", "end")["ledger"]["bytes"] == events[-1]["Total Reserved"]


@pytest.mark.parametrize("line, moment, of_run", [
    ("activations", "phase:1:forward", "phase:2:forward"),
    ("gradients", "phase:1:backward", "phase:2:backward"),
    ("activations", "phase:2:forward", "phase:3:forward"),
    ("gradients", "phase:2:backward", "phase:3:backward")])
def test_owners_are_what_the_run_named(traced, line, moment, of_run):
    """The trace has blocks, the run requested bytes: they differ by the rounding."""
    run, trace = traced
    known = subprocess.run([ullage(), "ledger", str(run.directory), "--json", "--at", of_run], capture_output=True, text=True)
    known = json.loads(known.stdout)["ledger"]
    by_trace = find_line(ledger(trace, "--at", moment)["ledger"], line)["bytes"]
    by_run = find_line(known, line)["bytes"]
    assert by_run > 0
    assert 0 <= by_trace - by_run <= find_line(known, "rounding")["bytes"], (by_trace, by_run)


def test_a_cut_trace_is_partial(traced, tmp_path):
    _, trace = traced
    cut = tmp_path / "cut.json"
    text = trace.read_text()
    cut.write_text(text[:len(text) * 2 // 3])
    made = ledger(cut, status=3)
    assert made["evidence"]["partial"] and any("byte " in text for text in made["evidence"]["missing"])
    packed = tmp_path / "cut.json.gz"
    packed.write_bytes(gzip.compress(trace.read_bytes())[:-4000])
    assert ledger(packed, status=3)["evidence"]["partial"]
