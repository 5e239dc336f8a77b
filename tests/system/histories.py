# SPDX-License-Identifier: Apache-2.0
"""Histories of runs for tests: a data directory with run folders and a store."""
import copy
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = os.environ.get("ULLAGE_BIN", "")

TRAIN = """
import sys, torch
width = int(sys.argv[sys.argv.index("--width") + 1])
layer = torch.nn.Linear(1024, width, device="cuda")
optimizer = torch.optim.AdamW(layer.parameters())
for step in range(3):
    layer(torch.ones(64, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def schema(name):
    return json.loads((ROOT / "docs/schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))


class Home:
    """A data directory of its own, with kept runs and a store."""

    def __init__(self, folder):
        self.folder, self.runs = folder, folder / "ullage/runs"
        self.runs.mkdir(parents=True)
        self.environment = {**os.environ, "XDG_DATA_HOME": str(folder), "ULLAGE_STORE": "", "TZ": "UTC"}

    def __call__(self, *words, status=0, input=None, **variables):
        done = subprocess.run([BIN, *map(str, words)], capture_output=True, text=True, timeout=120, cwd=self.folder,
                              env={**self.environment, **variables}, input=input)
        assert done.returncode == status, (words, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
        return done

    def json(self, *words, status=0, shape=None):
        result = json.loads(self(*words, "--json", status=status).stdout)
        jsonschema.validate(result, schema(shape or words[0]))
        return result

    def ids(self, *words):
        return [run["id"] for run in self.json("runs", *words)["runs"]]


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory):
    """A data directory in which one script was rehearsed once."""
    home = Home(tmp_path_factory.mktemp("home"))
    (home.folder / "train.py").write_text(TRAIN)
    made = home("rehearse", "--gpu", "a100-40gb", "--json", "--", sys.executable, "train.py", "--width", "512",
                PYTORCH_CUDA_ALLOC_CONF="expandable_segments:False")
    return home, json.loads(made.stdout)


@pytest.fixture
def result(rehearsed):
    return copy.deepcopy(rehearsed[1])


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


def keep(home, name, result, minute=0, words=(), **fields):
    """A run directory with this result."""
    directory = home.runs / name
    directory.mkdir()
    result = {**copy.deepcopy(result), **fields, "run_directory": str(directory)}
    result["run"]["started"] = f"2026-11-30T15:{minute:02}:00.000Z"
    if words:
        result["script"] = ["python", "train.py", *words]
    (directory / "run.json").write_text(json.dumps(result))
    return directory
