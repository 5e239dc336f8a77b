# SPDX-License-Identifier: Apache-2.0
"""Runs `ullage rehearse` on small scripts with the reference stack."""
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = HERE / "scripts"
ROOT = HERE.parent.parent
MiB, GiB = 1 << 20, 1 << 30


TORCH = tuple(int(part) for part in importlib.metadata.version("torch").split("+")[0].split(".")[:2])
#: before, cuBLAS keeps its workspaces; since, each product takes one and gives it back (docs/newest_torch.md)
WORKSPACES_STAY = TORCH < (2, 15)
#: steps until the peaks of mlp.py have stopped growing
STEADY_STEPS = 2 if WORKSPACES_STAY else 3


def ullage():
    return os.environ.get("ULLAGE_BIN", str(ROOT / "build/release/bin/ullage"))


class Run:
    """What one `ullage rehearse --json` gave."""

    def __init__(self, process, directory):
        self.status = process.returncode
        self.stderr = process.stderr
        self.stdout = process.stdout
        self.directory = directory
        self.result = json.loads(process.stdout) if process.stdout.startswith("{") else None

    def __getattr__(self, name):
        return self.result[name]

    def phase(self, name, step=None):
        """The last phase of that name (and step)."""
        found = [p for p in self.result["phases"] if p["name"] == name and (step is None or p.get("step") == step)]
        assert found, f"no phase {name}"
        return found[-1]

    def line(self, name):
        return find_line(self.result["ledger"], name)

    def steps(self):
        return self.result["steps"]


def find_line(line, name):
    if line["id"] == name:
        return line
    for child in line.get("children", ()):
        if (found := find_line(child, name)) is not None:
            return found
    return None


def check_adds_up(line):
    children = line.get("children")
    if children:
        assert sum(c["bytes"] for c in children) == line["bytes"], line["id"]
        for child in children:
            check_adds_up(child)


def rehearse_in(folder, script=None, *arguments, name="run", flags=(), command=None, environment=None, check=True,
                gpu="a100-80gb"):
    """Rehearses a script of this directory, or a command, with the working directory `folder`."""
    directory = folder / name
    if command is None:
        command = [sys.executable, str(SCRIPTS / script), *map(str, arguments)]
    words = [ullage(), "rehearse", "--gpu", gpu, "--json", "--out", str(directory), *flags, "--", *command]
    variables = {**os.environ, "HF_HUB_OFFLINE": "1", **(environment or {})}
    process = subprocess.run(words, capture_output=True, text=True, env=variables, cwd=folder, timeout=300)
    made = Run(process, directory)
    if check:
        assert process.returncode == 0, process.stderr[-3000:] + process.stdout[-3000:]
        check_adds_up(made.ledger)
        assert not made.evidence["partial"], made.evidence
    return made


@pytest.fixture
def rehearse(tmp_path):
    """rehearse(script, *arguments, flags=[...], command=None, environment={}, check=True)"""
    count = 0

    def run(*arguments, **options):
        nonlocal count
        count += 1
        return rehearse_in(tmp_path, *arguments, name=f"run{count}", **options)

    return run
