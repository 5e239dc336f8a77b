# SPDX-License-Identifier: Apache-2.0
"""`ullage batches`: what padding costs."""
import gzip
import json
import os
import random
import subprocess
import time
from pathlib import Path

import pytest

BIN = os.environ.get("ULLAGE_BIN", "")
pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "schemas" / "batches.schema.json"


def ullage(*arguments, **options):
    return subprocess.run([BIN, *map(str, arguments)], capture_output=True, text=True, timeout=60, **options)


def batches(lengths, *flags):
    """(the result, its batchings by name)"""
    jsonschema = pytest.importorskip("jsonschema")
    done = ullage("batches", "-", "--json", *flags, input="".join(f"{length}\n" for length in lengths))
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    jsonschema.validate(result, json.loads(SCHEMA.read_text(encoding="utf-8")))
    return result, {way["name"]: way for way in result["batchings"]}


def some_lengths(count, mean, seed=7):
    """Lengths with exactly that mean."""
    draw = random.Random(seed)
    lengths = []
    for _ in range(count // 2):
        shift = draw.randrange(mean)
        lengths += [mean - shift, mean + shift]
    draw.shuffle(lengths)
    return lengths


def test_a_mean_of_300_padded_to_1024():
    result, ways = batches(some_lengths(10000, 300), "--max-length", 1024)
    assert result["lengths"]["mean"] == 300 and result["lengths"]["truncated_sequences"] == 0
    assert ways["maximum"]["padding_share"] == 1 - 300 / 1024
    assert f"{100 * ways['maximum']['padding_share']:.1f}" == "70.7"
    assert ways["maximum"]["largest_batch"] == {"sequences": 8, "length": 1024, "tokens": 8192}


def test_against_a_plain_calculation():
    lengths = [random.Random(1).randrange(1, 4000) for _ in range(3)] + some_lengths(1000, 700)
    result, ways = batches(lengths, "--micro-batch", 6, "--max-length", 1000, "--buckets", 5)
    cut = sorted((min(length, 1000) for length in lengths), reverse=True)
    chunks = [cut[at:at + 6] for at in range(0, len(cut), 6)]
    assert ways["sorted"]["tokens"] == sum(len(chunk) * chunk[0] for chunk in chunks)
    assert ways["sorted"]["batches"] == len(chunks) == ways["random"]["batches"]
    assert result["real_tokens"] == sum(cut)
    assert result["lengths"]["truncated_tokens"] == sum(lengths) - sum(cut)
    size, more = divmod(len(cut), 5)
    at, tokens, count = 0, 0, 0
    for bucket in range(5):
        part = cut[at:at + size + (bucket < more)]
        at, tokens, count = at + len(part), tokens + len(part) * part[0], count + -(-len(part) // 6)
    assert (ways["bucketed"]["tokens"], ways["bucketed"]["batches"]) == (tokens, count)
    assert ways["sorted"]["tokens"] <= ways["random"]["tokens"] <= ways["maximum"]["tokens"]


def test_the_seed_decides_the_random_order_alone():
    lengths = some_lengths(1000, 500)
    first, again, other = (batches(lengths, "--seed", seed)[1] for seed in (3, 3, 4))
    assert first == again and first["random"] != other["random"]
    assert all(first[name] == other[name] for name in ("maximum", "sorted", "bucketed"))


def test_files_of_json_lines_and_packed_ones(tmp_path):
    lengths = some_lengths(200, 50)
    plain = batches(lengths)[0]
    rows = {"length.jsonl": [{"length": n, "text": "x"} for n in lengths],
            "num_tokens.jsonl": [{"num_tokens": n} for n in lengths],
            "input_ids.jsonl": [{"input_ids": [5] * n, "attention_mask": [1] * n} for n in lengths]}
    for name, lines in rows.items():
        text = "".join(json.dumps(line) + "\n" for line in lines)
        (tmp_path / name).write_text(text)
        (tmp_path / (name + ".gz")).write_bytes(gzip.compress(text.encode()))
        for file in (tmp_path / name, tmp_path / (name + ".gz")):
            result = json.loads(ullage("batches", file, "--json").stdout)
            assert result["field"] == name.split(".")[0]
            assert (result["lengths"], result["batchings"]) == (plain["lengths"], plain["batchings"])


@pytest.mark.parametrize("text, where", [
    ("5\n-3\n", "line 2"), ("5\n6\nseven\n", "line 3"), ("1.5\n", "line 1"), ("", "no length in it"),
    ("0\n0\n", "no sequence has a token"), ('{"length": 3}\n{"text": "a"}\n', "line 2"), ('5\n{"length": \n', "line 2"),
    ("\x00\x01\n", "line 1"), ("99999999999\n", "line 1"),
])
def test_what_is_no_length_is_an_error_with_its_line(text, where):
    done = ullage("batches", "-", input=text)
    assert done.returncode == 3 and done.stdout == "" and where in done.stderr


@pytest.mark.parametrize("arguments, status", [
    ([], 2), (["-", "--micro-batch", "0"], 2), (["-", "--max-length", "0"], 2), (["-", "--buckets", "0"], 2),
    (["-", "--micro-batch", "99999999999"], 2), (["/nowhere.txt"], 4), (["-", "x"], 2), (["-", "--gpu", "t4"], 2), (["-", "--model", "gpt2", "--gpu", "t4,l4"], 2), (["-", "--model", "gpt2"], 2),
])
def test_wrong_arguments(arguments, status):
    done = ullage("batches", *arguments, input="1\n")
    assert done.returncode == status and done.stdout == ""


def test_the_largest_batch_is_planned():
    _, ways = batches([100, 200, 300, 400], "--micro-batch", 2, "--max-length", 512, "--model", "gpt2", "--gpu", "a100-40gb", "--checkpoint", "full")
    for way in ways.values():
        largest = way["largest_batch"]
        mask = ["--padding"] if way["padding_tokens"] else []
        done = ullage("plan", "gpt2", "--gpu", "a100-40gb", "--checkpoint", "full", "--micro-batch", largest["sequences"], "--seq", largest["length"], *mask, "--json")
        plan = json.loads(done.stdout)
        assert (largest["needed_bytes"], largest["verdict"]) == (plan["needed_bytes"], plan["verdict"])
    assert ways["maximum"]["largest_batch"]["needed_bytes"] > ways["sorted"]["largest_batch"]["needed_bytes"]


def test_ten_million_lines(tmp_path):
    file = tmp_path / "lengths.txt"
    block = "".join(f"{n}\n" for n in some_lengths(10000, 2000))
    with open(file, "w") as out:
        for _ in range(1000):
            out.write(block)
    started = time.monotonic()
    result = json.loads(ullage("batches", file, "--json").stdout)
    assert result["lengths"]["sequences"] == 10**7 and result["lengths"]["mean"] == 2000
    assert time.monotonic() - started < 50
