# SPDX-License-Identifier: Apache-2.0
"""The recorder's own errors: caught, said once on stderr, counted in the record. None of them reaches the training."""
import functools
import sys


class Problems:
    def __init__(self):
        self.count = 0
        self.first = None
        self._records = None

    def write_to(self, records):
        """From now on the first error is a record, too."""
        self._records = records
        if self.first is not None:
            records.add("note", text=self.first)

    def see(self, where, error):
        """Counts an error; the first one is said."""
        try:
            self.count += 1
            if self.first is not None:
                return
            self.first = f"the recorder failed in {where}: {error!r}"
            sys.stderr.write(f"ullage: {self.first}; the training goes on, further errors are only counted\n")
            if self._records is not None:
                self._records.add("note", text=self.first)
        except Exception:
            pass  # no stderr


def harmless(method):
    """For methods of objects that have `problems`: an exception is counted there and None returned."""

    @functools.wraps(method)
    def guarded(self, *args, **kwargs):
        try:
            return method(self, *args, **kwargs)
        except Exception as error:
            self.problems.see(method.__name__.strip("_"), error)
        return None

    return guarded
