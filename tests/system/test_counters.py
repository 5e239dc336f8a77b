# SPDX-License-Identifier: Apache-2.0
"""Files of export_memory_timeline and logs of nvidia-smi, against a few lines of Python; damaged ones."""
import gzip
import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = os.environ.get("ULLAGE_BIN", "")
pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
ROWS = ROOT / "tests" / "data" / "traces" / "hta_memory_timeline.raw.gz"
IDS = ["parameters", "optimizer_state", "inputs", "temporaries", "activations", "gradients", "autograd_detail", "unattributed"]
MiB = 1 << 20


def run(command, *arguments, status=0):
    done = subprocess.run([BIN, command, *map(str, arguments)], capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stderr + done.stdout
    return done


def ledger(*arguments, **options):
    made = json.loads(run("ledger", *arguments, "--json", **options).stdout)
    lines = {line["id"]: line["bytes"] for line in made["ledger"]["children"]}
    assert sum(lines.values()) == made["ledger"]["bytes"]
    return made, lines


def peak_of(rows):
    """The highest sum over all categories, and what each holds then."""
    held, best = [0] * len(IDS), (0, [])
    for _, _, size, category in rows:
        held[category] += size
        if sum(held) > best[0]:
            best = sum(held), list(held)
    return best


def test_the_rows_of_a_published_timeline():
    peak, held = peak_of(json.loads(gzip.open(ROWS).read()))
    made, lines = ledger(ROWS)
    assert made["peak"] == {"allocated_bytes": peak}
    assert lines == dict(zip(IDS, held))
    assert run("explain", ROWS).stdout.startswith(f"{peak / (1 << 30):.2f} GiB allocated at the peak: activations ")


def sums_of(rows):
    """The other layout, as torch.profiler makes it of the same rows."""
    times, sizes = [], []
    for time, _, size, category in rows:
        time = time // 1000 if time >= 0 else time
        if not times or times[-1] != time:
            times.append(time)
            sizes.append(list(sizes[-1]) if sizes else [0] * (len(IDS) + 1))
        sizes[-1][category + 1] += size
    return [times, sizes]


@pytest.mark.parametrize("count", [1, 3, 4, 5, 5000])
def test_the_sums_of_the_same_timeline(tmp_path, count):
    times, sizes = sums_of(json.loads(gzip.open(ROWS).read())[:count])
    path = tmp_path / "timeline.json"
    path.write_text(json.dumps([times, sizes]))
    made, lines = ledger(path)
    best = max(range(len(times)), key=lambda i: sum(sizes[i]))
    assert made["peak"]["allocated_bytes"] == sum(sizes[best])
    assert lines == dict(zip(IDS, sizes[best][1:]))


def test_a_cut_timeline_is_partial(tmp_path):
    text = gzip.open(ROWS).read()
    path = tmp_path / "cut.raw.json"
    path.write_bytes(text[:len(text) // 2])
    whole = text[:len(text) // 2]
    rows = json.loads(whole[:whole.rindex(b"]") + 1] + b"]")
    made, lines = ledger(path, status=3)
    assert made["evidence"]["partial"] and f"byte {len(whole)}" in made["evidence"]["missing"][0]
    assert made["peak"]["allocated_bytes"] == peak_of(rows)[0]
    packed = tmp_path / "cut.raw.json.gz"
    packed.write_bytes(ROWS.read_bytes()[:40000])
    assert ledger(packed, status=3)[0]["evidence"]["missing"][0].endswith("byte 40000)")


def test_the_page_holds_only_a_picture(tmp_path):
    page = tmp_path / "timeline.html"
    page.write_text('<html>\n<head><meta charset="utf-8" /><title>t</title></head>\n<body>\n'
                    "  <img src='data:image/png;base64,iVBORw0KGgo='>\n</body>\n</html>")
    assert "export_memory_timeline(\"timeline.json\")" in run("explain", page, status=3).stderr


GPUS = """timestamp, index, uuid, name, memory.used [MiB], memory.total [MiB], utilization.gpu [%]
2026/01/31 12:34:56.789, 0, GPU-a, NVIDIA H100 80GB HBM3, 1234 MiB, 81559 MiB, 0 %
2026/01/31 12:34:56.790, 1, GPU-b, NVIDIA H100 80GB HBM3, 514 MiB, 81559 MiB, 0 %
2026/01/31 12:34:57.789, 0, GPU-a, NVIDIA H100 80GB HBM3, 70123 MiB, 81559 MiB, 99 %
2026/01/31 12:34:57.790, 1, GPU-b, NVIDIA H100 80GB HBM3, 514 MiB, 81559 MiB, 0 %
2026/01/31 12:34:58.789, 0, GPU-a, NVIDIA H100 80GB HBM3, 1240 MiB, 81559 MiB, [N/A]
2026/01/31 12:34:58.790, 1, GPU-b, NVIDIA H100 80GB HBM3, 514 MiB, 81559 MiB, 0 %
"""


def test_a_log_of_two_gpus(tmp_path):
    log = tmp_path / "smi.csv"
    log.write_text(GPUS)
    made, lines = ledger(log)
    assert made["peak"] == {"used_bytes": 70123 * MiB} and made["device"] == {"capacity_bytes": 81559 * MiB}
    assert lines == {"floor": 1234 * MiB, "unattributed": (70123 - 1234) * MiB}
    text = run("explain", log).stdout
    assert text.splitlines()[0] == ("GPU 0: at most 68.48 GiB, 3 samples; never below 1.21 GiB: a floor that is there all the "
                                    "time (a context, a driver or other processes, not a leak)")
    assert "GPU 1: constant 514.00 MiB in 3 samples: what is held all the time, a context, a driver or other processes" in text
    assert "leak" not in text.replace("not a leak", "")


def test_a_log_without_units_and_one_without_a_header(tmp_path):
    log = tmp_path / "smi.csv"
    log.write_text(GPUS.replace(" MiB,", ",").replace(" %", ""))
    assert ledger(log)[0]["peak"] == {"used_bytes": 70123 * MiB}
    log.write_text(GPUS.split("\n", 1)[1])
    assert "does not name its fields" in run("explain", log, status=3).stderr


def test_processes_and_missing_values(tmp_path):
    log = tmp_path / "apps.csv"
    log.write_text("timestamp, pid, process_name, used_gpu_memory [MiB]\n"
                   "2026/01/31 12:34:56.789, 77, python, with a comma, 900 MiB\n"
                   "2026/01/31 12:34:56.789, 88, [Not Found], [N/A]\n"
                   "2026/01/31 12:34:57.789, 77, python, with a comma, 2900 MiB\n")
    made, lines = ledger(log)
    assert lines == {"floor": 900 * MiB, "unattributed": 2000 * MiB}
    assert any("1 samples without a value ([N/A]): process 88" in missing for missing in made["evidence"]["missing"])
    assert "process 77 python, with a comma" in run("explain", log).stdout


def test_a_cut_log_is_partial(tmp_path):
    log = tmp_path / "smi.csv"
    log.write_text(GPUS[:-30])
    made, _ = ledger(log, status=3)
    start = GPUS.rindex("2026")
    assert f"byte {start}" in made["evidence"]["missing"][0]


def test_the_memory_events_of_a_trace_without_addresses():
    """The layout of 2021: no totals, no addresses. The peak follows from the sums alone."""
    path = ROOT / "tests" / "data" / "traces" / "kineto_resnet50_profile_memory.json.gz"
    events = [e for e in json.loads(gzip.open(path).read())["traceEvents"]
              if e.get("name") == "[memory]" and e["args"]["Device Type"] == 1]
    now, highest, lowest = 0, 0, 0
    for event in sorted(events, key=lambda e: e["ts"]):
        now += event["args"]["Bytes"]
        highest, lowest = max(highest, now), min(lowest, now)
    made = json.loads(run("ledger", path, "--json", "--by", "kind,operator").stdout)
    assert made["peak"] == {"allocated_bytes": highest - lowest} and made["ledger"]["bytes"] == highest - lowest
    lines = {line["id"]: line for line in made["ledger"]["children"]}
    assert lines["activations"]["bytes"] > 0.95 * made["ledger"]["bytes"]
    kinds = {line["name"]: line for line in lines["activations"]["children"]}
    assert {child["name"] for child in kinds["saved for backward"]["children"]} >= {"aten::conv2d", "aten::batch_norm"}
    missing = " ".join(made["evidence"]["missing"])
    assert "addresses: " in missing and "totals" in missing
    assert "does not have the allocator's totals" in run("ledger", path, "--at", "reserved", status=2).stderr
    assert run("explain", path).stdout.startswith("2.60 GiB allocated at the peak of allocated memory, in step 1 backward")
