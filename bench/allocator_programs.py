#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Thousands of random programs of requests, by PyTorch's allocator on the virtual GPU and by the model.

    build/venv/bin/python bench/allocator_programs.py [--programs 5000] [--length 400] [--first-seed 1000]

ULLAGE_BIN names the program beside which allocator_driver stands. Run it with the Python whose torch is to be compared.
"""
import argparse
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/allocator"))
import allocator_comparison as comparison  # noqa: E402

PER_PROCESS = 50
SHOWN = 20


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", type=int, default=5000)
    parser.add_argument("--length", type=int, default=400)
    parser.add_argument("--first-seed", type=int, default=1000)
    args = parser.parse_args()
    program = os.environ.get("ULLAGE_BIN", str(ROOT / "build/release/bin/ullage"))
    ran = operations = failed = different = 0
    for seed in range(args.first_seed, args.first_seed + -(-args.programs // PER_PROCESS)):
        for index, real, found in comparison.compare(program, seed, PER_PROCESS, args.length):
            ran, operations, failed = ran + 1, operations + len(real["program"]), failed + len(real["failed"])
            different += bool(found)
            if found and different <= SHOWN:
                print(f"seed {seed}, program {index}, {real['set_up']}:", *found[:3], found[-1], sep="\n  ", flush=True)
    print(*comparison.CRASHES, sep="\n")
    print(f"{ran} programs, {operations} operations, {failed} requests that failed in both: {different} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
