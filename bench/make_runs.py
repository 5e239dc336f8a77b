# SPDX-License-Identifier: Apache-2.0
"""Runs as `ullage store export` writes them, made up: a year of rehearsals of five scripts."""
import json

MiB, GiB = 1 << 20, 1 << 30
CATEGORIES = ("parameters", "gradients", "optimizer_state", "activations", "temporaries", "inputs", "workspaces",
              "communication", "rounding", "unattributed", "cached")


def line(name, size, children=()):
    made = {"id": name, "name": name.replace("_", " "), "bytes": size, "known_by": "executed"}
    return {**made, "children": list(children)} if children else made


def ledger(number):
    parts = [line(name, (index + 1) * 100 * MiB + number % 97 * MiB) for index, name in enumerate(CATEGORIES)]
    reserved = sum(part["bytes"] for part in parts)
    return line("used", reserved + GiB // 2, [line("context", GiB // 2), line("reserved", reserved, parts)]), reserved


def phases(reserved):
    names = [("load", 0)] + [(name, step) for step in (1, 2, 3) for name in ("forward", "backward", "optimizer", "other")]
    return [{**({"step": step} if step else {}), "name": name, "allocated_bytes": reserved // 2,
             "reserved_bytes": reserved, "peak_allocated_bytes": reserved - GiB // 4 + step * MiB,
             "peak_reserved_bytes": reserved} for name, step in names]


def result(number):
    tree, reserved = ledger(number)
    script, batch = f"train_{number % 5}.py", 1 << number % 4
    minutes = number * 52
    started = f"2026-{1 + minutes // 44640 % 12:02}-{1 + minutes // 1440 % 28:02}T{minutes // 60 % 24:02}:{minutes % 60:02}:00.000Z"
    return {
        "schema_version": 1, "command": "rehearse", "verdict": ("fits", "tight", "fits", "oom")[number % 4],
        "script_exit_code": 0,
        "device": {"name": "NVIDIA A100-SXM4-40GB", "short_name": "a100-40gb", "capacity_bytes": 42298834944},
        "stack": {"torch": "2.11.0+cu130", "cuda": "13.0", "python": "3.11.2"},
        "peak": {"allocated_bytes": reserved - GiB // 4, "reserved_bytes": reserved, "requested_bytes": reserved - GiB // 3,
                 "used_bytes": reserved + GiB // 2, "step": 3, "phase": "backward"},
        "needed_bytes": reserved + GiB // 2, "headroom": {"bytes": 0, "fraction": 0.0}, "steps": 3,
        "phases": phases(reserved), "ledger": tree, "ledger_of": "peak of allocated memory, in step 3 backward",
        "findings": [], "copies": [], "synchronizations": [], "out_of_memory": [], "notes": [],
        "evidence": {"partial": False, "missing": []},
        "run": {"name": script[:-3], "started": started, "environment": {}, "input_shapes": [f"[[{batch},1024]]"],
                "code": {"commit": f"{number // 5:040x}", "dirty": False}},
        "script": ["python", f"/project/{script}", "--batch", str(batch), "--lr", "0.0003", "--bf16"],
        "run_directory": f"/project/runs/{number}"}


def store_line(number):
    return json.dumps({"schema_version": 1, "id": f"run-{number:06}", "directory": f"/project/runs/{number}",
                       "changed": "2026-01-01T00:00:00.000Z", "result": result(number)}) + "\n"
