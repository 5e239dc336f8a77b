# SPDX-License-Identifier: Apache-2.0
"""`ullage explain` on texts, damaged inputs and published files."""
import gzip
import json
import os
import re
import subprocess
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = os.environ.get("ULLAGE_BIN", "")
DATA = ROOT / "tests" / "data"
pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
SCHEMA = json.loads((ROOT / "docs" / "schemas" / "explain.schema.json").read_text(encoding="utf-8"))
GiB, MiB = 1 << 30, 1 << 20
TEXT = ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.96 GiB. GPU 3 has a total capacity of 79.33 GiB of which 4.58 "
        "GiB is free. Including non-PyTorch memory, this process has 74.73 GiB memory in use. Of the allocated memory 51.12 GiB is "
        "allocated by PyTorch, and 21.79 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try "
        "setting PYTORCH_ALLOC_CONF=expandable_segments:True to avoid fragmentation.\n")
GPT2 = {"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12, "vocab_size": 50257, "n_positions": 1024, "n_inner": None}


def explain(*arguments, status=0, **options):
    done = subprocess.run([BIN, "explain", *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)
    assert done.returncode == status, done.stderr + done.stdout
    return done


def explained(*arguments, **options):
    view = json.loads(explain(*arguments, "--json", **options).stdout)
    jsonschema.validate(view, SCHEMA)
    return view


def test_a_text_opens_with_three_lines_and_ends_with_a_command():
    lines = explain("-", input=TEXT).stdout.splitlines()
    assert lines[0].startswith("fragmentation, as far as this can tell: ")
    assert lines[1] == "largest owner: the text cannot say"
    assert lines[2] == "first to try: PYTORCH_ALLOC_CONF=expandable_segments:True: up to 21.79 GiB"
    assert lines[-1] == "  PYTORCH_ALLOC_CONF=expandable_segments:True ullage rehearse --gpu a800-80gb -- python YOUR_SCRIPT.py"


def test_the_numbers_of_a_text_and_their_intervals():
    view = explained("-", input=TEXT)
    assert view["verdict"] == "oom" and view["failure"]["kind"] == "fragmentation" and not view["failure"]["certain"]
    assert view["device"]["index"] == 3
    assert view["requested_bytes"] == round(20.96 * GiB)
    assert view["peak"] == {"allocated_bytes": round(51.12 * GiB), "reserved_bytes": round(51.12 * GiB) + round(21.79 * GiB)}
    assert view["free_bytes"] == round(4.58 * GiB) and view["in_use_bytes"] == round(74.73 * GiB)
    interval = view["intervals"]["requested_bytes"]
    assert interval["printed"] == "20.96 GiB"
    assert interval["high_bytes"] - interval["low_bytes"] == pytest.approx(0.01 * GiB, abs=1)
    left = view["messages"][0]["outside_pytorch"]
    assert left["low_bytes"] < 1.84 * GiB < left["high_bytes"]


def test_memory_is_not_negative_and_one_line_is_one():
    text = TEXT.replace("4.58", "4.60")
    others = explained("-", input=text)["messages"][0]["other_processes"]
    assert others["low_bytes"] == 0 < others["high_bytes"]
    shown = explain("-", input=text).stdout
    assert re.search(r"of it other processes +0 B to ", shown) and "a text of 1 line\n" in shown


def test_several_ranks_in_one_compressed_log(tmp_path):
    log = tmp_path / "job.log.gz"
    with gzip.open(log, "wt") as file:
        for step in range(2000):
            file.write(f"[rank{step % 8}]: step {step} loss 1.0\n")
        file.write("[rank3]: Traceback (most recent call last):\n[rank3]: " + TEXT)
        file.write("[rank5]: " + TEXT.replace("GPU 3", "GPU 5").replace("4.58", "4.60"))
        file.write("Root cause:\n  " + TEXT)
    view = explained(log)
    assert [(m["rank"], m["device"]["index"], m["times"]) for m in view["messages"]] == [(3, 3, 2), (5, 5, 1)]
    assert view["messages"][0]["line"] == 2002


def test_a_cut_compressed_log_is_partial(tmp_path):
    log = tmp_path / "cut.log.gz"
    data = gzip.compress((TEXT + "".join(f"{n * 7919 % 10007}\n" for n in range(50000))).encode())
    log.write_bytes(data[:len(data) // 2])
    view = explained(log, status=3)
    assert view["evidence"]["partial"] and "byte " in view["evidence"]["missing"][0]
    assert view["failure"]["kind"] == "fragmentation"


def test_a_log_without_a_message_is_no_evidence(tmp_path):
    log = tmp_path / "fine.log"
    log.write_text("step 1\nOut of memory: Killed process 77 (python)\n")
    assert "no out-of-memory message" in explain(log, status=3).stderr


def test_what_the_request_was(tmp_path):
    config = tmp_path / "config.json"
    config.write_text(json.dumps(GPT2))
    text = ("CUDA out of memory. Tried to allocate 384.00 MiB (GPU 0; 15.90 GiB total capacity; 14.75 GiB already allocated; "
            "225.81 MiB free; 14.81 GiB reserved in total by PyTorch)\n")
    view = explained("-", "--model", config, "--micro-batch", 8, "--seq", 1024, input=text)
    candidate = view["messages"][0]["request_candidates"][0]
    assert candidate["formula"] == "micro batch 8 x heads 12 x sequence 1024 x sequence 1024 x 4 B"
    assert candidate["bytes"] == 8 * 12 * 1024 * 1024 * 4
    assert explained("-", "--model", config, input=text)["messages"][0]["request_candidates"] == []
    log = 'GPT2Config {\n  "n_embd": 768,\n  "n_head": 12,\n}\nArguments(micro_batch_size=8, seq_length=1024)\n' + text
    from_log = explained("-", input=log)
    assert from_log["messages"][0]["request_candidates"][0]["formula"] == candidate["formula"]
    assert any("n_embd 768 (line 2)" in note and "seq_length 1024 (line 5)" in note for note in from_log["notes"])
    for model in (tmp_path, "gpt2", "openai-community/gpt2"):  # as `ullage plan` takes it
        assert explained("-", "--model", model, "--micro-batch", 8, "--seq", 1024, input=text)["messages"] == view["messages"]
    assert "did you mean 'gpt2'" in explain("-", "--model", "gtp2", input=text, status=2).stderr
    config.write_text('{"hidden_size": ')
    assert "byte 16" in explain("-", "--model", config, input=text, status=3).stderr


def test_a_snapshot_without_a_failure_opens_with_its_peak():
    view = explained(DATA / "snapshots" / "wedson_medium_512_training.pickle.gz")
    assert "failure" not in view and "verdict" not in view and "changes" not in view
    assert view["peak"]["reserved_bytes"] == 12660506624
    assert view["summary"].startswith("11.58 GiB allocated at the peak")
    first = explain(DATA / "snapshots" / "wedson_medium_512_training.pickle.gz").stdout.splitlines()[0]
    assert first == view["summary"]


def test_several_files_at_once():
    view = explained(DATA / "snapshots" / "silmont_mem_snapshot.pickle.gz", "-", input=TEXT)
    assert [result["format"] for result in view["results"]] == ["memory snapshot", "out-of-memory text"]


def test_the_table_of_messages_is_current():
    done = subprocess.run([ROOT / "scripts" / "oom_messages"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == (ROOT / "docs" / "oom_messages.md").read_text(encoding="utf-8")
