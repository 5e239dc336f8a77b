# SPDX-License-Identifier: Apache-2.0
"""A thread that looks now and then: host memory, pinned memory, the workers' memory, and what the driver says of the GPU."""
import threading
import time

from .nvml import Nvml, bus_id
from .problems import harmless
from .processes import children_bytes, resident_bytes

_SHARE = 200  # looking may take 1/200 of the time
_TRIES = 3


class Sampler:
    """A companion of a recording. `interval` is in seconds; 0: never."""

    def __init__(self, interval, problems):
        self.problems = problems
        self._interval = interval
        self._stop = threading.Event()
        self._thread = None
        self._nvml = None
        self._looked_for_nvml = False

    def begin(self, recording):
        self._recording = recording
        if self._interval > 0:
            self._thread = threading.Thread(target=self._run, name="ullage sampler", daemon=True)
            self._thread.start()

    def step_ends(self, step):
        pass

    def end(self):
        """The last look is the recording's end."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=2)
            self._look()
        if self._nvml is not None:
            self._nvml.close()

    def _run(self):
        wait = 0.0
        while not self._stop.wait(wait):
            begin = time.thread_time()
            self._look()
            wait = max(self._interval, _SHARE * (time.thread_time() - begin))

    @harmless
    def _look(self):
        recording = self._recording
        if not recording.active:
            return
        fields = {"time_ns": time.monotonic_ns(), "step": recording.phases.step, "resident_bytes": resident_bytes()}
        fields["children"], fields["children_bytes"] = children_bytes()
        if recording.meter.sees_device:
            fields.update(self._of_device(recording.meter))
        recording.records.add("sample", **{name: value for name, value in fields.items() if value is not None})

    def _of_device(self, meter):
        torch = meter.torch
        fields = {"pinned_bytes": _pinned_bytes(torch)}
        if not self._looked_for_nvml:
            self._looked_for_nvml = True
            self._find_nvml(torch, meter)
        return {**fields, **self._used_beside(meter)}

    def _used_beside(self, meter):
        """What the driver says, and what PyTorch held meanwhile. PyTorch counts a segment after the driver has given it, so
        a reading in between would have that segment for another library's: its counters must be the same before and after.
        Where the training does not leave it that moment, what PyTorch holds is left out."""
        for _ in range(_TRIES):
            before = meter.held()
            fields = self._used(meter)
            if meter.held() == before:
                return {"reserved_bytes": before[0], **fields}
        return fields

    def _used(self, meter):
        if self._nvml is not None:
            return {"device_used_bytes": self._nvml.used_bytes(), "process_used_bytes": self._nvml.process_bytes()}
        free, total = meter.torch.cuda.mem_get_info(meter.device)
        return {"device_used_bytes": total - free}

    def _find_nvml(self, torch, meter):
        try:
            self._nvml = Nvml(bus_id(torch.cuda.get_device_properties(meter.device)))
        except (OSError, AttributeError) as error:
            self._recording.records.add("note", text=f"without NVML ({error}): what this process holds on the device beside "
                                                     "PyTorch's memory is not told apart from other processes")


def _pinned_bytes(torch):
    """Of PyTorch's pinned allocator; None in a version that does not tell."""
    stats = getattr(torch._C, "_cuda_hostMemoryStats", None)
    return stats()["allocated_bytes"]["current"] if stats is not None else None
