#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a set of stand-ins define every CUDA symbol that an installed PyTorch imports?

    check_symbols.py --set FOLDER (--torch FOLDER_OF_TORCH | --undefined FILE)

--torch names the folder of the Python package (its lib/*.so are read); FILE holds `name` or `name@node`, one a line.
Names the missing symbols and exits with 1 if there are any.
"""
import argparse
import pathlib
import re
import subprocess
import sys

OURS = re.compile(r"(cublas|cudnn|cusolver|cusparse|cufft|curand|cupti|p?nccl|nvml|nvrtc|nvshmem|cuFile|_*cuda[A-Z]|"
                  r"cu[A-Z])")
# Names that begin alike but are PyTorch's own or belong to a library it brings along.
NOT_OURS = re.compile(r"(cudnn_frontend|cudaMemoryTypeToString)")


def dynamic_symbols(path, which):
    out = subprocess.run(["nm", "-D", which, str(path)], capture_output=True, text=True).stdout
    for line in out.splitlines():
        fields = line.split()
        if len(fields) >= 2 and fields[-2] in "TWtwiUAVBD":
            yield fields[-1].replace("@@", "@")


def wanted(options):
    if options.undefined:
        return set(pathlib.Path(options.undefined).read_text().split())
    names, own = set(), set()
    for path in pathlib.Path(options.torch, "lib").glob("*.so*"):
        names |= set(dynamic_symbols(path, "--undefined-only"))
        own |= {symbol.split("@")[0] for symbol in dynamic_symbols(path, "--defined-only")}
    return {n for n in names if OURS.match(n) and not NOT_OURS.match(n) and n.split("@")[0] not in own}


def exported(folder):
    symbols, plain = set(), set()
    for path in pathlib.Path(folder).glob("*.so*"):
        for symbol in dynamic_symbols(path, "--defined-only"):
            symbols.add(symbol)
            plain.add(symbol.split("@")[0])
    return symbols, plain


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", required=True)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--torch")
    source.add_argument("--undefined")
    options = parser.parse_args()
    symbols, plain = exported(options.set)
    names = wanted(options)
    # A reference without a version is satisfied by the only version there is; one with a version needs that one.
    missing = sorted(n for n in names if (n not in symbols if "@" in n else n not in plain))
    for name in missing:
        print(f"missing: {name}")
    print(f"{len(names)} symbols imported, {len(missing)} missing")
    return 1 if missing or not names else 0


if __name__ == "__main__":
    sys.exit(main())
