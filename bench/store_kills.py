#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a kill costs the history of runs.

    bench/store_kills.py [--bin build/release/bin/ullage] [--kills 200] [--writers 2]

Writers take one run after the other into one store, each by `ullage store import`, and note what it has confirmed. At a random
moment all of them, and the programs that they started, are killed (SIGKILL). Then the store must be sound, hold every
confirmed run, and of each writer at most one more: the one that was being written. Ends with 1 when that is not so.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import make_runs  # noqa: E402

WRITER = """
import pathlib, subprocess, sys
program, store, folder, name, text = sys.argv[1:]
for number in range(1000000):
    path = pathlib.Path(folder) / f"{name}.jsonl"
    path.write_text(text.replace("RUN-ID", f"{name}-{number}"))
    done = subprocess.run([program, "store", "import", str(path), "--store", store], capture_output=True)
    if done.returncode != 0:
        sys.exit(done.stderr.decode())
    with open(pathlib.Path(folder) / f"{name}.confirmed", "a") as file:
        file.write(f"{name}-{number}\\n")
"""


def one_run():
    line = json.loads(make_runs.store_line(0))
    line["id"], line["directory"] = "RUN-ID", "/runs/RUN-ID"
    return json.dumps(line) + "\n"


def start(program, store, folder, name):
    words = [sys.executable, "-S", "-c", WRITER, program, store, folder, name, one_run()]
    return subprocess.Popen(list(map(str, words)), start_new_session=True, stderr=subprocess.PIPE, text=True)


def kill_after(writers, seconds):
    """How many were still at work."""
    time.sleep(seconds)
    for writer in writers:
        os.killpg(writer.pid, signal.SIGKILL)
    killed = 0
    for writer in writers:
        _, errors = writer.communicate()
        killed += writer.returncode == -signal.SIGKILL
        assert writer.returncode == -signal.SIGKILL, errors
    return killed


def in_store(store):
    """Its runs, as SQLite has them, after its own check."""
    if not store.exists():
        return set()
    with sqlite3.connect(store) as database:
        assert database.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        halves = "SELECT count(*) FROM runs WHERE number NOT IN (SELECT run FROM results)"
        assert database.execute(halves).fetchone()[0] == 0
        return {row[0] for row in database.execute("SELECT id FROM runs")}


def confirmed_in(folder, name):
    path = folder / f"{name}.confirmed"
    return set(path.read_text().splitlines()) if path.exists() else set()


def kills(program, folder, count, writers=2, seed=1):
    """{killed, confirmed, lost (confirmed, but not there), beyond (there, not confirmed, and more than one of a writer)}"""
    dice, store = random.Random(seed), folder / "store.db"
    sums = {"killed": 0, "confirmed": 0, "lost": 0, "beyond": 0}
    while sums["killed"] < count:
        names = [f"k{sums['killed']}w{number}" for number in range(writers)]
        started = [start(program, store, folder, name) for name in names]
        sums["killed"] += kill_after(started, dice.uniform(0.05, 0.4))
        there = in_store(store)
        for name in names:
            confirmed, found = confirmed_in(folder, name), {run for run in there if run.startswith(f"{name}-")}
            sums["confirmed"] += len(confirmed)
            sums["lost"] += len(confirmed - found)
            sums["beyond"] += max(0, len(found - confirmed) - 1)
    return sums


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=os.environ.get("ULLAGE_BIN", str(ROOT / "build/release/bin/ullage")))
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--writers", type=int, default=2)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        sums = kills(args.bin, pathlib.Path(folder), args.kills, args.writers)
    print(f"{sums['killed']} kills: {sums['confirmed']} runs confirmed, {sums['lost']} of them lost; more than the one being "
          f"written: {sums['beyond']}; the store sound after each")
    return 0 if sums["lost"] == sums["beyond"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
