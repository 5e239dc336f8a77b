# SPDX-License-Identifier: Apache-2.0
"""Steps, memory, stacks and what they change."""
from pathlib import Path

import pytest

from conftest import GiB, MiB, STEADY_STEPS


def test_steps_as_asked(rehearse):
    run = rehearse("mlp.py", flags=["--steps", "1"])
    assert run.steps() == 1 and run.stop_reason == "steps"
    assert "script: step 1" not in run.stderr, "the stop comes out of optimizer.step()"


def test_all_steps_to_the_end(rehearse):
    run = rehearse("mlp.py", "--steps", 4, flags=["--steps", "all"])
    assert run.steps() == 4 and "script: end" in run.stderr


def test_a_swallowed_stop_ends_at_the_next_step(rehearse):
    run = rehearse("mlp.py", "--swallow", flags=["--steps", "2"])
    assert run.stderr.count("script: swallowed") == 1
    assert run.steps() == 2


def test_memory_headroom_and_reserve(rehearse):
    need = rehearse("mlp.py").needed_bytes
    fits = rehearse("mlp.py", flags=["--memory", str(2 * need)])
    assert fits.verdict == "fits" and fits.device["capacity_bytes"] == 2 * need
    tight = rehearse("mlp.py", flags=["--memory", str(need + 4 * MiB)])
    assert tight.verdict == "tight"
    assert rehearse("mlp.py", flags=["--memory", str(need + 4 * MiB), "--headroom", "0%"]).verdict == "fits"
    kept = rehearse("mlp.py", flags=["--memory", str(need + 4 * MiB), "--reserve", "1GiB"], check=False)
    assert (kept.status, kept.verdict) == (1, "oom")


def test_without_recording_the_counters_remain(rehearse):
    with_stacks, without = rehearse("mlp.py"), rehearse("mlp.py", flags=["--stacks", "none"], check=False)
    assert without.status == 0
    assert without.peak["allocated_bytes"] == with_stacks.peak["allocated_bytes"]
    assert without.peak["reserved_bytes"] == with_stacks.peak["reserved_bytes"]


def test_stacks_all(rehearse):
    assert rehearse("mlp.py", flags=["--stacks", "all"]).steps() == STEADY_STEPS


def test_transfers_have_direction_and_line(rehearse):
    run = rehearse("mlp.py")
    up = [c for c in run.copies if c["direction"] == "host_to_device"]
    assert [(c["pinned"], c["bytes"], c["count"]) for c in up] == [(True, 256 * 1024 * 4, 1)]
    assert "mlp.py" in up[0]["line"]
    assert run.host["pinned_peak_bytes"] >= MiB
    reads = [r["line"] for r in run.unknown_reads]
    assert any("mlp.py" in line for line in reads), "loss.item() reads what nothing computed"


def test_a_gpu_of_ones_own_is_what_the_script_sees(rehearse):
    file = Path(__file__).resolve().parents[2] / "examples" / "my_gpu.json"
    run = rehearse("device.py", flags=["--gpu-file", str(file)], gpu="lab-card")
    assert '"name": "NVIDIA Lab Card 32GB", "sms": 100, ' in run.stderr
    assert f'"total": {int(31.5 * GiB)}' in run.stderr
    assert run.device["short_name"] == "lab-card"


@pytest.mark.parametrize("visible", ["5", "2,3", "", "-1"])
def test_any_visible_device_is_the_one_device(rehearse, visible):
    run = rehearse("device.py", environment={"CUDA_VISIBLE_DEVICES": visible})
    assert '"count": 1' in run.stderr


def test_the_run_directory_must_be_new(rehearse, tmp_path):
    (tmp_path / "run1").mkdir()
    (tmp_path / "run1" / "file").write_text("mine")
    run = rehearse("mlp.py", check=False)
    assert run.status == 2 and (tmp_path / "run1" / "file").read_text() == "mine"


@pytest.mark.parametrize("gpu, sms", [("a100-40gb", 108), ("t4", 40), ("h100-80gb", 132), ("b200", 148), ("l4", 58)])
def test_other_gpus(rehearse, gpu, sms):
    import json

    run = rehearse("device.py", gpu=gpu)
    seen = json.loads(next(line for line in run.stderr.splitlines() if line.startswith("JSON"))[4:])
    assert seen["sms"] == sms
    assert seen["total"] == run.device["capacity_bytes"]
    assert seen["count"] == 1 and seen["pinned"]


def test_a_wait_for_a_read_value_has_its_line(rehearse):
    run = rehearse("mlp.py", "--steps", 3, flags=["--steps", "all"])
    waits = [s for s in run.synchronizations if s["function"] == "cudaStreamSynchronize"]
    assert waits and all("mlp.py" in s["line"] for s in waits)


def test_the_address_rule_of_windows(rehearse):
    """First fit from the bottom: later segments stand above earlier ones."""
    import json

    run = rehearse("device.py", flags=["--address-rule", "wsl"])
    seen = json.loads(next(line for line in run.stderr.splitlines() if line.startswith("JSON"))[4:])
    assert seen["addresses"][-2] < seen["addresses"][-1]
