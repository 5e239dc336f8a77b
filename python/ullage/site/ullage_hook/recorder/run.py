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


class Run:
    """A recording as a context manager, a decorator, or by start() and finish()."""

    def __init__(self, name=None, *, config=None, model=None, optimizer=None, directory=None, device=None, phases=None):
        self.problems = Problems()
        self._settings = (name, config, directory, device)
        self._modules, self._optimizers = _listed(model), _listed(optimizer)
        self._automatic = phases == "all" or bool(self._modules or self._optimizers)
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
        name, config, directory, device = self._settings
        name = name or folder.default_name()
        recording = Recording(name, config, device, self.problems)
        recording.open(folder.make(name, directory))
        self._recording = recording
        atexit.register(self.finish)
        if self._automatic and recording.meter.torch is not None:
            recording.phases.attach_to(self._modules, self._optimizers)

    def finish(self, error=None):
        """Ends the recording, and says once where it is."""
        recording, self._recording = self._recording, None
        if recording is None or not recording.active:
            return
        atexit.unregister(self.finish)
        recording.close(error=error)
        self._say(recording)

    @harmless
    def _say(self, recording):
        rank = folder.rank_and_world()
        if rank is None or rank[0] == 0:
            shown = recording.directory if rank is None else os.path.dirname(recording.directory)
            sys.stderr.write(f"ullage: recorded {recording.figures.steps} steps in {shown}\n")

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, error, trace):
        self.finish(error)
        return False

    def __call__(self, function):
        """As a decorator: each call of the function is a recording of its own."""

        @functools.wraps(function)
        def recorded(*args, **kwargs):
            with self._again():
                return function(*args, **kwargs)

        return recorded

    def _again(self):
        name, config, directory, device = self._settings
        return Run(name, config=config, model=self._modules, optimizer=self._optimizers, directory=directory, device=device,
                   phases="all" if self._automatic else None)

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
            self._recording.figures.add_tokens(count, effective)

    def metrics(self):
        """The figures since the last call, by the names that torchtitan uses; for loggers."""
        return self._metrics() or {}

    @harmless
    def _metrics(self):
        if self._recording is None:
            return {}
        meter = self._recording.meter
        capacity = meter.torch.cuda.get_device_properties(meter.device).total_memory if meter.sees_device else None
        return self._recording.figures.take(capacity)


def _listed(value):
    """One, several, or none of something."""
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]
