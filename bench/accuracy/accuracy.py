# SPDX-License-Identifier: Apache-2.0
"""How near `ullage plan` comes to a rehearsal: trainings drawn at random, planned and run.

    build/venv/bin/python bench/accuracy/accuracy.py [--count 300] [--seed N] [--draw 1|2] [--sizes small|real|mixed] [--gpus t4,h100-80gb]

Without --seed it draws one and prints it. Each training is planned with `ullage plan --json` and its reference loop (reference_loop.py) is run
with stock PyTorch under the stand-in libraries, three steps, first with memory without end; where that is more than the GPU has, a second time
with what it has. Compared are the bytes of parameters, gradients and optimizer state, the peaks of allocated and reserved memory, and the verdict.
`--only 17` runs one of the cases again, `--document FILE` replaces the part of a page that is marked for the draw by the tables. Case by case is about two seconds.
Ends with 1 where something differs. The program is ULLAGE_BIN, or that of build/release.
"""
import argparse
import importlib.metadata
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import request_lists
from bare_runs import ROOT, Runner
from drawn import ATTENTIONS, FAMILIES, GPUS, PRECISIONS, drawn

BEGIN, END = "<!-- begin: made by bench/accuracy/accuracy.py, draw {}; do not edit -->", "<!-- end -->"
STATES = ("parameters", "gradients", "optimizer_state")


def flags():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=300, help="how many cases (300)")
    parser.add_argument("--seed", type=int, help="of the draw; without it a new one")
    parser.add_argument("--sizes", choices=("small", "real", "mixed"), default="mixed")
    parser.add_argument("--draw", type=int, choices=(1, 2), default=2, help="1: without Adafactor, padding and FlashAttention alone (2)")
    parser.add_argument("--gpus", default=",".join(GPUS), help="names, with commas between them")
    parser.add_argument("--only", type=int, action="append", help="the number of a case; may be given several times")
    parser.add_argument("--keep", type=pathlib.Path, help="a file of results: those in it are not run again, new ones are added")
    parser.add_argument("--document", type=pathlib.Path, help="a page whose marked part is replaced")
    parser.add_argument("--program", default=os.environ.get("ULLAGE_BIN", str(ROOT / "build/release/bin/ullage")))
    return parser


def ask_plan(program, case, words):
    done = subprocess.run([program, "plan", "-", "--gpu", case["gpu"], "--json", *words], input=json.dumps(case["config"]),
                          capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode in (0, 1) else {"error": done.stderr.strip()}


def planned(program, case):
    """What the plan says, in the words of run_cases.py, or {"error": ...}."""
    whole = ask_plan(program, case, case["flags"])
    states = ask_plan(program, case, [*case["flags"][:4]])  # precision and optimizer
    if error := whole.get("error") or states.get("error"):
        return {"error": error}
    ledger = {line["id"]: line for line in find_line(states["ledger"], "reserved")["children"]}
    ledger["parameters"] = find_line(ledger["parameters"], "parameters.weights")
    device = whole["device"]
    return {"allocated": whole["peak"]["allocated_bytes"], "reserved": whole["peak"]["reserved_bytes"],
            **{name: ledger[name]["bytes"] for name in STATES}, "verdict": whole["verdict"],
            "available": device["capacity_bytes"] - device["context"]["bytes"]}


def find_line(line, name):
    if line["id"] == name:
        return line
    return next((found for child in line.get("children", ()) if (found := find_line(child, name))), None)


class Rehearsals:
    """Keeps the process of one GPU."""

    def __init__(self, program):
        self.program, self.key, self.runner = program, None, None

    def run(self, case, unlimited=True, events=None):
        if self.key != (case["gpu"], unlimited):
            self.close()
            self.key, self.runner = (case["gpu"], unlimited), Runner(self.program, case["gpu"], unlimited)
        return self.runner.run(case["config"], case["flags"], events)

    def close(self):
        if self.runner:
            self.runner.__exit__()
        self.runner = None


class Kept:
    """Results of runs in a file, so that an interrupted command goes on where it was."""

    def __init__(self, path, seed):
        self.path, self.seed, self.known = path, seed, {}
        if path and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                key, result = json.loads(line)
                self.known[tuple(key)] = result

    def get(self, case, unlimited, make):
        key = (self.seed, case["index"], json.dumps(case["config"]), " ".join(case["flags"]), case["gpu"], unlimited)
        if key not in self.known:
            self.known[key] = make(case, unlimited)
            if self.path:
                with open(self.path, "a", encoding="utf-8") as file:
                    file.write(json.dumps([key, self.known[key]]) + "\n")
        return self.known[key]


def by_gpu(cases):
    """A hundred at a time, those of a GPU after one another: a GPU is a process that imports PyTorch."""
    return sorted(cases, key=lambda case: (case["index"] // 100, case["gpu"]))


def run_all(program, cases, kept):
    """Fills in "run", "plan" and, where the GPU has too little, "limited"."""
    rehearsals = Rehearsals(program)
    for done, case in enumerate(by_gpu(cases), 1):
        case["run"] = kept.get(case, True, rehearsals.run)
        print(f"\r{done} of {len(cases)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for case in cases:
        case["plan"] = planned(program, case)
    for case in by_gpu(case for case in cases if is_over(case)):
        case["limited"] = kept.get(case, False, rehearsals.run)
    for case in by_gpu(case for case in cases if compared(case) and differing(case)):
        case["first"] = first_difference(program, rehearsals, case)
    rehearsals.close()


def compared(case):
    return "error" not in case["plan"] and "error" not in case["run"]


def is_over(case):
    return compared(case) and case["run"]["reserved"] > case["plan"]["available"]


def differing(case):
    return [name for name in (*STATES, "allocated", "reserved") if case["plan"][name] != case["run"][name]]


def runs_out(case):
    return is_over(case) and "error" in case["limited"]


def wrong_verdict(case):
    """`fits` where the run finds no memory, or `oom` where it does."""
    return compared(case) and (case["plan"]["verdict"] == "oom") != runs_out(case)


def first_difference(program, rehearsals, case):
    driver = pathlib.Path(program).resolve().parent / "lowering_driver"
    if not driver.exists():
        return ""
    with tempfile.TemporaryDirectory() as folder:
        events, config = pathlib.Path(folder, "events"), pathlib.Path(folder, "config.json")
        config.write_text(json.dumps(case["config"]), encoding="utf-8")
        rehearsals.run(case, events=events)
        made = subprocess.run([str(driver), str(config), *case["flags"], "--gpu", case["gpu"]], capture_output=True, text=True, check=True)
        return request_lists.first_difference(events.read_text().splitlines(), made.stdout.splitlines()) or "all requests are equal"


def share(cases, name, most):
    """How many are within that relative difference."""
    near = sum(abs(case["plan"][name] - case["run"][name]) <= most * case["run"][name] for case in cases)
    return f"{near} ({100 * near / max(len(cases), 1):.1f} %)"


def summary(cases):
    good = [case for case in cases if compared(case)]
    out = [case for case in good if runs_out(case)]
    lines = ["| what | cases | equal | within 0.1 % | within 0.5 % | within 2 % |", "|---|---|---|---|---|---|"]
    for name in ("allocated", "reserved", *STATES):
        shown = {"allocated": "peak allocated", "reserved": "peak reserved"}.get(name, name.replace("_", " "))
        lines.append(" | ".join([f"| {shown}", str(len(good)), *(share(good, name, most) for most in (0, 0.001, 0.005, 0.02))]) + " |")
    false_fits = [case for case in out if case["plan"]["verdict"] != "oom"]
    false_ooms = [case for case in good if wrong_verdict(case) and not runs_out(case)]
    saved = sum(is_over(case) and not runs_out(case) for case in good)
    return [f"**False `fits`: {len(false_fits)}** of {len(out)} cases whose run is out of memory; false `oom`: {len(false_ooms)} of "
            f"{len(good) - len(out)} that run through. Of these {saved} would reserve more than the GPU has and give cached memory back in time.", "",
            *lines]


def cell(cases):
    same = sum(not differing(case) for case in cases)
    return f"{same} of {len(cases)}" if cases else ""


def table(cases):
    lines = ["| family | attention | " + " | ".join(PRECISIONS) + " |", "|---|---|" + "---|" * len(PRECISIONS)]
    for family in FAMILIES:
        for attention in (*ATTENTIONS, "flash"):
            row = [[case for case in cases if compared(case) and (case["family"], case["attention"], case["precision"]) ==
                    (family, attention, precision)] for precision in PRECISIONS]
            if any(row):
                lines.append(f"| {family} | {attention} | " + " | ".join(map(cell, row)) + " |")
    return lines


def command_of(case):
    return f"{case['index']}: {case['gpu']} {' '.join(case['flags'])} `{json.dumps(case['config'])}`"


def exceptions(cases):
    """Every difference and every refusal, with its case."""
    lines = []
    for case in cases:
        if not compared(case):
            said = {who: case[who].get("error", "no error").splitlines()[0] for who in ("run", "plan")}
            lines.append(f"- not compared, {command_of(case)}: the run says \"{said['run'][:200]}\", the plan \"{said['plan'][:200]}\"")
        elif differing(case) or wrong_verdict(case):
            pairs = "; ".join(f"{name} {case['plan'][name]} planned, {case['run'][name]} run" for name in differing(case))
            verdict = f"; verdict {case['plan']['verdict']}, the run {'is out of memory' if runs_out(case) else 'goes through'}"
            lines.append(f"- {command_of(case)}: {pairs}{verdict if wrong_verdict(case) else ''}. {case.get('first', '')}")
    return lines or ["None."]


def report(chosen, seed, cases):
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("torch", "transformers"))
    small = f"{len(cases)} cases, seed {seed}, draw {chosen.draw}, sizes {chosen.sizes}, GPUs {chosen.gpus.replace(',', ', ')}; {versions}"
    return [small + ".", "", *summary(cases), "", "Cases in which all five are equal:", "", *table(cases), "",
            "Differences, and cases that were not compared:", "", *exceptions(cases)]


def write_document(path, draw, lines):
    begin = BEGIN.format(draw)
    before, found, rest = path.read_text(encoding="utf-8").partition(begin)
    if not found:
        sys.exit(f"{path} has no part that begins with {begin}")
    after = rest.partition(END)[2]
    path.write_text(before + "\n".join([begin, "", *lines, "", END]) + after, encoding="utf-8")


def main():
    chosen = flags().parse_args()
    seed = random.SystemRandom().randrange(1 << 31) if chosen.seed is None else chosen.seed
    print(f"seed {seed}", flush=True)
    numbers = chosen.only or range(chosen.count)
    cases = [{"index": index, **drawn(seed, index, chosen.gpus.split(","), chosen.sizes, chosen.draw)} for index in numbers]
    run_all(chosen.program, cases, Kept(chosen.keep, seed))
    lines = report(chosen, seed, cases)
    print("\n".join(lines))
    if chosen.document:
        write_document(chosen.document, chosen.draw, lines)
    return int(any(compared(case) and (differing(case) or wrong_verdict(case)) for case in cases))


if __name__ == "__main__":
    sys.exit(main())
