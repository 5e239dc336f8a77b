# SPDX-License-Identifier: Apache-2.0
"""The reference loop for many cases: one process for each GPU under the stand-in libraries alone, a fork of it for each case."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/allocator"))
from allocator_comparison import bare_environment  # noqa: E402


def profile_of(program, gpu, unlimited=True):
    """What the virtual device is told of a GPU; `unlimited`: with memory without end, so that peaks are needs."""
    with tempfile.TemporaryDirectory() as folder:
        words = [program, "rehearse", "--gpu", gpu, "--steps", "1", "--out", f"{folder}/run", "--", "env"]
        done = subprocess.run(words, capture_output=True, text=True)
        shown = pathlib.Path(folder, "run/stdout.log").read_text(errors="replace")
    found = re.search(r"^ULLAGE_VGPU_PROFILE=(.*)$", shown, re.M)
    if not found:
        raise RuntimeError(f"no profile of {gpu}: {done.stderr[-500:]}")
    return found[1].replace("unlimited=0", f"unlimited={int(unlimited)}")


class Runner:
    """Runs cases of one GPU, one after the other."""

    def __init__(self, program, gpu, unlimited=True, python=sys.executable):
        self.profile = profile_of(program, gpu, unlimited)
        self.process = subprocess.Popen([python, str(ROOT / "bench/accuracy/run_cases.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=bare_environment(program, self.profile), stderr=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()

    def run(self, config, flags, events=None):
        """Peaks and states, or {"error": ...}; the requests go to the file `events`."""
        case = {"config": config, "flags": flags, "profile": self.profile, "events": events and str(events)}
        self.process.stdin.write(json.dumps(case) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())
