# SPDX-License-Identifier: Apache-2.0
"""Several processes write into one store at once, and some are killed while they do: what is there stays readable, each
transaction whole or not at all."""
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = os.environ.get("ULLAGE_BIN", "")
pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
sys.path.insert(0, str(ROOT / "bench"))
import make_runs  # noqa: E402
import store_kills  # noqa: E402

TOGETHER = 64  # runs in one transaction of an import


def lines_of(writer, runs):
    lines = []
    for number in range(runs):
        line = json.loads(make_runs.store_line(number))
        line["id"], line["directory"] = f"w{writer}-{number:05}", f"/w{writer}/{number}"
        lines.append(json.dumps(line) + "\n")
    return "".join(lines)


def start(store, path):
    return subprocess.Popen([BIN, "store", "import", path, "--store", store], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def listed(store):
    done = subprocess.run([BIN, "runs", "--limit", "0", "--json", "--store", store], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [run["id"] for run in json.loads(done.stdout)["runs"]]


def assert_sound(store):
    with sqlite3.connect(store) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        assert database.execute("SELECT count(*) FROM runs").fetchone() == database.execute(
            "SELECT count(*) FROM results").fetchone()


def test_writers_wait_for_each_other(tmp_path):
    store, writers, runs = tmp_path / "store.db", 6, 2 * TOGETHER
    for writer in range(writers):
        (tmp_path / f"{writer}.jsonl").write_text(lines_of(writer, runs))
    running = [start(store, tmp_path / f"{writer}.jsonl") for writer in range(writers)]
    for process in running:
        output, errors = process.communicate(timeout=120)
        assert process.returncode == 0, errors
        assert output == f"{runs} runs taken in\n"
    assert len(listed(store)) == writers * runs
    assert_sound(store)


def test_a_store_survives_that_its_writers_are_killed(tmp_path):
    store, dice, killed = tmp_path / "store.db", random.Random(7), 0
    for writer in range(4):
        (tmp_path / f"{writer}.jsonl").write_text(lines_of(writer, 8 * TOGETHER))
    for _ in range(15):
        running = [start(store, tmp_path / f"{writer}.jsonl") for writer in range(4)]
        for process in running:
            time.sleep(dice.uniform(0, 0.08))
            process.kill()
            process.communicate()
            killed += process.returncode == -signal.SIGKILL
        if not store.exists():
            continue
        counts = {}
        for run in listed(store):
            counts[run.split("-")[0]] = counts.get(run.split("-")[0], 0) + 1
        assert all(count % TOGETHER == 0 for count in counts.values()), counts
    assert killed >= 15  # else nothing was tried
    assert_sound(store)
    for writer in range(4):
        _, errors = (process := start(store, tmp_path / f"{writer}.jsonl")).communicate(timeout=120)
        assert process.returncode == 0, errors
    assert len(listed(store)) == 4 * 8 * TOGETHER
    assert_sound(store)


def test_a_kill_costs_at_most_the_run_being_written(tmp_path):
    sums = store_kills.kills(BIN, tmp_path, 10)
    assert sums["killed"] >= 10 and sums["confirmed"] > 0  # else nothing was tried
    assert sums["lost"] == sums["beyond"] == 0, sums
