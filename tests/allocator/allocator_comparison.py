# SPDX-License-Identifier: Apache-2.0
"""Random programs of requests, by PyTorch's allocator on the virtual GPU and by the model: where do they differ?

Compared are the requests that failed, every statistic, and all segments with their blocks. Not compared: the history of
`inactive_split` (its peak and sums) and the last requested size of free blocks. Both depend on the order in which
PyTorch's hash table gives the streams whose events have passed, and differ between two runs of the real one.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

CRASHES = []  # of PyTorch's own allocator; what it wrote before is compared
HERE = pathlib.Path(__file__).resolve().parent
SETTINGS = 13  # of programs.py: the seed chooses one
PROFILE = "name=NVIDIA A100-SXM4-40GB;total_bytes=4831838208;context_bytes=471859200"  # small: requests fail


def bare_environment(program, profile):
    """The stand-in libraries alone, without the hook."""
    libraries = sorted((pathlib.Path(program).resolve().parent.parent / "lib/ullage/cuda13").iterdir())
    return {**os.environ, "LD_PRELOAD": ":".join(map(str, libraries)), "ULLAGE_VGPU_PROFILE": profile}


def run_real(program, seed, count, length, python=sys.executable):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "programs.jsonl"
        words = [python, str(HERE / "programs.py"), str(seed), str(count), str(length), str(out)]
        done = subprocess.run(words, env=bare_environment(program, PROFILE), capture_output=True, text=True)
        if "INTERNAL ASSERT FAILED" in done.stderr:
            CRASHES.append(f"seed {seed}: PyTorch's own assertion failed: {done.stderr.strip().splitlines()[-1][:120]}")
        elif done.returncode > 0:
            raise RuntimeError(f"{words[-4:]} ended with {done.returncode}: {done.stderr[-2000:]}")
        if done.returncode < 0:
            CRASHES.append(f"seed {seed}: PyTorch's process died of signal {-done.returncode}")
        return [json.loads(line) for line in out.read_text().splitlines() if line.endswith("}")]


def run_model(program, records):
    driver = pathlib.Path(program).resolve().parent / "allocator_driver"
    text = "".join("\n".join(r["set_up"] + r["program"] + ["report"]) + "\n" for r in records)
    done = subprocess.run([str(driver)], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{driver.name} ended with {done.returncode}: {done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def comparable(segments):
    """Without addresses: those of expandable segments go on from one program of a process to the next."""
    shown = []
    for segment in segments:
        blocks = [[size, requested if state != "inactive" else 0, state] for size, requested, state in segment["blocks"]]
        shown.append({**segment, "address": 0, "blocks": blocks})
    plain = [s for s in shown if not s["expandable"]]
    expandable = [s for s in shown if s["expandable"]]
    return plain + sorted(expandable, key=lambda s: (s["stream"], s["small"], s["blocks"]))


def differences(real, model):
    found = []
    if real["failed"] != model["failed"]:
        found.append(f"failed requests: {real['failed'][:8]} and {model['failed'][:8]}")
    for name, value in real["statistics"].items():
        other = model["statistics"].get(name)
        if name.startswith("inactive_split"):
            value, other = value[0], other[0]
        if value != other:
            found.append(f"{name}: {value} and {other}")
    if comparable(real["segments"]) != comparable(model["segments"]):
        found.append(f"segments: {len(real['segments'])} and {len(model['segments'])}, or their blocks")
    if found:
        found.append(first_difference(real, model))
    return found


def first_difference(real, model):
    for i, (one, other) in enumerate(zip(real["states"], model["states"])):
        if one != other:
            return f"first after operation {i}, {real['program'][i]}: {one} and {other}"
    return "no operation changed the totals differently"


def compare(program, seed, count, length, python=sys.executable):
    """Yields (program of the seed, set-up, its differences)."""
    real = run_real(program, seed, count, length, python)
    for i, (one, other) in enumerate(zip(real, run_model(program, real), strict=True)):
        yield i, one, differences(one, other)
