# SPDX-License-Identifier: Apache-2.0
"""The hook waits for modules, whatever finders a package puts in front of its own."""
import os
import subprocess
import sys

import pytest

from conftest import ROOT

TRACKER = """
import importlib.machinery
import sys


class Finder:
    def find_spec(self, name, path=None, target=None):
        return importlib.machinery.PathFinder.find_spec(name, path) if name == "colorsys" else None


sys.meta_path.insert(0, Finder())
"""
SCRIPT = """
from ullage_hook.importing import after_import
after_import("colorsys", lambda module: print("seen", module.__name__))
{}
import colorsys
"""


@pytest.mark.parametrize("before", ['after_import("tracker", lambda module: None)\nimport tracker',
                                    "import tracker\nimport wave"])
def test_a_finder_in_front_hides_nothing(tmp_path, before):
    (tmp_path / "tracker.py").write_text(TRACKER)
    path = os.pathsep.join((str(ROOT / "python/ullage/site"), str(tmp_path)))
    done = subprocess.run([sys.executable, "-c", SCRIPT.format(before)], env={**os.environ, "PYTHONPATH": path},
                          capture_output=True, text=True, timeout=60)
    assert done.stdout == "seen colorsys\n", done.stderr
