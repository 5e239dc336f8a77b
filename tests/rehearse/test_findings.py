# SPDX-License-Identifier: Apache-2.0
"""Findings: planted faults are found with their line of code, clean scripts have none."""
import json
import pathlib
import shutil
import subprocess
import sys

import jsonschema
import pytest

import finding_marks
from conftest import ullage

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/schemas/findings.schema.json").read_text(encoding="utf-8"))
SCRIPTS, RECORDED = finding_marks.all_scripts(), finding_marks.recorded_scripts()


def call(*arguments, cwd=None, status=0):
    done = subprocess.run([ullage(), *map(str, arguments)], capture_output=True, text=True, timeout=60, cwd=cwd)
    assert done.returncode == status, done.stderr
    return done


def findings_of(source, *flags, cwd=None):
    made = json.loads(call("findings", source, "--json", *flags, cwd=cwd).stdout)
    jsonschema.validate(made, SCHEMA)
    return made


def rules():
    made = json.loads(call("findings", "--list", "--json").stdout)
    jsonschema.validate(made, SCHEMA)
    return {rule["id"]: rule for rule in made["rules"]}


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory):
    """The run of a script, made once."""
    made = {}

    def run(marks):
        if marks.name not in made:
            folder = tmp_path_factory.mktemp(marks.path.stem)
            done = subprocess.run([ullage(), "rehearse", *marks.flags, "--json", "--out", folder / "run", "--",
                                   sys.executable, marks.path], capture_output=True, text=True, timeout=300, cwd=folder)
            assert done.stdout, done.stderr[-2000:]
            made[marks.name] = folder / "run", json.loads(done.stdout)
        return made[marks.name]

    return run


@pytest.mark.parametrize("marks", SCRIPTS, ids=lambda marks: marks.name)
def test_what_is_planted_is_found_and_nothing_else(rehearsed, marks):
    directory, result = rehearsed(marks)
    judged = finding_marks.judge(marks, result["findings"])
    assert judged.found == set(marks.faults), judged
    assert not judged.false, judged.false
    # What was found while rehearsing is found again in the run directory.
    assert findings_of(directory)["findings"] == result["findings"]


def test_every_rule_has_a_planted_fault_and_is_documented():
    planted = {rule for marks in SCRIPTS + RECORDED for rule in marks.faults}
    assert planted == set(rules())
    _, _, text = (ROOT / "docs/findings.md").read_text(encoding="utf-8").partition("## How good they are")
    assert [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")] == list(rules())


def marked(name):
    return next(marks for marks in SCRIPTS if marks.name == name)


def test_a_rule_is_silenced_by_a_flag_and_by_a_project_file(rehearsed, tmp_path):
    directory, result = rehearsed(marked("planted/synchronisation_item"))
    assert "synchronisation" in {f["id"] for f in result["findings"]}
    made = findings_of(directory, "--ignore", "synchronisation", cwd=tmp_path)
    assert "synchronisation" not in {f["id"] for f in made["findings"]} and made["ignored_findings"] == 1

    inner = tmp_path / "a/b"
    inner.mkdir(parents=True)
    ignore = tmp_path / ".ullageignore"
    ignore.write_text("# known\nsynchronisation  synchronisation_item.py   # the log\n\n")
    assert findings_of(directory, cwd=inner)["ignored_findings"] == 1
    ignore.write_text("synchronisation another.py\n")
    assert "ignored_findings" not in findings_of(directory, cwd=inner)
    ignore.write_text("synchronization\n")
    assert "did you mean 'synchronisation'?" in call("findings", directory, cwd=inner, status=3).stderr
    assert "line 1" in call("ledger", directory, cwd=inner, status=3).stderr
    ignore.write_bytes(b"\xef\xbb\xbfsynchronisation\n")
    assert findings_of(directory, cwd=inner)["ignored_findings"] == 1
    ignore.write_bytes(b"no\x1b[31msuch\n")
    assert "\x1b" not in call("findings", directory, cwd=inner, status=3).stderr
    ignore.unlink()
    ignore.mkdir()
    assert "a regular file" in call("findings", directory, cwd=inner, status=3).stderr
    ignore.rmdir()
    call("findings", directory, "--ignore", "nothing_like_it", cwd=tmp_path / "a", status=2)


def test_a_damaged_run_is_no_clean_one(rehearsed, tmp_path):
    directory, _ = rehearsed(marked("planted/synchronisation_item"))
    shutil.copytree(directory, tmp_path / "run")
    (tmp_path / "run/snapshot.pickle").unlink()
    done = call("findings", tmp_path / "run", status=3)
    assert "This is partial" in done.stdout and "no findings in what could be read" in done.stdout
    made = json.loads(call("findings", tmp_path / "run", "--json", status=3).stdout)
    jsonschema.validate(made, SCHEMA)
    assert made["evidence"]["partial"]


def test_they_stand_in_explain_and_ledger(rehearsed):
    directory, result = rehearsed(marked("planted/no_hole_features"))
    assert json.loads(call("ledger", directory, "--json").stdout)["findings"] == result["findings"]
    explained = json.loads(call("explain", directory, "--json").stdout)
    assert [f["id"] for f in explained["findings"]] == [f["id"] for f in result["findings"]]
    text = call("explain", directory).stdout
    assert "FINDINGS" in text and "no hole is large enough" in text
    assert "  next: " in call("findings", directory).stdout
