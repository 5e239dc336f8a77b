# SPDX-License-Identifier: Apache-2.0
"""What torch.compile did: graphs, how many of them no cache held, and kernels that it timed on the device. Timing allocates
buffers that stay in PyTorch's pool, so memory depends on whether the caches were filled."""
import functools
import sys

from .importing import after_import


class Compiler:
    def __init__(self, torch):
        self._torch = torch
        self._timed = 0
        self._timing = False

    def attach(self):
        """After the hook's own hooks of modules."""
        self._hide_own_hooks(self._torch.nn.modules.module)
        after_import("torch._inductor.runtime.benchmarking", self._watch)

    def facts(self):
        """{graphs, compiled, timed}, or None when nothing was compiled."""
        utilities = sys.modules.get("torch._dynamo.utils")
        if utilities is None:
            return None
        inductor = utilities.counters["inductor"]
        found, missed = inductor["fxgraph_cache_hit"], inductor["fxgraph_cache_miss"] + inductor["fxgraph_cache_bypass"]
        if not found + missed:  # the caches may be switched off
            missed = utilities.counters["stats"]["unique_graphs"]
        if not found + missed + self._timed:
            return None
        return {"graphs": found + missed, "compiled": missed, "timed": self._timed}

    @staticmethod
    def _hide_own_hooks(module):
        """PyTorch warns when a compiled module meets global hooks; a script hears of its own ones only."""
        kinds = [value for name, value in vars(module).items() if name.startswith("_global_") and isinstance(value, dict)]
        own = sum(map(len, kinds))
        module._has_any_global_hook = lambda: sum(map(len, kinds)) > own

    def _watch(self, module):
        """PyTorch's own count of timed kernels will not do: a cached graph brings that of its compilation along."""
        for owner in vars(module).values():
            if isinstance(owner, type) and "benchmark_gpu" in vars(owner):
                owner.benchmark_gpu = self._counted(owner.benchmark_gpu)

    def _counted(self, function):
        @functools.wraps(function)
        def counted(*args, **kwargs):
            if self._timing:  # one benchmarker asks another
                return function(*args, **kwargs)
            self._timed += 1
            self._timing = True
            try:
                return function(*args, **kwargs)
            finally:
                self._timing = False

        return counted
