# SPDX-License-Identifier: Apache-2.0
"""Makes docs/accuracy.md from the tables in this folder and accuracy.template.md."""
import collections
import csv
import pathlib
import re

import liger

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = HERE.parents[1] / "docs/accuracy.md"
VERDICTS = ("equal", "within 0.5 %", "differs")  # from best to worst


def read_table(name):
    with (HERE / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


class Tables:
    """figures.csv, and what explains it: groups.csv, differences.csv, snapshots.csv."""

    def __init__(self):
        self.figures = read_table("figures.csv")
        self.groups = {row["group"]: row for row in read_table("groups.csv")}
        self.differences = {row["difference"]: row for row in read_table("differences.csv")}
        self.snapshots = read_table("snapshots.csv")

    def save_figures(self):
        with (HERE / "figures.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=self.figures[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.figures)


def count(figures):
    """Configurations, figures, and the figures of each verdict."""
    by_verdict = collections.Counter(row["verdict"] for row in figures)
    return [len({row["configuration"] for row in figures}), len(figures), *(by_verdict[v] for v in VERDICTS)]


def count_configurations(figures):
    """How many configurations have each verdict as their worst."""
    worst = {}
    for row in figures:
        worst[row["configuration"]] = max(worst.get(row["configuration"], 0), VERDICTS.index(row["verdict"]))
    counts = collections.Counter(worst.values())
    return [counts[i] for i in range(len(VERDICTS))]


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def results(tables):
    head = ["group", "GPU that was measured", "measured with", "imitated", "configurations", "figures", *VERDICTS]
    rows = []
    for name, group in tables.groups.items():
        figures = [row for row in tables.figures if row["group"] == name]
        title = f"{name.split('-')[0]}: {group['what']}"
        rows.append([title, group["measured_on"], group["measured_with"], group["imitated"], *count(figures)])
    for title, figures in (("**stated CUDA 13**", cuda_13(tables)), ("**all**", tables.figures)):
        rows.append([title, "", "", "", *(f"**{n}**" for n in count(figures))])
    return table(head, rows)


def cuda_13(tables):
    return [row for row in tables.figures if tables.groups[row["group"]]["stated_cuda"] == "13"]


def share(part, whole):
    return f"{100 * part / whole:.1f} %"


def summary(tables):
    lines = []
    three = [row for row in cuda_13(tables) if row["group"] in ("nic", "sara", "enzo")]
    for title, figures in (("The three repositories that `scripts/published` runs by default", three), ("All", tables.figures)):
        configurations, total, equal, near, _ = count(figures)
        by_configuration = count_configurations(figures)
        lines.append(f"- {title}: of {total} figures {equal} are equal ({share(equal, total)}) and {equal + near} within "
                     f"0.5 % ({share(equal + near, total)}); of {configurations} configurations, counted by their worst figure, "
                     f"{by_configuration[0]} are equal, {by_configuration[1]} within 0.5 %, {by_configuration[2]} differ.")
    return "\n".join(lines)


def relative(row):
    return 100 * (float(row["ours"]) / float(row["published"]) - 1)


def differences(tables):
    """Each reason with the figures it explains."""
    parts = []
    for name, entry in tables.differences.items():
        rows = [row for row in tables.figures if row["difference"] == name]
        shown = table(["figure", "published", "here", "unit", "difference"],
                      [[row["id"], row["published"], row["ours"], row["unit"], f"{relative(row):+.3f} %"] for row in rows])
        parts.append(f"### {entry['title'][0].upper()}{entry['title'][1:]}\n\n{shown}\n\n{entry['reason']}\n\nProof: {entry['proof']}")
    return "\n\n".join(parts)


def snapshots(tables):
    head = ["snapshot", "events", "allocations", "segments", "all events in order", "reserved"]
    return table(head, [list(row.values()) for row in tables.snapshots])


def text(tables):
    """The document. Every figure that is not equal must name its difference."""
    unexplained = [row["id"] for row in tables.figures
                   if (row["verdict"] != "equal") != (row["difference"] in tables.differences)]
    if unexplained:
        raise SystemExit(f"these figures differ without a reason in differences.csv, or have one and are equal: {unexplained}")
    made = {"liger": liger.section, "summary": summary, "results": results, "snapshots": snapshots, "differences": differences}
    template = (HERE / "accuracy.template.md").read_text(encoding="utf-8")
    return re.sub(r"^@(\w+)@$", lambda found: made[found[1]](tables), template, flags=re.M)


def write(tables):
    DOCUMENT.write_text(text(tables), encoding="utf-8")
