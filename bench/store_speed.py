#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast the history of runs answers: whole commands, the process's start included.

    bench/store_speed.py [--bin build/release/bin/ullage] [--runs 10000] [--limit-ms 100]

Makes a store of so many runs in a temporary folder, then lists all of them, the newest twenty, sorts by a metric, follows
a metric, and compares two. Ends with 1 when the list of all or the comparison takes longer than the limit.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import make_runs


def best(words, environment, times=5):
    found = []
    for _ in range(times):
        start = time.perf_counter()
        subprocess.run(words, env=environment, check=True, stdout=subprocess.DEVNULL)
        found.append(time.perf_counter() - start)
    return 1000 * min(found)


def made_store(program, count, folder):
    environment = {**os.environ, "ULLAGE_STORE": str(folder / "store.db"), "XDG_DATA_HOME": str(folder)}
    lines = folder / "runs.jsonl"
    with open(lines, "w", encoding="utf-8") as file:
        file.writelines(make_runs.store_line(number) for number in range(count))
    start = time.perf_counter()
    subprocess.run([program, "store", "import", lines], env=environment, check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    size = (folder / "store.db").stat().st_size
    print(f"{count} runs taken in: {seconds:.1f} s, {count / seconds:.0f} runs/s; the store has {size / count / 1024:.1f} KiB a run")
    return environment


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bin", default="build/release/bin/ullage")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--limit-ms", type=float, default=100)
    options = parser.parse_args()
    program = str(pathlib.Path(options.bin).resolve())
    with tempfile.TemporaryDirectory() as folder:
        environment = made_store(program, options.runs, pathlib.Path(folder))
        commands = {
            "list all": ["runs", "--limit", "0"],
            "compare two": ["diff", "run-000001", f"run-{options.runs - 1:06}"],
            "list the newest 20": ["runs"],
            "list all as JSON": ["runs", "--limit", "0", "--json"],
            "sort by a metric": ["runs", "--sort", "activations"],
            "filter by a flag": ["runs", "--where", "--batch=4"],
            "follow a metric": ["trend", "--name", "train_1", "--tolerance", "100%"],
            "show one": ["show", "run-000100"],
        }
        times = {name: best([program, *words], environment) for name, words in commands.items()}
    for name, milliseconds in times.items():
        print(f"{name:20} {milliseconds:6.1f} ms")
    return 1 if max(times["list all"], times["compare two"]) > options.limit_ms else 0


if __name__ == "__main__":
    sys.exit(main())
