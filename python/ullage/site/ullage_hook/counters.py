# SPDX-License-Identifier: Apache-2.0
"""PyTorch's allocator counters, as the fields of a mark."""

_ZERO = {"allocs": 0, "frees": 0, "segments_allocated": 0, "segments_freed": 0, "allocated": 0, "reserved": 0,
         "requested": 0, "active": 0, "peak_allocated": 0, "peak_reserved": 0, "retries": 0, "ooms": 0}


class Counters:
    def __init__(self, torch):
        self._torch = torch
        self._initialized = False

    def read(self):
        """The counters of device 0; all zero before CUDA is initialised (the hook never initialises it)."""
        if not self._initialized:
            if not self._torch.cuda.is_initialized():
                return dict(_ZERO)
            self._initialized = True
        s = self._torch._C._cuda_memoryStats(0)
        allocated, reserved = s["allocated_bytes"]["all"], s["reserved_bytes"]["all"]
        return {
            "allocs": s["allocation"]["all"]["allocated"],
            "frees": s["allocation"]["all"]["freed"],
            "segments_allocated": s["segment"]["all"]["allocated"],
            "segments_freed": s["segment"]["all"]["freed"],
            "allocated": allocated["current"],
            "reserved": reserved["current"],
            "requested": s["requested_bytes"]["all"]["current"],
            "active": s["active_bytes"]["all"]["current"],
            "peak_allocated": allocated["peak"],
            "peak_reserved": reserved["peak"],
            "retries": s["num_alloc_retries"],
            "ooms": s["num_ooms"],
        }
