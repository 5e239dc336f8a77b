# SPDX-License-Identifier: Apache-2.0
"""What a mark takes: PyTorch's counters of one device and their peaks since the mark before, or, without CUDA, host memory."""
import sys
import time

from ..counters import _ZERO
from .peaks import Reader, peaks_of
from .processes import resident_bytes

_WITH_PEAKS = ("allocated", "reserved", "requested", "active")


class Meter:
    """`device` is a number, or None: the current one when the first step begins."""

    def __init__(self, device=None):
        self._reader = Reader()
        self._device = device
        self._peaks = None
        self._places = None
        self.error = None  # why PyTorch does not tell its counters

    @property
    def torch(self):
        """The script's; None as long as it has not imported it."""
        return sys.modules.get("torch")

    @property
    def sees_device(self):
        return self._peaks is not None

    @property
    def device(self):
        if self._device is None:
            return self.torch.cuda.current_device() if self.sees_device else 0
        return self._device

    def settle(self):
        """The device that is current now is the one that is recorded."""
        if self.sees_device and self._device is None:
            self._device = self.torch.cuda.current_device()

    def _begin(self):
        torch = self.torch
        if torch is None or self.error is not None or not torch.cuda.is_initialized():
            return False
        try:
            torch._C._cuda_memoryStats(torch.cuda.current_device())
        except Exception as error:  # an allocator without statistics
            self.error = repr(error)
            return False
        self._peaks = peaks_of(torch)
        self._peaks.add(self._reader)
        return True

    def read(self):
        """The fields of a mark. Resets PyTorch's peak counters; nobody sees it (peaks.py)."""
        if self._peaks is None and not self._begin():
            return {**_ZERO, "host_bytes": resident_bytes(), "time_ns": time.monotonic_ns()}
        stats, since, script = self._peaks.read(self.device, self._reader)
        if self._places is None:
            self._places = [self._peaks.place(f"{name}_bytes") for name in _WITH_PEAKS]
        allocated, reserved, requested, active = self._places
        return {**_current(stats), "peak_allocated": script[allocated], "peak_reserved": script[reserved],
                "since_allocated": since[allocated], "since_reserved": since[reserved],
                "since_requested": since[requested], "since_active": since[active], "time_ns": time.monotonic_ns()}

    def look(self):
        """The fields of a mark without peaks since the last one; nothing is reset. Any thread may call it."""
        if self._peaks is None:
            return dict(_ZERO)
        stats = self._peaks.plain(self.device)
        return {**_current(stats), "peak_allocated": stats["allocated_bytes"]["all"]["peak"],
                "peak_reserved": stats["reserved_bytes"]["all"]["peak"]}

    def held(self):
        """Reserved memory, and how many bytes were ever taken from the driver and given back to it: where two calls give the
        same, nothing was in between. PyTorch's allocator takes its lock for this, which it holds while it asks the driver
        (but for `release_lock_on_cudamalloc`). Any thread may call it, once a device is seen."""
        reserved = self._peaks.plain(self.device)["reserved_bytes"]["all"]
        return reserved["current"], reserved["allocated"], reserved["freed"]

    def close(self):
        if self._peaks is not None:
            self._peaks.remove(self._reader)


def _current(stats):
    allocation, segment = stats["allocation"]["all"], stats["segment"]["all"]
    return {"allocs": allocation["allocated"], "frees": allocation["freed"], "segments_allocated": segment["allocated"],
            "segments_freed": segment["freed"], "allocated": stats["allocated_bytes"]["all"]["current"],
            "reserved": stats["reserved_bytes"]["all"]["current"], "requested": stats["requested_bytes"]["all"]["current"],
            "active": stats["active_bytes"]["all"]["current"], "retries": stats["num_alloc_retries"],
            "ooms": stats["num_ooms"]}
