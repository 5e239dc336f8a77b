# SPDX-License-Identifier: Apache-2.0
"""Kinds of scripts that a rehearsal takes as they are."""
import pathlib
import sys

import pytest

from conftest import GiB, MiB, SCRIPTS, STEADY_STEPS

BIN = pathlib.Path(sys.executable).parent
WIDTH = 1024
PARAMETERS = 2 * (WIDTH * WIDTH + WIDTH) * 4  # bytes of the network of mlp.py


def test_plain_loop(rehearse):
    run = rehearse("mlp.py")
    assert run.verdict == "fits"
    assert run.steps() == STEADY_STEPS and run.stop_reason == "auto-steady"
    assert run.line("parameters")["bytes"] == PARAMETERS
    assert "script: finally" in run.stderr and "script: end" not in run.stderr
    # weights, gradients, two moments, after the first step
    assert run.phase("optimizer", 1)["allocated_bytes"] >= 4 * PARAMETERS
    phases = [p["name"] for p in run.phases if p.get("step") == 2]
    assert phases[:3] == ["forward", "backward", "optimizer"]


def test_optimizer_temporaries(rehearse):
    """foreach AdamW makes a copy of all second moments, fused none, the loop two of the largest parameter."""
    extra = {}
    for kind in ("adamw", "fused", "forloop"):
        phase = rehearse("mlp.py", "--optimizer", kind).phase("optimizer", 2)
        extra[kind] = phase["peak_allocated_bytes"] - phase["allocated_bytes"]
    assert PARAMETERS <= extra["adamw"] < PARAMETERS + MiB
    assert extra["fused"] < MiB
    assert 2 * WIDTH * WIDTH * 4 <= extra["forloop"] < 2 * WIDTH * WIDTH * 4 + MiB


def test_sgd_has_one_state(rehearse):
    run = rehearse("mlp.py", "--optimizer", "sgd")
    states = [c["id"] for c in run.line("optimizer_state")["children"]]
    assert states == ["optimizer_state.momentum_buffer"]
    assert run.line("optimizer_state")["bytes"] == PARAMETERS


def test_gradient_accumulation(rehearse):
    run = rehearse("mlp.py", "--accumulate", 3)
    backward = [p for p in run.phases if p["name"] == "backward" and p.get("step") == 2]
    assert [p["micro_batch"] for p in backward] == [1, 2, 3]
    # from the second micro batch on, a fresh weight gradient stands beside all that are kept
    assert backward[1]["peak_allocated_bytes"] > backward[0]["allocated_bytes"]


def test_no_step_is_one_phase(rehearse):
    run = rehearse("inference.py")
    assert [p["name"] for p in run.phases] == ["run"]
    assert run.steps() == 0
    assert run.line("parameters")["bytes"] == 8 * (2048 * 2048 + 2048) * 4
    assert "evaluation" not in run.not_seen


def test_expandable_segments(rehearse):
    """Reserved memory follows the pages in use instead of whole segments."""
    fixed = rehearse("mlp.py")
    expandable = rehearse("mlp.py", environment={"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"})
    assert expandable.peak["allocated_bytes"] <= fixed.peak["allocated_bytes"]
    assert expandable.peak["reserved_bytes"] % (2 * MiB) == 0


def test_record_stream_holds_memory_until_the_event_has_passed(rehearse):
    """20 buffers of 256 MiB: with a clock that says "done" at once they would share two or three blocks (660 MiB)."""
    run = rehearse("record_stream.py")
    assert 20 * 256 * MiB <= run.peak["reserved_bytes"] < 5.6 * GiB


def test_cuda_graph(rehearse):
    run = rehearse("graph.py")
    assert "script: replayed" in run.stderr


def test_trainer(rehearse, tmp_path):
    run = rehearse("trainer.py", tmp_path / "out")
    assert run.steps() >= 2
    assert run.line("optimizer_state")["bytes"] > 0
    assert any("transformers" in c.get("line", "") or "accelerate" in c.get("line", "") for c in run.copies)


def test_torchrun(rehearse):
    command = [str(BIN / "torchrun"), "--nproc-per-node", "1", str(SCRIPTS / "mlp.py")]
    run = rehearse(command=command)
    assert run.steps() == STEADY_STEPS and run.line("parameters")["bytes"] == PARAMETERS


def test_accelerate_launch(rehearse):
    command = [str(BIN / "accelerate"), "launch", "--num_processes", "1", "--mixed_precision", "no",
               str(SCRIPTS / "mlp.py")]
    run = rehearse(command=command)
    assert run.steps() == STEADY_STEPS and run.line("parameters")["bytes"] == PARAMETERS


def test_python_m(rehearse, tmp_path):
    (tmp_path / "training").mkdir()
    (tmp_path / "training" / "__main__.py").write_text((SCRIPTS / "mlp.py").read_text())
    assert rehearse(command=[sys.executable, "-m", "training"]).steps() == STEADY_STEPS


def test_the_script_keeps_its_own_snapshot(rehearse, tmp_path):
    run = rehearse("own_snapshot.py", tmp_path / "own.pickle")
    assert "script: own snapshot right" in run.stderr
    assert (run.directory / "snapshot.pickle").stat().st_size > 0


def test_the_scripts_own_readings_are_left_alone(rehearse):
    """A script that resets PyTorch's peaks does not change what the run needs."""
    assert rehearse("mlp.py", "--reset-peaks").peak == rehearse("mlp.py").peak


def test_the_same_run_gives_the_same_bytes(rehearse):
    first, second = rehearse("mlp.py"), rehearse("mlp.py")
    for run in (first, second):
        run.result.pop("run_directory")
        run.result["run"].pop("started")
        host = run.result["host"]  # measured, but for what the virtual device counts
        run.result["host"] = {name: host[name] for name in ("pinned_bytes", "pinned_peak_bytes", "managed_bytes")}
    assert first.result == second.result


def test_ddp_over_nccl_in_a_world_of_one(rehearse):
    command = [str(BIN / "torchrun"), "--nproc-per-node", "1", str(SCRIPTS / "ddp.py")]
    run = rehearse(command=command, flags=["--steps", "all"])
    assert "script: 1.0 [{'rank': 0}]" in run.stderr
    assert run.steps() == 4


def test_loader_with_workers_and_pinned_memory(rehearse):
    run = rehearse("loader.py")
    up = [c for c in run.copies if c["direction"] == "host_to_device"]
    assert up and all(c["pinned"] and "loader.py" in c["line"] for c in up)


def test_a_second_process_is_reported(rehearse):
    run = rehearse("two_processes.py")
    assert any("another process" in note for note in run.notes)
    assert run.peak["allocated_bytes"] == 4 * MiB


def test_an_optimizer_that_subclasses_pytorchs(rehearse):
    run = rehearse("own_optimizer.py", "subclass")
    assert run.steps() in (2, 3)
    assert run.line("optimizer_state.momentum")["bytes"] == (1024 * 1024 + 1024) * 4


def test_a_plain_optimizer_is_judged_by_its_pattern(rehearse):
    run = rehearse("own_optimizer.py", "plain")
    assert run.stop_reason == "pattern" and run.steps() == 0
    assert [p["name"] for p in run.phases] == ["run"]
    assert run.peak["allocated_bytes"] > 4 * 1024 * 1024 * 2


def test_a_step_marked_by_the_script(rehearse):
    run = rehearse("own_optimizer.py", "marked")
    assert run.steps() == 2 and run.stop_reason == "auto-steady"
    assert run.phase("optimizer", 2)["peak_allocated_bytes"] > run.phase("optimizer", 2)["allocated_bytes"]


def test_accumulation_longer_than_the_pattern(rehearse):
    """Where an optimizer exists, the run waits for its step."""
    run = rehearse("mlp.py", "--accumulate", 70, "--steps", 2, flags=["--steps", "1"])
    assert run.steps() == 1 and run.stop_reason == "steps"


@pytest.mark.parametrize("gpu", ["a100-80gb", "h100-80gb", "b200"])
def test_parts_that_use_other_libraries(rehearse, gpu):
    """Recurrent nets, convolutions in both layouts, linear algebra, attention as each architecture chooses it."""
    run = rehearse("modules.py", gpu=gpu)
    assert "script: modules run" in run.stderr


def test_the_profilers_table(rehearse):
    assert "script: profiled" in rehearse("profiled.py", flags=["--steps", "all"]).stderr


def test_fsdp_in_a_world_of_one(rehearse):
    command = [str(BIN / "torchrun"), "--nproc-per-node", "1", str(SCRIPTS / "fsdp.py")]
    run = rehearse(command=command, flags=["--steps", "all"])
    assert "script: sharded" in run.stderr
    assert run.steps() == 3
    # four layers of 256 x 256 weights and biases, each in a block of a multiple of 512 bytes
    assert run.line("parameters")["bytes"] == 4 * (256 * 256 * 4 + 1024)
