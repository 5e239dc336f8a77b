# SPDX-License-Identifier: Apache-2.0
"""`ullage ledger --segments` on a script whose memory is in pieces."""
import json
import re
import subprocess

import pytest

from conftest import GiB, MiB, SCRIPTS, ullage


def segments(directory, *flags):
    done = subprocess.run([ullage(), "ledger", str(directory), "--segments", *flags], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def line_that(text):
    lines = (SCRIPTS / "fragmented.py").read_text().splitlines()
    return f"fragmented.py:{1 + next(i for i, line in enumerate(lines) if text in line)} "


def test_the_line_that_pins_the_segments_is_named(rehearse):
    run = rehearse("fragmented.py", check=False, gpu="a100-40gb")
    made = json.loads(segments(run.directory, "--json"))
    assert made["moment"] == "the last failed request"
    request = made["request"]
    assert request["bytes"] == 4 * GiB
    assert made["largest_hole_bytes"] == request["largest_hole_bytes"] == 512 * MiB < request["bytes"]
    assert made["hole_bytes"] == request["hole_bytes"] == 15 * GiB >= request["bytes"]
    pinned = made["pinned_by"][0]
    assert (pinned["segments"], pinned["idle_bytes"], pinned["bytes"]) == (30, 15 * GiB, 15 * GiB)
    assert line_that("pairs.append") in pinned["line"]
    text = segments(run.directory)
    assert "a request of 4.00 GiB failed; the largest hole is 512.00 MiB, all holes together 15.00 GiB" in text
    full = json.loads(segments(run.directory, "--json", "--at", "reserved"))
    assert full["allocated_bytes"] == full["reserved_bytes"], "the block that the last segment was got for is in it"
    row = next(line for line in text.splitlines() if line.startswith("30 x"))
    assert re.search(r" [A-Z]{16}\.{16} +50.0 % +512.00 MiB +512.00 MiB ", row) and line_that("pairs.append") in row


@pytest.mark.parametrize("moment", ["peak", "reserved", "phase:load", "end"])
def test_a_moment_can_be_chosen(rehearse, moment):
    made = json.loads(segments(rehearse("mlp.py").directory, "--json", "--at", moment))
    assert sum(block["bytes"] for segment in made["segments"] for block in segment["blocks"]) == made["reserved_bytes"]
    assert "request" not in made
    owners = {block.get("owner") for segment in made["segments"] for block in segment["blocks"]}
    assert any(owner and owner.endswith(".weight") for owner in owners), owners


def test_expandable_segments_are_said_to_be(rehearse):
    run = rehearse("fragmented.py", gpu="a100-40gb", environment={"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"})
    made = json.loads(segments(run.directory, "--json"))
    assert made["segments"] and all(segment["expandable"] for segment in made["segments"])
    assert "; all expandable" in segments(run.directory)
