# SPDX-License-Identifier: Apache-2.0
"""How runs end: out of memory, failures, limits."""
import json
import os
import signal
import subprocess
import sys
import time

from conftest import GiB, SCRIPTS, STEADY_STEPS, ullage


def script(tmp_path, text):
    path = tmp_path / "script.py"
    path.write_text(text)
    return [sys.executable, str(path)]


def test_out_of_memory_says_where_and_how_much(rehearse):
    run = rehearse("oom.py", "--once", flags=["--memory", "4GiB"], check=False)
    assert (run.status, run.verdict) == (1, "oom")
    event = run.out_of_memory[-1]
    assert not event["caught"] and event["phase"] == "load"
    assert "oom.py" in event["line"] and event["text"].startswith("CUDA out of memory")
    assert run.requested_bytes == 4 * GiB
    # inputs and outputs of 4 GiB, and the gradient of the output
    assert run.needed_bytes > 8 * GiB and run.missing_bytes == run.needed_bytes - 4 * GiB
    assert (run.directory / "unlimited" / "snapshot.pickle").exists()
    assert "torch.OutOfMemoryError" in run.stderr


def test_a_caught_oom_is_judged_by_the_end(rehearse):
    run = rehearse("oom.py", flags=["--memory", "4GiB"], check=False)
    assert run.status == 0
    assert [e["caught"] for e in run.out_of_memory] == [True] * len(run.out_of_memory) and run.out_of_memory
    assert "script: batch" in run.stderr or run.steps() > 0


def test_cards_that_would_do(rehearse):
    run = rehearse("oom.py", "--once", flags=["--memory", "4GiB"], check=False)
    cards = {c["short_name"]: c for c in run.cards}
    assert cards["h200"]["verdict"] == "fits" and cards["h200"]["known_by"] == "estimated"
    assert cards["a100-80gb"]["known_by"] == "executed"


def test_a_script_that_fails_keeps_its_traceback_and_status(rehearse, tmp_path):
    run = rehearse(command=script(tmp_path, "import torch\ntorch.zeros(1, device='cuda')\n1 / 0\n"), check=False)
    assert (run.status, run.verdict, run.script_exit_code) == (5, "failed", 1)
    assert "ZeroDivisionError" in run.stderr
    assert run.exception == {"type": "ZeroDivisionError", "text": "division by zero"}


def test_a_script_that_fails_before_it_uses_the_gpu(rehearse, tmp_path):
    run = rehearse(command=script(tmp_path, "print(1\n"), check=False)
    assert (run.status, run.verdict) == (5, "failed")
    assert "needed_at_least_bytes" not in run.result and "peak" not in run.result
    checked = subprocess.run([ullage(), "check", run.directory, "--budget", "needed=1GiB,headroom=1GiB"], capture_output=True, text=True)
    assert checked.returncode == 1 and checked.stdout.count("NOT KNOWN") == 2


def test_a_status_of_its_own_survives(rehearse, tmp_path):
    run = rehearse(command=script(tmp_path, "import sys, torch\ntorch.zeros(1, device='cuda')\nsys.exit(7)\n"), check=False)
    assert (run.status, run.script_exit_code) == (5, 7)


def test_the_time_limit(rehearse, tmp_path):
    text = "import time, torch\ntorch.zeros(1, device='cuda')\ntime.sleep(60)\n"
    run = rehearse(command=script(tmp_path, text), flags=["--time-limit", "4s"], check=False)
    assert (run.status, run.verdict) == (6, "timeout")


def test_interrupting_leaves_no_process_and_no_result(tmp_path):
    marker = tmp_path / "started"
    command = script(tmp_path, f"import time, torch\nopen({str(marker)!r}, 'w').close()\ntime.sleep(60)\n")
    words = [ullage(), "rehearse", "--gpu", "t4", "--out", str(tmp_path / "run"), "--", *command]
    # a shell's background job, as this test may be, starts with SIGINT ignored
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    while not marker.exists():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    assert not (tmp_path / "run" / "run.json").exists()
    left = subprocess.run(["pgrep", "-f", str(tmp_path / "script.py")], capture_output=True, text=True).stdout
    assert left == ""


def test_a_command_that_is_not_found(rehearse):
    run = rehearse(command=["no-such-command-anywhere"], check=False)
    assert run.status == 2 and "command not found" in run.stderr


def test_a_gpu_is_needed_and_suggested(tmp_path):
    words = [ullage(), "rehearse", "--", "python", "x.py"]
    environment = {k: v for k, v in os.environ.items() if k != "ULLAGE_GPU"}
    process = subprocess.run(words, capture_output=True, text=True, env=environment)
    assert process.returncode == 2 and "a100-40gb" in process.stderr
    process = subprocess.run([*words[:2], "--gpu", "h100-80g", "--", "x"], capture_output=True, text=True)
    assert process.returncode == 2 and "h100-80gb" in process.stderr


def test_a_gpu_without_code_in_the_wheel_is_refused_before_the_start(rehearse):
    run = rehearse("mlp.py", gpu="v100-16gb", check=False)
    assert run.status == 7
    assert "sm_75" in run.stderr and "script: start" not in run.stderr


def fake_python(tmp_path, torch_version=None, cuda="None"):
    """A Python of its own folder with a torch that is only a version file."""
    python = tmp_path / "python3"
    site = tmp_path / "packages"
    site.mkdir()
    if torch_version:
        (site / "torch").mkdir()
        (site / "torch" / "__init__.py").write_text("")
        (site / "torch" / "version.py").write_text(f"__version__ = '{torch_version}'\ncuda: str = {cuda}\n")
    python.write_text(f"#!/bin/sh\nPYTHONPATH={site} exec /usr/bin/python3 -S \"$@\"\n")
    python.chmod(0o755)
    return str(python)


def test_no_torch(rehearse, tmp_path):
    run = rehearse(command=[fake_python(tmp_path), "x.py"], check=False)
    assert run.status == 7 and "no torch" in run.stderr and "--no-deps" in run.stderr


def test_a_torch_without_cuda(rehearse, tmp_path):
    run = rehearse(command=[fake_python(tmp_path, "2.11.0+cpu"), "x.py"], check=False)
    assert run.status == 7 and "without CUDA" in run.stderr and "no GPU" in run.stderr


def test_an_older_cuda(rehearse, tmp_path):
    run = rehearse(command=[fake_python(tmp_path, "2.6.0", "'12.4'"), "x.py"], check=False)
    assert run.status == 7 and "CUDA 12.4" in run.stderr


def test_a_command_that_never_uses_the_gpu(rehearse):
    run = rehearse(command=["true"], check=False)
    assert run.status == 7 and "no process of the command" in run.stderr


def test_stdout_is_the_result_alone(rehearse):
    run = rehearse("mlp.py")
    assert json.loads(run.stdout) == json.loads((run.directory / "run.json").read_text())
    assert "script: start" in (run.directory / "stdout.log").read_text()


def test_a_run_that_had_to_give_memory_back(rehearse):
    run = rehearse("retry.py", flags=["--memory", "4GiB", "--headroom", "0%"])
    assert run.verdict == "fits"
    assert run.peak["reserved_bytes"] == int(2.5 * GiB)
    assert run.needed_reserved_bytes == int(4.5 * GiB)
    assert any("give cached memory back" in note for note in run.notes)


def test_a_static_runtime_is_told_so(rehearse):
    run = rehearse("static_runtime.py")
    assert "statically linked CUDA runtime" in run.stderr
    assert any("statically linked" in note for note in run.notes)


def test_without_recording_where_recording_makes_a_script_fail(rehearse, tmp_path):
    text = ("import torch\nx = torch.zeros(1 << 20, device='cuda')\n"
            "if torch.cuda.memory._snapshot()['segments'][0]['blocks'][0].get('frames') or "
            "torch.cuda.memory._record_memory_history.__module__ != 'torch.cuda.memory':\n"
            "    raise SystemError('recording')\n")
    run = rehearse(command=script(tmp_path, text), check=False)
    assert run.status == 0 and any("without PyTorch's memory history" in note for note in run.notes)
    assert run.peak["allocated_bytes"] == 4 << 20


def test_a_history_that_overflowed_is_said(rehearse):
    run = rehearse("mlp.py", environment={"ULLAGE_MAX_ENTRIES": "20"}, check=False)
    full = rehearse("mlp.py")
    assert run.status == 0 and run.evidence["partial"] and run.evidence["missing"]
    assert run.peak["allocated_bytes"] == full.peak["allocated_bytes"]


def test_a_full_disk_ends_neither_the_script_nor_quietly(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", str(disk)], capture_output=True).returncode:
        import pytest

        pytest.skip("only root can mount a small disk")
    try:
        words = [ullage(), "rehearse", "--gpu", "t4", "--out", str(disk / "run"), "--", sys.executable,
                 str(SCRIPTS / "mlp.py")]
        process = subprocess.run(words, capture_output=True, text=True)
        assert process.returncode == 4, process.stdout + process.stderr
        assert "script: finally" in process.stderr
        assert not (disk / "run" / "run.json").exists()
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_an_abort_at_exit_after_the_work_is_a_note(rehearse, tmp_path):
    text = ("import ctypes, torch\nlibc = ctypes.CDLL(None)\ntorch.zeros(1, device='cuda')\n"
            "libc.__cxa_atexit(ctypes.cast(libc.abort, ctypes.c_void_p), None, None)\n")
    run = rehearse(command=script(tmp_path, text), check=False)
    assert run.status == 0 and any("aborted" in note for note in run.notes)


def test_out_of_memory_in_backward(rehearse, tmp_path):
    """The allocator's observer runs on autograd's own thread, which has no Python frame."""
    text = ("import torch\nm = torch.nn.Linear(16384, 16384, device='cuda')\n"
            "m(torch.randn(16, 16384, device='cuda')).sum().backward()\n")
    for stacks in ("python", "none"):
        run = rehearse(command=script(tmp_path, text), flags=["--memory", "2GiB", "--stacks", stacks], check=False)
        assert (run.status, run.verdict) == (1, "oom")
        assert run.out_of_memory[-1]["phase"] == "backward" and "script.py:3" in run.out_of_memory[-1]["line"]
        assert run.needed_bytes > 2 * GiB


def test_a_wrapped_out_of_memory(rehearse, tmp_path):
    text = ("import torch\ntry:\n    torch.empty(1 << 40, dtype=torch.uint8, device='cuda')\n"
            "except torch.OutOfMemoryError as error:\n    {}\n")
    wrapped = rehearse(command=script(tmp_path, text.format("raise RuntimeError('no') from error")), check=False)
    left = rehearse(command=script(tmp_path, text.format("import sys; sys.exit(3)")), check=False)
    other = rehearse(command=script(tmp_path, text.format("pass") + "open('/nonexistent/data')\n"), check=False)
    assert [wrapped.verdict, left.verdict, other.verdict] == ["oom", "oom", "failed"]
    assert other.out_of_memory[0]["caught"]


def test_a_replaced_excepthook(rehearse, tmp_path):
    text = ("import sys, torch, traceback\nsys.excepthook = lambda *a: traceback.print_exception(*a)\n"
            "torch.zeros(1, device='cuda')\n{}\n")
    oom = rehearse(command=script(tmp_path, text.format("torch.empty(1 << 40, device='cuda')")), check=False)
    other = rehearse(command=script(tmp_path, text.format("1 / 0")), check=False)
    assert (oom.verdict, other.verdict) == ("oom", "failed")


def test_training_in_a_child_process(rehearse, tmp_path):
    """Forked or spawned, the run is about the process that trains, also when it dies of its memory."""
    text = ("import sys, torch, torch.multiprocessing as mp\nsys.argv = ['mlp.py', '--steps', '6']\n"
            f"def train():\n    exec(compile(open({str(SCRIPTS / 'mlp.py')!r}).read(), 'mlp.py', 'exec'), {{}})\n"
            "if __name__ == '__main__':\n    context = mp.get_context('METHOD')\n"
            "    child = context.Process(target=train)\n    child.start()\n    child.join()\n")
    for method in ("fork", "spawn"):
        run = rehearse(command=script(tmp_path, text.replace("METHOD", method)), check=False)
        assert (run.status, run.steps()) == (0, STEADY_STEPS), run.stderr
        small = rehearse(command=script(tmp_path, text.replace("METHOD", method)), flags=["--memory", "480MiB"], check=False)
        assert (small.status, small.verdict) == (1, "oom"), small.stdout


def test_a_process_that_only_looked_gives_the_run_up(rehearse, tmp_path):
    text = ("import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import torch; torch.zeros(4, device=\"cuda\")'])\n"
            f"exec(compile(open({str(SCRIPTS / 'mlp.py')!r}).read(), 'mlp.py', 'exec'))\n")
    run = rehearse(command=script(tmp_path, text), check=False)
    assert (run.status, run.steps()) == (0, STEADY_STEPS)


def test_memory_after_the_stop_does_not_count(rehearse, tmp_path):
    text = ("import torch\nm = torch.nn.Linear(512, 512).cuda()\no = torch.optim.SGD(m.parameters(), lr=.1)\n"
            "try:\n    for _ in range(9):\n        m(torch.randn(8, 512, device='cuda')).sum().backward()\n"
            "        o.step()\n        o.zero_grad()\nfinally:\n    big = torch.zeros(1 << 29, device='cuda')\n")
    run = rehearse(command=script(tmp_path, text))
    assert run.ledger["bytes"] == run.peak["used_bytes"] < 1 * GiB


def test_the_end_after_the_stop_is_a_note(rehearse, tmp_path):
    text = ("import sys, torch\nm = torch.nn.Linear(64, 64).cuda()\no = torch.optim.SGD(m.parameters(), lr=.1)\n"
            "try:\n    while True:\n        m(torch.randn(8, 64, device='cuda')).sum().backward()\n        o.step()\n"
            "except BaseException:\n    sys.exit(9)\n")
    run = rehearse(command=script(tmp_path, text))
    assert run.status == 0 and any("status 9" in note for note in run.notes)


def test_what_cannot_be_judged_is_no_fit(rehearse):
    isolated = rehearse(command=[sys.executable, "-I", str(SCRIPTS / "mlp.py"), "--steps", "2"], check=False)
    assert isolated.status == 7 and "-I" in isolated.stderr
    uncached = rehearse("mlp.py", environment={"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}, check=False)
    assert uncached.status == 7 and "caching allocator" in uncached.stderr
    other = rehearse("mlp.py", environment={"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}, check=False)
    assert other.status == 7 and "cudaMallocAsync" in other.stderr
    limited = rehearse(command=["bash", "-c", f"ulimit -v 20000000; exec {sys.executable} {SCRIPTS / 'mlp.py'}"], check=False)
    assert limited.status == 7 and "ulimit -v" in limited.stderr


def test_a_process_killed_while_it_loads_leaves_what_it_knew(rehearse, tmp_path):
    text = "import os, torch\nx = torch.zeros(1 << 20, device='cuda')\nos.kill(os.getpid(), 9)\n"
    run = rehearse(command=script(tmp_path, text), flags=["--stacks", "none"], check=False)
    assert (run.status, run.verdict) == (5, "failed")
    assert "hook did not run" not in run.stdout


def test_leaving_by_the_back_door(rehearse, tmp_path):
    text = "import os, torch\nx = torch.zeros(1 << 20, device='cuda')\nos._exit(0)\n"
    run = rehearse(command=script(tmp_path, text))
    assert run.peak["allocated_bytes"] == 4 << 20 and run.needed_bytes > 400 << 20


def test_a_path_that_is_no_utf8(rehearse, tmp_path):
    import os as system

    folder = system.fsencode(str(tmp_path)) + b"/caf\xe9"
    system.mkdir(folder)
    with open(folder + b"/mlp.py", "w") as file:
        file.write((SCRIPTS / "mlp.py").read_text())
    run = rehearse(command=[sys.executable, folder + b"/mlp.py"], check=False)
    assert (run.status, run.steps()) == (0, STEADY_STEPS)
    assert any("snapshot could not be written" in what for what in run.evidence["missing"]), "PyTorch itself cannot"


def test_a_device_smaller_than_its_context(rehearse):
    run = rehearse("mlp.py", flags=["--memory", "1MiB"], check=False)
    assert run.status == 2 and "context" in run.stderr
