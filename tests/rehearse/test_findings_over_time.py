# SPDX-License-Identifier: Apache-2.0
"""Findings of recordings, which have no history of allocations: what many steps tell."""
import json
import pathlib

import jsonschema
import pytest

import finding_marks
from conftest import ROOT, ullage
from recordings import environment_of, findings_of, run

SCHEMA = json.loads((ROOT / "docs/schemas/findings.schema.json").read_text(encoding="utf-8"))
RECORDED = finding_marks.recorded_scripts()


@pytest.mark.parametrize("marks", RECORDED, ids=lambda marks: marks.path.stem)
def test_what_is_planted_is_found_in_a_recording(marks, tmp_path):
    made = findings_of(marks, tmp_path)
    jsonschema.validate(made, SCHEMA)
    judged = finding_marks.judge(marks, made["findings"])
    assert judged.found == set(marks.faults), made["findings"]
    assert not [finding for finding in judged.false if finding["level"] == "problem"], judged.false


def test_growth_states_how_sure_it_is(tmp_path):
    marks = next(marks for marks in RECORDED if marks.path.stem == "growth_every_second")
    found, = (finding for finding in findings_of(marks, tmp_path)["findings"] if finding["id"] == "growth")
    assert found["level"] == "problem" and "confidence of more than 99.9" in found["title"]
    assert 0.8 * (1 << 20) <= found["bytes"] / int(found["bytes_are"].split()[1]) <= 1.2 * (1 << 20)  # 2 MiB every second step
    assert found["evidence"][1].startswith("it rose in 13 of ") or found["evidence"][1].startswith("it rose in 14 of ")


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    """The folder with ten recordings."""
    folder = tmp_path_factory.mktemp("clean")
    run(folder, "recorded_clean.py", folder / "runs", environment=environment_of(folder))
    return folder / "runs"


@pytest.mark.parametrize("number", range(10))
def test_a_clean_program_has_no_problem(clean, number):
    directories = sorted(clean.iterdir())
    assert len(directories) == 10
    done = run(clean.parent, ullage(), "findings", directories[number], "--json")
    made = json.loads(done.stdout)
    assert not [finding for finding in made["findings"] if finding["level"] == "problem"], made["findings"]
    result = json.loads((pathlib.Path(directories[number]) / "run.json").read_text())
    assert result["steps"] >= 40 and not result["recording"]["problems"]
