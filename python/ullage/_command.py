# SPDX-License-Identifier: Apache-2.0
"""The command `ullage` of an installed package: starts the program that the package carries."""
import os
import sys
from pathlib import Path

_UNSUPPORTED = 7


def main():
    program = Path(__file__).resolve().parent / "bin" / "ullage"
    if not sys.platform.startswith("linux"):
        sys.stderr.write(f"ullage: rehearsing needs Linux; this is {sys.platform}\n"
                         "  hint: run it on a Linux machine or in a Linux container; no GPU is needed there\n")
        return _UNSUPPORTED
    if not program.is_file():
        sys.stderr.write(f"ullage: a part of this installation is missing: {program}\n"
                         "  hint: install the wheel again\n")
        return _UNSUPPORTED
    sys.stdout.flush()
    os.execv(program, [os.fspath(program), *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
