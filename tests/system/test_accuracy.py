# SPDX-License-Identifier: Apache-2.0
"""The document of published figures is what its command makes of the tables, and keeps the promised accuracy."""
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/published"))
import document  # noqa: E402


@pytest.fixture
def tables():
    return document.Tables()


def test_the_document_is_what_the_command_makes(tables):
    made = document.text(tables)
    assert document.DOCUMENT.read_text(encoding="utf-8") == made, "run scripts/published --document"


def test_a_difference_without_a_reason_is_refused(tables):
    row = next(row for row in tables.figures if row["verdict"] == "equal")
    row["verdict"] = "differs"
    with pytest.raises(SystemExit, match=row["id"]):
        document.text(tables)


def test_an_equal_figure_needs_no_reason(tables):
    row = next(row for row in tables.figures if row["verdict"] == "equal")
    row["difference"] = next(iter(tables.differences))
    with pytest.raises(SystemExit, match=row["id"]):
        document.text(tables)


def test_configurations_are_counted_by_their_worst_figure():
    rows = [{"configuration": "a", "verdict": "equal"}, {"configuration": "a", "verdict": "differs"},
            {"configuration": "b", "verdict": "equal"}]
    assert document.count_configurations(rows) == [1, 0, 1]


def test_the_figures_of_the_three_repositories_are_as_accurate_as_promised(tables):
    figures = [row for row in tables.figures if row["group"] in ("nic", "sara", "enzo")]
    _, total, equal, near, _ = document.count(figures)
    assert total == 92
    assert equal >= 0.90 * total
    assert equal + near >= 0.99 * total
