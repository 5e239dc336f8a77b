# SPDX-License-Identifier: Apache-2.0
"""`ullage replay`: what it says of other settings against rehearsals that have them."""
import json
import os
import pathlib
import subprocess
import sys

import jsonschema
import pytest

from conftest import ullage

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "docs/schemas/replay.schema.json").read_text())
EXPANDABLE = "expandable_segments:True"


def replay(source, *flags, status=0):
    done = subprocess.run([ullage(), "replay", str(source), "--json", *flags], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stderr
    made = json.loads(done.stdout)
    jsonschema.validate(made, SCHEMA)
    return made


@pytest.mark.parametrize("script, arguments", [("mlp.py", ()), ("trainer.py", ("out",)), ("modules.py", ("lstm",)),
                                               ("experts.py", ()), ("own_optimizer.py", ("plain",)),
                                               ("scaler.py", ()), ("inference.py", ()), ("loader.py", ()),
                                               ("weak_points.py", ()), ("planted_copies.py", ("copies",))])
def test_expandable_segments_as_replayed_and_as_rehearsed(rehearse, script, arguments):
    plain = rehearse(script, *arguments)
    made = replay(plain.directory, "--setting", EXPANDABLE)
    assert made["reproduced"] and made["start_is_exact"]
    assert made["settings"][0]["peak_reserved_bytes"] == plain.result["peak"]["reserved_bytes"]
    with_setting = rehearse(script, *arguments, environment={"PYTORCH_CUDA_ALLOC_CONF": EXPANDABLE})
    assert made["settings"][1]["peak_reserved_bytes"] == with_setting.result["peak"]["reserved_bytes"]


def test_less_memory_as_replayed_and_as_rehearsed(rehearse):
    """Where the request that does not fit is, when the device is smaller."""
    plain = rehearse("mlp.py")
    capacity = plain.result["peak"]["used_bytes"] - (24 << 20)
    made = replay(plain.directory, "--memory", str(capacity), status=1)
    small = rehearse("mlp.py", flags=["--memory", str(capacity)], check=False)
    assert small.result["verdict"] == "oom"
    assert made["settings"][0]["failure"]["requested_bytes"] == small.result["requested_bytes"]


@pytest.mark.parametrize("name", ["wedson_medium_128_training", "wedson_medium_512_training",
                                  "wedson_medium_128_inference", "silmont_forward_bf16_128", "silmont_mem_snapshot"])
def test_the_model_reproduces_published_snapshots(name):
    source = ROOT / f"tests/data/snapshots/{name}.pickle.gz"
    made = replay(source, "--search")
    assert made["reproduced"]
    assert made["settings"][0]["peak_reserved_bytes"] == made["recorded_peak_reserved_bytes"]
    searched = {row["setting"]: row["peak_reserved_bytes"] for row in made["settings"][1:]}
    assert len(searched) == len(made["settings"]) - 1 > 8
    assert list(searched.values()) == sorted(searched.values())
    assert not [setting for setting in searched if "large_segment" in setting], "a snapshot does not say its torch"
    assert replay(source, "--search") == made


def test_what_replay_refuses(tmp_path):
    def refused(*arguments):
        done = subprocess.run([ullage(), "replay", *map(str, arguments)], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stderr

    snapshot = ROOT / "tests/data/snapshots/silmont_mem_snapshot.pickle.gz"
    assert refused() == (2, refused()[1])
    status, message = refused(snapshot, "--setting", "expandable_segment:True")
    assert status == 2 and "expandable_segments" in message
    status, message = refused(ROOT / "tests/data/traces/hta_alexnet.json.gz")
    assert status == 3 and "expected" in message
    status, message = refused(snapshot, "--setting", "backend:cudaMallocAsync")
    assert status == 2 and "only PyTorch's own allocator" in message


def test_the_setting_that_cures_fragmentation_is_found(rehearse):
    """15 GiB are reserved and of no use for one request of 4 GiB."""
    run = rehearse("fragmented.py", check=False, gpu="a100-40gb")
    made = replay(run.directory, "--search")
    assert made["reproduced"]
    recorded = made["settings"][0]
    assert recorded["failure"]["requested_bytes"] == 4 << 30
    assert recorded["failure"]["reserved_bytes"] - recorded["failure"]["allocated_bytes"] == 15 << 30
    outcomes = {row["setting"]: "failure" not in row for row in made["settings"][1:]}
    assert outcomes[EXPANDABLE] and not outcomes["roundup_power2_divisions:8"]
    assert list(outcomes.values()) == sorted(outcomes.values(), reverse=True), "what helps stands first"
    assert "garbage_collection_threshold:0.8,per_process_memory_fraction:0.99" in outcomes, "its share is reached"
    assert "large_segment_size_mb:40" in outcomes
