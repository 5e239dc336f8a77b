# SPDX-License-Identifier: Apache-2.0
"""`ullage convert` as a user runs it: what it writes is read with pickle, json, csv and PyTorch's own viewer code."""
import csv
import gzip
import importlib.metadata
import importlib.util
import json
import os
import pickle
import subprocess
from pathlib import Path

import pytest

BIN = os.environ.get("ULLAGE_BIN", "")
pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
SNAPSHOTS = sorted((DATA / "snapshots").glob("*.pickle.gz"))
KINETO = DATA / "traces/kineto_resnet50_profile_memory.json.gz"
COUNTERS = DATA / "traces/hta_memory_timeline.raw.gz"
TRAINING = DATA / "snapshots/wedson_medium_128_training.pickle.gz"


def ullage(*arguments, **options):
    return subprocess.run([BIN, *map(str, arguments)], capture_output=True, timeout=60, **options)


def convert(path, to, check=True):
    done = ullage("convert", path, "--to", to)
    assert not check or done.returncode == 0, done.stderr
    return done.stdout


def ledger(path, *flags):
    done = ullage("ledger", path, "--json", *flags)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def name_of(path):
    return path.name.removesuffix(".gz")


def memory_viz():
    """torch.cuda._memory_viz without torch, which needs CUDA's libraries."""
    path = importlib.metadata.distribution("torch").locate_file("torch/cuda/_memory_viz.py")
    spec = importlib.util.spec_from_file_location("memory_viz", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plain(snapshot):
    """What a Timeline keeps of a snapshot of one device, from whatever version of torch."""
    snapshot = {"segments": snapshot} if isinstance(snapshot, list) else snapshot

    def frames(entry):
        return tuple((f["filename"], f["line"], f["name"]) for f in entry.get("frames") or ())

    def event(e):
        where = e.get("device_free") if e["action"] == "oom" else e["addr"]
        return e["action"], where, e["size"], e["stream"], e.get("time_us", 0), frames(e)

    def segment(s):
        address = s["address"]
        blocks = []
        for b in s["blocks"]:
            history = b.get("history") or [{}]
            blocks.append((b.get("address", address), b["size"], b.get("requested_size", 0), b["state"],
                           frames(b) or frames(history[0])))
            address = blocks[-1][0] + b["size"]
        return s["address"], s["total_size"], s["stream"], s["segment_type"], bool(s.get("is_expandable")), blocks

    traces = snapshot.get("device_traces") or [[]]
    return ([event(e) for e in max(traces, key=len)],
            sorted((segment(s) for s in snapshot["segments"]), key=lambda s: s[0]))


@pytest.mark.parametrize("path", SNAPSHOTS, ids=name_of)
def test_a_snapshot_comes_back_as_it_was(path, tmp_path):
    written = tmp_path / "written.pickle"
    written.write_bytes(convert(path, "memory-viz"))
    with gzip.open(path) as file:
        before = plain(pickle.load(file))
    after = plain(pickle.loads(written.read_bytes()))
    assert after == before
    for flags in (("--top", "0"), ("--at", "end"), ("--at", "reserved", "--by", "kind,line,block")):
        one, other = ledger(path, *flags), ledger(written, *flags)
        assert one["ledger"] == other["ledger"] and one.get("peak") == other.get("peak")
        assert one["evidence"] == other["evidence"]
    assert convert(written, "memory-viz") == written.read_bytes()


@pytest.mark.parametrize("path", SNAPSHOTS, ids=name_of)
def test_pytorchs_own_code_reads_it(path):
    snapshot = pickle.loads(convert(path, "memory-viz"))
    viewer = memory_viz()
    if name_of(path) != "mosaic_output.pickle":  # synthetic: its blocks lie outside its segments
        assert "total_reserved" in viewer.segsum(snapshot)
    viewer.trace(snapshot)
    assert "MemoryViz.js" in viewer.trace_plot(snapshot)
    reserved = sum(s["total_size"] for s in snapshot["segments"])
    flames = viewer.segments(snapshot, format_flamegraph=lambda lines: lines)
    assert reserved and flames is not None


def test_categories_are_those_of_the_ledger():
    snapshot = pickle.loads(convert(TRAINING, "memory-viz"))
    live = {}
    for segment in snapshot["segments"]:
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                name = block["category"].replace("unknown", "unattributed")
                live[name] = live.get(name, 0) + block["requested_size"]
                assert block["user_metadata"]["category"] == name
    at_end = {c["id"]: c["bytes"] for c in ledger(TRAINING, "--at", "end")["ledger"]["children"]}
    assert live == {name: size for name, size in at_end.items() if size and name not in ("cached", "rounding")}
    seen = {e.get("category") for t in snapshot["device_traces"] for e in t}
    assert {"unknown", "activations", "optimizer_state"} <= seen


def two_devices():
    def block(address):
        return {"address": address, "size": 512, "requested_size": 500, "state": "active_allocated", "frames": []}

    def segment(device, address):
        return {"device": device, "address": address, "total_size": 2 << 20, "stream": 0, "segment_type": "small",
                "is_expandable": False,
                "blocks": [block(address), {"address": address + 512, "size": (2 << 20) - 512, "requested_size": 0,
                                            "state": "inactive", "frames": []}]}

    def trace(address):
        frames = [{"filename": 'a","b\n\x01.py', "line": 1, "name": '=cmd("é")'}]
        return [{"action": "segment_alloc", "addr": address, "size": 2 << 20, "stream": 0, "time_us": 5},
                {"action": "alloc", "addr": address, "size": 500, "stream": 0, "time_us": 6, "frames": frames},
                {"action": "oom", "device_free": 77, "size": 1 << 40, "stream": 0, "time_us": 7}]

    return {"segments": [segment(1, 1 << 40), segment(3, 1 << 40)],
            "device_traces": [[], trace(1 << 40), [], trace(1 << 40)]}


def test_all_devices_are_there(tmp_path):
    path = tmp_path / "two.pickle"
    path.write_bytes(pickle.dumps(two_devices(), protocol=4))
    snapshot = pickle.loads(convert(path, "memory-viz"))
    assert [len(t) for t in snapshot["device_traces"]] == [0, 3, 0, 3]
    assert [s["device"] for s in snapshot["segments"]] == [1, 3]
    assert snapshot["device_traces"][3][2]["device_free"] == 77
    rows = list(csv.DictReader(convert(path, "csv").decode().splitlines(keepends=True)))
    assert [row["device"] for row in rows] == ["1", "3"] and [row["id"] for row in rows] == ["0", "1"]
    assert rows[0]["line"] == 'a","b\n\x01.py:1 =cmd("é")'
    events = json.loads(convert(path, "perfetto"))["traceEvents"]
    names = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert names == {"memory of device 1", "memory of device 3"}
    assert any(e["name"].startswith("out of memory: 1.00 TiB") for e in events)
    done = ullage("convert", "-", "--to", "csv", input=path.read_bytes())
    assert done.returncode == 0 and b"only device 1" in done.stderr


@pytest.mark.parametrize("path", [*SNAPSHOTS, KINETO], ids=name_of)
def test_the_curves_add_up_and_reach_the_peak(path):
    events = json.loads(convert(path, "perfetto"))["traceEvents"]
    peak = allocated = 0
    for event in events:
        if event["ph"] == "C" and event["name"] == "allocated":
            allocated = event["args"]["bytes"]
            peak = max(peak, allocated)
        if event["ph"] == "C" and event["name"] == "allocated:":
            assert sum(event["args"].values()) == allocated
        assert event.get("ts", 0) >= 0 and event.get("dur", 0) >= 0
    assert peak == ledger(path)["peak"]["allocated_bytes"]


@pytest.mark.parametrize("path", [*SNAPSHOTS, KINETO], ids=name_of)
def test_a_row_per_allocation(path):
    rows = list(csv.DictReader(convert(path, "csv").decode().splitlines(keepends=True)))
    assert [int(row["id"]) for row in rows] == list(range(len(rows)))
    live = sum(int(row["block_bytes"]) for row in rows if not row["freed_event"])
    lines = ledger(path, "--at", "end")["ledger"]
    cached = next((c["bytes"] for c in lines["children"] if c["id"] == "cached"), 0)
    assert live == lines["bytes"] - cached or name_of(path) == "mosaic_output.pickle"
    assert all(row["category"] for row in rows)


def test_a_trace_becomes_a_snapshot(tmp_path):
    path = tmp_path / "trace.pickle"
    path.write_bytes(convert(KINETO, "memory-viz"))
    assert ledger(path)["peak"]["allocated_bytes"] == ledger(KINETO)["peak"]["allocated_bytes"]
    assert ledger(path)["evidence"]["contradictions"] == []
    assert {"activations", "temporaries"} <= {e.get("category") for e in pickle.loads(path.read_bytes())["device_traces"][0]}
    events = json.loads(convert(KINETO, "perfetto"))["traceEvents"]
    assert {"operator", "phase", "step", "kernel"} <= {e.get("cat") for e in events}


def test_counters():
    rows = list(csv.DictReader(convert(COUNTERS, "csv").decode().splitlines()))
    assert {"parameters", "activations"} <= {row["counter"] for row in rows}
    assert rows[0]["time_us"] == ""  # older than the recording
    events = json.loads(convert(COUNTERS, "perfetto"))["traceEvents"]
    assert {e["name"] for e in events if e["ph"] == "C"} == {row["counter"] for row in rows}
    assert max(e["ts"] for e in events if e["ph"] == "C") < 3600e6
    done = ullage("convert", COUNTERS, "--to", "memory-viz")
    assert done.returncode == 3 and b"counters" in done.stderr and b"perfetto" in done.stderr


def test_a_log_of_nvidia_smi(tmp_path):
    path = tmp_path / "smi.csv"
    path.write_text("index, memory.used [MiB]\n0, 100 MiB\n0, 300 MiB\n")
    rows = list(csv.DictReader(convert(path, "csv").decode().splitlines()))
    assert [(row["gpu"], row["bytes"], row["time_us"]) for row in rows] == [("0", "104857600", ""), ("0", "314572800", "")]
    assert len([e for e in json.loads(convert(path, "perfetto"))["traceEvents"] if e["ph"] == "C"]) == 2


def test_what_cannot_be_converted_is_said(tmp_path):
    oom = tmp_path / "oom.txt"
    oom.write_text("CUDA out of memory. Tried to allocate 1.48 GiB (GPU 0; 23.65 GiB total capacity; 16.22 GiB already "
                   "allocated; 111.12 MiB free; 22.52 GiB reserved in total by PyTorch)\n")
    for to in ("memory-viz", "perfetto", "csv"):
        done = ullage("convert", oom, "--to", to)
        assert done.returncode == 3 and done.stdout == b""
        assert b"nothing to convert" in done.stderr and b"snapshots" in done.stderr


@pytest.mark.parametrize("arguments, said", [
    ((), "RUN|FILE"), ((TRAINING,), "memory-viz, perfetto or csv"), ((TRAINING, "--to", "perfeto"), "did you mean 'perfetto'"),
    ((TRAINING, "--to", "csv", "--out", "/"), "folder"), (("no-such-run", "--to", "csv"), "no such")])
def test_mistakes_on_the_command_line(arguments, said):
    done = ullage("convert", *arguments)
    assert done.returncode == 2 and said in done.stderr.decode(), done.stderr


def test_files_appear_whole_and_are_not_replaced_unasked(tmp_path):
    out = tmp_path / "out.csv"
    assert ullage("convert", TRAINING, "--to", "csv", "--out", out).returncode == 0
    whole = out.read_bytes()
    assert whole == convert(TRAINING, "csv")
    done = ullage("convert", TRAINING, "--to", "perfetto", "--out", out)
    assert done.returncode == 2 and b"--force" in done.stderr and out.read_bytes() == whole
    assert ullage("convert", TRAINING, "--to", "perfetto", "--out", out, "--force").returncode == 0
    assert json.loads(out.read_bytes())["traceEvents"]
    bad = tmp_path / "bad.txt"
    bad.write_text("just a text")
    assert ullage("convert", bad, "--to", "csv", "--out", out, "--force").returncode == 3
    assert json.loads(out.read_bytes())["traceEvents"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.txt", "out.csv"]
    done = ullage("convert", TRAINING, "--to", "csv", "--out", tmp_path / "no/such/folder.csv")
    assert done.returncode == 4
    assert ullage("convert", TRAINING, "--to", "memory-viz", "--out", "/dev/full").returncode == 4
    assert ullage("convert", TRAINING, "--to", "memory-viz", "--out", "/dev/null").returncode == 0


def test_a_pickle_is_not_for_a_terminal():
    import pty
    controller, terminal = pty.openpty()
    done = subprocess.run([BIN, "convert", TRAINING, "--to", "memory-viz"], stdout=terminal, stderr=subprocess.PIPE)
    os.close(terminal)
    os.close(controller)
    assert done.returncode == 2 and b"--out" in done.stderr


def test_what_was_read_of_a_cut_file_is_converted(tmp_path):
    whole = gzip.decompress(TRAINING.read_bytes())
    path = tmp_path / "cut.pickle"
    path.write_bytes(whole[: len(whole) // 2])
    for to, read in (("memory-viz", pickle.loads), ("perfetto", json.loads), ("csv", bytes)):
        out = tmp_path / to
        done = ullage("convert", path, "--to", to, "--out", out)
        assert done.returncode == 3 and b"damaged or cut" in done.stderr and b"byte" in done.stderr
        assert len(read(out.read_bytes())) > 0


def test_the_same_input_gives_the_same_bytes():
    for to in ("memory-viz", "perfetto", "csv"):
        assert convert(KINETO, to) == convert(KINETO, to)
