# SPDX-License-Identifier: Apache-2.0
"""PyTorch's memory history: recorded from the first allocation, while the script may record and dump its own."""
import gc
import os
import pickle


class History:
    """The allocator has one recorder. The script's calls are answered from it: each sees the window it asked for."""

    def __init__(self, torch, stacks, max_entries):
        self._torch = torch
        self._memory = torch.cuda.memory
        self.stacks = stacks
        self.max_entries = max_entries
        self._record = self._memory._record_memory_history
        self._snapshot = self._memory._snapshot
        self._window = None  # [first event, one past the last or None, limit]
        self.error = None

    @property
    def recording(self):
        return self.stacks != "none" and self.error is None

    def entries(self, counters):
        """How many allocations the record holds by now; `counters` are the allocator's."""
        return min(counters["allocs"], self.max_entries or 0) if self.recording else 0

    def start(self):
        if self.stacks == "none":
            return
        try:
            # "alloc": a stack for allocations only. Taking one at a free can lose a Python exception that is under way
            # (torch 2.11: the early stop of checkpointing ends in a SystemError), and nobody needs it.
            self._record("all", context="alloc", stacks=self.stacks, max_entries=self.max_entries)
        except Exception as error:
            self.error = repr(error)
            return
        self._memory._record_memory_history = self._script_records
        self._memory._snapshot = self._script_snapshot

    def _events(self):
        traces = self._snapshot()["device_traces"]
        return len(traces[0]) if traces else 0

    def _script_records(self, enabled="all", *args, **kwargs):
        if enabled is None:
            if self._window is not None:
                self._window[1] = self._events()
            return
        limit = kwargs.get("max_entries")
        if isinstance(enabled, bool):  # the old signature: (enabled, record_context, trace_alloc_max_entries, ...)
            limit = kwargs.get("trace_alloc_max_entries", args[1] if len(args) > 1 else 1)
        elif limit is None and len(args) > 2:
            limit = args[2]
        first = 0 if enabled is False else self._events()
        self._window = None if enabled is False else [first, None, 1 if enabled == "state" else limit]

    def _script_snapshot(self, *args, **kwargs):
        snapshot = self._snapshot(*args, **kwargs)
        first, last, limit = self._window or (0, 0, None)
        for i, events in enumerate(snapshot["device_traces"]):
            seen = events[first:last] if i == 0 else events
            snapshot["device_traces"][i] = seen[-limit:] if limit else seen
        return snapshot

    def stop(self):
        """Ends the recording; the script's calls are its own again."""
        self._record(None)
        self._memory._record_memory_history, self._memory._snapshot = self._record, self._snapshot

    def dump(self, path):
        """Writes the snapshot; returns None or what went wrong."""
        if self.error is not None or not self._torch.cuda.is_initialized():
            return self.error or "CUDA was not initialised"
        return dump_snapshot(self._torch, path)


def dump_snapshot(torch, path):
    """Writes PyTorch's snapshot; returns None or what went wrong. The file is there whole or not at all."""
    partial = path + ".partial"
    collecting = gc.isenabled()
    gc.disable()
    try:
        with open(partial, "wb") as file:
            _write(torch._C._cuda_memorySnapshot(None), file)
        os.replace(partial, path)
    except Exception as error:
        return repr(error)
    finally:
        if collecting:
            gc.enable()
    return None


def _write(snapshot, file):
    try:
        pickle.dump(snapshot, file, protocol=4)
    except UnicodeEncodeError:  # paths whose bytes are no UTF-8
        file.seek(0)
        file.truncate()
        pickle.dump(_clean(snapshot, {}), file, protocol=4)


def _clean(value, seen):
    """The same with texts that can be encoded; what is shared stays shared."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if not isinstance(value, (dict, list)):
        return value
    if id(value) not in seen:
        made = [] if isinstance(value, list) else {}
        seen[id(value)] = (made, value)
        if isinstance(value, list):
            made.extend(_clean(v, seen) for v in value)
        else:
            made.update((_clean(k, seen), _clean(v, seen)) for k, v in value.items())
    return seen[id(value)][0]
