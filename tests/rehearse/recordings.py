# SPDX-License-Identifier: Apache-2.0
"""Runs scripts on the bare stand-ins, recorded or not, and reads what a recording left."""
import json
import os
import pathlib
import subprocess
import sys
import zlib

import jsonschema
from conftest import ROOT, SCRIPTS, ullage

sys.path.insert(0, str(ROOT / "tests/allocator"))
from allocator_comparison import bare_environment  # noqa: E402

PROFILE = "name=NVIDIA A100-SXM4-80GB;total_bytes=85000000000;context_bytes=471859200"


def environment_of(folder, **variables):
    """The bare stand-ins, `ullage` importable, runs kept below `folder`."""
    bare = bare_environment(ullage(), PROFILE)
    kept = {name: value for name, value in bare.items() if name not in ("RANK", "WORLD_SIZE")}
    return {**kept, "XDG_DATA_HOME": str(folder), "PYTHONPATH": str(ROOT / "python"), "HF_HUB_OFFLINE": "1",
            **{name: str(value) for name, value in variables.items()}}


def run(folder, *words, check=True, environment=None, **options):
    """A script of scripts/ by its name, or any command."""
    command = [sys.executable, str(SCRIPTS / words[0]), *words[1:]] if words[0].endswith(".py") else list(words)
    done = subprocess.run(list(map(str, command)), env=environment or environment_of(folder), capture_output=True, text=True,
                          cwd=folder, timeout=200, **options)
    if check:
        assert done.returncode == 0, done.stderr[-3000:]
    return done


def record(folder, *words, flags=(), **options):
    """The same under `ullage record`."""
    inner = [sys.executable, str(SCRIPTS / words[0]), *words[1:]] if words[0].endswith(".py") else list(words)
    return run(folder, ullage(), "record", *flags, "--", *inner, **options)


def findings_of(marks, folder):
    """Of a script of scripts/findings/recorded, recorded once for each of its ranks, which have one launcher."""
    for rank in range(marks.ranks):
        ranks = {"RANK": rank, "WORLD_SIZE": marks.ranks, "MASTER_PORT": 29500} if marks.ranks > 1 else {}
        record(folder, str(marks.path), environment=environment_of(folder, **ranks))
    done = run(folder, ullage(), "findings", only_run(folder), "--json")
    return json.loads(done.stdout)


def runs_in(folder):
    """The kept runs, the oldest first."""
    root = pathlib.Path(folder) / "ullage/runs"
    return sorted(path for path in root.iterdir() if path.is_dir()) if root.is_dir() else []


def only_run(folder):
    found = runs_in(folder)
    assert len(found) == 1, found
    return found[0]


def records_of(directory):
    """The records, each checked; a line that is damaged must be the last."""
    records = []
    lines = (directory / "marks.jsonl").read_bytes().split(b"\n")
    for i, line in enumerate(lines):
        whole = line[20:-1]
        if len(line) < 20 or int(line[6:14], 16) != zlib.crc32(whole):
            assert i == len(lines) - 1, f"line {i} of {len(lines)} is damaged: {line[:80]}"
            break
        records.append(json.loads(whole))
    return records


def of_kind(directory, kind):
    return [record for record in records_of(directory) if record["kind"] == kind]


def result_of(folder, directory, status=0):
    """run.json, which the first use of a recording writes."""
    shown = run(folder, ullage(), "ledger", "--json", directory, check=False)
    assert shown.returncode == status, (shown.returncode, shown.stderr)
    result = json.loads((directory / "run.json").read_text())
    jsonschema.validate(result, json.loads((ROOT / "docs/schemas/result.schema.json").read_text()))
    return result


def phases_of(result):
    """As the reference scripts print them."""
    return [[p["name"], p.get("step", 0), p["allocated_bytes"], p["reserved_bytes"], p["peak_allocated_bytes"],
             p["peak_reserved_bytes"]] for p in result["phases"]]
