# SPDX-License-Identifier: Apache-2.0
"""Host memory of a script and its workers, pinned memory, and how its steps get their data."""
import subprocess
import sys

import pytest
from conftest import MiB, SCRIPTS, ullage


def line(host, name):
    return next(line["bytes"] for line in host["lines"] if line["id"] == name)


@pytest.fixture
def host(rehearse):
    """host(*arguments, **settings): the `host` object of a rehearsal of scripts/host.py."""
    return lambda *arguments, **settings: rehearse("host.py", *arguments, **settings).host


def test_it_adds_up(host):
    found = host()
    assert sum(part["bytes"] for part in found["lines"]) == found["needed_bytes"]
    own = found["virtual_gpu"]["device_pages_bytes"] + found["virtual_gpu"]["recording_bytes"]
    assert found["needed_bytes"] == found["seen_bytes"] - own + line(found, "pinned_untouched")
    assert found["verdict"] == "fits" and found["capacity_of"] == "this-machine"
    assert len(found["processes"]) == 1 and found["processes"][0]["script"]
    assert found["watch_share"] < 0.01, "looking at the processes must be cheap"


def test_an_array_is_seen(host):
    without, with_array = host(), host("--array", 300)
    grown = with_array["needed_bytes"] - without["needed_bytes"]
    assert abs(grown - 300 * MiB) < 15 * MiB, grown / MiB
    assert abs(line(with_array, "anonymous") - line(without, "anonymous") - 300 * MiB) < 15 * MiB


def test_what_is_held_for_a_moment_only_is_seen(host):
    grown = host("--spike", 700)["needed_bytes"] - host()["needed_bytes"]
    assert grown > 300 * MiB, grown / MiB  # the rest of the run is lower by more than the spike's end


def test_workers_are_seen_and_shared_pages_count_once(host):
    settings = ("--array", 300, "--workers", 2)
    found = host(*settings, "--each", 150, "--steps", 6, flags=["--steps", "6"])
    alone = host("--array", 300)
    grown = found["needed_bytes"] - alone["needed_bytes"]
    # Each worker holds 150 MiB and a few of its own; the array that it inherited is the script's.
    assert 300 * MiB < grown < 420 * MiB, grown / MiB
    workers = [process for process in found["processes"] if not process["script"] and process["own_bytes"] > 100 * MiB]
    assert len(workers) == 2
    for worker in workers:
        assert 150 * MiB < worker["own_bytes"] < 210 * MiB
        assert worker["resident_bytes"] > worker["own_bytes"] + 300 * MiB


def test_host_memory_of_another_machine(rehearse):
    run = rehearse("host.py", "--array", 300, flags=["--host-memory", "256MiB"], check=False)
    assert run.status == 1, "who names a machine has asked"
    assert run.verdict == "fits", "the device's verdict is its own"
    assert run.host["verdict"] == "exceeded" and run.host["capacity_bytes"] == 256 * MiB
    assert run.host["capacity_of"] == "host-memory"
    assert rehearse("host.py", flags=["--host-memory", "64GiB"]).host["verdict"] == "fits"


def test_the_report_says_so(tmp_path):
    words = [ullage(), "rehearse", "--gpu", "a100-80gb", "--host-memory", "256MiB", "--out", tmp_path / "run", "--",
             sys.executable, SCRIPTS / "host.py", "--array", "300", "--pinned"]
    text = subprocess.run(words, capture_output=True, text=True, timeout=300).stdout
    assert "HOST MEMORY DOES NOT FIT" in text.split("PHASES")[0], "beside the verdict"
    assert "behind device memory (measured)" in text and "(estimated)" in text
    assert "not included: host memory of NVIDIA's own driver and libraries" in text
    assert "median wait" in text and "simulated" in text


def test_pages_behind_device_memory_are_not_the_scripts(rehearse):
    # Every layer's bias and weight is a small tensor with real values: pages of the host behind device memory.
    few, many = rehearse("host.py"), rehearse("host.py", "--layers", 3000)
    pages = [run.host["virtual_gpu"]["device_pages_bytes"] for run in (few, many)]
    assert pages[1] > pages[0] + 20 * MiB, pages
    # Modules and parameters of 3000 layers hold host memory on any machine, but not the 60 MiB of their values.
    assert many.host["seen_bytes"] - many.host["needed_bytes"] >= pages[1]


@pytest.mark.parametrize("operators", ["names", "shapes"])
def test_pytorchs_history_is_estimated_well(rehearse, operators):
    with_history = rehearse("host.py", "--layers", 3000, flags=["--steps", "5", "--operators", operators],
                            environment={"ULLAGE_VALUES": "0"})
    without = rehearse("host.py", "--layers", 3000, flags=["--steps", "5", "--stacks", "none"],
                       environment={"ULLAGE_VALUES": "0"}, check=False)
    real = with_history.host["seen_bytes"] - without.host["seen_bytes"]
    said = (with_history.host["virtual_gpu"]["recording_bytes"] - without.host["virtual_gpu"]["recording_bytes"])
    assert real > 20 * MiB and 0.6 * real < said < 1.6 * real, (real / MiB, said / MiB)


def test_pinned_memory_that_nothing_touched_counts(host):
    found = host("--untouched", 512)
    assert line(found, "pinned_untouched") > 500 * MiB
    assert found["needed_bytes"] > 512 * MiB + line(found, "anonymous")


def test_pin_memory_rounds_to_powers_of_two(host):
    # Batches of 12 rows are 3 MiB; PyTorch pins blocks of 4 MiB.
    pinned = host("--pinned", "--rows", 12, "--steps", 4, flags=["--steps", "4"])["pin_memory"]
    assert pinned["requested_bytes"] == pinned["times"] * 3 * MiB and pinned["times"] >= 4
    assert pinned["taken_bytes"] == pinned["times"] * 4 * MiB


def inputs(rehearse, *arguments):
    run = rehearse("host.py", "--steps", 4, *arguments, flags=["--steps", "4"])
    return {row["step"]: row for row in run.inputs}


def test_pageable_copies_of_a_step(rehearse):
    rows = inputs(rehearse)
    assert sorted(rows) == [1, 2, 3, 4]
    for step, row in rows.items():
        assert row["batches"] == 1 and row["median_wait_seconds"] > 0
        if step > 1:  # the first comes together with the model
            assert (row["pageable_copies"], row["pageable_bytes"]) == (1, 2 * MiB)
            assert row["pinned_copies"] == 0 and row["waited_copies"] == 1
            assert 2 * MiB / 64e9 < row["simulated_copy_seconds"] < 2 * MiB / 1e9


def test_pinned_copies_that_do_not_block(rehearse):
    row = inputs(rehearse, "--pinned", "--non-blocking")[3]
    assert (row["pinned_copies"], row["pinned_bytes"], row["pageable_copies"]) == (1, 2 * MiB, 0)
    assert row["waited_copies"] == 0
    row = inputs(rehearse, "--pinned")[3]
    assert row["pinned_copies"] == 1 and row["waited_copies"] == 1
