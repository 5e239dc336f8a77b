# SPDX-License-Identifier: Apache-2.0
"""marks.jsonl: one checksummed record a line, append-only (docs/run_directory.md)."""
import json
import os
import zlib


class Records:
    """Written at once, to marks-PID.jsonl until the process is known to own the run, so that a killed one leaves them."""

    def __init__(self, directory, name=None):
        """`name` is the file's, where the process owns the run from the beginning."""
        self._directory = directory
        self._pid = os.getpid()
        self._name = name or f"marks-{self._pid}.jsonl"
        self._file = None
        self._owner = False
        self.failed = None

    def own(self):
        """The process owns the run: its records are the run's."""
        if not self._owner:
            self._owner = True
            self._rename("marks.jsonl")

    def disown(self, folder):
        """Puts the records into a folder of the run directory: another process may own the run now."""
        self._rename(os.path.join(folder, "marks.jsonl"))

    def drop(self):
        """A process that does not own the run leaves no records."""
        if self._file is not None and not self._owner:
            self._file.close()
            self._file, self.failed = None, "dropped"
            os.unlink(os.path.join(self._directory, self._name))

    def add(self, kind, **fields):
        self.add_text(_dump({"kind": kind, **fields}))

    def add_text(self, text):
        """A record that is JSON already, as bytes. After a failure nothing is written: what stands there stays readable."""
        if self.failed is not None or os.getpid() != self._pid:  # a fork has its own life
            return
        line = b'{"c":"%08x","r":%s}\n' % (zlib.crc32(text), text)
        try:
            if self._file is None:
                self._file = open(os.path.join(self._directory, self._name), "ab", buffering=0)
            if self._file.write(line) != len(line):
                self.failed = "no room for a whole record"
        except OSError as error:  # a full disk must not end the script
            self.failed = str(error)

    def close(self):
        """Nothing is written any more."""
        if self._file is not None:
            self._file.close()
        self._file, self.failed = None, self.failed or "closed"

    def _rename(self, name):
        try:
            if self._file is not None:
                os.replace(os.path.join(self._directory, self._name), os.path.join(self._directory, name))
            self._name = name
        except OSError as error:
            self.failed = str(error)


def _dump(record):
    text = json.dumps(record, separators=(",", ":"), default=str)
    if "\\ud" in text:  # halves of surrogate pairs: bytes of a path that are no UTF-8
        text = json.dumps(_clean(record), separators=(",", ":"), default=str)
    return text.encode()


def _clean(value):
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_clean(k): _clean(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(v) for v in value]
    return value
