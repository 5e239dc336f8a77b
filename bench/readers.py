#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Speed of the readers beside Python's own, in one run on one core:

    cmake -S . -B build/bench -G Ninja -DCMAKE_BUILD_TYPE=Release -DULLAGE_BENCH=ON && ninja -C build/bench
    bench/readers.py --bin build/bench/bin [--big]

Makes its inputs (make_snapshot.py, make_trace.py) in a temporary folder. --big adds a snapshot of 1 GB.
"""
import argparse
import gc
import json
import os
import pathlib
import pickle
import resource
import subprocess
import tempfile
import time

import make_snapshot
import make_trace


def best(work, times=3):
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def load(path):
    with open(path, "rb") as file:
        pickle.load(file)


def load_without_gc(path):
    gc.disable()
    load(path)
    gc.enable()


def parse(path):
    with open(path, "rb") as file:
        json.load(file)


def line(name, path, seconds):
    print(f"{name:32} {os.path.getsize(path) / 1e6 / seconds:7.0f} MB/s")


def snapshots(binaries, folder):
    path = folder / "snapshot.pickle"
    make_snapshot.make(1_000_000, path)
    subprocess.run([binaries / "bench_snapshot_read", path], check=True)
    line("pickle.load", path, best(lambda: load(path)))
    line("pickle.load without gc", path, best(lambda: load_without_gc(path)))


def traces(binaries, folder):
    path = folder / "trace.json"
    make_trace.make(150, path)
    subprocess.run([binaries / "bench_kineto_read", path], check=True)
    line("json.load", path, best(lambda: parse(path), 2))


def big(binaries, folder):
    path = folder / "big.pickle"
    make_snapshot.make(1_000_000_000 // 150, path)
    start = time.perf_counter()
    subprocess.run([binaries / "ullage", "ledger", path], check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"ullage ledger, {os.path.getsize(path) / 1e9:.2f} GB: {seconds:.1f} s, {memory:.0f} MiB at most")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, required=True)
    parser.add_argument("--big", action="store_true")
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        if options.big:  # first: the largest child is remembered
            big(options.bin.resolve(), folder)
        snapshots(options.bin.resolve(), folder)
        traces(options.bin.resolve(), folder)


if __name__ == "__main__":
    main()
