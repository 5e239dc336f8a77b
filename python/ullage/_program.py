# SPDX-License-Identifier: Apache-2.0
"""Where the program `ullage` is: named by ULLAGE_BIN, carried by this package, or in PATH."""
import os
import shutil
from pathlib import Path


def find():
    """A path, or None."""
    packaged = Path(__file__).resolve().parent / "bin" / "ullage"
    return os.environ.get("ULLAGE_BIN") or (str(packaged) if packaged.is_file() else shutil.which("ullage"))
