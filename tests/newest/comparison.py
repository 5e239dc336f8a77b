# SPDX-License-Identifier: Apache-2.0
"""Rehearses the cases with two versions of torch and makes docs/newest_torch.md from what they need."""
import csv
import json
import os
import pathlib
import shlex
import subprocess
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DOCUMENT = ROOT / "docs/newest_torch.md"
QUANTITIES = {"allocated": "allocated_bytes", "reserved": "reserved_bytes"}
KEPT = {"TORCH_CUBLAS_WORKSPACE_CACHE": "1"}  # the newest torch with workspaces that stay, as they did before
MiB = 1 << 20


def read_table(name):
    with (HERE / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def rehearse(command, python, ullage, variables):
    """The result of one rehearsal on an a100-80gb."""
    with tempfile.TemporaryDirectory() as folder:
        words = [word.replace("{folder}", folder) for word in shlex.split(command)]
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", **variables}
        done = subprocess.run([ullage, "rehearse", "--gpu", "a100-80gb", "--json", "--no-store", "--out", f"{folder}/run", "--", python,
                               *words], cwd=ROOT, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command} with {python} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(done.stdout)


def measure(cases, reference, newest, ullage):
    """Rows: the peaks of each case with the reference stack's Python, the newest, and the newest with kept workspaces."""
    variants = {"reference": (reference, {}), "newest": (newest, {}), "kept": (newest, KEPT)}
    rows = []
    for case in cases:
        row = {"case": case["case"]}
        for which, (python, variables) in variants.items():
            result = rehearse(case["command"], python, ullage, variables)
            row.update({f"{which}_{name}": str(result["peak"][key]) for name, key in QUANTITIES.items()})
            row[f"{which}_torch"] = result["stack"]["torch"]
        rows.append(row)
    return rows


def write_figures(rows):
    with (HERE / "figures.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def difference(before, after):
    before, after = int(before), int(after)
    return "equal" if before == after else f"{(after - before) / MiB:+,.2f} ({100 * (after / before - 1):+.1f} %)"


def cells(row):
    for name in QUANTITIES:
        before = row[f"reference_{name}"]
        yield f"{int(before) / MiB:,.2f}"
        yield difference(before, row[f"newest_{name}"])
        yield difference(before, row[f"kept_{name}"])


def differs(row):
    return any(row[f"reference_{name}"] != row[f"newest_{name}"] for name in QUANTITIES)


def text():
    """The document. A case that differs needs a reason in differences.csv, one that does not must have none."""
    figures = read_table("figures.csv")
    commands = {case["case"]: case["command"] for case in read_table("cases.csv")}
    reasons = {row["case"]: row["reason"] for row in read_table("differences.csv")}
    wrong = [row["case"] for row in figures if differs(row) != (row["case"] in reasons)]
    if wrong:
        raise SystemExit(f"these cases differ without a reason in differences.csv, or have one and are equal: {wrong}")
    reference, newest = figures[0]["reference_torch"], figures[0]["newest_torch"]
    equal = sum(not differs(row) for row in figures)
    lines = [f"| {row['case']} | " + " | ".join(cells(row)) + " |" for row in figures]
    commands = "\n".join(f"- {row['case']}: `{commands[row['case']]}`" for row in figures)
    parts = [f"- {row['case']}: {reasons[row['case']]}" for row in figures if row["case"] in reasons]
    return (HERE / "template.md").read_text(encoding="utf-8").format(
        reference=reference, newest=newest, equal=equal, count=len(figures), rows="\n".join(lines), commands=commands, reasons="\n".join(parts))
