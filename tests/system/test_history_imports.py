# SPDX-License-Identifier: Apache-2.0
"""What comes from another machine's history: it is taken whole or not at all, and never stands for files that are here."""
import json
import shutil

import pytest
from histories import BIN, Home, home, keep, rehearsed, result  # noqa: F401  fixtures among them

pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")


def spoilt(path, value):
    """A change of a line of an export: of the field at a dotted path."""

    def change(line):
        *parents, last = path.split(".")
        for key in parents:
            line = line[int(key) if key.isdigit() else key]
        if value is None:
            del line[last]
        else:
            line[last] = value

    return change


@pytest.mark.parametrize("path, value, said", [
    ("schema_version", 2, "schema_version is 2"), ("schema_version", "1", "schema_version is a text"),
    ("result.schema_version", 7, "result.schema_version is 7"), ("schema_version", None, "schema_version is missing"),
    ("result.peak.allocated_bytes", "much", "result.peak.allocated_bytes is a text"),
    ("result.peak.allocated_bytes", -1, "result.peak.allocated_bytes is -1"),
    ("result.needed_bytes", 2**63, "result.needed_bytes is a number out of range"),
    ("result.verdict", "perhaps", "result.verdict is 'perhaps'"), ("result.command", "plan", "result.command is 'plan'"),
    ("result.phases.0.name", 3, "result.phases[0].name is 3"), ("result.phases", {}, "result.phases is an object"),
    ("result.ledger.bytes", 1, "result.ledger is less than its children"), ("changed", "yesterday", "changed is a text"),
    ("result.script", ["python", 1], "result.script is a list"), ("id", "", "id is a text"), ("more", 1, "more is not known"),
])
def test_an_import_takes_all_or_nothing(home, result, tmp_path_factory, path, value, said):
    keep(home, "a", result, 1)
    keep(home, "b", result, 2)
    home("store", "rebuild")
    good, bad = map(json.loads, home("store", "export", "-").stdout.splitlines())
    spoilt(path, value)(bad)
    other = Home(tmp_path_factory.mktemp("other"))
    error = other("store", "import", "-", input=f"{json.dumps(good)}\n{json.dumps(bad)}\n", status=3).stderr
    assert said in error and "line 2" in error and "nothing was taken in" in error
    assert other.ids() == []


def test_an_import_does_not_change_what_a_directory_here_says(home, result):
    keep(home, "a", result, 1)
    home("store", "rebuild")
    line = json.loads(home("store", "export", "-").stdout)
    before = home("show", "a", "--json").stdout
    line["result"]["verdict"], line["result"]["steps"] = "oom", 77
    assert "0 runs taken in" in home("store", "import", "-", input=json.dumps(line) + "\n").stdout
    assert home("show", "a", "--json").stdout == before and home("runs", "--json").stdout.count('"oom"') == 0


def test_a_commit_is_a_hash(home, result, tmp_path_factory):
    keep(home, "a", result, 1)
    home("store", "rebuild")
    line = json.loads(home("store", "export", "-").stdout)
    line["result"].setdefault("run", {})["code"] = {"commit": "/", "dirty": False}
    other = Home(tmp_path_factory.mktemp("other"))
    assert "result.run.code.commit" in other("store", "import", "-", input=json.dumps(line) + "\n", status=3).stderr


def test_rm_never_removes_a_folder_that_only_an_import_names(home, result, tmp_path_factory):
    directory = keep(home, "a", result, 1)
    elsewhere = home.folder / "elsewhere"
    shutil.copytree(directory, elsewhere)
    home("store", "rebuild")
    lines = [json.loads(home("store", "export", "-").stdout)]
    lines.append({**lines[0], "id": "evil", "directory": str(directory)})
    lines.append({**lines[0], "id": "worse", "directory": str(elsewhere)})
    home("store", "import", "-", input="".join(json.dumps(line) + "\n" for line in lines))
    for name in ("evil", "worse", elsewhere):
        assert "nothing was removed" in home("rm", name, "--files", status=2).stderr
    assert (directory / "run.json").exists() and (elsewhere / "run.json").exists()
    assert set(home.ids()) == {"a", "evil", "worse"}
    home("rm", "evil", "worse")
    home("store", "rebuild", elsewhere)  # now the history has taken it up itself
    home("rm", elsewhere, "--files")
    home("rm", "a", "--files")  # it was made here, and stays so where its own export is read in
    assert not elsewhere.exists() and not directory.exists() and home.ids() == []


def test_an_imported_run_without_its_files_says_so(home, result, tmp_path_factory):
    keep(home, "a", result, 1)
    home("store", "rebuild")
    other = Home(tmp_path_factory.mktemp("other"))
    line = json.loads(home("store", "export", "-").stdout)
    other("store", "import", "-", input=json.dumps({**line, "directory": "/nowhere/a"}) + "\n")
    for name in ("@last", "a", "train"):
        error = other("ledger", name, status=2).stderr
        assert "imported" in error and "/nowhere/a" in error and "ullage show a" in error
        assert "fits" in other("show", name).stdout.lower()
