# SPDX-License-Identifier: Apache-2.0
"""The recorder is in nobody's way: its failures are counted, killed processes leave readable logs, ranks write side by side."""
import json
import os
import subprocess
import sys

import pytest
from conftest import ROOT, ullage
from recordings import environment_of, of_kind, only_run, record, records_of, result_of, run, runs_in

LOOP = """
import os, signal, sys, torch, ullage
model = torch.nn.Linear(1024, 4096, device="cuda")
optimizer = torch.optim.SGD(model.parameters(), momentum=0.9)
BEFORE
with ullage.record("loop", model=model, optimizer=optimizer, directory=DIRECTORY) as run:
    for step in range(1, 5):
        model(torch.randn(64, 1024, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        run.step()
        INSIDE
print("trained")
"""


def loop(inside="pass", before="", directory="None"):
    return LOOP.replace("INSIDE", inside).replace("BEFORE", before).replace("DIRECTORY", directory)


def test_a_killed_process_leaves_a_readable_log(tmp_path):
    done = run(tmp_path, sys.executable, "-c", loop("if step == 3: os.kill(os.getpid(), signal.SIGKILL)"), check=False)
    assert done.returncode == -9
    directory = only_run(tmp_path)
    assert [m["step"] for m in of_kind(directory, "mark") if m["name"] == "optimizer_end"] == [1, 2, 3]
    shown = run(tmp_path, ullage(), "ledger", directory, check=False)
    assert shown.returncode == 3 and "parameters" in shown.stdout and "was killed" in shown.stdout
    result = json.loads((directory / "run.json").read_text())
    assert result["verdict"] == "failed" and result["steps"] == 3 and result["peak"]["allocated_bytes"] > 0


def test_what_is_cut_is_said_to_be_lost(tmp_path):
    run(tmp_path, sys.executable, "-c", loop())
    directory = only_run(tmp_path)
    log = directory / "marks.jsonl"
    whole = log.read_bytes()
    lines = whole.split(b"\n")
    kept = b"\n".join(lines[:-2]) + b"\n"
    log.write_bytes(kept + lines[-2][:40])
    shown = run(tmp_path, ullage(), "ledger", directory, check=False)
    assert shown.returncode == 3 and "the 40 bytes from there on are lost" in shown.stdout
    result = json.loads((directory / "run.json").read_text())
    assert result["recording"]["lost_bytes"] == 40 and result["steps"] == 4 and result["evidence"]["partial"]


def test_a_running_recording_is_shown_and_not_settled(tmp_path):
    script = loop("step == 2 and (print('now', flush=True), sys.stdin.readline())")
    process = subprocess.Popen([sys.executable, "-c", script], env=environment_of(tmp_path), cwd=tmp_path, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout.readline() == "now\n"
        directory = only_run(tmp_path)
        shown = run(tmp_path, ullage(), "ledger", directory, check=False)
        assert shown.returncode == 3 and "still runs" in shown.stdout and not (directory / "run.json").exists()
        process.communicate("go\n", timeout=60)
        assert process.returncode == 0 and result_of(tmp_path, directory)["steps"] == 4
    finally:
        process.kill()


FULL_DISK = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (6000, resource.RLIM_INFINITY))"


def test_a_full_disk_costs_the_record_and_nothing_else(tmp_path):
    done = run(tmp_path, sys.executable, "-c", loop(before=FULL_DISK))
    assert done.stdout == "trained\n"
    assert done.stderr.count("ullage: the recorder failed in writing marks.jsonl") == 1
    directory = only_run(tmp_path)
    assert len(records_of(directory)) > 3 and (directory / "marks.jsonl").stat().st_size <= 6000
    assert run(tmp_path, ullage(), "ledger", directory, check=False).returncode == 3


UNWRITABLE = {
    "a folder that cannot be made": ("'/proc/no-such-place/run'", ""),
    "a file in the way": ("os.path.abspath('file/run')", "open('file', 'w').close()"),
    "a folder that vanishes": ("os.path.abspath('gone')", ""),
}


@pytest.mark.parametrize("case", UNWRITABLE)
def test_a_directory_that_cannot_be_written(case, tmp_path):
    directory, before = UNWRITABLE[case]
    inside = "step == 1 and __import__('shutil').rmtree(run.directory)" if "vanishes" in case else "pass"
    done = run(tmp_path, sys.executable, "-c", loop(inside, before, directory))
    assert done.stdout == "trained\n"
    assert ("ullage: the recorder failed in" in done.stderr) == ("vanishes" not in case)


BROKEN = """
from ullage._recorder import _part
meter = _part("recorder.meter").Meter
whole, calls = meter.read, []
def read(self):
    calls.append(1)
    if 5 < len(calls) < 12: raise ValueError("as expected")
    return whole(self)
meter.read = read
"""


def test_its_own_errors_are_said_once_and_counted(tmp_path):
    done = run(tmp_path, sys.executable, "-c", loop(before=BROKEN))
    assert done.stdout == "trained\n" and done.stderr.count("ValueError('as expected')") == 1
    directory = only_run(tmp_path)
    assert of_kind(directory, "end")[0]["problems"] == 6
    result = result_of(tmp_path, directory)
    assert result["recording"]["problems"] == 6 and any("as expected" in note for note in result["notes"])


def test_values_that_nobody_can_write(tmp_path):
    script = loop("run.tokens('many'); run.tokens(None); run.metrics()").replace("directory=None", "config=object(), history='x'")
    done = run(tmp_path, sys.executable, "-c", script)
    assert done.stdout == "trained\n" and of_kind(only_run(tmp_path), "end")[0]["problems"] == 9


def test_it_can_be_switched_off(tmp_path):
    done = run(tmp_path, sys.executable, "-c", loop("run.tokens(5); run.metrics()"),
               environment=environment_of(tmp_path, ULLAGE_RECORD="off"))
    assert done.stdout == "trained\n" and done.stderr == "" and runs_in(tmp_path) == []


def test_exceptions_are_the_scripts_own(tmp_path):
    done = run(tmp_path, sys.executable, "-c", loop("if step == 2: raise KeyError('mine')"), check=False)
    assert done.returncode == 1 and "KeyError: 'mine'" in done.stderr
    result = result_of(tmp_path, only_run(tmp_path))
    assert result["verdict"] == "failed" and result["exception"] == {"type": "KeyError", "text": "'mine'"}


def test_the_exception_that_ends_an_untouched_script(tmp_path):
    script = loop("pass").replace("with ullage.record", "if True: #").replace("run.step()", "if step == 2: raise KeyError('mine')")
    assert record(tmp_path, sys.executable, "-c", script, check=False).returncode == 1
    assert result_of(tmp_path, only_run(tmp_path))["exception"] == {"type": "KeyError", "text": "'mine'"}


@pytest.mark.slow
def test_kills_at_random_moments_lose_at_most_the_record_being_written(tmp_path):
    bench = [sys.executable, ROOT / "bench/record_cost.py", "--kills", "30", "--marks", "200", "--steps", "5"]
    shown = run(tmp_path, *bench, environment={**os.environ, "ULLAGE_BIN": ullage()}).stdout
    assert "records lost beyond the one being written: 0" in shown and "a mark: " in shown


SPAWNED = """
import os, torch, ullage
def train(rank):
    os.environ.update(MASTER_ADDR="localhost", MASTER_PORT="29611")
    torch.distributed.init_process_group("gloo", rank=rank, world_size=2)
    with ullage.record("spawned") as run:
        run.step()
if __name__ == "__main__":
    torch.multiprocessing.spawn(train, nprocs=2)
"""


def test_ranks_that_only_torch_knows(tmp_path):
    (tmp_path / "spawned.py").write_text(SPAWNED)
    run(tmp_path, sys.executable, tmp_path / "spawned.py")
    assert sorted(path.name for path in only_run(tmp_path).iterdir()) == ["rank-0", "rank-1"]


def start_ranks(folder, ranks, script, port, command=()):
    processes = []
    for rank in ranks:
        environment = environment_of(folder, RANK=rank, WORLD_SIZE=len(ranks), LOCAL_RANK=rank, MASTER_ADDR="localhost",
                                     MASTER_PORT=port)
        processes.append(subprocess.Popen([*command, sys.executable, "-c", script], env=environment, cwd=folder, text=True,
                                          stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    return [process.communicate(timeout=200) + (process.returncode,) for process in processes]


@pytest.mark.parametrize("untouched", [False, True])
def test_ranks_write_side_by_side(untouched, tmp_path):
    script = loop("pass")
    command = ()
    if untouched:
        script = script.replace("with ullage.record", "if True: #").replace("run.step()", "pass")
        command = (ullage(), "record", "--name", "loop", "--")
    for launch in (1, 2):
        ended = start_ranks(tmp_path, [0, 1, 2], script, 29500, command)
        assert [status for _, _, status in ended] == [0, 0, 0], ended
        assert [err.count("ullage: recorded 4 steps") for _, err, _ in ended] == [1, 0, 0]
        groups = runs_in(tmp_path)
        assert len(groups) == launch and "-loop" in groups[-1].name
    for group in groups:
        assert sorted(path.name for path in group.iterdir()) == ["rank-0", "rank-1", "rank-2"]
    result = result_of(tmp_path, groups[0] / "rank-1")
    assert result["recording"]["rank"] == 1 and result["recording"]["world_size"] == 3 and result["steps"] == 4
    shown = run(tmp_path, ullage(), "ledger", groups[0].name)
    assert "rank-0: recording" in shown.stdout
