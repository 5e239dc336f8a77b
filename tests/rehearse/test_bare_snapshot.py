# SPDX-License-Identifier: Apache-2.0
"""Owners that a bare snapshot proves, against what the run itself knows (all twenty: scripts/attribution)."""
import importlib.machinery
import importlib.util

import pytest

from conftest import ROOT, ullage


def load_table():
    loader = importlib.machinery.SourceFileLoader("attribution_table", str(ROOT / "scripts/attribution"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("case, at_least", [("two layers, AdamW", 0.9), ("GPT-2, SDPA, bf16", 0.75),
                                            ("convolutions", 0.8), ("own optimizer, plain class", 0.5)])
def test_what_is_labelled_is_right(rehearse, case, at_least):
    table = load_table()
    script, *arguments = table.CASES[case]
    run = rehearse(script, *arguments)
    for moment in ("peak", "end"):
        total, labelled, right = table.shares(ullage(), run.directory, moment)
        assert right >= 0.99 * labelled
        assert labelled >= at_least * total
