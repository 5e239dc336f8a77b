# SPDX-License-Identifier: Apache-2.0
"""When a rehearsal has seen enough."""

_AUTO_AT_LEAST = 2
_AUTO_AT_MOST = 5
_PASSES_AT_LEAST = 32  # backward passes of a script whose steps nobody sees
_PASSES_STEADY = 16
_PASSES_AT_MOST = 64
_ALONE_FACTOR = 5  # one optimizer of several may make this many times the steps


class StepLimit:
    """`wanted` is a number, "auto" or "all"."""

    def __init__(self, wanted):
        self._wanted = wanted
        self._counts = {}      # id of optimizer -> steps
        self._peaks = (0, 0)
        self._passes = 0
        self._grown_at = 0     # the last step at which a peak grew

    def passed(self, peak_allocated, peak_reserved):
        """A backward pass of a script without any optimizer that PyTorch knows; returns the reason to stop, or None."""
        self._passes += 1
        if peak_allocated > self._peaks[0] or peak_reserved > self._peaks[1]:
            self._peaks = (max(peak_allocated, self._peaks[0]), max(peak_reserved, self._peaks[1]))
            self._grown_at = self._passes
        if self._wanted == "all":
            return None
        if self._wanted != "auto":
            return "pattern" if self._passes >= int(self._wanted) else None
        steady = self._passes >= _PASSES_AT_LEAST and self._passes - self._grown_at >= _PASSES_STEADY
        return "pattern" if steady or self._passes >= _PASSES_AT_MOST else None

    @property
    def first_count(self):
        """Steps of the optimizer that stepped first: the number of the run's last step."""
        return next(iter(self._counts.values()), 0)

    def stepped(self, optimizer, peak_allocated, peak_reserved):
        """Counts a step; returns the reason to stop, or None."""
        self._counts[id(optimizer)] = self._counts.get(id(optimizer), 0) + 1
        if peak_allocated > self._peaks[0] or peak_reserved > self._peaks[1]:
            self._peaks = (max(peak_allocated, self._peaks[0]), max(peak_reserved, self._peaks[1]))
            self._grown_at = self._reached()
        if self._wanted == "all":
            return None
        if self._wanted == "auto":
            return self._auto()
        return "steps" if self._done(int(self._wanted)) else None

    def _reached(self):
        return min(self._counts.values())

    def _done(self, steps):
        return self._reached() >= steps or max(self._counts.values()) >= _ALONE_FACTOR * steps

    def _auto(self):
        if self._done(_AUTO_AT_MOST):
            return "auto-limit"
        if self._done(_AUTO_AT_LEAST) and self._reached() > self._grown_at:
            return "auto-steady"
        return None
