# SPDX-License-Identifier: Apache-2.0
"""The line of code that is running, without the frames of torch and of this hook."""
import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__))


class Lines:
    def __init__(self, torch):
        self._skipped = (os.path.dirname(os.path.abspath(torch.__file__)) + os.sep, _HERE, "<frozen", "<string>")
        self._known = {}

    def skipped(self, filename):
        known = self._known.get(filename)
        if known is None:
            known = filename.startswith(self._skipped) or f"{os.sep}ctypes{os.sep}" in filename
            self._known[filename] = known
        return known

    def frame(self, frame):
        """The innermost frame that is not torch's, or None."""
        while frame is not None and self.skipped(frame.f_code.co_filename):
            frame = frame.f_back
        return frame

    def current(self):
        """"file:line function" of the calling thread, empty where no Python code runs."""
        frame = self.frame(sys._getframe(1))
        if frame is None:
            return ""
        return f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}"
