# SPDX-License-Identifier: Apache-2.0
"""Rehearsals of tests go into a history of their own, not into that of whoever runs the tests."""
import atexit
import os
import shutil
import tempfile

FOLDER = tempfile.mkdtemp(prefix="ullage-tests-store-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
os.environ["ULLAGE_STORE"] = os.path.join(FOLDER, "store.db")
