# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/plan_measured.md are what their command makes today."""
import subprocess
import sys

import pytest
from test_plan import BIN, ROOT

pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")


def test_the_page_is_what_the_command_makes():
    made = subprocess.run([sys.executable, ROOT / "bench/measured/compare.py"], capture_output=True, text=True, timeout=60, check=True).stdout
    assert "| TinyLlama 1.1B pretraining |" in made
    assert made.strip() in (ROOT / "docs/plan_measured.md").read_text(encoding="utf-8")
