# SPDX-License-Identifier: Apache-2.0
"""Runs `ullage rehearse` on small scripts with the reference stack."""
import hashlib
import importlib.metadata
import importlib.util
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


#: a Python with experiment trackers, or None
TRACKERS_PYTHON = next((python for python in (
    os.environ.get("ULLAGE_TRACKERS_PYTHON"), sys.executable if importlib.util.find_spec("wandb") else None,
    str(ROOT / "build/venv-trackers/bin/python")) if python and os.path.exists(python)), None)


#: marks of a test that needs it; left out by scripts/test --quick
needs_trackers = [pytest.mark.slow, pytest.mark.skipif(
    TRACKERS_PYTHON is None, reason="no Python with trackers: scripts/environment trackers makes one")]


#: A worker takes a file at a time. One of these begun last would leave the other workers without any.
LONG_FILES = ("test_wheel.py", "test_compile.py", "test_endings.py", "test_ledger.py", "test_host.py", "test_scripts.py")


def pytest_collection_modifyitems(items):
    """Begins with the files that take longest."""
    items.sort(key=lambda item: (*LONG_FILES, item.path.name).index(item.path.name))


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


def content(path):
    if path.is_symlink():
        return os.readlink(path)
    return "folder" if path.is_dir() else hashlib.sha256(path.read_bytes()).hexdigest()


def tree(folder):
    """Path -> what it is, its mode, number and time of change."""
    status = {p: p.lstat() for p in folder.rglob("*")}
    return {str(p.relative_to(folder)): (content(p), s.st_mode, s.st_ino, None if p.is_dir() else s.st_mtime_ns)
            for p, s in status.items()}


def new_files(before, after):
    """Paths of a tree that were not there before, folders apart."""
    return {name for name in after if name not in before and after[name][0] != "folder"}


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
