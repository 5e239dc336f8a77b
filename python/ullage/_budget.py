# SPDX-License-Identifier: Apache-2.0
"""A test rehearsed on the virtual GPU, and what came of it held against budgets. The pytest plugin's part that knows the program."""
import functools
import json
import os
import re
import shutil
import subprocess
import tempfile

from . import _program

REPORTS = "ULLAGE_PYTEST_REPORTS"  # names the file into which the pytest of the rehearsal writes what it reports
_UNSUPPORTED = 7
_STARTED = (0, 1, 5)  # it fits, it does not, the script failed: the script has run
_LAST_LINES = 30
_TOP = "8"  # lines of the ledger's levels


class Unavailable(Exception):
    """This environment cannot rehearse."""


class Failed(Exception):
    """The test failed, or is over its budget."""


class Skipped(Exception):
    """The test skipped itself."""


def _run(*words, **options):
    program = _program.find()
    if program is None:
        raise Unavailable("the program 'ullage' was not found\n"
                          "  hint: pip install ullage, or name the program in the variable ULLAGE_BIN")
    try:
        return subprocess.run([program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, **options)
    except OSError as error:
        raise Unavailable(f"the program could not be started: {error}\n  hint: ULLAGE_BIN names it") from None


@functools.lru_cache(maxsize=None)
def metrics():
    """Names of the figures that a budget may be of: those of `ullage check`."""
    done = _run("check", "--list", "--json")
    if done.returncode != 0:
        raise Unavailable(f"the program tells no metrics: {done.stderr.strip()}")
    return tuple(metric["name"] for metric in json.loads(done.stdout)["metrics"])


def check_names(budgets):
    """Before anything runs: a name that is none is a mistake of the test."""
    for metric, _ in budgets:
        if metric not in metrics():
            raise Failed(f"gpu_budget: no metric is called '{metric}'\n  known: {', '.join(metrics())}")


def check_limits(budgets):
    """Likewise a limit that is none, or has lost its unit."""
    checked = _run("check", "--list", "--budget", _wanted(budgets))
    if checked.returncode != 0:
        raise Failed(f"gpu_budget: {checked.stderr.strip().removeprefix('ullage: ')}")


def _wanted(budgets):
    return ",".join(f"{metric}={str(limit).replace(' ', '')}" for metric, limit in budgets)


def hold(command, device, budgets, name, **options):
    """Rehearses `command`, a pytest of one test, on the GPU that the flags `device` name, and checks `budgets`, pairs of a
    metric and a limit. Raises what says why it does not hold; the run directory then stays."""
    check_names(budgets)
    check_limits(budgets)
    folder = tempfile.mkdtemp(prefix="ullage-budget-")
    keep = False
    try:
        _hold(folder, command, device, budgets, name, options)
    except Failed:
        keep = os.path.isdir(os.path.join(folder, "run"))
        raise
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def _hold(folder, command, device, budgets, name, options):
    run, reports = os.path.join(folder, "run"), os.path.join(folder, "reports.jsonl")
    options["env"] = {**os.environ, REPORTS: reports}
    rehearsed = _run("rehearse", *device, "--steps", "all", "--json", "--no-store", "--name", re.sub("[/,]", ".", name), "--out", run,
                     "--", *command, **options)
    result = json.loads(rehearsed.stdout) if rehearsed.returncode in _STARTED else {}
    if result.get("verdict") != "oom":
        _see_reports(_read(reports), rehearsed)
    _check(run, result, budgets)


def _see_reports(reports, rehearsed):
    """Raises unless the test passed in the rehearsal."""
    for report in reports:
        if report["outcome"] == "failed":
            raise Failed(f"the test failed on the virtual GPU ({report['when']})\n\n{report['text']}")
        if report["outcome"] == "skipped":
            raise Skipped(report["text"])
    if rehearsed.returncode == _UNSUPPORTED and not reports:
        raise Unavailable(rehearsed.stderr.strip())
    if rehearsed.returncode not in _STARTED:
        raise Failed(f"the rehearsal ended with {rehearsed.returncode}\n{_end_of(rehearsed.stderr)}")
    if not any(report["when"] == "call" for report in reports):
        raise Failed(f"the test did not run on the virtual GPU\n{_end_of(rehearsed.stderr)}")


def _read(path):
    try:
        with open(path, encoding="utf-8") as file:
            return [json.loads(line) for line in file]
    except OSError:
        return []


def _check(run, result, budgets):
    checked = _run("check", run, "--budget", _wanted(budgets))
    if checked.returncode != 0:
        said = checked.stdout.strip() or checked.stderr.strip()
        raise Failed(f"{_headline(said, result)}\n\n{said}\n\n{_ledger(run)}\n\nthe run: {run}")


def _headline(said, result):
    """What pytest's summary shows."""
    over = [" ".join(line.split()) for line in said.splitlines() if re.search(r"\b(OVER|UNDER) by ", line)]
    verdict = {"oom": ["out of memory"], "failed": ["it failed"]}.get(result.get("verdict"), [])
    return "; ".join(verdict + over) or "the budget could not be checked"


def _ledger(run):
    """The largest lines at the peak of reserved memory."""
    shown = _run("ledger", run, "--at", "reserved", "--top", _TOP).stdout
    found = re.search(r"^LEDGER.*?(?=\n\n|\Z)", shown, re.M | re.S)
    return found[0].strip() if found else ""


def _end_of(text):
    return "\n".join(text.strip().splitlines()[-_LAST_LINES:])
