# SPDX-License-Identifier: Apache-2.0
"""Evidence on demand: the memory history of chosen steps, profiles, and what is left of an OutOfMemoryError."""
import gzip
import json
import sys

from conftest import check_adds_up, find_line, ullage
from recordings import environment_of, of_kind, only_run, record, result_of, run

LOOP = """
import os, torch, ullage
model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
with ullage.record("evidence", model=model, optimizer=optimizer, SETTINGS):
    for step in range(1, 7):
        rows = 64 if step < 5 else LATE
        model(torch.randn(rows, 1024, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
print("trained")
"""


def loop(settings, late=64):
    return LOOP.replace("SETTINGS", settings).replace("LATE", str(late))


def ledger_of(folder, directory, *flags):
    return json.loads(run(folder, ullage(), "ledger", "--json", *flags, directory).stdout)


def test_the_history_of_a_step_makes_its_ledger_exact(tmp_path):
    run(tmp_path, sys.executable, "-c", loop("history=[3]"))
    directory = only_run(tmp_path)
    result = result_of(tmp_path, directory)
    assert result["recording"]["left_out"] == [{"step": 3, "why": "memory history"}]
    shown = ledger_of(tmp_path, directory, "--by", "category,kind,line")
    phases = {p["name"]: p for p in result["phases"] if p.get("step") == 3 and p["name"] != "other"}
    assert shown["peak"]["allocated_bytes"] == max(p["peak_allocated_bytes"] for p in phases.values())
    check_adds_up(shown["ledger"])
    parameters = 4 * (2 * 1024 * 4096 + 4096 + 1024)
    assert find_line(shown["ledger"], "parameters")["bytes"] == parameters
    assert find_line(shown["ledger"], "optimizer_state")["bytes"] >= 2 * parameters
    for name, phase in phases.items():
        at_end = ledger_of(tmp_path, directory, "--at", f"phase:3:{name}")
        reserved = find_line(at_end["ledger"], "reserved")["bytes"]
        assert reserved == phase["reserved_bytes"]
        assert reserved - find_line(at_end["ledger"], "cached")["bytes"] == phase["allocated_bytes"]


def test_several_steps_and_the_environment(tmp_path):
    environment = environment_of(tmp_path, ULLAGE_RECORD_HISTORY="2-3,5")
    run(tmp_path, sys.executable, "-c", loop("interval=0"), environment=environment)
    directory = only_run(tmp_path)
    assert [r["step"] for r in of_kind(directory, "history")] == [2, 3, 5]
    assert len(of_kind(directory, "history_end")) == 3 and of_kind(directory, "sample") == []
    assert result_of(tmp_path, directory)["ledger_of"].startswith("peak of allocated memory, in step 5")


def test_a_profile_of_a_step(tmp_path):
    run(tmp_path, sys.executable, "-c", loop("profile='5'"))
    directory = only_run(tmp_path)
    trace = json.loads(gzip.decompress((directory / "trace-step-5.json.gz").read_bytes()))
    assert any(event.get("name") == "aten::addmm" for event in trace["traceEvents"])
    result = result_of(tmp_path, directory)
    assert result["recording"]["left_out"] == [{"step": 5, "why": "profiler"}] and result["recording"]["problems"] == 0
    assert result["time"]["steps"] == 2  # 4 and 6


def test_an_out_of_memory_error_is_explained(tmp_path):
    (tmp_path / "train.py").write_text(loop("history=[5]", late=10_000_000))
    done = run(tmp_path, sys.executable, tmp_path / "train.py", check=False)
    assert done.returncode == 1 and "OutOfMemoryError" in done.stderr
    directory = only_run(tmp_path)
    result = result_of(tmp_path, directory)
    assert result["verdict"] == "oom" and result["requested_bytes"] > 1 << 33
    assert result["needed_at_least_bytes"] > result["device"]["capacity_bytes"]
    oom, = result["out_of_memory"]
    assert oom["step"] == 5 and oom["phase"] == "forward" and oom["line"].endswith("train.py:8 <module>")
    shown = run(tmp_path, ullage(), "explain", directory).stdout
    assert "largest owner" in shown and "first to try" in shown
    at_oom = ledger_of(tmp_path, directory, "--at", "oom")
    check_adds_up(at_oom["ledger"])
    assert find_line(at_oom["ledger"], "parameters")["bytes"] > 0


def test_an_out_of_memory_error_without_a_history(tmp_path):
    script = loop("interval=0", late=10_000_000)
    assert run(tmp_path, sys.executable, "-c", script, check=False).returncode == 1
    directory = only_run(tmp_path)
    assert (directory / "snapshot.pickle").exists() and result_of(tmp_path, directory)["verdict"] == "oom"
    assert "largest owner" in run(tmp_path, ullage(), "explain", directory).stdout
    assert "allocated" in run(tmp_path, ullage(), "explain", directory / "snapshot.pickle").stdout


def test_without_a_history_it_says_how_to_get_one(tmp_path):
    run(tmp_path, sys.executable, "-c", loop("interval=0"))
    directory = only_run(tmp_path)
    for words in (["ledger", "--at", "end", directory], ["diff", directory, directory]):
        done = run(tmp_path, ullage(), *words, check=False)
        assert done.returncode == 3 and "ullage record --history STEP" in done.stderr


def test_the_flags_of_the_command(tmp_path):
    script = loop("").replace("with ullage.record", "if True: #")
    record(tmp_path, sys.executable, "-c", script, flags=["--history", "3", "--profile", "4", "--out", tmp_path / "run"])
    assert (tmp_path / "run/snapshot.pickle").exists() and (tmp_path / "run/trace-step-4.json.gz").exists()
    assert ledger_of(tmp_path, tmp_path / "run")["peak"]["allocated_bytes"] > 0
