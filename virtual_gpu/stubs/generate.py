#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Turns a stub table into C source and a version script; CMake runs it at build time.

    generate.py --library NAME --table FILE --source OUT.c --map OUT.map [--node NODE] [--export NAME...]

Each stub is a weak function, so that a hand-written one of the same name wins at link time. The table's format is
described in extract.py.
"""
import argparse
import pathlib
import re

PRELUDE = """\
/* Generated from a stub table; do not edit. */
#include <string.h>
extern void ullage_count_stub(const char* library, const char* function);
extern void* ullage_fresh_handle(void);
#define STUB __attribute__((weak, visibility("default")))
typedef struct { float x, y; } complex_float;
typedef struct { double x, y; } complex_double;
"""
TYPES = {"-": "long", "f": "float", "d": "double", "c": "complex_float", "z": "complex_double"}
RESULTS = {"void": ("void", ""), "pointer": ("void*", "0"), "string": ("const char*", '"stand-in"'),
           "double": ("double", "0"), "int": ("long", "0"), "status": ("long", "0")}


def read_table(path):
    for line in pathlib.Path(path).read_text().splitlines():
        if line and not line.startswith("#"):
            name, result, *rest = line.split("\t")
            yield name, result, rest[0].split() if rest else []


def parameter_type(spec):
    if spec in TYPES:
        return TYPES[spec]
    return f"struct bytes{spec[1:]}" if spec[0] == "s" else "void*"


def write_out(spec, name):
    if spec == "h":
        return f"  if ({name}) *(void**){name} = ullage_fresh_handle();\n"
    if spec == "h4":
        return f"  if ({name}) *(int*){name} = (int)((unsigned long)ullage_fresh_handle() >> 4);\n"
    if spec == "m4":
        return f"  if ({name}) *(int*){name} = -1;\n"
    if spec == "t":
        return f"  if ({name}) *(const char**){name} = \"\";\n"
    if re.fullmatch(r"z\d+", spec):
        return f"  if ({name}) memset({name}, 0, {spec[1:]});\n"
    return ""


def result_of(kind):
    if kind.startswith("status:"):
        return "long", kind.split(":")[1]
    if re.fullmatch(r"s\d+", kind):
        return f"struct bytes{kind[1:]}", f"(struct bytes{kind[1:]}){{{{0}}}}"
    return RESULTS[kind]


def stub(library, name, kind, specs):
    c_type, value = result_of(kind)
    parameters = ", ".join(f"{parameter_type(s)} a{i}" for i, s in enumerate(specs)) or "void"
    unused = "".join(f"  (void)a{i};\n" for i, s in enumerate(specs) if not write_out(s, ""))
    body = unused + "".join(write_out(s, f"a{i}") for i, s in enumerate(specs))
    answer = f"  return {value};\n" if value else ""
    return (f"STUB {c_type} {name}({parameters}) {{\n"
            f"  ullage_count_stub(\"{library}\", \"{name}\");\n{body}{answer}}}\n")


def structures(rows):
    specs = {s for _, kind, specs in rows for s in [*specs, kind]}
    sizes = sorted({int(s[1:]) for s in specs if re.fullmatch(r"s\d+", s)})
    return "".join(f"struct bytes{n} {{ {'long' if n % 8 == 0 else 'int' if n % 4 == 0 else 'char'} "
                   f"v[{n // 8 if n % 8 == 0 else n // 4 if n % 4 == 0 else n}]; }};\n" for n in sizes)


def version_script(names, node):
    exports = "".join(f"    {name};\n" for name in names)
    visible = f"  global:\n{exports}" if exports else ""
    return f"{node + ' ' if node else ''}{{\n{visible}  local:\n    *;\n}};\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True)
    parser.add_argument("--table", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--map", required=True)
    parser.add_argument("--node", default="")
    parser.add_argument("--export", nargs="*", default=[])
    options = parser.parse_args()
    rows = list(read_table(options.table))
    text = PRELUDE + structures(rows) + "".join(stub(options.library, *row) for row in rows)
    pathlib.Path(options.source).write_text(text)
    names = sorted({row[0] for row in rows} | set(options.export))
    pathlib.Path(options.map).write_text(version_script(names, options.node))


if __name__ == "__main__":
    main()
