# SPDX-License-Identifier: Apache-2.0
"""A stretch of code that signals which would end the process do not interrupt."""
import contextlib
import signal

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def undisturbed():
    """Ignores them, in the main thread; elsewhere Python lets nobody change a handler, and none runs."""
    before = {}
    for number in _SIGNALS:
        try:
            before[number] = signal.signal(number, signal.SIG_IGN)
        except ValueError:
            pass
    try:
        yield
    finally:
        for number, handler in before.items():
            if handler is not None:
                signal.signal(number, handler)
