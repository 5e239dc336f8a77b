# SPDX-License-Identifier: Apache-2.0
"""Host memory and input: what this process holds, what the virtual GPU costs of it, how long batches take to come."""
import functools
import time

from .loads import Loads

_SHARE = 200  # looking may take 1/200 of the time between two looks


class Host:
    def __init__(self, torch, session):
        self._torch = torch
        self._session = session
        self._next = 0
        self._own = 0        # resident bytes that the hook itself took when it started
        self._peak = 0       # the highest resident bytes without them
        self.loads = Loads(torch, session.records)
        self._pinned = None  # [times, requested, taken] of Tensor.pin_memory since the last record

    def attach(self):
        self.loads.attach(lambda: self._session.host.loads)
        self._watch_pinning(self._torch.Tensor)

    # --- memory ---

    def measure(self, function):
        """Calls function(), whose memory is the hook's and not the script's."""
        before = _resident()
        result = function()
        self._own += max(0, _resident() - before)
        return result

    def apart(self, function):
        """As measure(); what function() holds for a moment only is kept out of the peak, too."""
        self._keep_peak()
        result = self.measure(function)
        try:
            with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
                file.write("5")  # VmHWM begins anew
        except OSError:
            pass  # then the moment counts
        return result

    def _keep_peak(self):
        """The peak so far without the hook's share."""
        self._peak = max(self._peak, _status("VmHWM:") - self._own)
        return self._peak

    def look(self, at_the_end=False):
        """Writes what is held now, unless the last time is too near."""
        now = time.monotonic_ns()
        if now < self._next and not at_the_end:
            return
        try:
            self._look(now, at_the_end)
        except Exception as error:  # the script goes on
            self._session.records.add("note", text=f"host memory was not read: {error!r}")
        self._next = now + _SHARE * (time.monotonic_ns() - now)

    def _look(self, now, at_the_end):
        costs = self._session.device.host_costs()
        counters = self._session.counters.read()
        self._session.records.add("host", time_ns=now, end=at_the_end, peak_resident_bytes=self._keep_peak() + self._own,
                                  device_pages_bytes=costs[0], pinned_bytes=costs[1], pinned_touched_bytes=costs[2],
                                  hook_bytes=self._own, history_entries=self._session.history.entries(counters),
                                  operator_entries=self._session.operators.entries)

    # --- batches and pinned memory ---

    def step_ends(self, step):
        """Writes what was loaded and pinned since the last step; `step` is the one that ends."""
        self.loads.step_ends(step)
        if self._pinned:
            times, requested, taken = self._pinned
            self._session.records.add("pinning", times=times, requested_bytes=requested, taken_bytes=taken)
            self._pinned = None

    def _watch_pinning(self, tensor):
        """PyTorch rounds pinned blocks up to powers of two: what was asked for, and the block that came."""
        function, session = tensor.pin_memory, self._session

        @functools.wraps(function)
        def pinned(source, *args, **kwargs):
            result = function(source, *args, **kwargs)
            try:
                if result.data_ptr() != source.data_ptr():
                    session.host.count_pinned(result.untyped_storage())
            except Exception:
                pass  # a tensor without storage
            return result

        tensor.pin_memory = pinned

    def count_pinned(self, storage):
        taken = self._session.device.pinned_range_bytes(storage.data_ptr())
        if taken > 0:
            times, requested, all_taken = self._pinned or (0, 0, 0)
            self._pinned = (times + 1, requested + storage.nbytes(), all_taken + taken)


def _status(key):
    """A size of /proc/self/status in bytes; 0 when it cannot be read."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith(key):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return 0


def _resident():
    return _status("VmRSS:")
