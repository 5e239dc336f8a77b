#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles catalogue.json into one C++ file. A row without a source or a count of parameters, and a name that two rows
have, are errors."""
import json
import sys
from pathlib import Path


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def check(rows):
    seen = set()
    for row in rows:
        if not row["source"] or row["parameters"] <= 0 or "model_type" not in row["config"]:
            sys.exit(f"catalogue.json: {row['name']}: the source, the parameters or the model_type is missing")
        for name in {row["name"].lower()} | {hub_id.lower() for hub_id in row["hub_ids"]}:
            if name in seen:
                sys.exit(f"catalogue.json: {name} is there twice")
            seen.add(name)


def main():
    source, target = Path(sys.argv[1]), Path(sys.argv[2])
    rows = json.loads(source.read_text(encoding="utf-8"))
    check(rows)
    out = ["// Written by compile_catalogue.py from catalogue.json.", '#include "model/catalogue.hpp"', "",
           "#include <array>", "", "namespace ullage::model {", "namespace {"]
    for index, row in enumerate(rows):
        names = ", ".join(map(quoted, row["hub_ids"]))
        out.append(f"constexpr std::array<std::string_view, {len(row['hub_ids'])}> hub_ids_{index}{{{names}}};")
    out.append("constexpr CatalogueEntry table[] = {")
    for index, row in enumerate(rows):
        texts = (quoted(row["source"]), quoted(json.dumps(row["config"])))
        out.append(f"    {{{quoted(row['name'])}, hub_ids_{index}, {row['parameters']}u, {', '.join(texts)}}},")
    out += ["};", "}", "std::span<const CatalogueEntry> catalogue() { return table; }", "}", ""]
    target.write_text("\n".join(out), encoding="utf-8")


if __name__ == "__main__":
    main()
