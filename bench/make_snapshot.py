#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a memory snapshot of any size, opcode by opcode as CPython's pickler does: make_snapshot.py EVENTS FILE (rounded up to whole steps)

Steps of a made-up model: in each the same allocations, freed in reverse order. Every event has a stack list of its own
with references to shared frames, as in PyTorch's files (about 150 bytes an event).
"""
import pickle
import struct
import sys

FRAMES = 600
PER_STACK = 22
PER_STEP = 2000  # allocations
SEGMENT = 0x7F0000000000


class Writer:
    """Pickle protocol 4; memo numbers are given by hand."""

    def __init__(self, file):
        self.write = file.write
        self.memo = 0

    def text(self, text):
        """Puts a text and remembers it."""
        raw = text.encode()
        self.write(b"\x8c" + bytes([len(raw)]) + raw + b"\x94")
        self.memo += 1
        return self.memo - 1


def get(number):
    return b"h" + bytes([number]) if number < 256 else b"j" + struct.pack("<I", number)


def integer(value):
    if value < 256:
        return b"K" + bytes([value])
    if value < 65536:
        return b"M" + struct.pack("<H", value)
    if value < 1 << 31:
        return b"J" + struct.pack("<i", value)
    return b"\x8a\x08" + struct.pack("<q", value)


def shared(writer):
    """Remembers the keys and the frames: returns their memo numbers."""
    write = writer.write
    write(b"](")  # a list that holds them; popped again
    keys = {name: writer.text(name) for name in ("action", "addr", "size", "stream", "time_us", "frames", "filename",
                                                 "name", "line", "alloc", "free_requested", "free_completed",
                                                 "segment_alloc", "compile_context", "N/A")}
    files = [writer.text(f"/opt/project/layer_{i}.py") for i in range(20)]
    names = [writer.text(f"function_{i}") for i in range(60)]
    frames = []
    for i in range(FRAMES):
        write(b"}\x94(")
        frames.append(writer.memo)
        writer.memo += 1
        write(get(keys["filename"]) + get(files[i % 20]) + get(keys["name"]) + get(names[i % 60]) + get(keys["line"]) +
              integer(1 + i * 7) + b"u")
    write(b"e0")
    return keys, frames


def event(keys, action, address, size, time_us, frames):
    stack = b"]\x94(" + b"".join(frames) + b"e"
    return (b"}\x94(" + get(keys["action"]) + get(keys[action]) + get(keys["addr"]) + integer(address) +
            get(keys["size"]) + integer(size) + get(keys["stream"]) + b"K\x00" + get(keys["time_us"]) +
            integer(time_us) + get(keys["frames"]) + stack + get(keys["compile_context"]) + get(keys["N/A"]) + b"u")


def one_step(keys, frames):
    """The bytes of one step's events."""
    refs = [get(f) for f in frames]
    sizes = [512 * (1 + (i * 37) % 400) for i in range(PER_STEP)]
    places, at = [], SEGMENT
    for size in sizes:
        places.append(at)
        at += size
    events = []
    for i in range(PER_STEP):
        stack = [refs[(i * 13 + k * 29) % FRAMES] for k in range(PER_STACK)]
        events.append(event(keys, "alloc", places[i], sizes[i], 1700000000000000 + i, stack))
    for i in reversed(range(PER_STEP)):
        stack = [refs[(i * 17 + k * 31) % FRAMES] for k in range(PER_STACK)]
        events.append(event(keys, "free_requested", places[i], sizes[i], 1700000000100000 + i, stack))
        events.append(event(keys, "free_completed", places[i], sizes[i], 1700000000100000 + i, stack))
    return events, at - SEGMENT


def segment(size):
    total = -(-size // (2 << 20)) * (2 << 20)
    block = {"address": SEGMENT, "size": total, "requested_size": 0, "state": "inactive", "frames": []}
    return {"device": 0, "address": SEGMENT, "total_size": total, "allocated_size": 0, "active_size": 0,
            "requested_size": 0, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False,
            "frames": [], "blocks": [block]}


def make(count, path):
    with open(path, "wb") as file:
        writer = Writer(file)
        file.write(b"\x80\x04")
        keys, frames = shared(writer)
        events, size = one_step(keys, frames)
        file.write(b"}(\x8c\x0ddevice_traces](](")
        written = 0
        while written < count:
            file.write(b"".join(events))
            written += len(events)
        # `e` ends the events, `e` the devices; segments are pickled apart, without protocol and stop
        body = pickle.dumps([segment(size)], protocol=2)[2:-1]
        file.write(b"ee\x8c\x08segments" + body + b"u.")


if __name__ == "__main__":
    make(int(sys.argv[1]), sys.argv[2])
