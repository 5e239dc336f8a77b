# SPDX-License-Identifier: Apache-2.0
"""How the process ends: the exception that ended it, an exit from inside an exception's handler, the rehearsal's stop."""
import os
import sys

from .importing import after_import


def chain(error):
    """An exception and those it came from: its causes, and for an exit what was being handled."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (error.__context__ if isinstance(error, SystemExit) else None)


class Endings:
    def __init__(self, torch, session):
        self._torch = torch
        self._session = session
        self.status = "ok"
        self.done = False
        self._seen = None

    def attach(self):
        """Hooks that outlive a fork: they ask the session for its current Endings."""
        session = self._session
        _wrap(sys, "excepthook", lambda call, kind, error, trace: (session.endings.see(error), call(kind, error, trace)))
        _wrap(sys, "exit", _exit_seen(session))
        _wrap(os, "_exit", lambda call, code: (session.finish(), call(code)))
        after_import("multiprocessing.process", lambda m: _wrap(m.BaseProcess, "run", _run_seen(session)))

    def adopt(self):
        self.done = False

    def stop(self):
        """Ends the script after its last wanted step: `finally` and `atexit` run, launchers see success."""
        stop = SystemExit(0)
        stop.ullage_stop = True
        raise stop

    @property
    def error(self):
        """The exception that ends the process, or None."""
        return self._seen

    def see(self, error):
        """Records the exception that ends the process; the first one counts."""
        if self._seen is not None or error is None or getattr(error, "ullage_stop", False):
            return
        if isinstance(error, SystemExit) and error.code in (None, 0):
            return
        self._seen = error
        found = next((e for e in chain(error) if isinstance(e, self._torch.OutOfMemoryError)), None)
        self.status = "killed" if isinstance(error, KeyboardInterrupt) else "exception"
        shown = found if found is not None else error
        self._session.records.add("exception", type=type(shown).__name__, text=str(shown), oom=found is not None)

    def see_last_exception(self):
        """A script may replace sys.excepthook; Python keeps what it handed to it."""
        self.see(getattr(sys, "last_exc", None) or getattr(sys, "last_value", None))


def _wrap(owner, name, around):
    """Replaces owner.name by around(original, ...)."""
    original = getattr(owner, name)

    def wrapped(*args, **kwargs):
        result = around(original, *args, **kwargs)
        return result[-1] if isinstance(result, tuple) else result

    wrapped.__name__ = name
    setattr(owner, name, wrapped)


def _exit_seen(session):
    def around(call, code=None):
        if code not in (None, 0):
            leaving = SystemExit(code)
            leaving.__context__ = sys.exc_info()[1]
            session.endings.see(leaving)
        call(code)

    return around


def _run_seen(session):
    """multiprocessing prints a child's exception itself: no excepthook sees it."""

    def around(call, process):
        try:
            return call(process)
        except BaseException as error:
            session.endings.see(error)
            raise

    return around
