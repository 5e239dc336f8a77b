#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a trace of torch.profiler of any size: make_trace.py MEGABYTES FILE. The events are those of a made-up model's
operators, each with an allocation and a free, written as torch 2.11 writes them."""
import sys

OPERATOR = ('  {{\n    "ph": "X", "cat": "cpu_op", "name": "{name}", "pid": 4242, "tid": 4242,\n    "ts": {ts}.{frac:03d}, '
            '"dur": 44.188,\n    "args": {{\n      "External id": {id},"Record function id": 0, "Sequence number": {id}, '
            '"Fwd thread id": 0, "Concrete Inputs": ["", "", ""], "Input type": ["c10::BFloat16", "c10::BFloat16", '
            '"float"], "Input Strides": [[1024, 1], [1, 1024], []], "Input Dims": [[2048, 1024], [1024, {dim}], []], '
            '"Ev Idx": {id}\n    }}\n  }},\n')
MEMORY = ('  {{\n    "ph": "i", "cat": "cpu_instant_event", "s": "t", "name": "[memory]",\n    "pid": 4242, "tid": 4242,\n'
          '    "ts": {ts}.{frac:03d},\n    "args": {{\n      "Total Reserved": 7776239616, "Total Allocated": 7507717632, '
          '"Bytes": {bytes}, "Device Id": 0, "Device Type": 1, "Addr": {address}, "Ev Idx": {id}\n    }}\n  }},\n')
NAMES = ["aten::linear", "aten::addmm", "aten::native_layer_norm", "aten::gelu", "aten::add", "aten::softmax",
         "aten::bmm", "aten::to", "aten::_to_copy", "aten::empty_strided"]


def events(number):
    ts, size, address = 5150101035406 + 100 * number, 512 * (1 + number % 977), 0x7F0000000000 + 2097152 * (number % 5000)
    yield OPERATOR.format(name=NAMES[number % 10], ts=ts, frac=number % 1000, id=number, dim=1024 + number % 64)
    yield MEMORY.format(ts=ts + 5, frac=1, bytes=size, address=address, id=number)
    yield MEMORY.format(ts=ts + 30, frac=2, bytes=-size, address=address, id=number)


def make(megabytes, path):
    with open(path, "w") as file:
        file.write('{\n  "schemaVersion": 1,\n  "deviceProperties": [],\n  "baseTimeNanoseconds": 1790857026000000000,\n'
                   '  "traceEvents": [\n')
        number = 0
        while file.tell() < megabytes * 1_000_000:
            file.write("".join(text for i in range(number, number + 1000) for text in events(i)))
            number += 1000
        file.write('  {"ph": "M", "name": "process_name", "pid": 4242, "tid": 0, "args": {"name": "python"}}\n  ]\n}\n')


if __name__ == "__main__":
    make(int(sys.argv[1]), sys.argv[2])
