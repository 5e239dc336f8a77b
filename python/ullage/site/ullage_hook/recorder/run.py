# SPDX-License-Identifier: Apache-2.0
"""What a script gets: `with ullage.record("name") as run`. Nothing here raises."""
import atexit
import contextlib
import functools
import os
import sys

from . import folder
from .problems import Problems, harmless
from .recording import Recording
from .settings import companions_of
from .work import Work


class Run:
    """A recording as a context manager, a decorator, or by start() and finish()."""

    def __init__(self, name=None, **settings):
        """The arguments of ullage.record."""
        self.problems = Problems()
        self._name = name
        self._settings = settings
        self._recording = None

    # --- the life ---

    def start(self):
        """Begins to record; for scripts whose loop is not in one block. finish() ends it, at the latest the process."""
        self._start()
        return self

    @harmless
    def _start(self):
        if self._recording is not None or os.environ.get("ULLAGE_RECORD") == "off":
            return
        settings = self._settings
        name = self._name or folder.default_name()
        work = Work(self.problems, settings.get("flops_per_token"), settings.get("peak_flops"), settings.get("program"))
        recording = Recording(name, settings.get("config"), settings.get("device"), self.problems, work)
        recording.companions = companions_of(self.problems, settings.get("interval"), settings.get("history"),
                                             settings.get("profile"))
        recording.open(settings.get("directory"))
        if not recording.active:
            return
        self._recording = recording
        atexit.register(self._at_exit)
        self._attach(recording, _listed(settings.get("model")), _listed(settings.get("optimizer")))

    def _attach(self, recording, modules, optimizers):
        wanted = modules or optimizers or self._settings.get("phases") == "all"
        if wanted and recording.meter.torch is not None:
            recording.phases.attach_to(modules, optimizers)

    def finish(self, error=None):
        """Ends the recording, and says once where it is."""
        recording, self._recording = self._recording, None
        if recording is None or not recording.active:
            return
        atexit.unregister(self._at_exit)
        recording.close(error=error)
        recording.say_where()

    def _at_exit(self):
        """The process ends within the recording: the exception that Python printed, if there was one, is its end."""
        self.finish(getattr(sys, "last_exc", None) or getattr(sys, "last_value", None))

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, error, trace):
        self.finish(error)
        return False

    def __call__(self, function):
        """As a decorator: each call of the function is a recording of its own."""

        @functools.wraps(function)
        def recorded(*args, **kwargs):
            with Run(self._name, **self._settings):
                return function(*args, **kwargs)

        return recorded

    # --- while it runs ---

    @property
    def directory(self):
        """The run directory, or None where there is none."""
        return self._recording.directory if self._recording is not None else None

    @harmless
    def step(self):
        """A step of the training has ended. Where an optimizer's hook has seen it already, this says nothing more."""
        if self._recording is not None:
            self._recording.phases.end_step()

    def phase(self, name):
        """`with run.phase("forward"):` `forward`, `backward` and `optimizer` are the phases of a step (the end of optimizer ends
        the step); any other name is a range of its own."""
        return self._recording.phases.phase(name) if self._recording is not None else contextlib.nullcontext()

    @harmless
    def tokens(self, count, effective=None):
        """Tokens of this step, and how many of them are none of padding; several calls in a step add up."""
        if self._recording is not None:
            self._recording.add_tokens(count, effective)

    def metrics(self):
        """The figures since the last call, by the names that torchtitan uses; for loggers."""
        return self._metrics() or {}

    @harmless
    def _metrics(self):
        if self._recording is None:
            return {}
        meter, work = self._recording.meter, self._recording.work
        device = meter.torch.cuda.get_device_properties(meter.device) if meter.sees_device else None
        peak = work.peak_of(device.name) if device else work.peak_flops
        return self._recording.figures.take(device.total_memory if device else None, work.flops_per_token, peak)


def _listed(value):
    """One, several, or none of something."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]
