# SPDX-License-Identifier: Apache-2.0
"""A rehearsal's run directory in other formats: the same bytes, with what the run told about itself."""
import csv
import json
import pickle
import subprocess

import pytest

from conftest import find_line, ullage


def run(*arguments):
    done = subprocess.run([ullage(), *map(str, arguments)], capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def at_peak(path, *flags):
    return json.loads(run("ledger", path, "--json", *flags))


@pytest.fixture
def rehearsed(rehearse):
    return rehearse("mlp.py")


def allocated_of(made):
    reserved = find_line(made["ledger"], "reserved")
    return reserved["bytes"] - find_line(reserved, "cached")["bytes"]


def test_the_pickle_is_the_run(rehearsed, tmp_path):
    path = tmp_path / "run.pickle"
    run("convert", rehearsed.directory, "--to", "memory-viz", "--out", path)
    one, other = at_peak(rehearsed.directory), at_peak(path)
    assert allocated_of(one) == allocated_of(other) == rehearsed.peak["allocated_bytes"]
    assert find_line(one["ledger"], "reserved")["bytes"] == find_line(other["ledger"], "reserved")["bytes"]
    assert at_peak(path) | {"source": ""} == at_peak(rehearsed.directory / "snapshot.pickle") | {"source": ""}
    snapshot, original = (pickle.loads(p.read_bytes()) for p in (path, rehearsed.directory / "snapshot.pickle"))
    kept = ("action", "addr", "size", "stream", "time_us", "frames")

    def plain(event):
        return {key: event[key] for key in kept if event.get(key) not in (None, [], 0)}

    written, recorded = snapshot["device_traces"][0], max(original["device_traces"], key=len)
    assert len(written) == len(recorded) > 0
    names = {"filename", "line", "name"}
    for a, b in zip(written, recorded):
        b = {**b, "frames": [{k: f[k] for k in names} for f in b.get("frames", ())]}
        assert plain(a) == plain(b)
    modules = {e["user_metadata"].get("module") for e in written if "user_metadata" in e}
    assert len(modules) > 2, modules
    adam = [e for e in written if e.get("category") == "optimizer_state"]
    state = find_line(rehearsed.ledger, "optimizer_state")["bytes"]
    assert sum(e["size"] for e in adam) == state > 0
    assert {e["user_metadata"]["phase"] for e in adam} == {"step 1 optimizer"}
    assert {"exp_avg", "exp_avg_sq"} <= {e["user_metadata"]["kind"] for e in adam}


def test_perfetto_shows_phases_modules_and_curves(rehearsed):
    events = json.loads(run("convert", rehearsed.directory, "--to", "perfetto"))["traceEvents"]
    names = {e["name"] for e in events if e.get("cat") == "phase"}
    assert {"load", "step 1 forward", "step 2 optimizer"} <= names
    assert {"operator", "module", "step"} <= {e.get("cat") for e in events}
    highest = max(e["args"]["bytes"] for e in events if e["ph"] == "C" and e["name"] == "allocated")
    assert highest == rehearsed.peak["allocated_bytes"]
    phases = [e for e in events if e.get("cat") == "phase"]
    calls = [e for e in events if e.get("cat") == "module"]
    first, last = phases[0]["ts"], max(e["ts"] + e["dur"] for e in phases)
    assert all(first - 2000 <= e["ts"] <= last + 2000 for e in calls)  # on one clock


def test_csv_names_owners(rehearsed):
    rows = list(csv.DictReader(run("convert", rehearsed.directory, "--to", "csv").decode().splitlines()))
    parameters = [row for row in rows if row["category"] == "parameters"]
    assert sum(int(row["requested_bytes"]) for row in parameters) == find_line(rehearsed.ledger, "parameters")["bytes"]
    assert all(row["attributed_by"] == "named" and row["tensor"] for row in parameters)
    assert {row["phase"] for row in rows} >= {"load", "forward", "backward", "optimizer"}
    assert any(row["module"] and row["operator"] and "mlp.py:" in row["line"] for row in rows)
