# SPDX-License-Identifier: Apache-2.0
"""What others measured on one device of families that a plan knows, row by row beside the plan.

    python bench/measured/compare.py [--document docs/plan_measured.md]

rows.csv has what was measured, the flags of `ullage plan` that come nearest, and how the training differs from what is planned all the same.
Memory stands beside the popular rules of `--compare-rules`, times beside a constant 40 % of the peak; unplanned.csv has what no plan is made of, and
the rules beside that. The program is ULLAGE_BIN, or that of
build/release.
"""
import argparse
import csv
import json
import os
import pathlib
import shlex
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- begin: made by bench/measured/compare.py; do not edit -->", "<!-- end -->"
GIB = 2**30


def plan(flags):
    program = os.environ.get("ULLAGE_BIN", str(ROOT / "build/release/bin/ullage"))
    done = subprocess.run([program, "plan", *shlex.split(flags), "--compare-rules", "--json"], capture_output=True, text=True,
                          env={**os.environ, "HF_HUB_OFFLINE": "1"})
    if done.returncode not in (0, 1):
        raise SystemExit(f"ullage plan {flags}: {done.stderr}")
    return json.loads(done.stdout)


def measured_bytes(text):
    number, _, unit = text.partition(" ")
    return float(number) * (GIB if unit == "GiB" else 1)


def off(planned, measured):
    return f"{100 * (planned / measured - 1):+.0f} %"


def memory_row(row):
    made, measured = plan(row["flags"]), measured_bytes(row["measured"])
    planned = made["peak"][{"peak_allocated": "allocated_bytes", "peak_reserved": "reserved_bytes"}[row["what"]]]
    rules = " / ".join(off(rule["bytes"], measured) for rule in made["rules"])
    return [row["row"], row["what"].replace("_", " "), f"{measured / GIB:.2f} GiB", f"{planned / GIB:.2f} GiB", off(planned, measured), rules, row["differs"]]


def planned_seconds(made, what):
    passes = made["time"]["passes"]
    if what == "forward":
        return passes["forward_seconds"]
    return sum(passes.values()) - (passes["optimizer_seconds"] if what == "forward+backward" else 0)


def flops_share(made, what):
    """Of a step's FLOPs without recomputation: a forward pass is a third of them."""
    return 1 / 3 if what == "forward" else 1


def interval(made, what):
    """A plan has one for the step alone."""
    return f"{1000 * made['time']['low']:.0f} to {1000 * made['time']['high']:.0f} ms" if what == "step" else ""


def time_row(row):
    made, measured = plan(row["flags"]), float(row["measured"].split()[0]) / 1000
    planned = planned_seconds(made, row["what"])
    baseline = made["time"]["baseline"]["seconds"] * flops_share(made, row["what"])
    return [row["row"], f"{1000 * measured:.1f} ms", f"{1000 * planned:.1f} ms", off(planned, measured), interval(made, row["what"]), off(baseline, measured), row["differs"]]


def rules_of(row):
    """Of `--compare-rules`, for a model that no plan knows."""
    number = {name: float(row[name]) for name in ("parameters", "layers", "hidden", "heads", "micro_batch", "seq")}
    weights, layers = 16 * number["parameters"], number["layers"]
    token_width = number["micro_batch"] * number["seq"] * number["hidden"]
    scores = 5 * number["heads"] * number["seq"] / number["hidden"]
    each_layer = 2 if row["checkpoint"] == "full" else 34 + scores
    return weights, weights + token_width * (34 + 5 * layers), weights + token_width * each_layer * layers


def unplanned_row(row):
    if not row["measured"]:
        return [row["row"], row["source"], "", "", row["why"]]
    measured = measured_bytes(row["measured"])
    return [row["row"], row["source"], f"{measured / GIB:.2f} GiB", " / ".join(off(rule, measured) for rule in rules_of(row)), row["why"]]


def rows_of(name):
    return list(csv.DictReader((ROOT / "bench/measured" / name).open(encoding="utf-8")))


def table(titles, rows):
    lines = ["| " + " | ".join(titles) + " |", "|" + "---|" * len(titles)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def tables():
    rows = rows_of("rows.csv")
    rules = " / ".join(rule["rule"] for rule in plan(rows[0]["flags"])["rules"])
    memory = [memory_row(row) for row in rows if row["what"].startswith("peak_")]
    times = [time_row(row) for row in rows if not row["what"].startswith("peak_")]
    return (table(["training", "what", "measured", "plan", "off", f"rules: {rules}", "how it differs from what is planned"], memory) + "\n\n" +
            table(["time (of Llama: plain PyTorch 2.13 and transformers on a B200)", "measured", "plan", "off", "its interval", "constant 40 % MFU", "how it differs"], times) + "\n\n" +
            table(["not planned", "source", "used, as nvidia-smi has it", "the first three rules", "why not"], list(map(unplanned_row, rows_of("unplanned.csv")))) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--document", type=pathlib.Path, help="a page whose marked part is replaced")
    arguments = parser.parse_args()
    made = tables()
    print(made)
    if arguments.document:
        text = arguments.document.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        arguments.document.write_text(f"{before}{BEGIN}\n{made}{END}{rest.partition(END)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
