# SPDX-License-Identifier: Apache-2.0
"""Evidence of chosen steps: PyTorch's memory history, and torch.profiler's trace. Both slow a step down: its times are left out."""
import os
import sys

from ..history import History
from .problems import harmless

_ENTRIES = 1_000_000  # events of a memory history


class _ChosenSteps:
    """A companion that works from the end of the step before a chosen one to its own end."""

    what = ""

    def __init__(self, steps, problems):
        self.problems = problems
        self._steps = frozenset(steps)
        self._on = False

    def begin(self, recording):
        self._recording = recording
        self._before(1)

    def step_ends(self, step):
        if self._on:
            self._on = False
            self._recording.leave_out(step, self.what)
            self._stop(step)
        self._before(step + 1)

    def end(self):
        if self._on:
            self._on = False
            self._stop(self._recording.phases.step)

    def _before(self, step):
        if step in self._steps:
            self._on = bool(self._start(step))


class StepHistory(_ChosenSteps):
    """snapshot.pickle is of the last chosen step that was reached, or of an OutOfMemoryError in it."""

    what = "memory history"

    @harmless
    def _start(self, step):
        torch = self._recording.meter.torch
        why_not = _why_no_history(torch)
        if why_not is not None:
            self._recording.records.add("note", text=f"step {step} has no memory history: {why_not}")
            return False
        self._history = History(torch, "python", _ENTRIES)
        self._history.start()
        if self._history.error is not None:
            raise RuntimeError(self._history.error)
        self._recording.records.add("history", stacks="python", max_entries=_ENTRIES, device=self._recording.meter.device,
                                    step=step, **self._recording.meter.look())
        return True

    @harmless
    def _stop(self, step):
        error = self._history.dump(os.path.join(self._recording.directory, "snapshot.pickle"))
        self._history.stop()
        self._recording.records.add("history_end", step=step, snapshot=error is None, snapshot_error=error)


def _why_no_history(torch):
    hook = sys.modules.get("ullage_hook")
    if hook is not None and hook.session is not None:
        return "the rehearsal around it records one"
    if torch is None or not torch.cuda.is_initialized():
        return "CUDA is not initialised before it (choose a later step)"
    enabled = getattr(torch._C, "_cuda_isHistoryEnabled", None)
    return "the script records one itself" if enabled is not None and enabled() else None


class StepProfile(_ChosenSteps):
    """trace-step-N.json.gz, with operators, kernels and memory events."""

    what = "profiler"

    @harmless
    def _start(self, step):
        profiler = self._recording.meter.torch.profiler
        self._profile = profiler.profile(profile_memory=True, record_shapes=True)
        self._profile.start()
        return True

    @harmless
    def _stop(self, step):
        self._profile.stop()
        self._profile.export_chrome_trace(os.path.join(self._recording.directory, f"trace-step-{step}.json.gz"))
        self._profile = None


def steps_of(value):
    """A list of steps from [3, 4], "3,4" or "3-5"; empty for nothing. Errors: ValueError."""
    if value is None or value == "":
        return []
    if isinstance(value, int):
        return [value]
    if not isinstance(value, str):
        return [int(step) for step in value]
    steps = []
    for part in value.split(","):
        first, _, last = part.partition("-")
        steps.extend(range(int(first), int(last or first) + 1))
    return steps
