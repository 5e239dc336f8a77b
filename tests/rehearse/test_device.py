# SPDX-License-Identifier: Apache-2.0
"""The device as PyTorch sees it."""
import json

import pytest

from conftest import MiB


@pytest.fixture
def seen(rehearse):
    run = rehearse("device.py", gpu="a100-40gb")
    return json.loads(next(line for line in run.stderr.splitlines() if line.startswith("JSON"))[4:])


def test_addresses_follow_the_native_rule(seen):
    """20 MiB segments have a stride of 32 MiB, each below the one before, and the same in every run."""
    first, second, third, fourth = seen["addresses"]
    assert second - third == third - fourth == 32 * MiB
    assert first - second == 34 * MiB, "the first stands in the tail of the small segment's chunk, 2 MiB above its start"


def test_small_values_are_real(seen):
    assert seen["filled"] == [3, 3, 3, 3, 3]
    assert seen["round_trip"] == [0, 1, 2, 3]


def test_errors_are_pytorchs_own(seen):
    assert "CUDA out of memory. Tried to allocate 1024.00 GiB. GPU 0 has a total capacity of 39.39 GiB" in seen["oom"]
    assert "invalid device ordinal" in seen["ordinal"]
