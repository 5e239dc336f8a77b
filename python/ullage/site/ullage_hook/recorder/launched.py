# SPDX-License-Identifier: Apache-2.0
"""`ullage record -- COMMAND`: a recording in a script that knows nothing of it. It begins with the first model or optimizer."""
import atexit
import os
import sys

from ..endings import Endings
from ..importing import after_import
from ..undisturbed import undisturbed
from . import folder
from .problems import Problems, harmless
from .recording import Recording
from .settings import companions_of


class _Unwritten:
    """Endings tells a session's records at once; here the recording writes the exception when it closes."""

    def add(self, kind, **fields):
        pass


class LateRecording(Recording):
    """Opens its folder with its first mark: a launcher or a tool that only imports torch leaves nothing."""

    def mark(self, name, optimizer=None, owners=False, **facts):
        if not self._open and self.directory is None and os.getpid() == self._pid:
            self.directory = ""  # not a second time, whatever becomes of it
            self.open(os.environ.get("ULLAGE_RECORD_DIR"))
        super().mark(name, optimizer, owners, **facts)

    def adopt(self):
        """In a forked child, which may be the one that trains."""
        if not self._open:
            self._pid = os.getpid()


class Launched:
    records = _Unwritten()

    def __init__(self, torch):
        self.problems = Problems()
        self.recording = LateRecording(os.environ.get("ULLAGE_RECORD_NAME") or folder.default_name(), problems=self.problems)
        self.recording.companions = companions_of(self.problems)
        self.endings = Endings(torch, self)

    def start(self):
        self.recording.phases.attach_to([], [])
        self.endings.attach()
        atexit.register(self.finish)
        os.register_at_fork(after_in_child=self.recording.adopt)

    def finish(self):
        with undisturbed():
            self._finish()

    @harmless
    def _finish(self):
        if not self.recording.active:
            return
        self.endings.see_last_exception()
        self.recording.close(error=self.endings.error)
        self.recording.say_where()


#: of this process, once torch is there
launched = None


def step():
    """The script's own optimizer step is done (ullage.step())."""
    if launched is not None:
        launched.recording.phases.end_step()


def install():
    """From sitecustomize: nothing happens before torch is imported."""
    after_import("torch", _start)


def _start(torch):
    global launched
    try:
        launched = Launched(torch)
        launched.start()
    except Exception as error:  # the script must run whatever happens here
        sys.stderr.write(f"ullage: the recorder did not start: {error!r}\n")
