# SPDX-License-Identifier: Apache-2.0
"""Recording a training: its phases are PyTorch's own counters, and the script's own readings stay what they are."""
import json
import os
import signal
import subprocess
import sys

import pytest
from conftest import SCRIPTS, rehearse_in, ullage
from recordings import environment_of, of_kind, only_run, phases_of, record, records_of, result_of, run, runs_in


def reference_of(done):
    return json.loads(done.stdout.splitlines()[-1])


def test_the_phases_of_a_plain_loop_are_pytorchs_counters_to_the_byte(tmp_path):
    reference = reference_of(run(tmp_path, "record_loop.py", "reference"))
    assert runs_in(tmp_path) == []
    done = run(tmp_path, "record_loop.py", "recorded")
    assert done.stderr.count("ullage: recorded 4 steps in ") == 1
    directory = only_run(tmp_path)
    result = result_of(tmp_path, directory)
    assert phases_of(result) == reference
    assert len({tuple(phase[4:]) for phase in reference}) > 6  # they differ, so that equality says something
    assert result["peak"]["allocated_bytes"] == max(phase[4] for phase in reference)


def test_a_script_that_must_not_be_touched_gives_the_same_phases(tmp_path):
    reference = reference_of(run(tmp_path, "record_loop.py", "reference"))
    done = record(tmp_path, "record_loop.py", "plain", flags=["--name", "untouched"])
    directory = only_run(tmp_path)
    assert directory.name.endswith("-untouched") and str(directory) in done.stderr
    phases = phases_of(result_of(tmp_path, directory))
    assert phases[1:-1] == reference[1:-1]  # it records from the import of torch to the end of the process
    assert phases[0][2:4] == reference[0][2:4]


def test_the_phases_of_a_trainers_run_are_pytorchs_counters_to_the_byte(tmp_path):
    reference = reference_of(run(tmp_path, "record_trainer.py", "reference", tmp_path / "out"))
    record(tmp_path, "record_trainer.py", "plain", tmp_path / "out")
    phases = phases_of(result_of(tmp_path, only_run(tmp_path)))
    assert len(reference) == 12 and [phase[:2] for phase in phases[:12]] == [phase[:2] for phase in reference]
    assert phases[1:12] == reference[1:12]


def test_the_measuring_idioms_of_tutorials_print_the_same(tmp_path):
    plain = run(tmp_path, "record_idioms.py").stdout.splitlines()
    recorded = record(tmp_path, "record_idioms.py").stdout.splitlines()
    assert len(of_kind(only_run(tmp_path), "mark")) > 20
    for line, same in zip(plain, recorded, strict=True):
        assert json.loads(line) == json.loads(same)


@pytest.mark.slow
def test_they_print_the_same_in_a_rehearsal_with_and_without_the_recorder(tmp_path):
    script = [sys.executable, str(SCRIPTS / "record_idioms.py")]
    printed = []
    for name, words in (("alone", script), ("recorded", [ullage(), "record", "--out", str(tmp_path / "record"), "--", *script])):
        made = rehearse_in(tmp_path, command=words, name=name, flags=("--steps", "all"), check=False)
        assert made.status == 0, made.stderr[-3000:]
        printed.append([json.loads(line) for line in (made.directory / "stdout.log").read_text().splitlines()])
    assert len(of_kind(tmp_path / "record", "mark")) > 20
    bare = [json.loads(line) for line in run(tmp_path, "record_idioms.py").stdout.splitlines()]
    table, rows = printed[0][1][1]
    assert len(table) >= 10 and all(sizes for _, sizes in table) and len(rows) >= 20
    assert printed[0] == printed[1]
    assert printed[0][0] == bare[0] and printed[0][2] == bare[2]  # the profiler also sees what the rehearsal computes


def test_what_a_recording_holds_beside_its_phases(tmp_path):
    run(tmp_path, "record_loop.py", "recorded", 6)
    directory = only_run(tmp_path)
    result = result_of(tmp_path, directory)
    assert result["command"] == "record" and result["verdict"] == "fits" and result["steps"] == 6
    assert result["device"]["short_name"] == "a100-80gb" and result["device"]["capacity_bytes"] == 85_000_000_000
    assert result["recording"]["problems"] == 0 and result["recording"]["samples"] >= 2
    assert result["recording"]["resident_peak_bytes"] > 100_000_000
    assert result["recording"]["process_used_peak_bytes"] == result["recording"]["device_used_peak_bytes"]
    assert not any("NVML" in note for note in result["notes"])
    assert result["peak"]["used_bytes"] == result["peak"]["reserved_bytes"] + 471_859_200
    tokens = of_kind(directory, "tokens")
    assert [r["step"] for r in tokens] == [1, 2, 3, 4, 5, 6]
    assert result["time"]["steps"] == 3  # tensors are named in the first three
    last = [p["seconds"] for p in result["phases"] if p.get("step") == 6 and p["name"] != "other"]
    assert len(last) == 3 and 0 < sum(last) <= result["time"]["high"] < 10
    assert result["throughput"]["tokens"] == sum(r["tokens"] for r in tokens[3:])
    assert of_kind(directory, "recording")[0]["config"] == {"rows": 16, "api_key": "***"}
    lines = {line["id"]: line["bytes"] for line in result["ledger"]["children"][0]["children"]}
    parameters = 4 * (2 * 1024 * 4096 + 4096 + 1024)
    assert lines["parameters"] == parameters and lines["optimizer_state"] >= 2 * parameters


def test_phases_by_hand(tmp_path):
    run(tmp_path, "record_loop.py", "by hand", 3)
    result = result_of(tmp_path, only_run(tmp_path))
    names = [(p["name"], p.get("step", 0)) for p in result["phases"]]
    expected = [(name, step) for step in (1, 2, 3) for name in ("forward", "backward", "optimizer", "other")]
    assert names == [("load", 0), *expected] and result["steps"] == 3
    ranges = [m["range"] for m in of_kind(only_run(tmp_path), "mark") if m["name"] == "range_begin"]
    assert ranges == ["logging"] * 3


OWN_UPDATE = """
import torch, ullage
model = torch.nn.Linear(64, 64, device="cuda")
for _ in range(3):
    model(torch.ones(4, 64, device="cuda")).sum().backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter -= parameter.grad
            parameter.grad = None
    ullage.step()
"""


def test_an_update_by_hand_in_a_recorded_script(tmp_path):
    record(tmp_path, sys.executable, "-c", OWN_UPDATE)
    result = result_of(tmp_path, only_run(tmp_path))
    assert result["steps"] == 3
    assert [p["name"] for p in result["phases"] if p.get("step") == 2] == ["forward", "backward", "optimizer", "other"]


STEPS_ALONE = """
import torch, ullage
with ullage.record("steps", model=None) as run:
    for i in range(3):
        x = torch.ones((i + 1) << 20, device="cuda")
        del x
        run.step()
"""


def test_steps_alone(tmp_path):
    run(tmp_path, sys.executable, "-c", STEPS_ALONE)
    phases = result_of(tmp_path, only_run(tmp_path))["phases"]
    assert [(p["name"], p.get("step", 0), p["peak_allocated_bytes"]) for p in phases[:3]] == [
        ("run", 1, 4 << 20), ("run", 2, 8 << 20), ("run", 3, 12 << 20)]


RESETS = """
import torch, ullage
keep = torch.ones(1, device="cuda")
with ullage.record("outer") as outer, ullage.record("inner") as inner:
    x = torch.ones(100 << 20, device="cuda")
    del x
    outer.step()
    torch.cuda.reset_peak_memory_stats()
    y = torch.ones(10 << 20, device="cuda")
    del y
    torch.cuda.reset_peak_memory_stats()
    print(torch.cuda.max_memory_allocated(), torch.cuda.memory_stats()["allocated_bytes.all.peak"])
    outer.step()
    inner.step()
print(torch.cuda.max_memory_allocated())
"""


def test_resets_of_the_script_take_nothing_from_the_recorder(tmp_path):
    done = run(tmp_path, sys.executable, "-c", RESETS)
    assert done.stdout.split() == ["512"] * 3
    outer, inner = sorted(runs_in(tmp_path), key=lambda path: "inner" in path.name)
    peaks = [m["since_allocated"] for m in of_kind(outer, "mark") if m["name"] == "step_end"]
    assert peaks == [(400 << 20) + 512, (40 << 20) + 512]
    assert [m["since_allocated"] for m in of_kind(inner, "mark") if m["name"] == "step_end"] == [(400 << 20) + 512]


@pytest.mark.parametrize("command, status", [(("sh", "-c", "exit 7"), 7), (("sh", "-c", "kill -TERM $$"), -signal.SIGTERM),
                                             (("no-such-program",), 2)])
def test_it_ends_as_the_command_does(command, status, tmp_path):
    assert record(tmp_path, *command, check=False).returncode == status
    assert runs_in(tmp_path) == []


def test_a_recording_inside_a_rehearsal(rehearse, tmp_path):
    inner = [ullage(), "record", "--out", tmp_path / "recorded", "--", sys.executable, "-c", LOOP]
    made = rehearse(command=list(map(str, inner)), flags=["--steps", "3"])
    recorded = result_of(tmp_path, tmp_path / "recorded")
    rehearsed = {(p["name"], p.get("step")): p for p in made.result["phases"]}
    for phase in recorded["phases"][1:]:
        same = rehearsed[(phase["name"], phase.get("step"))]
        assert phase["allocated_bytes"] == same["allocated_bytes"]
        assert phase["peak_allocated_bytes"] == same["peak_allocated_bytes"]
    assert recorded["steps"] == 3
    # Nothing is computed there, so nothing is timed.
    assert "time" not in recorded and not any("seconds" in phase for phase in recorded["phases"])
    assert any("within a rehearsal" in note for note in recorded["notes"])


def test_a_recording_inside_a_rehearsal_that_does_not_fit(rehearse, tmp_path):
    inner = [ullage(), "record", "--out", tmp_path / "recorded", "--", sys.executable, "-c", LOOP.replace("64, 1024", "4096, 1024")]
    made = rehearse(command=list(map(str, inner)), flags=["--steps", "3", "--memory", "528MiB"], check=False)
    assert made.status == 1
    recorded = result_of(tmp_path, tmp_path / "recorded")  # of the second run, in which nothing is refused
    assert recorded["verdict"] == "oom" and recorded["missing_bytes"] > 0
    assert recorded["needed_bytes"] == made.result["needed_bytes"]


def history(folder, *words):
    """Of the store that belongs to the runs below `folder`."""
    return json.loads(run(folder, ullage(), *words, "--json", environment=environment_of(folder, ULLAGE_STORE="")).stdout)


def test_an_ended_recording_is_in_the_history_without_being_named(tmp_path):
    run(tmp_path, "record_loop.py", "recorded")
    first = only_run(tmp_path)
    assert [one["id"] for one in history(tmp_path, "runs")["runs"]] == [first.name]
    record(tmp_path, sys.executable, "-c", LOOP, flags=["--name", "second"])
    second = next(path for path in runs_in(tmp_path) if path != first)
    assert history(tmp_path, "trend", "--name", "second", "--key", "peak_allocated")["runs"][0]["id"] == second.name
    run(tmp_path, ullage(), "rm", second.name, environment=environment_of(tmp_path, ULLAGE_STORE=""))
    assert [one["id"] for one in history(tmp_path, "runs")["runs"]] == [first.name]  # what was forgotten stays so


def test_the_newest_run_may_be_a_recording_inside_a_rehearsal(tmp_path):
    environment = {"XDG_DATA_HOME": str(tmp_path), "ULLAGE_STORE": ""}
    command = [ullage(), "rehearse", "--gpu", "a100-80gb", "--", ullage(), "record", "--name", "inside", "--", sys.executable, "-c", LOOP]
    run(tmp_path, *command, environment={**os.environ, **environment})
    inside = next(path for path in runs_in(tmp_path) if path.name.endswith("-inside"))
    assert history(tmp_path, "ledger", "@last")["source"] == str(inside)
    assert history(tmp_path, "show", "@last")["history"]["id"] == inside.name
    assert [one["id"] for one in history(tmp_path, "runs")["runs"]][0] == inside.name


def test_a_recording_that_is_still_written_is_none_yet(tmp_path):
    """One that was killed is, and so is one whose process goes on without it."""
    words = [sys.executable, "-c", LOOP + "import sys\nprint('made', flush=True)\nsys.stdin.read()\n"]
    with subprocess.Popen([ullage(), "record", "--", *words], env=environment_of(tmp_path), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        process.stdout.readline()
        assert history(tmp_path, "runs")["total"] == 0 and not (only_run(tmp_path) / "run.json").exists()
        process.kill()
        process.wait()
        assert history(tmp_path, "runs")["runs"][0]["verdict"] == "failed"
    words[-1] = f"import ullage\nwith ullage.record('over'):\n    exec({LOOP!r})\n" + words[-1].removeprefix(LOOP)
    with subprocess.Popen(words, env=environment_of(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL) as process:
        process.stdout.readline()
        assert history(tmp_path, "runs", "--name", "over")["runs"][0]["verdict"] == "fits"
        process.kill()


LOOP = """
import torch
model = torch.nn.Linear(1024, 4096, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), momentum=0.9)
for step in range(5):
    model(torch.randn(64, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""

WITHOUT_CUDA = LOOP.replace(', device="cuda"', "") + "print(torch.cuda.is_initialized())"


def test_without_a_gpu_time_and_host_memory_are_recorded(tmp_path):
    assert record(tmp_path, sys.executable, "-c", WITHOUT_CUDA).stdout.strip() == "False"
    directory = only_run(tmp_path)
    result = result_of(tmp_path, directory)
    assert result["steps"] == 5 and "device" not in result and "verdict" not in result and result["time"]["seconds"] > 0
    assert any("CUDA was not used" in note for note in result["notes"])
    assert all(mark["host_bytes"] > 100_000_000 for mark in of_kind(directory, "mark"))


WORKERS = """
import torch
class Data(torch.utils.data.Dataset):
    def __len__(self): return 12
    def __getitem__(self, i): return torch.randn(1024)
model = torch.nn.Linear(1024, 4096, device="cuda")
optimizer = torch.optim.SGD(model.parameters())
for batch in torch.utils.data.DataLoader(Data(), batch_size=2, num_workers=2):
    model(batch.cuda()).sum().backward()
    optimizer.step()
    torch.cuda.synchronize()
"""


def test_workers_belong_to_the_run_and_make_none(tmp_path):
    record(tmp_path, sys.executable, "-c", WORKERS, flags=["--interval", "1s"])
    directory = only_run(tmp_path)
    assert result_of(tmp_path, directory)["steps"] == 6
    assert len({record["pid"] for record in records_of(directory) if "pid" in record}) == 1


def test_a_process_that_only_imports_torch_leaves_nothing(tmp_path):
    record(tmp_path, sys.executable, "-c", "import torch; torch.ones(1, device='cuda')")
    assert runs_in(tmp_path) == []


def test_a_mistake_on_the_command_line(tmp_path):
    for words in (["record"], ["record", "--history", "3-", "--", "true"], ["record", "--profile", "x", "--", "true"]):
        assert subprocess.run([ullage(), *words], capture_output=True, env=environment_of(tmp_path)).returncode == 2
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").write_text("")
    words = [ullage(), "record", "--out", tmp_path / "full", "--", "true"]
    assert subprocess.run(words, capture_output=True, env=environment_of(tmp_path)).returncode == 2


LATE_TOKENS = """
import torch, ullage
model = torch.nn.Linear(64, 64, device="cuda")
optimizer = torch.optim.SGD(model.parameters())
with ullage.record("late", model=model, optimizer=optimizer) as run:
    for step in range(1, 7):
        model(torch.ones(4, 64, device="cuda")).sum().backward()
        optimizer.step()
        if step != 6: run.tokens(100)
"""


def test_a_step_without_its_tokens_counts_for_no_rate(tmp_path):
    run(tmp_path, sys.executable, "-c", LATE_TOKENS)
    directory = only_run(tmp_path)
    result = result_of(tmp_path, directory)
    ends = [m["time_ns"] for m in of_kind(directory, "mark") if m["name"] == "optimizer_end"]
    assert len(ends) == 6 and result["time"]["steps"] == 3 and result["throughput"]["tokens"] == 200  # of steps 4 and 5
    assert result["throughput"]["tokens_per_second"] == pytest.approx(200e9 / (ends[4] - ends[2]))


def test_times_and_rates_are_metrics_with_budgets(tmp_path):
    run(tmp_path, "record_loop.py", "recorded", 6)
    directory = only_run(tmp_path)
    result = result_of(tmp_path, directory)
    checked = run(tmp_path, ullage(), "check", directory, "--budget", "step_time=1h,tokens_per_second=1000000000000", "--json", check=False)
    assert checked.returncode == 1
    time, rate = json.loads(checked.stdout)["checks"]
    assert time["unit"] == "microseconds" and time["status"] == "ok" and rate["status"] == "over"
    assert abs(time["value"] - result["time"]["seconds"] * 1e6) <= 1
    assert abs(rate["value"] - result["throughput"]["tokens_per_second"]) <= 1


GROWS_WHILE_IT_IS_LOOKED_AT = """
import torch, ullage
torch.ones(1, device="cuda")
with ullage.record("loop", phases=None, interval=0.001) as run:
    from ullage_hook.recorder import nvml
    kept, left = [], TIMES
    look = nvml.Nvml.process_bytes

    def late(self):
        if len(kept) < left:
            kept.append(torch.empty(30 << 20, dtype=torch.uint8, device="cuda"))
        return look(self)

    nvml.Nvml.process_bytes = late
    for step in range(2):
        with run.phase("forward"):
            torch.ones(1 << 20, device="cuda")
        run.step()
    import time
    while len(kept) < left:
        time.sleep(0.01)
"""


@pytest.mark.parametrize("times", [1, 2, 5])
def test_memory_that_grows_while_the_device_is_looked_at_is_nobody_elses(times, tmp_path):
    """The driver gives a segment before PyTorch counts it."""
    outside = []
    for grown in (0, times):
        folder = tmp_path / str(grown)
        folder.mkdir()
        run(folder, sys.executable, "-c", GROWS_WHILE_IT_IS_LOOKED_AT.replace("TIMES", str(grown)))
        samples = of_kind(only_run(folder), "sample")
        outside.append({s["process_used_bytes"] - s["reserved_bytes"] for s in samples if "reserved_bytes" in s})
    assert len(outside[0]) == 1 and outside[0] == outside[1]
