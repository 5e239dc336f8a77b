#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a rehearsal costs: the founding example under the bare stand-ins (hook and logs off) against `ullage rehearse`.

    build/venv/bin/python bench/rehearse_cost.py [--rounds 5]

Both make three steps in the same round, alternating, so that the ratio does not depend on what else the machine does.
Also prints host memory and the size of the logs per 1,000 allocator events.
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/allocator"))
from allocator_comparison import bare_environment  # noqa: E402

PROFILE = "name=NVIDIA A100-SXM4-80GB;total_bytes=85000000000;context_bytes=471859200"
SCRIPT = [sys.executable, str(ROOT / "examples/founding_example.py"), "--attention", "sdpa", "--steps", "3"]


def timed(command, environment):
    start = time.monotonic()
    subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - start


def rehearsal(program, directory, stacks="python", operators="names"):
    return [str(program), "rehearse", "--gpu", "a100-80gb", "--json", "--no-store", "--steps", "3", "--stacks", stacks,
            "--operators", operators, "--out", str(directory), "--", *SCRIPT]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    program = pathlib.Path(os.environ.get("ULLAGE_BIN", ROOT / "build/release/bin/ullage")).resolve()
    folder = pathlib.Path(tempfile.mkdtemp())
    levels = {"--stacks none": {"stacks": "none"}, "--operators off": {"operators": "off"}, "(default)": {},
              "--operators shapes": {"operators": "shapes"}, "--stacks all": {"stacks": "all"}}
    times = {"bare": [], **{level: [] for level in levels}}
    timed(SCRIPT, bare_environment(program, PROFILE))  # fills the disk cache
    for i in range(args.rounds):
        times["bare"].append(timed(SCRIPT, bare_environment(program, PROFILE)))
        for level, flags in levels.items():
            times[level].append(timed(rehearsal(program, folder / f"{level}{i}", **flags), os.environ))
    for name, values in times.items():
        ratio = statistics.median(a / b for a, b in zip(values, times["bare"]))
        label = "bare stand-ins" if name == "bare" else f"rehearse {name}"
        print(f"{label:28} {min(values):6.2f} s least, {statistics.median(values):6.2f} s median, {ratio:5.2f} x")
    report(folder / "(default)0")
    shutil.rmtree(folder)


def report(directory):
    events = json.loads((directory / "run.json").read_text())
    marks = [json.loads(line)["r"] for line in (directory / "marks.jsonl").read_text().splitlines()]
    last = [m for m in marks if m["kind"] == "mark"][-1]
    count = last["allocs"] + last["frees"]
    print(f"{count} allocator events in {events['steps']} steps; bytes per 1,000 of them:")
    for name in ("device.ulog", "marks.jsonl", "snapshot.pickle", "operators.json.zst"):
        print(f"  {name:18} {1000 * (directory / name).stat().st_size / count:10.0f}")
    print(f"largest process: {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MiB of host memory")


if __name__ == "__main__":
    main()
