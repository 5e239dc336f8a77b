# SPDX-License-Identifier: Apache-2.0
"""PyTorch has one peak counter for each statistic. Here it serves several readers: the script, and each recording.

Every recording resets the counters at each of its marks, so that it sees the peak since the mark before. What a reset would
take from another reader is kept for it. The script's calls are answered through the two functions below all of PyTorch's
own readers: torch.cuda.max_memory_allocated, max_memory_reserved, memory_stats, memory_stats_as_nested_dict,
memory_summary, reset_peak_memory_stats, reset_max_memory_allocated, reset_max_memory_cached, and those of
torch.accelerator. Not led through here are: compiled code that asks the allocator itself, and a script that took one of
the functions out of torch._C before the first recording began.
"""

_PAIRS = (("_cuda_memoryStats", "_cuda_resetPeakMemoryStats"), ("_accelerator_getDeviceStats", "_accelerator_resetPeakStats"))


class Reader:
    """Who wants to know peaks: what the counters had reached before resets of others, by device."""

    def __init__(self):
        self.kept = {}

    def keep(self, device, peaks):
        before = self.kept.get(device)
        self.kept[device] = peaks if before is None else list(map(max, before, peaks))

    def take(self, device, peaks):
        """The peaks since the last call; `peaks` are the counters now."""
        before = self.kept.pop(device, None)
        return peaks if before is None else list(map(max, before, peaks))


class Peaks:
    def __init__(self, torch):
        self._torch = torch
        self._script = Reader()
        self._readers = []
        self._slots = None  # [(statistic, pool or None)]
        self._stats, self._reset = (getattr(torch._C, name) for name in _PAIRS[0])
        self._originals = {}

    def add(self, reader):
        self._readers.append(reader)
        if not self._originals:
            for stats, reset in _PAIRS:
                if hasattr(self._torch._C, stats) and hasattr(self._torch._C, reset):
                    self._lead(stats, self._asked)
                    self._lead(reset, self._reset_by_script)

    def remove(self, reader):
        """The functions stay led where the script's peaks are still partly kept here."""
        if reader in self._readers:
            self._readers.remove(reader)
        if not self._readers and not self._script.kept:
            for name, (original, led) in self._originals.items():
                if getattr(self._torch._C, name) is led:
                    setattr(self._torch._C, name, original)
            self._originals.clear()

    def read(self, device, reader):
        """PyTorch's statistics, the peaks since this reader's last call and the script's peaks; `place` says where each is."""
        stats = self._stats(device)
        self._reset(device)
        peaks = self._peaks_of(stats)
        for other in self._readers:
            if other is not reader:
                other.keep(device, peaks)
        self._script.keep(device, peaks)
        return stats, reader.take(device, peaks), self._script.kept[device]

    def place(self, statistic):
        """Of a statistic over all pools, in the peaks that read() gives."""
        return self._slots.index((statistic, "all"))

    def plain(self, device):
        """PyTorch's statistics; nothing is reset, peaks are those since anybody's last reset."""
        return self._stats(device)

    def _lead(self, name, through):
        original = getattr(self._torch._C, name)

        def led(device, *args):
            return through(original, device, *args)

        led.__name__ = name
        self._originals[name] = (original, led)
        setattr(self._torch._C, name, led)

    def _asked(self, original, device):
        stats = original(device)
        kept = self._script.kept.get(device)
        if kept is not None:
            for (name, pool), peak in zip(self._slots, kept):
                counter = stats[name] if pool is None else stats[name][pool]
                if counter["peak"] < peak:
                    counter["peak"] = peak
        return stats

    def _reset_by_script(self, original, device):
        if self._readers:
            peaks = self._peaks_of(self._stats(device))
            for reader in self._readers:
                reader.keep(device, peaks)
        self._script.kept.pop(device, None)
        return original(device)

    def _peaks_of(self, stats):
        if self._slots is None:
            self._slots = _slots_of(stats)
            self._nested = [slot for slot in self._slots if slot[1] is not None]
            self._flat = [slot[0] for slot in self._slots if slot[1] is None]
        return [stats[name][pool]["peak"] for name, pool in self._nested] + [stats[name]["peak"] for name in self._flat]


def _slots_of(stats):
    """Where peaks stand: those of pools first."""
    nested, flat = [], []
    for name, value in stats.items():
        if not isinstance(value, dict):
            continue
        if "peak" in value:
            flat.append((name, None))
        else:
            nested.extend((name, pool) for pool in value)
    return nested + flat


_known = {}


def peaks_of(torch):
    """The one Peaks of this process."""
    if torch not in _known:
        _known[torch] = Peaks(torch)
    return _known[torch]
