# SPDX-License-Identifier: Apache-2.0
"""How long a plan takes: the whole process beside the whole process of llm-analysis (closed forms) for the same training, and plans per
second through the library.

    python bench/plan_speed.py [--peer PYTHON] [--library build/bench/bin/bench_plan_speed] [--repeat 20]

PYTHON is the interpreter of an environment with llm-analysis (`pip install llm-analysis`); without it only Ullage is measured. Processes run in
turn; the figures are medians of wall and processor time. The program is ULLAGE_BIN, or that of build/release.
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = ("facebook/opt-1.3b", "facebook_opt-1.3b")
PEER = ("from llm_analysis.analysis import train; "
        f"train(model_name={MODEL[1]!r}, gpu_name='a100-sxm-80gb', batch_size_per_gpu=4, gradient_accumulation_steps=1, seq_len=1024, total_num_gpus=1,"
        " dp_size=1, log_level='ERROR')")


def run(words):
    """(wall, processor) seconds of a process."""
    used, since = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    wall, now = time.perf_counter() - since, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode not in (0, 1) or "Traceback" in done.stderr:
        raise SystemExit(f"{words}: {done.stderr[-1000:]}")
    return wall, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--peer", help="a python with llm-analysis")
    parser.add_argument("--library", help="bench_plan_speed, built with -DULLAGE_BENCH=ON")
    parser.add_argument("--repeat", type=int, default=20)
    arguments = parser.parse_args()
    program = os.environ.get("ULLAGE_BIN", str(ROOT / "build/release/bin/ullage"))
    commands = {f"ullage plan {model}": [program, "plan", model, "--gpu", "a100-80gb", "--micro-batch", "4", "--seq", "1024"]
                for model in ("llama-3.1-8b", MODEL[0].split("/")[1])}
    if arguments.peer:
        commands[f"llm-analysis {MODEL[1]}"] = [arguments.peer, "-c", PEER]
    times = {name: [] for name in commands}
    for _ in range(arguments.repeat):
        for name, words in commands.items():
            times[name].append(run(words))
    print("| whole process | wall, median | processor, median |\n|---|---|---|")
    for name, found in times.items():
        wall, processor = (1000 * statistics.median(each) for each in zip(*found))
        print(f"| {name} | {wall:.1f} ms | {processor:.1f} ms |")
    if arguments.library:
        print(subprocess.run([arguments.library], capture_output=True, text=True, check=True).stdout, end="")


if __name__ == "__main__":
    main()
