# SPDX-License-Identifier: Apache-2.0
"""What the published scripts measured: read from their snapshots, tables and reports. Each reader gives {figure: value}."""
import csv
import json
import pickle
import re

MiB = 1 << 20


def rewound_peak(snapshot):
    """Peak of allocated bytes, rewound from the blocks at the dump through the trace; MiB, 3 decimals."""
    now = peak = sum(segment["allocated_size"] for segment in snapshot["segments"])
    for event in reversed(snapshot["device_traces"][0]):
        if event["action"] == "alloc":
            now -= event["size"]
        elif event["action"] == "free_completed":
            now += event["size"]
        peak = max(peak, now)
    return f"{peak / MiB:.3f}"


def from_snapshot(prefix, pattern):
    def read(folder, _out):
        files = sorted((folder / pattern).parent.resolve().glob(pattern.rsplit("/", 1)[-1]))
        if not files:
            return {}
        snapshot = pickle.loads(files[0].read_bytes())
        reserved = sum(segment["total_size"] for segment in snapshot["segments"]) / MiB
        return {f"{prefix}-peak": rewound_peak(snapshot), f"{prefix}-reserved": f"{reserved}"}
    return read


def from_csv(pattern, name, columns):
    """Rows of a table that the script writes or that the call prints as CSV between marks."""
    def read(folder, out):
        if pattern:
            text = next(iter(sorted(folder.glob(pattern)))).read_text()
        else:
            text = out.split("CSV BEGIN\n")[1].split("CSV END")[0]
        found = {}
        for row in csv.DictReader(text.splitlines()):
            for suffix, column in columns.items():
                value = re.sub(r"MiB.*", "", row[column])
                found[name.format(**row) + suffix] = value
        return found
    return read


def from_nic(folder, out):
    columns = {f"-{stage}": f"peak_memory_{stage}_mib" for stage in ("start", "forward", "backward")}
    found = {}
    for key, value in from_csv(None, "nic-{d_model}-{context_length}-{compiled}", columns)(folder, out).items():
        cell, stage = key.rsplit("-", 1)
        if value == "OOM":
            found[cell] = "OOM"
        else:
            found[cell.replace("False", "eager").replace("True", "compile") + f"-{stage}"] = value
    return found


def from_peaks(folder, _out):
    found = {}
    for cell in json.loads((folder / "out/peaks.json").read_text())["results"]:
        config = cell["config"]
        name = f"enzo-mem-{config['context_length']}-{config['mode']}-{config['mixed_precision']}"
        for stage, values in cell["stages"].items():
            found[f"{name}-{stage}"] = f"{values['max_allocated_bytes'] / (1 << 30):.3f}"
    return found
