# SPDX-License-Identifier: Apache-2.0
"""Liger-Kernel's published memory of PyTorch's own operators: the table of docs/accuracy.md."""
import csv
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
FIGURES = HERE / "figures.csv"


def figures():
    with FIGURES.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def expected(row):
    """What the operator itself should give: the figure less what its process held before, in MiB."""
    return float(row["published"]) - float(row["held"])


def is_equal(row, ours):
    """At the precision of the figure; it is a 32-bit float with four decimals."""
    return abs(expected(row) - float(ours)) < 1.0e-4


def _line(row):
    difference = float(row["ours"]) - float(row["published"])
    verdict = "equal" if difference == 0 else f"{difference:+.4f}"
    return f"| {row['operator']} | {row['gpu']} | {row['size']} | {row['published']} | {row['ours']} | {verdict} |"


def section(_tables=None):
    rows = figures()
    equal = sum(float(row["ours"]) == float(row["published"]) for row in rows)
    head = ["| operator | GPU | size | published, MiB | here, MiB | difference |", "| --- | --- | --- | --- | --- | --- |"]
    counts = f"Of {len(rows)} figures {equal} are equal; the other {len(rows) - equal} differ by one constant per configuration."
    return counts + "\n\n" + "\n".join(head + [_line(row) for row in rows])
