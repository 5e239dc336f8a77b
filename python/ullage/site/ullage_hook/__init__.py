# SPDX-License-Identifier: Apache-2.0
"""The hook of a rehearsal: runs inside the script's process, marks phases, names owners, ends the run after its steps.

It uses PyTorch's official hooks wherever there is one, keeps no tensor alive, and writes facts only; everything that is
computed from them is the business of the ullage program.
"""
import sys

from . import raw_writers, trackers
from .importing import after_import


#: the Session of this process, once torch is there
session = None


def step():
    """The script's own optimizer step is done (ullage.step())."""
    if session is not None:
        session.phases.own_step()
    recorder = sys.modules.get(f"{__name__}.recorder.launched")
    if recorder is not None:
        recorder.step()


def install():
    """Arranges for the hook to start when torch has been imported. Imports nothing heavy."""
    raw_writers.attach()
    trackers.attach()
    after_import("torch", _start)


def _start(torch):
    try:
        from .session import Session

        global session
        session = Session(torch)
        session.start()
    except Exception as error:  # the script must run whatever happens here
        sys.stderr.write(f"ullage: the hook did not start: {error!r}\n")
