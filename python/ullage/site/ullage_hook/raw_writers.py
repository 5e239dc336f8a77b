# SPDX-License-Identifier: Apache-2.0
"""Libraries that write files past libc, where the protection of files (virtual_gpu/files) stands: they are led through it."""
import contextlib
import functools
import os

from .importing import after_import


def _opened_path(path):
    """Opens the file for writing as any script would, and gives the path of what was really opened."""
    with open(path, "wb") as file:
        return os.readlink(f"/proc/self/fd/{file.fileno()}")


def _led(write):
    """safetensors makes a temporary file beside the destination and renames it, by system calls of its own."""

    @functools.wraps(write)
    def serialize_file(tensors, filename, *args, **kwargs):
        new = not os.path.lexists(filename)
        try:
            return write(tensors, _opened_path(filename), *args, **kwargs)
        except BaseException:
            if new:
                with contextlib.suppress(OSError):
                    os.remove(filename)
            raise

    return serialize_file


def _lead_safetensors(module):
    for name in ("serialize_file", "serialize_file_threadable"):
        if hasattr(module, name):
            setattr(module, name, _led(getattr(module, name)))


def attach():
    if os.environ.get("ULLAGE_FILES_DIR"):
        after_import("safetensors._safetensors_rust", _lead_safetensors)
