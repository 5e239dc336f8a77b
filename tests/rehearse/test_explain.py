# SPDX-License-Identifier: Apache-2.0
"""`ullage explain` of a run that failed: what it says a change would save is what the change saves."""
import json
import subprocess

import pytest

from conftest import check_adds_up, ullage

MiB = 1 << 20


def explained(run):
    assert run.status == 1, run.stderr
    done = subprocess.run([ullage(), "explain", str(run.directory), "--json"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    view = json.loads(done.stdout)
    check_adds_up(view["ledger"])
    return view


def allocated(view):
    return view["messages"][0]["peak"]["allocated_bytes"]


def saving(view, word):
    return next(change["saves"]["high_bytes"] for change in view["changes"] if word in change["text"])


def test_what_changes_save_is_what_they_were_said_to_save(rehearse):
    runs = [rehearse("out_of_memory_after_forward.py", how, check=False) for how in ("eager", "sdpa", "checkpointing")]
    eager, sdpa, checkpointing = map(explained, runs)
    assert eager["failure"]["kind"] == "true_capacity"
    assert eager["owner"]["id"] == "activations" and "transformer.h.*.attn, aten::softmax" in eager["owner"]["text"]
    assert "sdpa" in eager["changes"][0]["text"]
    assert saving(eager, "sdpa") == pytest.approx(allocated(eager) - allocated(sdpa), rel=0.02)
    assert not any("sdpa" in change["text"] for change in sdpa["changes"])
    # Of the layers that are recomputed, one is there at a time: it is not saved, but not yet there at this moment.
    one_layer = (saving(eager, "checkpointing") + 8 * 4 * MiB) / 7
    assert saving(eager, "checkpointing") + one_layer == pytest.approx(allocated(eager) - allocated(checkpointing), rel=0.02)

    # The same of the whole run, in which nothing is refused.
    whole = eager["without_limit"]
    assert whole["needed_bytes"] == runs[0].result["needed_bytes"] and whole["missing_bytes"] == runs[0].result["missing_bytes"] > 0


def test_a_run_that_failed_points_to_the_one_that_was_whole(rehearse, monkeypatch):
    """Its ledger is of the failure; what is held against others is the run without a limit, as its phases are."""
    run = rehearse("out_of_memory_after_forward.py", "eager", check=False)
    whole = run.directory / "unlimited"

    def json_of(*words):
        done = subprocess.run([ullage(), *map(str, words), "--json"], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert any(str(whole) in missing for missing in json_of("ledger", run.directory)["evidence"]["missing"])
    assert json_of("ledger", whole)["evidence"]["missing"] == []
    monkeypatch.setenv("XDG_DATA_HOME", str(run.directory.parent / "data"))  # known by its id
    (run.directory.parent / "data/ullage/runs").mkdir(parents=True)
    (run.directory.parent / "data/ullage/runs/20260101-000000-x").symlink_to(run.directory)
    peak = json_of("ledger", "20260101-000000-x/unlimited")["peak"]
    assert peak["allocated_bytes"] == run.result["peak"]["allocated_bytes"]
    assert json_of("diff", run.directory, run.directory)["before"]["source"].endswith("unlimited")


def test_fragmentation_is_called_by_its_name(rehearse):
    run = rehearse("fragmented.py", check=False, gpu="a100-40gb")
    view = explained(run)
    assert view["failure"]["kind"] == "fragmentation" and view["failure"]["certain"]
    assert view["changes"][0]["text"] == "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True"
    assert view["changes"][0]["basis"].startswith("replayed: the request finds room")
    assert view["notes"] == [f"where it lies idle, and who pins it: ullage ledger {run.directory} --segments"]
    assert view["verify"].startswith("PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True ullage rehearse --gpu a100-40gb -- ")
    again = rehearse("fragmented.py", gpu="a100-40gb", environment={"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"})
    assert again.verdict in ("fits", "tight")
    saved = run.result["peak"]["reserved_bytes"] - again.result["peak"]["reserved_bytes"]  # the first is without a limit
    assert view["changes"][0]["saves"]["low_bytes"] == saved, "the replay says what the rehearsal with the setting shows"
