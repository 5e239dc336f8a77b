# SPDX-License-Identifier: Apache-2.0
"""Memory budgets in tests, where there is no GPU:

    @pytest.mark.gpu_budget("10 GiB", metric="peak_reserved", gpu="a100-40gb")
    def test_a_step(model, batch): ...

The test runs once, with its fixtures, in a pytest of its own that `ullage rehearse` puts on the virtual GPU; docs/budget_in_ci.md.
"""
import json
import os
import sys

import pytest

from . import _budget

_MARK = "gpu_budget"
_SIGNATURE = f"{_MARK}(limit, metric='peak_reserved', gpu=None, memory=None)"
_NO_GPU = (f"{_MARK}: no GPU was chosen\n"
           "  expected: gpu=\"a100-40gb\" of the mark, the option --ullage-gpu NAME, ullage_gpu = NAME in the ini file, or the variable "
           "ULLAGE_GPU\n  hint: 'ullage gpus' lists the names")
_PLUGIN = "ullage.pytest_plugin"
_INSIDE = _budget.REPORTS in os.environ
# Which tests to run, how often and what to write besides is the outer pytest's concern.
_ONLY_OUTSIDE = {"keyword": "", "markexpr": "", "deselect": None, "lf": False, "failedfirst": False, "newfirst": False,
                 "stepwise": False, "xmlpath": None, "usepdb": False, "maxfail": 0, "collectonly": False}


def pytest_addoption(parser):
    group = parser.getgroup("ullage", "memory budgets on a virtual GPU")
    group.addoption("--ullage-gpu", metavar="NAME", help="the GPU of marks gpu_budget that name none")
    group.addoption("--ullage-unavailable", choices=("fail", "skip"),
                    help="what becomes of a test with a gpu_budget where nothing can be rehearsed (default: fail)")
    parser.addini("ullage_gpu", "the GPU of marks gpu_budget that name none")
    parser.addini("ullage_unavailable", "fail or skip: what becomes of a test with a gpu_budget where nothing can be rehearsed",
                  default="fail")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config):
    config.addinivalue_line("markers", f"{_SIGNATURE}: the test runs on a virtual GPU and fails when the figure is over its "
                                       "limit; metrics are those of 'ullage check --list'")
    if _INSIDE:
        for option, value in _ONLY_OUTSIDE.items():
            if hasattr(config.option, option):
                setattr(config.option, option, value)


# --- outside: the test is replaced by its rehearsal ---

class _Mark:
    """What one mark says."""

    def __init__(self, limit, metric="peak_reserved", gpu=None, memory=None):
        self.limit, self.metric, self.gpu, self.memory = limit, metric, gpu, memory

    def device(self, config):
        gpu = self.gpu or config.getoption("--ullage-gpu") or config.getini("ullage_gpu")
        if not gpu and not os.environ.get("ULLAGE_GPU"):
            raise _budget.Failed(_NO_GPU)
        return (*(("--gpu", gpu) if gpu else ()), *(("--memory", str(self.memory).replace(" ", "")) if self.memory else ()))


def _is_for_here(item):
    return not _INSIDE and item.get_closest_marker(_MARK) is not None


def _budgets(item):
    """By device, which metric has which limit; a mark of the function goes before one of its class or module."""
    devices = {}
    for given in item.iter_markers(_MARK):
        mark = _Mark(*given.args, **given.kwargs)
        devices.setdefault(mark.device(item.config), {}).setdefault(mark.metric, mark.limit)
    return devices


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    for item in filter(_is_for_here, items):
        item.setup = lambda: None  # its fixtures are for the rehearsal: they may want a GPU
        item.runtest = lambda item=item: _rehearse(item)


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_setup(item):
    """Whether a test with a budget is skipped for what is not here, a GPU for example, is asked in the rehearsal."""
    outcome = yield
    if _is_for_here(item) and outcome.excinfo is not None and issubclass(outcome.excinfo[0], pytest.skip.Exception):
        outcome.force_result(None)


def _rehearse(item):
    failure = _failure(item)
    if isinstance(failure, _budget.Skipped):
        pytest.skip(str(failure))
    if isinstance(failure, _budget.Unavailable):
        _unavailable(item.config, f"a GPU budget cannot be checked here: {failure}")
    if failure is not None:
        pytest.fail(str(failure), pytrace=False)


def _failure(item):
    """Why the budgets do not hold; None when they do."""
    try:
        devices = _budgets(item)
    except TypeError as error:
        return f"{_SIGNATURE}: {str(error).replace('_Mark.__init__() ', '')}"
    except _budget.Failed as error:
        return error
    try:
        for device, budgets in devices.items():
            _budget.hold(_command(item), device, list(budgets.items()), item.nodeid, cwd=str(item.config.invocation_params.dir))
    except (_budget.Failed, _budget.Skipped, _budget.Unavailable) as error:
        return error
    return None


def _unavailable(config, why):
    if (config.getoption("--ullage-unavailable") or config.getini("ullage_unavailable")) == "skip":
        pytest.skip(why)
    pytest.fail(f"{why}\n  ullage_unavailable = skip (or --ullage-unavailable=skip) skips such tests", pytrace=False)


def _command(item):
    """The pytest that was called, for this test alone."""
    config = item.config
    words = list(getattr(config, "workerinput", {}).get("mainargv", ("", *config.invocation_params.args)))[1:]
    for place in reversed(config.option.file_or_dir or ()):
        if place in words:
            del words[len(words) - 1 - words[::-1].index(place)]
    alone = ["-n0"] if config.pluginmanager.hasplugin("xdist") else []
    node = f"{item.path}::{item.nodeid.partition('::')[2]}"
    return [sys.executable, "-m", "pytest", *map(str, words), "-p", _PLUGIN, "--runxfail", *alone, node]


# --- inside: what the test did is written down for the outer pytest ---

def pytest_runtest_logreport(report):
    _write(report, report.when)


def pytest_collectreport(report):
    if report.failed:
        _write(report, "collection")


def _write(report, when):
    if _INSIDE:
        with open(os.environ[_budget.REPORTS], "a", encoding="utf-8") as file:
            file.write(json.dumps({"when": when, "outcome": report.outcome, "text": _text(report)}) + "\n")


def _text(report):
    if report.skipped and isinstance(report.longrepr, tuple):
        return report.longrepr[2]
    parts = [report.longreprtext, *(f"{title}\n{content}" for title, content in report.sections)]
    return "\n".join(part for part in parts if part)
