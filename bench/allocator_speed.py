#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speed of the allocator model and of the curve of memory, beside textbook versions in C++ and a loop in Python, in one
run on one core:

    cmake -S . -B build/bench -G Ninja -DCMAKE_BUILD_TYPE=Release -DULLAGE_BENCH=ON && ninja -C build/bench
    bench/allocator_speed.py --bin build/bench/bin [SNAPSHOT]

Needs Google Benchmark (libbenchmark-dev). SNAPSHOT is a memory snapshot with its history, plain or gzip. Times are those of the processor, best of several runs.
"""
import argparse
import gzip
import json
import os
import pathlib
import pickle
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PUBLISHED = ROOT / "tests/data/snapshots/wedson_medium_512_training.pickle.gz"
RUNS = 5
PYTHON_EVENTS = 1_000_000


def compiled(binaries, snapshot):
    """Name -> items per second."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out.json"
        subprocess.run([binaries / "bench_allocator_model", snapshot, f"--benchmark_repetitions={RUNS}",
                        f"--benchmark_out={out}", "--benchmark_out_format=json"], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        found = {}
        for row in json.loads(out.read_text())["benchmarks"]:
            if row["run_type"] == "iteration":
                found[row["run_name"]] = max(found.get(row["run_name"], 0), row["items_per_second"])
        return found


def events_of(snapshot):
    opened = gzip.open if snapshot.suffix == ".gz" else open
    with opened(snapshot, "rb") as file:
        traces = pickle.load(file)["device_traces"]
    return [(event["action"], event["addr"], event["size"]) for event in max(traces, key=len)]


def curve(events):
    """What is allocated after each event, sizes rounded to 512 bytes."""
    now, live, allocated = 0, {}, []
    for action, address, size in events:
        if action == "alloc":
            live[address] = size = (size + 511) // 512 * 512
            now += size
        elif action == "free_requested":
            now -= live.pop(address, 0)
        allocated.append(now)
    return allocated


def in_python(snapshot):
    """Events per second."""
    events = events_of(snapshot)
    events *= -(-PYTHON_EVENTS // len(events))
    best = 0
    for _ in range(RUNS):
        start = time.process_time()
        curve(events)
        best = max(best, len(events) / (time.process_time() - start))
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("snapshot", type=pathlib.Path, nargs="?", default=PUBLISHED)
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    found = compiled(options.bin.resolve(), options.snapshot)
    found["curve/Python"] = in_python(options.snapshot)
    for name, rate in found.items():
        first = found["requests/model" if name.startswith("requests") else "curve/timeline"]
        print(f"{name:44} {rate / 1e6:7.2f} million/s  the first is {first / rate:.1f} times as fast" if rate != first
              else f"{name:44} {rate / 1e6:7.2f} million/s")


if __name__ == "__main__":
    main()
