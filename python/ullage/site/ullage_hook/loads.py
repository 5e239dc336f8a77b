# SPDX-License-Identifier: Apache-2.0
"""Batches of DataLoaders: how long the script's own process waits for each, and what is held for it until it is used."""
import functools
import os
import time

from .importing import after_import

_LARGER = 1.25  # a batch so much larger than those before is worth a record
_DEPTH = 4      # of lists and dictionaries in a batch


class Loads:
    """`records` has add(); `active` says whether what is loaded now counts."""

    def __init__(self, torch, records, active=lambda: True):
        self._tensor = torch.Tensor
        self._records = records
        self._active = active
        self._ns = []        # of each batch since the last step
        self._largest = {}   # of each kind of loader, the bytes of a batch
        self._patched = None

    def attach(self, current=None):
        """`current` gives the one that is to see a batch, where that may become another."""
        after_import("torch.utils.data.dataloader",
                     lambda module: self._time_batches(module._BaseDataLoaderIter, current or (lambda: self)))

    def _time_batches(self, iterator, current):
        function = iterator.__next__

        @functools.wraps(function)
        def timed(loader):
            begin = time.perf_counter_ns()
            batch = function(loader)
            current().see(loader, batch, time.perf_counter_ns() - begin)
            return batch

        iterator.__next__ = timed
        self._patched = iterator, timed, function

    def detach(self):
        """Unless somebody has put a function over ours."""
        if self._patched is not None and self._patched[0].__next__ is self._patched[1]:
            self._patched[0].__next__ = self._patched[2]

    def see(self, loader, batch, nanoseconds):
        if not self._active():
            return
        self._ns.append(nanoseconds)
        try:
            self._see_loader(loader, batch)
        except Exception:
            pass  # a batch of another kind

    def _see_loader(self, loader, batch):
        kind = (getattr(loader, "_num_workers", 0), bool(getattr(loader, "_pin_memory", False)),
                getattr(loader, "_prefetch_factor", None) or 0)
        size = self._bytes_of(batch)
        if size <= self._largest.get(kind, 0) * _LARGER:
            return
        self._largest[kind] = size
        self._records.add("loader", workers=kind[0], pin_memory=kind[1], prefetch_factor=kind[2], batch_bytes=size,
                          host_capacity_bytes=host_capacity())

    def _bytes_of(self, batch, depth=_DEPTH):
        if isinstance(batch, self._tensor):
            return batch.numel() * batch.element_size()
        if depth > 0 and isinstance(batch, dict):
            return sum(self._bytes_of(value, depth - 1) for value in batch.values())
        if depth > 0 and isinstance(batch, (list, tuple)):
            return sum(self._bytes_of(value, depth - 1) for value in batch)
        return 0

    def step_ends(self, step):
        """Writes the batches that were loaded since the last step; `step` is the one that ends."""
        if self._ns:
            self._records.add("loads", step=step, ns=self._ns)
            self._ns = []


def host_capacity():
    """Memory of the machine that the run is for: what the rehearsal was told, else the container's or this machine's. Bytes; 0
    where it is not known."""
    told = os.environ.get("ULLAGE_HOST_MEMORY", "")
    if told.isdigit():
        return int(told)
    known = [size for size in (_number("/sys/fs/cgroup/memory.max", 0, 1), _number("/proc/meminfo", 1, 1024)) if size > 0]
    return min(known, default=0)


def _number(path, word, unit):
    """Of the first line; 0 where there is none."""
    try:
        with open(path, encoding="ascii") as file:
            return int(file.readline().split()[word]) * unit
    except (OSError, ValueError, IndexError):
        return 0
