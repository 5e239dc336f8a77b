#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording costs, and what a kill costs the record. On the bare stand-ins, or with --real on the GPU that is here.

    build/venv/bin/python bench/record_cost.py [--marks 20000] [--steps 300] [--kills 200] [--real]

Prints the time of one mark; the share of the recorder's default mode in a step of 100 ms (its marks, hooks and sampler, as
processor time of the step with the recorder less that without); and, for processes that are killed at random moments, how
many records were lost beyond the one that was being written.
"""
import argparse
import json
import mmap
import os
import pathlib
import random
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests/allocator"), str(ROOT / "python")]
PROFILE = "name=NVIDIA A100-SXM4-80GB;total_bytes=85000000000;context_bytes=471859200"
STEP = 0.1  # seconds


def mark_cost(folder, count):
    """Microseconds of a mark: the median of hundredths of `count`."""
    import torch
    import ullage

    torch.ones(4, device="cuda")
    with ullage.record("marks", directory=folder / "marks", interval=0) as run:
        times = []
        for _ in range(100):
            begin = time.perf_counter()
            for _ in range(count // 100):
                run.step()
            times.append((time.perf_counter() - begin) / (count // 100) * 1e6)
    return statistics.median(times), min(times)


def small_training(count, recorder):
    """Processor seconds per step of a training whose steps last 100 ms."""
    import torch

    model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(8)]).cuda()
    optimizer = torch.optim.SGD(model.parameters(), foreach=True)
    batch = torch.ones(16, 256, device="cuda")
    with recorder(model, optimizer) as run:
        for step in range(count + 4):
            if step == 4:  # tensors are named in the first three
                begin = time.process_time()
            started = time.perf_counter()
            model(batch).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
            if run is not None:
                run.tokens(4096, effective=4000)
                run.step()
            time.sleep(max(0.0, STEP - (time.perf_counter() - started)))
        return (time.process_time() - begin) / count


def step_cost(folder, count, globally, rounds=5):
    """Share of a step, as the median over rounds; `globally`: every module is watched, as `ullage record --` does."""
    import contextlib

    import ullage

    shares = []
    for i in range(rounds):
        plain = small_training(count // rounds, lambda model, optimizer: contextlib.nullcontext())
        recorded = small_training(count // rounds, lambda model, optimizer: ullage.record(
            "steps", directory=folder / f"steps{globally}{i}",
            **({"phases": "all"} if globally else {"model": model, "optimizer": optimizer})))
        shares.append((recorded - plain) / STEP)
    return statistics.median(shares), max(shares)


def whole_records(log):
    """How many records are whole, and whether anything but the last line is damaged."""
    lines = log.read_bytes().split(b"\n")
    for i, line in enumerate(lines):
        if len(line) < 22 or int(line[6:14], 16) != zlib.crc32(line[20:-1]):
            return lines[:i], i == len(lines) - 1
    return lines, True


def lost_by_a_kill(directory, seconds):
    """Records that were complete when the process died and are not in its log. Killed so long after its first step, or, where
    `seconds` is negative, after its start."""
    import ullage

    done = mmap.mmap(-1, 8)
    child = os.fork()
    if child == 0:
        with open(os.devnull, "w") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        run = ullage.record("killed", directory=directory, interval=0.001).start()
        for i in range(10_000_000):
            run.step()
            done[:8] = struct.pack("q", i + 1)
        os._exit(0)
    while seconds > 0 and done[:8] == bytes(8):
        time.sleep(0.0005)
    time.sleep(abs(seconds))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    completed, = struct.unpack("q", done[:8])
    log = directory / "marks.jsonl"
    if not log.exists():
        return completed, 0
    lines, readable = whole_records(log)
    steps = sum(b'"name":"step_end"' in line for line in lines)
    return (completed - steps if readable else completed), steps


def kills(folder, count):
    chance = random.Random(1)
    worst, steps, cut = 0, 0, 0
    for i in range(count):
        lost, found = lost_by_a_kill(folder / f"kill{i}", chance.choice((1, 1, 1, -1)) * chance.uniform(0.001, 0.04))
        worst, steps, cut = max(worst, lost), steps + found, cut + (found == 0)
        shutil.rmtree(folder / f"kill{i}", ignore_errors=True)
    return worst, steps, cut


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--marks", type=int, default=20000)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--real", action="store_true", help="the GPU that is here instead of the stand-ins")
    args = parser.parse_args()
    if not args.real and "ULLAGE_VGPU_PROFILE" not in os.environ:
        from allocator_comparison import bare_environment

        program = os.environ.get("ULLAGE_BIN", ROOT / "build/release/bin/ullage")
        return subprocess.run([sys.executable, *sys.argv], env=bare_environment(program, PROFILE)).returncode
    import torch  # noqa: F401  before the forks, which must not initialise CUDA

    folder = pathlib.Path(tempfile.mkdtemp())
    worst, steps, empty = kills(folder, args.kills)
    print(f"{args.kills} kills: {steps} steps in the logs, {empty} before the first; records lost beyond the one being written: {worst}")
    median, least = mark_cost(folder, args.marks)
    print(f"a mark: {median:.1f} us (median), {least:.1f} us (least)")
    for mode, globally in (("model and optimizer given", False), ("every module watched", True)):
        share, most = step_cost(folder, args.steps, globally)
        print(f"{mode}, in a step of {STEP * 1000:.0f} ms: {100 * share:.2f} % (median), {100 * most:.2f} % (most)")
    shutil.rmtree(folder)
    return 0 if worst == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
