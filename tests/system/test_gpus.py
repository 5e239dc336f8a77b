# SPDX-License-Identifier: Apache-2.0
"""`ullage gpus`: rates and links, GPUs of one's own, this machine."""
import json
import os
import subprocess
from pathlib import Path

import pytest

BIN = os.environ.get("ULLAGE_BIN", "")
pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "my_gpu.json"
STAND_INS = Path(BIN).resolve().parent.parent / "lib" / "ullage" / "cuda13"
PRECISIONS = ["fp64", "fp32", "tf32", "bf16", "fp16", "fp8"]


def ullage(*arguments, **options):
    return subprocess.run([BIN, *map(str, arguments)], capture_output=True, text=True, timeout=30, **options)


def validated(text, schema):
    jsonschema = pytest.importorskip("jsonschema")
    result = json.loads(text)
    jsonschema.validate(result, json.loads((ROOT / "docs" / "schemas" / schema).read_text(encoding="utf-8")))
    return result


def rows(table):
    """Lines of the list by name, as {column: cell} of the columns whose cells are single words."""
    head, *lines = table.split("\n\n")[0].splitlines()
    words = head.split()
    assert words[0] == "name" and words[-2:] == ["CUDA", "name"]
    # "39.39 GiB" is two words under one title.
    titles = [word for title in words[:-2] for word in ((title, "unit") if title == "memory" else (title,))]
    return {line.split()[0]: dict(zip(titles, line.split())) for line in lines}


def test_the_table_has_dense_rates_and_links():
    table = ullage("gpus").stdout
    h100 = rows(table)["h100-80gb"]
    assert [h100[name] for name in PRECISIONS[1:]] == ["67", "494.5", "989", "989", "1979"]
    assert (h100["GB/s"], h100["host"], h100["NVLink"]) == ("3350", "63", "450")
    assert rows(table)["t4"]["bf16"] == "-"
    assert "dense" in table and "one direction" in table


def test_every_rate_is_there_or_says_why():
    gpus = validated(ullage("gpus", "--json").stdout, "gpus.schema.json")["gpus"]
    names = [f"{name}_peak" for name in PRECISIONS] + ["memory_bandwidth", "pcie_bandwidth", "nvlink_bandwidth"]
    for gpu in gpus:
        for name in names:
            quantity = gpu["quantities"].get(name)
            assert (quantity is None) == (name in gpu["absent"]), (gpu["short_name"], name)
            if quantity and name.endswith("_peak"):
                assert quantity["dense"] is True and quantity["unit"] == "FLOP/s"
        assert gpu["host_link"].startswith("PCIe ")


def test_a_missing_rate_says_why_in_the_detail():
    detail = ullage("gpus", "a100-40gb").stdout
    assert "fp8_peak: compute capability 8.0 has no fp8 units" in detail
    assert "link to other GPUs: NVLink 3" in detail


def test_a_gpu_of_ones_own_is_listed_and_planned_for():
    listed = rows(ullage("gpus", "--gpu-file", EXAMPLE).stdout)
    assert list(listed)[-1] == "lab-card" and listed["lab-card"]["bf16"] == "256"
    gpu = validated(ullage("gpus", "lab-card", "--gpu-file", EXAMPLE, "--json").stdout, "gpus.schema.json")["gpus"][0]
    assert gpu["capacity_bytes"] == int(31.5 * 2**30)
    assert gpu["quantities"]["threads_per_sm"]["known_by"] == "assumed"
    plan = ullage("plan", "opt-1.3b", "--gpu", "lab-card", "--gpu-file", EXAMPLE, "--json")
    point = validated(plan.stdout, "plan.schema.json")
    assert plan.returncode == 0 and point["device"]["short_name"] == "lab-card"
    assert point["device"]["capacity_bytes"] == gpu["capacity_bytes"]
    table = ullage("plan", "opt-1.3b", "--gpu", "a100-40gb,lab-card", "--gpu-file", EXAMPLE).stdout
    assert "lab-card" in table and "a100-40gb" in table
    assert "lab-card" in ullage("plan", "opt-1.3b", "--gpu", "all", "--gpu-file", EXAMPLE).stdout


def test_a_printed_gpu_under_another_name_is_read_back(tmp_path):
    printed = json.loads(ullage("gpus", "l40s", "--json").stdout)
    printed["gpus"][0]["short_name"] = "l40s-at-home"
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(printed))
    again = json.loads(ullage("gpus", "l40s-at-home", "--gpu-file", file, "--json").stdout)
    assert again == printed


@pytest.mark.parametrize("change, field, status", [
    ({"compute_capability": None}, "compute_capability", 3),
    ({"quantities": {"sm_count": 8}}, "quantities.capacity", 3),
    ({"quantities": {"sm_count": 8, "capacity": "24"}}, "quantities.capacity", 3),
    ({"short_name": "t4"}, "short_name", 3),
    ({"quantities": {"sm_count": 132, "capacity": "80GiB", "fp16_peak": "1979 TFLOP/s"}}, "quantities.fp16_peak", 3),
])
def test_a_wrong_field_is_named(tmp_path, change, field, status):
    card = {"short_name": "mine", "compute_capability": "9.0", "quantities": {"sm_count": 8, "capacity": "24GiB"}}
    card = {key: value for key, value in {**card, **change}.items() if value is not None}
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(card))
    for command in (["gpus"], ["plan", "opt-1.3b", "--gpu", "mine"]):
        done = ullage(*command, "--gpu-file", file)
        assert done.returncode == status and done.stdout == ""
        assert f"{file}: {field}" in done.stderr and "expected" in done.stderr


def test_files_that_are_not_there_or_without_a_name():
    assert ullage("gpus", "--gpu-file", "/nowhere.json").returncode == 4
    done = ullage("plan", "opt-1.3b", "--gpu-file", EXAMPLE)
    assert done.returncode == 2 and "--gpu NAME" in done.stderr
    done = ullage("plan", "opt-1.3b", "--gpu-file", EXAMPLE, "--gpu", "lab-crad")
    assert done.returncode == 2 and "did you mean 'lab-card'" in done.stderr


def test_a_rehearsal_takes_it_too_and_names_a_missing_rate(tmp_path):
    done = ullage("rehearse", "--gpu", "lab-card", "--gpu-file", EXAMPLE, "--", "no-such-program")
    assert done.returncode == 2 and "command not found" in done.stderr, "the GPU itself is taken"
    file = tmp_path / "mine.json"
    file.write_text('{"short_name": "mine", "compute_capability": "9.0", "quantities": {"sm_count": 8, "capacity": "24GiB"}}')
    done = ullage("rehearse", "--gpu", "mine", "--gpu-file", file, "--", "true")
    assert done.returncode == 2 and "quantities.memory_bandwidth" in done.stderr
    done = ullage("rehearse", "--gpu", "a100", "--", "true")
    assert done.returncode == 2 and "--gpu a100" in done.stderr and "'a100-40gb'" in done.stderr


def broken_library(folder):
    (folder / "libnvidia-ml.so.1").write_bytes(b"no library")
    return {**os.environ, "LD_LIBRARY_PATH": str(folder)}


def test_without_nvml_one_line_says_so_and_the_rest_is_there(tmp_path):
    environment = broken_library(tmp_path)
    done = ullage("gpus", "--here", env=environment, cwd=tmp_path)
    assert done.returncode == 0 and done.stderr == ""
    first, empty, *rest = done.stdout.splitlines()
    assert first.startswith("no GPU can be seen: ") and "libnvidia-ml.so.1" in first and empty == ""
    assert [line.split()[0] for line in rest] == ["processor", "memory", "disk"]
    assert str(tmp_path) in rest[2]
    result = validated(ullage("gpus", "--here", "--json", env=environment, cwd=tmp_path).stdout, "inventory.schema.json")
    assert result["nvml"]["available"] is False and result["gpus"] == []
    kib = int(Path("/proc/meminfo").read_text().split("MemTotal:")[1].split()[0])
    assert result["memory"]["total_bytes"] == kib * 1024
    assert result["disk"]["total_bytes"] == os.statvfs(tmp_path).f_blocks * os.statvfs(tmp_path).f_frsize
    assert result["processor"]["usable_threads"] <= len(os.sched_getaffinity(0))


@pytest.mark.skipif(not STAND_INS.exists(), reason="no stand-ins beside the program")
@pytest.mark.parametrize("name, total, short_name, exact", [
    ("NVIDIA H200", 150109880320, "h200", True),
    ("NVIDIA GeForce RTX 4060 Ti", 8 << 30, "rtx4060ti-8gb", True),
    ("NVIDIA H20", 150 << 30, "h20-96gb", False),
    ("NVIDIA Something New", 80 << 30, "a800-80gb", False),
])
def test_gpus_of_this_machine_through_the_stand_in(name, total, short_name, exact):
    environment = {**os.environ, "LD_LIBRARY_PATH": str(STAND_INS),
                   "ULLAGE_VGPU_PROFILE": f"name={name};total_bytes={total};context_bytes={300 << 20};cc_major=8;cc_minor=0"}
    text = ullage("gpus", "--here", env=environment)
    assert text.returncode == 0 and name in text.stdout and ("nearest" in text.stdout) != exact
    result = validated(ullage("gpus", "--here", "--json", env=environment).stdout, "inventory.schema.json")
    gpu, = result["gpus"]
    assert (gpu["name"], gpu["memory_bytes"], gpu["used_bytes"]) == (name, total, 300 << 20)
    assert gpu["catalogue"]["short_name"] == short_name and gpu["catalogue"]["exact"] is exact
    assert result["nvml"]["available"] is True and result["nvml"]["cuda"] == "13.0"


def test_here_takes_nothing_else():
    for extra in (["t4"], ["--gpu-file", EXAMPLE]):
        assert ullage("gpus", "--here", *extra).returncode == 2
