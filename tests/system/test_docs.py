# SPDX-License-Identifier: Apache-2.0
"""Runs what the documentation shows. A block that begins with ```console is a session: a line `$ COMMAND` is run in the
repository, with the program and the reference stack in PATH, and the lines below it must be in its output, in their order; a line `[...]` says that
something was left out there, at the end of a line also there. `(exit code N)` as the last line is the command's, else 0. The guide's are run
in their order in one empty folder, in which its files stand: a block that begins with ```python and `# NAME`."""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = os.environ.get("ULLAGE_BIN", "")
pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
CODE = re.compile(r"^```.*?^```$", re.M | re.S)
FILE = re.compile(r"^```(python|console)\n(.*?)^```$", re.M | re.S)
GUIDE = ROOT / "docs/guide.md"
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def commands_in(block):
    """(command, expected lines, exit code) of a session."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, shown = part.replace("\\\n", " ").partition("\n")
        status = re.search(r"^\(exit code (\d+)\)$", shown, re.M)
        lines = [line for line in shown.splitlines() if line.strip() and line != (status and status[0])]
        yield command, lines, int(status[1]) if status else 0


def sessions():
    """(document, command, expected lines, exit code) of every command shown."""
    for document in DOCUMENTS:
        for block in BLOCK.findall(document.read_text(encoding="utf-8")) if document != GUIDE else ():
            for command in commands_in(block):
                yield document.name, *command


def squeezed(text):
    return " ".join(text.split())


def is_shown(line, actual):
    return actual.startswith(line[:-len("[...]")]) if line.endswith("[...]") else actual == line


def assert_shown(lines, output):
    """Each line follows the one before it; only at `[...]` may there be others between."""
    actual, at, anywhere = [squeezed(line) for line in output.splitlines() if line.strip()], 0, True
    for line in lines:
        if line.strip() == "[...]":
            anywhere = True
            continue
        found = next((i for i in range(at, len(actual)) if is_shown(squeezed(line), actual[i])), None)
        assert found is not None, f"not in the output: {line}\n\n{output}"
        assert anywhere or found == at, f"something was left out before: {line}\n\n{output}"
        at, anywhere = found + 1, False


SESSIONS = list(sessions())


@pytest.mark.parametrize("document, command, lines, status", SESSIONS,
                         ids=[f"{document}-{number}" for number, (document, *_) in enumerate(SESSIONS, 1)])
def test_a_command_of_the_documentation(document, command, lines, status, tmp_path):
    check(command, lines, status, ROOT, tmp_path)


def check(command, lines, status, folder, data, **variables):
    done = run(command, folder, data, **variables)
    assert done.returncode == status, done.stdout + done.stderr[-3000:]
    assert_shown(lines, done.stdout if done.stdout else done.stderr)


@pytest.mark.slow
def test_the_guide_from_top_to_bottom(tmp_path):
    """`ullage` is importable there, as where it is installed."""
    folder, ran = tmp_path / "project", 0
    folder.mkdir()
    for kind, block in FILE.findall(GUIDE.read_text(encoding="utf-8")):
        if kind == "python":
            (folder / re.match(r"# (\w+\.py)\n", block)[1]).write_text(block)
            continue
        for command, lines, status in commands_in(block):
            check(command, lines, status, folder, tmp_path, PYTHONPATH=str(ROOT / "python"))
            ran += 1
    assert ran >= 10


def run(command, folder, data, **variables):
    environment = {**os.environ, **variables, "XDG_DATA_HOME": str(data), "ULLAGE_STORE": "", "HF_HUB_OFFLINE": "1", "TMPDIR": str(data),
                   "PATH": os.pathsep.join([str(Path(BIN).parent), str(Path(sys.executable).parent), os.environ["PATH"]])}
    return subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def test_there_is_something_to_run():
    assert len(SESSIONS) >= 5


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    for target in LINK.findall(CODE.sub("", document.read_text(encoding="utf-8"))):
        assert (document.parent / target).exists(), target


def test_every_flag_is_documented():
    text = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
    for command in ("rehearse", "record", "plan", "gpus", "batches", "runs", "show", "trend", "check", "rm", "store"):
        shown = subprocess.run([BIN, command, "--help"], capture_output=True, text=True).stdout
        for flag in re.findall(r"^  (--[a-z-]+)", shown, re.M):
            assert flag in text, f"{command} {flag}"


def test_the_trackers_that_were_tried_are_those_that_are_installed():
    tried = re.findall(r"^\| [^|]+ \| (\S+) ([\d.]+) \|", (ROOT / "docs/trackers.md").read_text(encoding="utf-8"), re.M)
    pinned = (ROOT / "scripts/requirements-trackers.txt").read_text(encoding="utf-8").splitlines()
    assert len(tried) == 5 and {f"{name}=={version}" for name, version in tried} <= set(pinned)
