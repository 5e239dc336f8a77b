# SPDX-License-Identifier: Apache-2.0
"""`ullage ledger --segments` on published snapshots, against their own segments, and on snapshots without a history."""
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
ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
SCHEMA = json.loads((ROOT / "docs/schemas/segments.schema.json").read_text(encoding="utf-8"))
# mosaic_output is synthetic: its blocks lie outside its segments
SNAPSHOTS = sorted(p for p in (DATA / "snapshots").glob("*.pickle.gz") if not p.name.startswith("mosaic"))
STATES = {"inactive": "free", "active_allocated": "allocated", "active_pending_free": "pending_free",
          "active_awaiting_free": "pending_free"}
MiB = 1 << 20


def ullage(*arguments):
    return subprocess.run([BIN, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def segments_of(path, *flags):
    """The JSON of the view, which fits its schema and adds up."""
    done = ullage("ledger", path, "--segments", "--json", *flags)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    jsonschema.validate(made, SCHEMA)
    for segment in made["segments"]:
        check_adds_up(segment)
    for total, part in (("reserved", ""), ("allocated", "allocated_"), ("hole", "hole_")):
        assert made[f"{total}_bytes"] == sum(s[f"{part}bytes"] for s in made["segments"])
    assert made["largest_hole_bytes"] == max((s["largest_hole_bytes"] for s in made["segments"]), default=0)
    return made


def check_adds_up(segment):
    end = 0
    for block in segment["blocks"]:
        assert block["offset"] == end
        end += block["bytes"]
        assert ("category" in block) == (block["state"] != "free")
    assert end == segment["bytes"]
    of = {state: sum(b["bytes"] for b in segment["blocks"] if b["state"] == state) for state in STATES.values()}
    assert (of["allocated"], of["free"]) == (segment["allocated_bytes"], segment["hole_bytes"])
    half_empty = 2 * of["allocated"] <= segment["bytes"]
    assert sum(pin["bytes"] for pin in segment["pinned_by"]) == (of["allocated"] + of["pending_free"] if half_empty else 0)


def own_segments(path):
    """What the snapshot itself says, in the shape of the view."""
    with gzip.open(path) as file:
        snapshot = pickle.load(file)  # our own data; Ullage itself never executes a pickle
    segments = snapshot if isinstance(snapshot, list) else snapshot["segments"]
    return {s["address"]: (s["total_size"], s["stream"], s["segment_type"] == "small", s.get("is_expandable", False),
                           s["allocated_size"], [(b["size"], STATES[b["state"]]) for b in s["blocks"]])
            for s in segments}


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: path.name.split(".")[0])
def test_at_the_end_they_are_the_snapshots_own(path):
    made = segments_of(path, "--at", "end")
    assert {s["address"]: (s["bytes"], s["stream"], s["small"], s["expandable"], s["allocated_bytes"],
                           [(b["bytes"], b["state"]) for b in s["blocks"]]) for s in made["segments"]} == own_segments(path)


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: path.name.split(".")[0])
@pytest.mark.parametrize("moment", ["peak", "reserved"])
def test_at_a_peak_they_add_up_to_the_ledger(path, moment):
    made = segments_of(path, "--at", moment)
    done = ullage("ledger", path, "--at", moment, "--json")
    ledger = {line["id"]: line["bytes"] for line in json.loads(done.stdout)["ledger"]["children"]}
    assert made["reserved_bytes"] == sum(ledger.values())
    assert made["reserved_bytes"] - made["allocated_bytes"] == ledger["cached"]
    by_category = dict.fromkeys(ledger, 0)
    for segment in made["segments"]:
        for block in segment["blocks"]:
            if block["state"] == "allocated":
                by_category[block["category"]] += block["requested_bytes"]
    assert {name: bytes for name, bytes in ledger.items() if name not in ("cached", "rounding")} == {
        name: bytes for name, bytes in by_category.items() if name not in ("cached", "rounding")}


def test_the_text_is_ascii_and_rows_can_be_cut():
    path = DATA / "snapshots/wedson_medium_512_training.pickle.gz"
    everything, some = ullage("ledger", path, "--segments", "--top", "0"), ullage("ledger", path, "--segments", "--top", "2")
    assert everything.returncode == some.returncode == 0 and everything.stdout.isascii()
    assert "more segments, full" in everything.stdout and " of it idle" not in everything.stdout
    assert " of it idle" in some.stdout and len(some.stdout.splitlines()) < len(everything.stdout.splitlines())
    assert "SEGMENTS at the peak of reserved memory" in some.stdout
    assert "SEGMENTS at the end" in ullage("ledger", path, "--segments", "--at", "end").stdout


def block(size, state="active_allocated"):
    return {"size": size, "requested_size": size if state != "inactive" else 0, "state": state, "frames": []}


def segment(address, blocks, kind="large"):
    total = sum(b["size"] for b in blocks)
    return {"device": 0, "address": address, "total_size": total, "stream": 0, "segment_type": kind, "blocks": blocks,
            "allocated_size": sum(b["size"] for b in blocks if b["state"] == "active_allocated"), "active_size": 0}


def test_a_snapshot_without_a_history_has_its_end(tmp_path):
    path = tmp_path / "plain.pickle"
    path.write_bytes(pickle.dumps({"device_traces": [], "segments": [
        segment(1 << 40, [block(4 * MiB), block(16 * MiB, "inactive")]), segment(2 << 40, [block(20 * MiB)])]}))
    made = segments_of(path)
    assert made["moment"] == "the end of the recording"
    assert made["reserved_bytes"] == 40 * MiB and made["largest_hole_bytes"] == 16 * MiB
    assert [pin["idle_bytes"] for pin in made["pinned_by"]] == [16 * MiB]
    assert "1 more segment, full: 20.00 MiB" in ullage("ledger", path, "--segments").stdout


def test_a_segment_that_states_no_stream_is_of_stream_0(tmp_path):
    path = tmp_path / "without.pickle"
    without = segment(1 << 40, [block(4 * MiB), block(16 * MiB, "inactive")])
    del without["stream"]
    path.write_bytes(pickle.dumps({"device_traces": [], "segments": [without]}))
    assert [s["stream"] for s in segments_of(path)["segments"]] == [0]


def test_a_segment_of_very_many_blocks(tmp_path):
    count = 100_000
    path = tmp_path / "many.pickle"
    path.write_bytes(pickle.dumps({"device_traces": [], "segments": [
        segment(1 << 40, [block(1024, "active_allocated" if i % 2 else "inactive") for i in range(count)])]}))
    made = segments_of(path)
    assert len(made["segments"][0]["blocks"]) == count and made["largest_hole_bytes"] == 1024


@pytest.mark.parametrize("name", ["hta_alexnet.json.gz", "hta_memory_timeline.raw.gz"])
def test_what_has_no_segments_is_refused(name):
    done = ullage("ledger", DATA / "traces" / name, "--segments")
    assert done.returncode == 3 and done.stdout == ""
    assert "does not hold the allocator's segments" in done.stderr and "a memory snapshot" in done.stderr


def test_levels_belong_to_the_other_view():
    done = ullage("ledger", SNAPSHOTS[0], "--segments", "--by", "line")
    assert done.returncode == 2 and done.stdout == "" and "--by" in done.stderr
