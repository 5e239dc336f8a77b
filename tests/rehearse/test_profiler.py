# SPDX-License-Identifier: Apache-2.0
"""torch.profiler in a rehearsal: kernels, copies and calls with simulated times, and a trace that says so."""
import collections
import json
import sys

import pytest

from conftest import rehearse_in, WORKSPACES_STAY

# A100 profile, cost model of src/cost/kernel: 2 x 256 x 1024 x 4096 operations at 0.6 of 312e12 a second, plus 2 us
GEMM_US = 2 * 256 * 1024 * 4096 / (312e12 * 0.6) * 1e6 + 2


@pytest.fixture(scope="module")
def traced(tmp_path_factory):
    """Two rehearsals of the same script: (run, trace, table rows) each."""
    made = []
    for i in range(2):
        folder = tmp_path_factory.mktemp(f"trace{i}")
        run = rehearse_in(folder, "profiled_kernels.py", folder, flags=["--steps", "all"])
        trace = json.loads((folder / "trace.json").read_text())
        made.append((run, trace, json.loads((folder / "rows.json").read_text())))
    return made


def events(trace, category):
    return [e for e in trace["traceEvents"] if e.get("cat") == category]


def durations(trace):
    """Kernel names with their durations in the order of the device; microseconds."""
    kernels = sorted(events(trace, "kernel"), key=lambda e: e["ts"])
    return [(k["name"], k["dur"]) for k in kernels]


def test_the_trace_says_that_its_times_are_simulated(traced):
    for run, trace, _ in traced:
        assert "simulated" in trace["ullage"]
        assert any("torch.profiler" in note and "simulated" in note for note in run.notes)


def test_kernels_copies_fills_and_calls_are_there(traced):
    _, trace, _ = traced[0]
    count = collections.Counter(e.get("cat") for e in trace["traceEvents"])
    assert count["kernel"] >= 15 and count["gpu_memcpy"] >= 2 and count["gpu_memset"] >= 1, count
    assert count["cuda_runtime"] >= count["kernel"] and count["gpu_user_annotation"] >= 1, count
    names = {e["name"] for e in events(trace, "cuda_runtime")}
    assert {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaStreamSynchronize", "cudaDeviceSynchronize"} <= names, names
    kinds = {e["name"] for e in events(trace, "gpu_memcpy")}
    assert {"Memcpy HtoD (Pageable -> Device)", "Memcpy DtoH (Device -> Pinned)"} <= kinds, kinds
    upload = next(e for e in events(trace, "gpu_memcpy") if "HtoD" in e["name"])
    assert upload["args"]["bytes"] == 256 * 1024 * 4


def test_every_kernel_is_linked_to_its_call_and_its_operator(traced):
    _, trace, _ = traced[0]
    operators = {e["args"]["External id"] for e in events(trace, "cpu_op") if "External id" in e.get("args", {})}
    calls = {e["args"]["correlation"] for e in events(trace, "cuda_runtime")}
    for kernel in events(trace, "kernel"):
        assert kernel["args"]["correlation"] in calls, kernel
        assert kernel["args"]["External id"] in operators, kernel


def test_work_on_a_stream_does_not_overlap_and_lies_in_the_capture(traced):
    _, trace, _ = traced[0]
    work = sorted((e for c in ("kernel", "gpu_memcpy", "gpu_memset") for e in events(trace, c)), key=lambda e: e["ts"])
    for before, after in zip(work, work[1:]):
        assert before["ts"] + before["dur"] <= after["ts"] + 0.01, (before, after)
    whole = next(e for e in trace["traceEvents"] if e.get("cat") == "Trace")
    assert whole["ts"] <= work[0]["ts"] and work[-1]["ts"] + work[-1]["dur"] <= whole["ts"] + whole["dur"]


def test_durations_are_positive_plausible_and_the_same_in_every_run(traced):
    first, second = durations(traced[0][1]), durations(traced[1][1])
    assert [name for name, _ in first] == [name for name, _ in second]
    for (name, a), (_, b) in zip(first, second):
        assert a > 1 and a == pytest.approx(b, rel=1e-3, abs=0.003), name
    products = [duration for name, duration in first if name == "simulated_gemm_fp32"]
    assert products == pytest.approx([GEMM_US] * 5, rel=1e-3)


def test_the_table_gives_device_time_and_memory_to_operators(traced):
    _, trace, rows = traced[0]
    by_name = collections.defaultdict(list)
    for row in rows:
        by_name[row["name"]].append(row)
    assert sum(r["device_us"] for r in by_name["aten::addmm"]) == pytest.approx(2 * GEMM_US, rel=1e-3)
    assert sum(r["device_us"] for r in by_name["aten::mm"]) == pytest.approx(3 * GEMM_US, rel=1e-3)
    # The two outputs of the linear layers. With stacks, torch 2.15 counts them with the hook's Python function instead.
    assert not WORKSPACES_STAY or sum(r["device_memory"] for r in by_name["aten::addmm"]) == 256 * (1024 + 4096) * 4
    assert any("[256, 1024]" in r["shapes"] for r in by_name["aten::addmm"])
    assert "Self CUDA time total" in traced[0][0].stderr and "Self CUDA Mem" in traced[0][0].stderr


def test_schedules_with_several_cycles(rehearse, tmp_path):
    run = rehearse("profiled_kernels.py", tmp_path, "--schedule", flags=["--steps", "all"])
    assert "script: cycles 2" in run.stderr
    counts = []
    for cycle in range(2):
        trace = json.loads((tmp_path / f"cycle{cycle}.json").read_text())
        assert "simulated" in trace["ullage"]
        products = [k for k in events(trace, "kernel") if k["name"] == "simulated_gemm_fp32"]
        counts.append((len(products), len(events(trace, "kernel")), len(events(trace, "gpu_memcpy"))))
    # two active steps of five products each, in both cycles alike
    assert counts[0] == counts[1] and counts[0][0] == 10, counts


def test_the_hooks_own_profiler_is_not_heard(rehearse):
    """PyTorch's library warns of a block that is older than the profiler."""
    script = ("import sys, torch\nold = torch.empty(5)\ntorch.ones(1, device='cuda')\ndel old\n"
              "print('script: end', file=sys.stderr)\n")
    run = rehearse(command=[sys.executable, "-c", script], check=False)
    assert (run.directory / "stderr.log").read_text() == "script: end\n"
