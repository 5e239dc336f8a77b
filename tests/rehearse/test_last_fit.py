# SPDX-License-Identifier: Apache-2.0
"""After a failed request `ullage explain` names the last run of the same script that fitted, and what is different now."""
import json
import os
import subprocess
import sys

import jsonschema
import pytest
from conftest import ROOT, SCRIPTS, rehearse_in


@pytest.fixture
def home(tmp_path):
    environment = {"XDG_DATA_HOME": str(tmp_path / "data"), "ULLAGE_STORE": str(tmp_path / "store.db")}

    def ullage(*words, **options):
        done = subprocess.run([os.environ["ULLAGE_BIN"], *map(str, words)], capture_output=True, text=True, timeout=120, cwd=tmp_path,
                              env={**os.environ, **environment, **options})
        assert done.returncode == 0, (words, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout

    ullage.folder, ullage.environment = tmp_path, environment
    return ullage


def rehearse(home, name, *words, flags=(), **options):
    return rehearse_in(home.folder, name=name, command=[sys.executable, str(SCRIPTS / "mlp.py"), *words], flags=list(flags),
                       environment=home.environment, **options)


def explain(home, *words, **options):
    result = json.loads(home("explain", *words, "--json", **options))
    jsonschema.validate(result, json.loads((ROOT / "docs/schemas/explain.schema.json").read_text()))
    return result


TEXT = """Traceback (most recent call last):
  File "/somebody/else/mlp.py", line 28, in <module>
    loss = model(batch).square().mean() / args.accumulate
  File "/site-packages/torch/nn/modules/module.py", line 1751, in _wrapped_call_impl
    return self._call_impl(*args, **kwargs)
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 39.39 GiB of which 1.00 GiB is \
free. Including non-PyTorch memory, this process has 38.39 GiB memory in use. Of the allocated memory 37.50 GiB is allocated by \
PyTorch, and 438.00 MiB is reserved by PyTorch but unallocated.
"""


def test_the_last_run_that_fitted_and_what_changed(home):
    failed = rehearse(home, "too-wide", "--width", "8192", flags=["--memory", "1500MiB"], check=False)
    assert failed.status == 1
    assert "last_fit" not in explain(home, failed.directory)
    assert "LAST FIT" not in home("explain", failed.directory)
    rehearse(home, "narrow", "--width", "512")
    rehearse(home, "wider", "--width", "1024")
    again = rehearse(home, "again", "--width", "8192", flags=["--memory", "1500MiB"], check=False)
    rehearse(home, "later", "--width", "256")
    last = explain(home, again.directory)["last_fit"]
    assert last["id"].startswith("wider-")  # the newest that fitted before it
    settings = {one["key"]: (one.get("before"), one.get("after")) for one in last["configuration"]}
    assert settings["--width"] == ("1024", "8192") and "memory" in settings
    lines = {line["id"]: line["difference_bytes"] for line in memory_of(last["difference"])["children"]}
    assert lines["parameters"] > 0
    shown = home("explain", again.directory)
    assert "LAST FIT of this script: wider-" in shown and "--width" in shown
    assert "last_fit" not in explain(home, again.directory, ULLAGE_STORE="none")


def memory_of(line):
    return line if line["id"] == "reserved" else next(child for child in line["children"] if child["id"] == "reserved")


def test_a_text_and_a_snapshot_know_their_script_too(home):
    (home.folder / "oom.txt").write_text(TEXT)
    assert "last_fit" not in explain(home, "oom.txt")
    rehearse(home, "narrow", "--width", "512")
    last = explain(home, "oom.txt")["last_fit"]
    assert last["id"].startswith("narrow-") and last["peak_allocated_bytes"] > 0
    assert "configuration" not in last and "difference" not in last
    (home.folder / "other.txt").write_text(TEXT.replace("mlp.py", "other.py"))
    assert "last_fit" not in explain(home, "other.txt")
    failed = rehearse(home, "wide", "--width", "8192", flags=["--memory", "1500MiB"], check=False)
    last = explain(home, failed.directory / "snapshot.pickle")["last_fit"]
    assert last["id"].startswith("narrow-") and last["difference"]["change"] == "grown"
