# SPDX-License-Identifier: Apache-2.0
"""The ledger at the moment of the peak, and what it says of activations, against PyTorch's own account of them."""
import json
import pathlib
import subprocess
import sys

import pytest

from conftest import SCRIPTS, check_adds_up, find_line, ullage


def ledger(run, *flags):
    done = subprocess.run([ullage(), "ledger", str(run.directory), "--json", "--top", "0", *flags], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    check_adds_up(made["ledger"])
    return made


def saved_by_module(run):
    made = ledger(run, "--at", "phase:1:forward", "--by", "kind,module")
    saved = find_line(made["ledger"], "activations.saved_for_backward")
    names = {"[outside modules]": ""}
    return {names.get(line["name"], line["name"]): line["bytes"] for line in saved["children"]}


@pytest.mark.parametrize("precision", ["plain", "autocast"])
@pytest.mark.parametrize("model", ["gpt2_eager", "gpt2_sdpa", "llama", "convolutions"])
def test_saved_activations_are_what_autograd_saved(rehearse, tmp_path, model, precision):
    """Unique storages at the end of the forward pass, by the module that made them, to the byte."""
    truth = tmp_path / "saved.json"
    run = rehearse("saved_tensors.py", model, truth, precision)
    assert saved_by_module(run) == json.loads(truth.read_text())


def owned_share(made):
    """Of the allocated bytes those with a category and, where nobody named the tensor, with an operator or a module."""
    total = owned = 0
    for line in find_line(made["ledger"], "reserved")["children"]:
        if line["id"] in ("cached", "rounding"):
            continue
        total += line["bytes"]
        if line["id"] != "unattributed":
            owned += line["bytes"] - (0 if line.get("attributed_by") == "named" else nowhere(line))
    return owned / total


def nowhere(line):
    outside = next((c for c in line.get("children", ()) if c["name"] == "[outside modules]"), {})
    return sum(c["bytes"] for c in outside.get("children", ()) if c["name"] == "[operator not known]")


TORCHRUN = [str(pathlib.Path(sys.executable).parent / "torchrun"), "--nproc-per-node", "1"]


@pytest.mark.parametrize("script, arguments", [
    ("mlp.py", ()), ("trainer.py", ("out",)), ("modules.py", ("lstm",)), ("experts.py", ()),
    ("own_optimizer.py", ("plain",)), ("saved_tensors.py", ("llama", "x.json", "autocast"))])
def test_nearly_all_bytes_at_the_peak_have_an_owner(rehearse, script, arguments):
    made = ledger(rehearse(script, *arguments), "--by", "module,operator")
    assert owned_share(made) >= 0.97, made["ledger"]
    assert made["moment"].startswith("the peak of allocated memory")


@pytest.mark.parametrize("script", ["fsdp.py", "ddp.py"])
def test_nearly_all_bytes_of_a_distributed_run_have_an_owner(rehearse, script):
    made = ledger(rehearse(command=[*TORCHRUN, str(SCRIPTS / script)]), "--by", "module,operator")
    assert owned_share(made) >= 0.97, made["ledger"]


def test_the_chart_is_of_the_peak(rehearse):
    run = rehearse("mlp.py")
    reserved = run.line("reserved")
    allocated = reserved["bytes"] - find_line(reserved, "cached")["bytes"]
    assert allocated == run.peak["allocated_bytes"]
    assert "ledger_below_peak_bytes" not in run.result or run.result["ledger_below_peak_bytes"] == 0


def test_states_of_a_hand_written_optimizer_are_named(rehearse):
    run = rehearse("own_optimizer.py", "plain")
    names = {line["name"] for line in run.line("optimizer_state")["children"]}
    assert names and all("." in name for name in names), names
    assert run.line("unattributed")["bytes"] == 0


def planted_line(text):
    lines = (SCRIPTS / "planted_copies.py").read_text().splitlines()
    return f"planted_copies.py:{1 + next(i for i, line in enumerate(lines) if text in line)} "


def test_planted_copies_are_found_with_line_and_bytes(rehearse):
    copies = rehearse("planted_copies.py", "copies").storage_copies["copies"]
    found = {(copy["kind"], copy["bytes"]): copy["line"] for copy in copies if "line" in copy}
    batch = 8 * 256 * 256 * 4
    expected = {("padding", 8 * 256 * 320 * 4): "functional.pad", ("contiguous", batch): "functional.pad",
                ("clone", 8 * 4 * 256 * 256 * 4): ".clone()", ("reshape", batch): "reshape(8, -1)"}
    for key, text in expected.items():
        assert key in found, found
        assert planted_line(text) in found[key] + " "


def test_views_are_no_copies(rehearse):
    made = rehearse("planted_copies.py", "views").storage_copies
    contiguous = [c for c in made["copies"] if c["kind"] == "contiguous"]
    assert [c["bytes"] for c in contiguous] == [8 * 256 * 256 * 4]  # the one that the script asserts about
    assert [c for c in made["copies"] if c["kind"] != "contiguous"] == []
    assert made["view_calls"] > 5


def operators_by_shape(run):
    return subprocess.run([ullage(), "operators", str(run.directory), "--group-by", "shape", "--json"],
                          capture_output=True, text=True, timeout=60)


def test_input_shapes_are_recorded_when_asked_for(rehearse):
    without = operators_by_shape(rehearse("mlp.py"))
    assert without.returncode == 3
    assert "no input shapes are recorded" in without.stderr and "--operators shapes" in without.stderr
    rows = json.loads(operators_by_shape(rehearse("mlp.py", flags=["--operators", "shapes"])).stdout)["operators"]
    assert any("[[" in row["shape"] for row in rows)


def test_without_operators_the_ledger_has_categories_and_no_modules(rehearse):
    run = rehearse("mlp.py", flags=["--operators", "off"])
    made = ledger(run, "--by", "kind,module")
    assert find_line(made["ledger"], "parameters")["bytes"] > 0
    for line in ("activations", "temporaries"):
        kinds = find_line(made["ledger"], line).get("children", ())
        names = [child["name"] for kind in kinds for child in kind.get("children", [kind])]
        assert names and all(name == "[outside modules]" for name in names)


def test_a_run_lines_up_with_its_own_snapshot(rehearse):
    run = rehearse("mlp.py", flags=["--operators", "off"])
    done = subprocess.run([ullage(), "diff", str(run.directory / "snapshot.pickle"), str(run.directory), "--json", "--by",
                           "category"], capture_output=True, text=True, timeout=60)
    made = json.loads(done.stdout)
    assert made["difference"]["id"] == "reserved" and made["difference"]["difference_bytes"] == 0
    lines = {line["id"]: line["difference_bytes"] for line in made["difference"]["children"]}
    assert lines["workspaces"] == 0, "a workspace of cuBLAS is known by its size, without a record of operators too"


def test_a_lost_log_of_the_device_is_said(rehearse):
    run = rehearse("mlp.py")
    (run.directory / "device.ulog").unlink()
    done = subprocess.run([ullage(), "ledger", str(run.directory), "--json"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 3 and any("no device.ulog" in m for m in json.loads(done.stdout)["evidence"]["missing"])
