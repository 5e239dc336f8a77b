# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's libraries write to the standard error stream by themselves, past Python's warnings."""
import contextlib
import ctypes
import os

_ERROR = 2  # c10/util/logging: INFO 0, WARNING 1, ERROR 2


def _level(torch):
    """Where the least severity that is written stands; None in a build that has it elsewhere."""
    try:
        library = ctypes.CDLL(os.path.join(os.path.dirname(torch.__file__), "lib", "libc10.so"))
        return ctypes.c_int.in_dll(library, "FLAGS_caffe2_log_level")
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def only_errors(torch):
    """Within it, no warnings are written."""
    level = _level(torch)
    if level is None:
        yield
        return
    before = level.value
    level.value = max(before, _ERROR)
    try:
        yield
    finally:
        level.value = before
