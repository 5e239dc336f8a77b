# SPDX-License-Identifier: Apache-2.0
"""Two lists of requests and their ends, one of PyTorch's history and one of a step program: where do they differ first?

A line is `a NUMBER BYTES [WHAT]` or `f NUMBER`. Between two requests the order of the ends does not matter, nor do ends after the last.
"""
import itertools


def read(lines):
    """[("a", bytes, what) or ("f", index of the request)]."""
    numbers, found, ended = {}, [], []
    for line in lines:
        word, number, *rest = line.split(" ", 3)
        if word == "f":
            ended.append(numbers[number])
            continue
        found += [("f", index) for index in sorted(ended)]
        ended = []
        numbers[number] = len(numbers)
        found.append(("a", int(rest[0]), rest[1] if len(rest) > 1 else ""))
    return found


def first_difference(real, planned):
    """None, or a sentence."""
    for place, (one, other) in enumerate(itertools.zip_longest(read(real), read(planned), fillvalue=("nothing", 0, ""))):
        if one[:2] != other[:2]:
            return f"event {place}: {shown(one)} in the run, {shown(other)} in the plan"
    return None


def shown(event):
    kind, value, *what = event
    words = {"a": f"a request of {value} bytes", "f": f"the end of request {value}"}.get(kind, kind)
    return f"{words} ({what[0]})" if what and what[0] else words
