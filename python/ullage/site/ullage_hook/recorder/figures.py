# SPDX-License-Identifier: Apache-2.0
"""What the training itself wants to see while it runs: the metrics of the last steps, by the names that torchtitan uses."""
import time

_GiB = 1 << 30


class Figures:
    def __init__(self):
        self.steps = 0
        self._counters = None
        self._tokens = None      # [tokens, effective or None] of this step
        self.lacks_tokens = False  # a step has ended for which none were told
        self._slowed = False     # the recorder takes some of this step's time
        self.start()

    def start(self):
        """A new stretch of steps, of which the next metrics are."""
        self._peak_active = self._peak_reserved = 0
        self._sum_tokens = self._sum_effective = self._stretch_steps = 0
        self._padded = False
        self._begin = time.monotonic()

    def see_mark(self, counters):
        self._counters = counters
        self._peak_active = max(self._peak_active, counters.get("since_active", counters["active"]))
        self._peak_reserved = max(self._peak_reserved, counters.get("since_reserved", counters["reserved"]))

    def add_tokens(self, tokens, effective):
        before = self._tokens or [0, None]
        self._tokens = [before[0] + int(tokens),
                        before[1] if effective is None else (before[1] or 0) + int(effective)]

    def end_step(self):
        """Returns the tokens of the step that ends, or None."""
        self.steps += 1
        self._stretch_steps += 1
        tokens = self.take_tokens()
        self.lacks_tokens = tokens is None
        if self._slowed:
            self.forget()
        return tokens

    def take_tokens(self):
        """Those told since the last call, or None; they count for the metrics."""
        tokens, self._tokens, self.lacks_tokens = self._tokens, None, False
        if tokens is not None:
            self._sum_tokens += tokens[0]
            self._sum_effective += tokens[0] if tokens[1] is None else tokens[1]
            self._padded = self._padded or tokens[1] is not None
        return tokens

    def slow(self):
        """The step that runs does not count for times."""
        self._slowed = True

    def forget(self):
        """The steps up to now do not count for times."""
        self._slowed = False
        self._stretch_steps = self._sum_tokens = self._sum_effective = 0
        self._begin = time.monotonic()

    def take(self, capacity_bytes=None, flops_per_token=None, peak_flops=None):
        """The metrics since the last call; the next are of what comes after. `peak_flops` is FLOP/s."""
        seconds = time.monotonic() - self._begin
        values = {}
        if self._counters is not None and "since_active" in self._counters:
            values["memory/max_active(GiB)"] = self._peak_active / _GiB
            values["memory/max_reserved(GiB)"] = self._peak_reserved / _GiB
            if capacity_bytes:
                values["memory/max_active(%)"] = 100 * self._peak_active / capacity_bytes
                values["memory/max_reserved(%)"] = 100 * self._peak_reserved / capacity_bytes
            values["memory/num_alloc_retries"] = self._counters["retries"]
            values["memory/num_ooms"] = self._counters["ooms"]
        if self._stretch_steps > 0:
            values["time_metrics/end_to_end(s)"] = seconds / self._stretch_steps
        if self._sum_tokens > 0 and self._stretch_steps > 0:
            values["throughput(tps)"] = self._sum_tokens / seconds
            if flops_per_token:
                values["tflops"] = self._sum_tokens * flops_per_token / seconds / 1e12
                if peak_flops:
                    values["mfu(%)"] = 100e12 * values["tflops"] / peak_flops
            if self._padded:
                values["padding(%)"] = 100 * (1 - self._sum_effective / self._sum_tokens)
        self.start()
        return values
