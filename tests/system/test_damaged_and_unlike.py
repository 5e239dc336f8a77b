# SPDX-License-Identifier: Apache-2.0
"""What somebody who tried to break `ledger`, `diff` and `explain` found."""
import gzip
import json
import os
import pathlib
import pickle
import subprocess

import pytest

BIN = os.environ.get("ULLAGE_BIN", "")
pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
TRACE = DATA / "traces/kineto_resnet50_profile_memory.json.gz"
SNAPSHOT = DATA / "snapshots/wedson_medium_128_training.pickle.gz"


def ullage(*arguments, **options):
    return subprocess.run([BIN, *map(str, arguments)], capture_output=True, timeout=60, **options)


def segment(address, size, device=0, name="f"):
    frames = [{"filename": "train.py", "name": name, "line": 1}]
    block = {"size": size, "requested_size": size, "state": "active_allocated", "address": address, "frames": frames}
    return {"device": device, "address": address, "total_size": size, "allocated_size": size, "active_size": size,
            "stream": 0, "segment_type": "large", "blocks": [block], "is_expandable": False}


def snapshot(path, segments, traces):
    path.write_bytes(pickle.dumps({"segments": segments, "device_traces": traces}))
    return path


def test_a_difference_to_a_damaged_file_says_so(tmp_path):
    cut = tmp_path / "cut.json"
    cut.write_bytes(gzip.decompress(TRACE.read_bytes())[:-1_000])
    done = ullage("diff", TRACE, cut, "--json")
    assert done.returncode == 3
    assert any("byte" in note and "cut.json" in note for note in json.loads(done.stdout)["notes"])


def test_sources_that_show_different_parts_of_the_device_line_up():
    made = json.loads(ullage("diff", SNAPSHOT, TRACE, "--json").stdout)
    assert made["difference"]["id"] == "allocated"
    assert any("not every source says what is reserved" in note for note in made["notes"])
    lines = {line["id"]: line for line in made["difference"]["children"]}
    assert lines["activations"]["after_bytes"] > 0 and lines["optimizer_state"]["before_bytes"] > 0


def test_the_largest_number_is_a_number():
    assert ullage("ledger", SNAPSHOT, "--by", "line", "--top", 2**64 - 1).returncode == 0


def test_the_device_with_the_most_bytes_is_shown(tmp_path):
    event = {"action": "alloc", "addr": 0, "size": 512, "stream": 0, "frames": []}
    path = snapshot(tmp_path / "ranks.pickle", [segment(0, 2 << 20), segment(1 << 40, 5 << 30, device=3)],
                    [[event], [], [], []])
    made = json.loads(ullage("ledger", path, "--json").stdout)
    assert made["device"]["index"] == 3 and made["ledger"]["bytes"] == 5 << 30


def test_names_do_not_reach_the_terminal_raw(tmp_path):
    path = snapshot(tmp_path / "names.pickle", [segment(0, 2 << 20, name="a\x1b[31m\r\nb\x00\x9b")], [[]])
    text = ullage("ledger", path, "--by", "line").stdout
    assert b"\x1b" not in text and b"\r" not in text and b"\x00" not in text and b"a?[31m??b??" in text
    assert json.loads(ullage("ledger", path, "--by", "line", "--json").stdout)["ledger"]["bytes"] == 2 << 20


def test_a_damaged_archive_names_its_own_byte(tmp_path):
    cut = tmp_path / "cut.gz"
    whole = SNAPSHOT.read_bytes()
    cut.write_bytes(whole[: len(whole) // 2])
    made = json.loads(ullage("ledger", cut, "--json").stdout)
    assert any("compressed data" in text for text in made["evidence"]["missing"])


def test_the_newest_run_is_one_that_ran(tmp_path):
    runs = tmp_path / "ullage/runs"
    (runs / "failed").mkdir(parents=True)
    done = ullage("ledger", "@last", env={**os.environ, "XDG_DATA_HOME": str(tmp_path), "ULLAGE_STORE": ""})
    assert done.returncode == 2 and b"there is no run yet" in done.stderr


def test_a_setting_that_the_version_of_torch_has():
    text = ("RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.93 GiB total capacity; 4.00 GiB already "
            "allocated; 6.06 MiB free; 7.00 GiB reserved in total by PyTorch)")
    made = json.loads(ullage("explain", "-", "--json", input=text.encode()).stdout)
    assert "max_split_size_mb" in made["changes"][0]["text"] or "max_split_size_mb" in json.dumps(made["changes"])


@pytest.mark.parametrize("command", ["ledger", "explain", "reconcile", "diff"])
def test_a_folder_that_is_no_run_says_so(tmp_path, command):
    done = ullage(command, *([tmp_path, tmp_path] if command == "diff" else [tmp_path]))
    assert done.returncode in (2, 3)
    assert b"no run directory" in done.stderr and b"expected:" in done.stderr and b"hint:" in done.stderr


@pytest.mark.parametrize("name", ["marks.jsonl", "run.json"])
def test_a_run_whose_file_links_to_itself_is_an_error_with_its_name(tmp_path, name):
    (tmp_path / name).symlink_to(name)
    done = ullage("ledger", tmp_path)
    assert done.returncode in (3, 4), done.stderr
    assert str(tmp_path).encode() in done.stderr


def test_a_command_goes_on_without_its_working_directory(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(["bash", "-c", f"rmdir '{gone}'; TMPDIR=/nowhere HOME= XDG_DATA_HOME= '{BIN}' ledger no-such-run"], cwd=gone, capture_output=True, timeout=60)
    assert done.returncode == 2 and b"no such run" in done.stderr, done.stderr
