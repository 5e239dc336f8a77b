#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles gpus.csv, quantities.csv and sources.csv into one C++ file.

A row of quantities.csv is for one GPU (its short name), for all of a compute capability (`cc:8.0`) or for `all`; the most
special row wins. Any doubtful row is an error: an unknown quantity, unit or source, a range that does not hold the value.
"""
import csv
import re
import sys
from pathlib import Path

SCALE = {"": ("", 1), "B": ("B", 1), "MiB": ("B", 2**20), "GiB": ("B", 2**30), "MHz": ("Hz", 1e6), "bit": ("bit", 1),
         "GB/s": ("B/s", 1e9), "TFLOP/s": ("FLOP/s", 1e12), "W": ("W", 1)}
KNOWN_BY = {"measured", "published", "estimated"}
REQUIRED = {"capacity", "sm_count", "threads_per_sm", "blocks_per_sm", "registers_per_sm", "shared_optin_per_block",
            "shared_per_sm", "l2", "sm_clock", "memory_clock", "memory_bus", "memory_bandwidth", "fp32_peak",
            "fp16_peak", "pcie_bandwidth", "context_cuda11", "context_cuda12", "context_cuda13"}


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def read_facts(path):
    found = re.findall(r'^ULLAGE_FACT\((\w+), "([^"]*)"', path.read_text(encoding="utf-8"), re.M)
    return dict(found)


def read_quantity(row, facts, sources):
    where = f"quantities.csv: {row['gpu']} {row['quantity']}"
    unit, factor = SCALE[row["unit"]]
    if facts.get(row["quantity"]) != unit:
        sys.exit(f"{where}: unknown quantity, or its unit is not {unit!r}")
    if row["known_by"] not in KNOWN_BY or row["source"] not in sources:
        sys.exit(f"{where}: unknown known_by or source")
    value, low, high = (scaled(row[key] or row["value"], factor) for key in ("value", "low", "high"))
    if not 0 < low <= value <= high:
        sys.exit(f"{where}: the range {low}..{high} does not hold {value}")
    if row["known_by"] == "estimated" and not (row["low"] and row["high"]):
        sys.exit(f"{where}: an estimate needs a range")
    texts = (unit, row["known_by"], sources[row["source"]], row["note"])
    return "{%r, %r, %r, %s}" % (value, low, high, ", ".join(quoted(text) for text in texts))


def scaled(text, factor):
    number = float(text) * factor
    return float(round(number)) if factor != 1 else number


def select(table, gpu, capability, fact):
    for key in (gpu, "cc:" + capability, "all"):
        if (key, fact) in table:
            return table[key, fact]
    return None


def write_gpu(out, index, gpu, table, facts):
    known = [(fact, select(table, gpu["short_name"], gpu["compute_capability"], fact)) for fact in facts]
    missing = REQUIRED - {fact for fact, quantity in known if quantity}
    missing |= {text for text in ("host_link", "gpu_link") if not gpu[text]}
    if missing:
        sys.exit(f"{gpu['short_name']}: no {', '.join(sorted(missing))}")
    aliases = [name for name in gpu["aliases"].split("|") if name]
    out.append(f"constexpr std::array<std::string_view, {len(aliases)}> aliases_{index}{{{', '.join(map(quoted, aliases))}}};")
    out.append(f"constexpr KnownFact known_{index}[] = {{")
    out += [f"    {{Fact::{fact}, {quantity}}}," for fact, quantity in known if quantity]
    out.append("};")
    major, minor = gpu["compute_capability"].split(".")
    return "    {%s, %s, %s, %s, %s, %s, %s, %s, aliases_%d, %s, known_%d}," % (
        quoted(gpu["short_name"]), quoted(gpu["cuda_name"]), quoted(gpu["architecture"]), major, minor,
        quoted(gpu["form_factor"]), quoted(gpu["host_link"]), quoted(gpu["gpu_link"]), index, quoted(gpu["note"]), index)


def main():
    folder, target = Path(sys.argv[1]), Path(sys.argv[2])
    facts = read_facts(folder / "facts.def")
    sources = {row["key"]: row["source"] for row in rows(folder / "sources.csv")}
    gpus = rows(folder / "gpus.csv")
    selectors = {gpu["short_name"] for gpu in gpus} | {"cc:" + gpu["compute_capability"] for gpu in gpus} | {"all"}
    table = {}
    for row in rows(folder / "quantities.csv"):
        key = (row["gpu"], row["quantity"])
        if key in table or row["gpu"] not in selectors:
            sys.exit(f"quantities.csv: {key} is there twice, or is for no GPU")
        table[key] = read_quantity(row, facts, sources)
    out = ["// Written by compile_catalogue.py from gpus.csv, quantities.csv and sources.csv.",
           '#include "hardware/tables.hpp"', "", "namespace ullage::hardware_tables {", "namespace {"]
    entries = [write_gpu(out, index, gpu, table, facts) for index, gpu in enumerate(gpus)]
    out += ["constexpr Gpu table[] = {", *entries, "};", "}", "std::span<const Gpu> gpus() { return table; }", "}", ""]
    target.write_text("\n".join(out), encoding="utf-8")


if __name__ == "__main__":
    main()
