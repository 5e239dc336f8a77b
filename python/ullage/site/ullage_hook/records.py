# SPDX-License-Identifier: Apache-2.0
"""marks.jsonl: one checksummed record a line, append-only (docs/run_directory.md)."""
import json
import os
import zlib


class Records:
    """Records are kept until the process is known to own the run; then they go to the file at once."""

    def __init__(self, directory):
        self._path = os.path.join(directory, "marks.jsonl")
        self._pid = os.getpid()
        self._pending = []
        self._file = None
        self.failed = None

    def open(self):
        if self._file is None and self.failed is None:
            try:
                self._file = open(self._path, "ab", buffering=0)
            except OSError as error:
                self.failed = str(error)
                return
            pending, self._pending = self._pending, []
            self._write(b"".join(pending))

    def add(self, kind, **fields):
        text = json.dumps({"kind": kind, **fields}, separators=(",", ":"), default=str).encode()
        line = b'{"c":"%08x","r":%s}\n' % (zlib.crc32(text), text)
        if self._file is None:
            self._pending.append(line)
        elif os.getpid() == self._pid:  # a fork has its own life
            self._write(line)

    def _write(self, data):
        if self.failed is None:
            try:
                self._file.write(data)
            except OSError as error:  # a full disk must not end the script
                self.failed = str(error)
