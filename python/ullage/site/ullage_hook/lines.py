# SPDX-License-Identifier: Apache-2.0
"""The line of code that is running, without the frames of torch and of this hook."""
import os
import sys

_SCALER = os.path.join("torch", "amp", "grad_scaler.py")
_HERE = os.path.dirname(os.path.abspath(__file__))


class Lines:
    def __init__(self, torch):
        self._skipped = (os.path.dirname(os.path.abspath(torch.__file__)) + os.sep, _HERE, "<frozen", "<string>")
        self._known = {}

    def _in_scaler(self, frame):
        """Whether torch's GradScaler stands between the frame and the script: it must read before a step."""
        while frame is not None and self.skipped(frame.f_code.co_filename):
            if frame.f_code.co_filename.endswith(_SCALER):
                return True
            frame = frame.f_back
        return False

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
        """"file:line function" of the calling thread, with " (GradScaler)" behind what it does for the script; empty where no
        Python code runs."""
        inner = sys._getframe(1)
        frame = self.frame(inner)
        if frame is None:
            return ""
        through = " (GradScaler)" if self._in_scaler(inner) else ""
        return f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}{through}"
