# SPDX-License-Identifier: Apache-2.0
"""Where an OutOfMemoryError came from, and what was on the device then."""
import os
import sys

from ..history import dump_snapshot
from ..lines import Lines
from .problems import harmless

_SNAPSHOTS_AT_MOST = 3  # a script that searches its batch size catches many


class Ooms:
    """A companion of a recording. PyTorch's observers stay for ever: this one asks whether the recording is open."""

    def __init__(self, problems):
        self.problems = problems
        self._count = 0

    def begin(self, recording):
        self._recording = recording
        torch = recording.meter.torch
        if torch is not None:
            self._lines = Lines(torch)
            torch.cuda._lazy_call(lambda: torch._C._cuda_attach_out_of_memory_observer(self._out_of_memory))

    def step_ends(self, step):
        pass

    def end(self):
        pass

    @harmless
    def _out_of_memory(self, device, requested, total, free):
        """Called by the allocator before it raises."""
        recording = self._recording
        if not recording.active:
            return
        phases = recording.phases
        frame = self._lines.frame(sys._getframe()) or self._lines.frame(phases.backward_frame())
        line = f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_name}" if frame else None
        recording.records.add("oom", requested_bytes=requested, total_bytes=total, free_bytes=free, step=phases.step,
                              micro_batch=phases.micro_batch, phase=phases.name, text=None, line=line,
                              module=phases.module_path(), **recording.meter.look())
        self._count += 1
        if self._count <= _SNAPSHOTS_AT_MOST:
            error = dump_snapshot(recording.meter.torch, os.path.join(recording.directory, "snapshot.pickle"))
            if error is not None:
                recording.records.add("note", text=f"the memory snapshot at the failed request was not written: {error}")
