# SPDX-License-Identifier: Apache-2.0
"""What made numbers wrong before: SM count, ptxVersion, handles. Addresses and the clock are in other files."""
import json

import pytest

from conftest import MiB, WORKSPACES_STAY


@pytest.fixture
def measured(rehearse):
    def run(gpu):
        made = rehearse("weak_points.py", gpu=gpu)
        return json.loads(next(line for line in made.stderr.splitlines() if line.startswith("JSON"))[4:])

    return run


def test_reduction_scratch_follows_the_sm_count(measured):
    """ATen's staging buffer holds a value for each thread block that the device can hold at once."""
    a100, h100 = measured("a100-80gb")["scratch"], measured("h100-80gb")["scratch"]
    assert a100 > 0
    assert h100 * 108 == pytest.approx(a100 * 132, rel=0.05)


@pytest.mark.skipif(not WORKSPACES_STAY, reason="this torch gives workspaces back after each product")
def test_each_thread_has_its_own_cublas_workspace(measured):
    """Forward and backward run on two threads: two handles, a workspace each, of 8.125 or 32 MiB."""
    assert measured("a100-80gb")["forward"] == 8_519_680
    assert measured("a100-80gb")["both"] == pytest.approx(2 * 8_519_680, abs=4096)
    assert measured("h100-80gb")["both"] == pytest.approx(64 * MiB, abs=4096)


def test_kernels_of_cub_run_where_the_wheel_has_no_code_of_its_own(measured):
    """cc 8.9 runs code for 8.6; a ptxVersion of 89 would make embedding's backward fail."""
    assert measured("l4")["scratch"] > 0
