# SPDX-License-Identifier: Apache-2.0
"""The document of the newest torch is what its command makes of the figures, and each difference has a reason."""
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/newest"))
import comparison  # noqa: E402


def test_the_document_is_what_the_command_makes():
    assert comparison.DOCUMENT.read_text(encoding="utf-8") == comparison.text(), "run scripts/compare_newest --document"


def test_a_difference_without_a_reason_is_refused(monkeypatch):
    read = comparison.read_table
    monkeypatch.setattr(comparison, "read_table", lambda name: [] if name == "differences.csv" else read(name))
    with pytest.raises(SystemExit, match="without a reason"):
        comparison.text()
