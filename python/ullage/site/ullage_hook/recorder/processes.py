# SPDX-License-Identifier: Apache-2.0
"""Host memory of this process and of those that it started, from /proc. Bytes; 0 where nothing can be read."""
import os

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_CHILDREN_AT_MOST = 512


def resident_bytes(pid="self"):
    return _statm(pid)[1] * _PAGE


def children_bytes():
    """How many processes descend from this one, and what they hold that they share with nobody."""
    found, open_ones = set(), [os.getpid()]
    while open_ones and len(found) < _CHILDREN_AT_MOST:
        for child in _children(open_ones.pop()):
            if child not in found:
                found.add(child)
                open_ones.append(child)
    sizes = (_statm(pid) for pid in found)
    return len(found), sum(max(0, resident - shared) for _, resident, shared in sizes) * _PAGE


def _statm(pid):
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return tuple(map(int, file.read().split()[:3]))
    except (OSError, ValueError):
        return 0, 0, 0


def _children(pid):
    children = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                children.extend(map(int, file.read().split()))
    except (OSError, ValueError):
        pass  # it has ended
    return children
