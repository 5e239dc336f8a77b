# SPDX-License-Identifier: Apache-2.0
"""Random programs of allocator requests, run by PyTorch's own allocator on the virtual GPU.

    programs.py SEED COUNT LENGTH OUT

writes for each program the operations, in the words of driver.cpp, and what PyTorch's statistics and
segments are after them, as a JSON line. All programs of a process run one after the other in an emptied allocator.
"""
import ctypes
import gc
import json
import random
import sys

import torch

MiB = 1 << 20
SETTINGS = ["", "", "expandable_segments:True", "expandable_segments:True", "max_split_size_mb:64",
            "max_split_size_mb:256,max_non_split_rounding_mb:40", "roundup_power2_divisions:4",
            "roundup_power2_divisions:[64:8,256:4,1024:2,>:1]", "garbage_collection_threshold:0.5",
            "garbage_collection_threshold:0.8,max_split_size_mb:128", "large_segment_size_mb:40",
            "expandable_segments:True,roundup_power2_divisions:8", "expandable_segments:True,max_split_size_mb:128"]
COUNTS = ("num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc", "num_device_free")
POOLED = ("allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes", "active_bytes",
          "inactive_split_bytes", "requested_bytes")


def size(rng):
    kind = rng.random()
    if kind < 0.3:
        return rng.randint(1, 4096)
    if kind < 0.5:
        return rng.choice([1, 2, 3, 5]) * 2 ** rng.randint(9, 20)
    if kind < 0.7:
        return rng.randint(MiB, 12 * MiB)
    if kind < 0.95:
        return rng.randint(2 * MiB, 200 * MiB)
    return rng.randint(200 * MiB, 1200 * MiB)


class Device:
    """Memory beside PyTorch's, for work that allocates nothing."""

    def __init__(self):
        self.runtime = ctypes.CDLL("libcudart.so.13")
        self.bytes = 512 * MiB
        self.buffer = ctypes.c_void_p()
        assert self.runtime.cudaMalloc(ctypes.byref(self.buffer), ctypes.c_size_t(self.bytes)) == 0

    def keep_busy(self, stream):
        for _ in range(400):
            self.runtime.cudaMemsetAsync(self.buffer, 0, ctypes.c_size_t(self.bytes), ctypes.c_void_p(stream.cuda_stream))


class Program:
    """Runs operations as it chooses them."""

    def __init__(self, rng, streams, device, first_pool):
        self.rng, self.streams, self.device, self.busy = rng, streams, device, None
        self.pools, self.open_pool, self.uses, self.first_pool = {}, None, [], first_pool
        self.lines, self.tensors, self.failed, self.count = [], {}, [], 0
        self.states = []  # after each operation, so that a difference can be found
        self.usual = [size(rng) for _ in range(12)]  # training repeats its sizes

    def note(self, *words):
        self.lines.append(" ".join(map(str, words)))

    def allocate(self):
        bytes_ = self.rng.choice(self.usual) if self.rng.random() < 0.6 else size(self.rng)
        stream = self.streams[0] if self.rng.random() < 0.7 else self.rng.choice(self.streams)
        self.count += 1
        self.note("alloc", self.count, bytes_, stream.cuda_stream)
        try:
            with torch.cuda.stream(stream):
                self.tensors[self.count] = torch.empty(bytes_, dtype=torch.uint8, device="cuda")
        except torch.OutOfMemoryError:
            self.failed.append(self.count)

    def free(self):
        if self.tensors:
            number = self.rng.choice(list(self.tensors))
            self.note("free", number)
            del self.tensors[number]

    def record(self):
        if self.tensors:
            number, stream = self.rng.choice(list(self.tensors)), self.rng.choice(self.streams)
            self.note("record", number, stream.cuda_stream)
            self.tensors[number].record_stream(stream)

    def work(self):
        """Work on one stream that takes longer, on the device's clock, than the rest of the program."""
        stream = self.rng.choice(self.streams)
        if not self.busy:
            self.busy = stream
            self.note("busy", stream.cuda_stream)
            self.device.keep_busy(stream)

    def wait(self):
        if self.busy:
            self.note("idle", self.busy.cuda_stream)
            self.busy.synchronize()
            self.busy = None

    def enter_pool(self):
        """From now on the requests of the first side stream go to a private pool, as in the capture of a graph."""
        if self.open_pool is None:
            number = self.rng.choice(list(self.pools)) if self.pools and self.rng.random() < 0.4 else len(self.lines) + 1
            handle = self.pools.setdefault(number, (0, number + self.first_pool))
            self.note("pool_begin", number, self.streams[1].cuda_stream)
            with torch.cuda.stream(self.streams[1]):
                torch._C._cuda_beginAllocateCurrentStreamToPool(0, handle)
            self.open_pool = number

    def leave_pool(self):
        if self.open_pool is not None:
            self.note("pool_end", self.open_pool)
            torch._C._cuda_endAllocateToPool(0, self.pools[self.open_pool])
            self.uses.append(self.open_pool)
            self.open_pool = None

    def drop_pool(self):
        if self.uses and self.open_pool is None:
            number = self.uses.pop(self.rng.randrange(len(self.uses)))
            self.note("pool_release", number)
            torch._C._cuda_releasePool(0, self.pools[number])
            if number not in self.uses:
                del self.pools[number]

    def finish(self):
        self.leave_pool()
        self.tensors.clear()
        gc.collect()
        while self.uses:
            self.drop_pool()
        torch.cuda.synchronize()
        torch.cuda.empty_cache()

    def empty(self):
        self.note("empty")
        torch.cuda.empty_cache()

    def run(self, length):
        for _ in range(length):
            choice = self.rng.random()
            if choice < 0.52:
                self.allocate()
            elif choice < 0.9:
                self.free()
            elif choice < 0.94:
                self.record()
            elif choice < 0.96:
                self.work()
            elif choice < 0.985:
                self.wait()
            elif choice < 0.99:
                if self.open_pool is None:
                    self.empty()
            elif choice < 0.993:
                self.enter_pool()
            elif choice < 0.997:
                self.leave_pool()
            else:
                self.drop_pool()
            self.states += [state()] * (len(self.lines) - len(self.states))


def state():
    found = torch.cuda.memory_stats()
    return [found[f"{name}.all.current"] for name in ("allocated_bytes", "reserved_bytes", "active_bytes",
                                                      "inactive_split_bytes")]


def statistics():
    found = torch.cuda.memory_stats()
    result = {name: found[name] for name in COUNTS}
    keys = [f"{name}.{pool}" for name in POOLED for pool in ("all", "small_pool", "large_pool")]
    for key in keys + ["oversize_allocations", "oversize_segments"]:
        result[key] = [found[f"{key}.{part}"] for part in ("current", "peak", "allocated", "freed")]
    return result


def segments():
    return [{"address": s["address"], "bytes": s["total_size"], "stream": s["stream"], "small": s["segment_type"] == "small",
             "expandable": s["is_expandable"],
             "blocks": [[b["size"], b["requested_size"], b["state"]] for b in s["blocks"]]}
            for s in sorted(torch.cuda.memory_snapshot(), key=lambda s: s["address"])]


def main():
    seed, count, length, out = int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    setting = SETTINGS[seed % len(SETTINGS)]
    fraction = random.Random(seed).choice([None, None, 1.0, 0.9, 0.5])
    torch.cuda.init()
    if setting:
        torch._C._accelerator_setAllocatorSettings(setting)
    if fraction is not None:
        torch.cuda.set_per_process_memory_fraction(fraction)
    streams = [torch.cuda.default_stream(), *(torch.cuda.Stream() for _ in range(2))]
    device = Device()
    free, total = torch.cuda.mem_get_info()
    with open(out, "w", encoding="utf-8") as file:
        for index in range(count):
            program = Program(random.Random(f"{seed}/{index}"), streams, device, 1_000_000 * (index + 1))
            set_up = [f"torch {torch.__version__}", f"device {free} {total}"]
            set_up += [f"settings {setting}"] if setting else []
            set_up += [f"fraction {fraction!r}"] if fraction is not None else []
            torch.cuda.reset_peak_memory_stats()
            torch.cuda.reset_accumulated_memory_stats()
            program.run(length)
            record = {"set_up": set_up, "program": program.lines, "failed": program.failed, "statistics": statistics(), "segments": segments(),
                      "states": program.states}
            file.write(json.dumps(record) + "\n")
            file.flush()
            program.finish()


if __name__ == "__main__":
    main()
