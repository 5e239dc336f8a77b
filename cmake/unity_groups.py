#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which sources of a target may be compiled as one: prints `GROUP SOURCE` per line.

usage: unity_groups.py --include FOLDER... --size N SOURCE...

Two sources may not share a group when one of them has a name of its own (in an unnamed namespace, static, or a macro) that the
other has too, or that a header of the other's declares: put together, one would double the other."""
import argparse
import re
from functools import lru_cache
from pathlib import Path

SILENT = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<!\d)\'(?:\\.|[^\'\\\n])+\'', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.M)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|->|[{}()<>;=\[\].:,]|\S")
NAME = re.compile(r"[A-Za-z_]\w*$")
KINDS = {"struct", "class", "enum", "union", "using", "concept"}


def declared_by(tokens):
    """The names that a declaration at the level of a namespace introduces, and more: what stands where a name may stand."""
    names, depth = set(), 0
    if tokens[:1] in (["using"], ["namespace"]) and not (tokens[0] == "using" and "=" in tokens):
        return names  # said twice, it is the same
    for here, following in zip(tokens, [*tokens[1:], ";"]):
        if depth == 0 and NAME.match(here) and following in {"(", "{", "=", ";", "[", ":", ","}:
            names.add(here)
        depth += (here == "(") - (here == ")")
    names.update(following for here, following in zip(tokens, tokens[1:]) if here in KINDS and NAME.match(following))
    return names


class Scan:
    """Goes through a source; `own` are the names that no other source can see, `shared` the others."""

    def __init__(self, code):
        self.own, self.shared = set(), set()
        self.scopes, self.other, self.statement = [], 0, []
        for token in TOKEN.findall(code):
            self.take(token)

    def take(self, token):
        if self.other:
            self.other += (token == "{") - (token == "}")
            if self.other == 0 and self.statement[-1:] != [")"] and "=" not in self.statement:
                return
        elif token == "{" and "namespace" in self.statement:
            self.scopes.append(self.statement[-1] == "namespace")
            self.statement = []
        elif token == "{":
            self.declare()
            self.other = 1
        elif token == ";":
            self.declare()
            self.statement = []
        elif token == "}":
            if self.scopes:
                self.scopes.pop()
            self.statement = []
        else:
            self.statement.append(token)
            return
        if self.other == 0 and token == "}":
            self.statement = []

    def declare(self):
        names = declared_by(self.statement)
        hidden = any(self.scopes) or {"static", "constexpr", "using"} & set(self.statement)
        (self.own if hidden else self.shared).update(names)


@lru_cache(None)
def read(path):
    text = path.read_text(encoding="utf-8")
    code = DIRECTIVE.sub("", SILENT.sub('""', text))
    return text, Scan(code)


@lru_cache(None)
def headers(path, folders):
    """Every header of ours that a file includes, directly or not."""
    found = set()
    for name in INCLUDE.findall(read(path)[0]):
        header = next((at for folder in (path.parent, *folders) if (at := folder / name).is_file()), None)
        if header:
            found |= {header} | headers(header, folders)
    return frozenset(found)


class Source:
    def __init__(self, path, folders):
        text, scan = read(path)
        self.own = {name for name in scan.own if not name.isupper()} | set(MACRO.findall(text))
        self.seen = self.own | scan.shared
        for header in headers(path, folders):
            self.seen |= read(header)[1].shared | read(header)[1].own


def clash(one, other):
    return bool(one.own & other.seen or other.own & one.seen)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--include", nargs="+", type=Path, default=[])
    parser.add_argument("--size", type=int, required=True)
    parser.add_argument("sources", nargs="+", type=Path)
    asked = parser.parse_args()
    groups = []
    for path in filter(Path.is_file, asked.sources):  # what the build makes is not there yet
        source = Source(path, tuple(asked.include))
        at = next((at for at, group in enumerate(groups)
                   if len(group) < asked.size and not any(clash(source, other) for other in group)), len(groups))
        if at == len(groups):
            groups.append([])
        groups[at].append(source)
        print(at, path)


if __name__ == "__main__":
    main()
