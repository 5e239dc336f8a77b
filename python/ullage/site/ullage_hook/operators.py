# SPDX-License-Identifier: Apache-2.0
"""Which operator of which module allocates: PyTorch's own profiler (host side only) over the first steps."""
import os
import threading
import weakref

from .native_log import only_errors

_MODULE = "ullage.module: "
_STEPS_AT_MOST = 5
_ALLOCATIONS_AT_MOST = 100_000  # about 150 MB of trace


class Operators:
    """Writes operators.json. There is one profiler: a script that starts it gets it, and the records end there."""

    def __init__(self, torch, records, device, apart=lambda function: function()):
        """`apart` calls a function whose memory is not the script's."""
        self._apart = apart
        self._device = device
        self._last_allocation = 0
        self._torch = torch
        self._records = records
        self._on = False
        self._names = {}  # id of module -> (weak reference, dotted name and class)
        self._open = threading.local()
        self._first_allocation = 0
        self._results = None

    def attach(self):
        module = self._torch.nn.modules.module
        module.register_module_forward_pre_hook(self._enter)
        module.register_module_forward_hook(self._leave, always_call=True)
        self._give_way()

    def start(self, allocations, shapes):
        """`allocations`: the allocator's counter now; `shapes`: record those of inputs too."""
        from torch._C._profiler import ProfilerActivity, ProfilerConfig, ProfilerState, _ExperimentalConfig

        config = ProfilerConfig(ProfilerState.KINETO, shapes, True, False, False, False, _ExperimentalConfig())
        autograd = self._torch._C._autograd
        # The first session decides whether a later one, the script's own, can see the device (torch 2.15): an empty one.
        autograd._prepare_profiler(config, {ProfilerActivity.CPU, ProfilerActivity.CUDA})
        autograd._enable_profiler(config, {ProfilerActivity.CPU, ProfilerActivity.CUDA})
        autograd._disable_profiler()
        autograd._prepare_profiler(config, {ProfilerActivity.CPU})
        block = self._torch.UntypedStorage(1)
        autograd._enable_profiler(config, {ProfilerActivity.CPU})
        # It warns of the first block that it does not know (then of every thousandth), whose script has no profiler.
        with only_errors(self._torch):
            del block
        self._device.silence_calls()
        self._first_allocation = self._last_allocation = allocations
        self._on = True

    @property
    def entries(self):
        """How many allocations the record covers by now."""
        return self._last_allocation - self._first_allocation

    def see_mark(self, allocations, steps):
        """Ends the recording when it has seen enough."""
        if self._on:
            self._last_allocation = allocations
        if steps >= _STEPS_AT_MOST or allocations - self._first_allocation > _ALLOCATIONS_AT_MOST:
            self._stop("the first steps are recorded, later ones are like them")

    def see_module(self, outermost):
        """Names the modules of a model, once."""
        known = self._names.get(id(outermost))
        if known is not None and known[0]() is outermost:
            return
        for name, module in outermost.named_modules():
            self._names[id(module)] = (weakref.ref(module), f"{_MODULE}{name}|{type(module).__name__}")

    def write(self, path):
        """Returns None or what went wrong; there is no file when nothing was recorded."""
        try:
            self._stop(None)
            if self._results is None:
                return None
            self._results.save(path + ".partial")
            os.replace(path + ".partial", path)
        except Exception as error:
            return repr(error)
        return None

    def abandon(self):
        """Nobody reads the records of this process; a profiler that still runs at its end may crash it (torch 2.15)."""
        try:
            self._stop(None)
        except Exception as error:
            return repr(error)
        return None

    def _stop(self, why):
        if not self._on:
            return
        self._on = False
        self._results = self._apart(self._torch._C._autograd._disable_profiler)
        if why is not None:
            self._records.add("operators", ended=why)

    def _give_way(self):
        """The script's own profiler would find ours running."""
        profiler = self._torch.autograd.profiler
        for name in ("_prepare_profiler", "_enable_profiler"):
            original = getattr(profiler, name, None)
            if original is not None:
                setattr(profiler, name, self._stopped_before(original))

    def _stopped_before(self, original):
        def start(*args, **kwargs):
            self._stop("the script started its own profiler")
            return original(*args, **kwargs)

        return start

    def _name(self, module):
        known = self._names.get(id(module))
        if known is not None and known[0]() is module:
            return known[1]
        return f"{_MODULE}|{type(module).__name__}"

    def _enter(self, module, args):
        if not self._on or self._torch.compiler.is_compiling():
            return
        if not hasattr(self._open, "ranges"):
            self._open.ranges = []
        opened = self._torch._C._profiler._RecordFunctionFast(self._name(module))
        opened.__enter__()
        self._open.ranges.append((module, opened))

    def _leave(self, module, args, output):
        if self._torch.compiler.is_compiling():  # as in _enter: nothing of this may become part of a graph
            return
        ranges = getattr(self._open, "ranges", None)
        if not ranges or not any(entered is module for entered, _ in ranges):
            return
        while True:  # an exception may have left inner modules behind
            entered, opened = ranges.pop()
            opened.__exit__(None, None, None)
            if entered is module:
                return
