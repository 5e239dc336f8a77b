# SPDX-License-Identifier: Apache-2.0
"""The founding example to the byte, on the reference stack."""
import pytest

from conftest import ROOT

SCRIPT = ROOT / "examples" / "founding_example.py"


def founding(rehearse, *arguments):
    import sys

    return rehearse(command=[sys.executable, str(SCRIPT), *arguments], gpu="a100-40gb", check=False)


def test_eager_attention_does_not_fit(rehearse):
    run = founding(rehearse, "--attention", "eager", "--micro-batch", "4", "--sequence", "1024")
    assert (run.status, run.verdict) == (1, "oom")
    assert run.out_of_memory[-1]["step"] == 2 and run.out_of_memory[-1]["phase"] == "forward"
    assert run.needed_reserved_bytes == 50_199_527_424
