# SPDX-License-Identifier: Apache-2.0
"""Kinds of code found in public training scripts (docs/public_scripts.md), each with a small script of our own."""
import json

from conftest import MiB


def test_the_hook_starts_in_a_script_that_first_asks_whether_torch_is_there(rehearse):
    run = rehearse("public_kinds.py", "asks_for_torch")
    assert 2 <= run.steps() < 10


def test_a_mask_of_floats_selects_what_it_says(rehearse):
    run = rehearse("public_kinds.py", "masks")
    assert "script: positives 512 1\n" in run.stderr and "script: negatives 512 510\n" in run.stderr
    assert "mask" not in json.dumps(run.result.get("policies", []))


def test_indices_and_values_of_a_sparse_input_are_inputs(rehearse):
    run = rehearse("public_kinds.py", "sparse")
    # 2^18 edges, fewer by the few that coincide: two indices of 8 bytes and a value of 4
    assert 4.9 * MiB < run.line("inputs")["bytes"] <= 5 * MiB


def test_a_models_own_generate_is_seen(rehearse):
    assert "generation" not in rehearse("public_kinds.py", "generates").not_seen
    assert "generation" in rehearse("mlp.py").not_seen


def test_a_copy_that_no_step_calls_is_a_parameter(rehearse):
    run = rehearse("public_kinds.py", "average")
    assert run.line("parameters")["bytes"] >= 2 * 4 * MiB
    assert run.line("unattributed")["bytes"] < MiB


def test_a_socket_is_no_file_that_was_created(rehearse):
    created = rehearse("public_kinds.py", "leaves_a_socket").files["created"]
    assert [path.rsplit("/", 1)[1] for path in created] == ["left.txt"]


def test_thousands_of_modules_of_their_own(rehearse):
    run = rehearse("many_modules.py", 1000)
    marks = (run.directory / "marks.jsonl").stat().st_size
    assert marks < 8 * MiB, marks
    weights = 1000 * 4 * (32 * 32 + 32)
    assert run.line("parameters")["bytes"] == weights and run.line("gradients")["bytes"] <= weights
    assert run.line("unattributed")["bytes"] == 0
