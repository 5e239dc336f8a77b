# SPDX-License-Identifier: Apache-2.0
"""The recorder in the words of training libraries, and where its metrics go."""
import csv
import json
import sys

from recordings import of_kind, only_run, phases_of, result_of, run

LOOP = """
import torch
from ullage.integrations.loop import recorded
from ullage.sinks import CsvSink, JsonlSink, TensorBoardSink

class Broken:
    def write(self, step, metrics): raise ValueError("as expected")
    def close(self): raise AssertionError("it was left out")

model = torch.nn.Linear(1024, 4096, device="cuda")
optimizer = torch.optim.SGD(model.parameters())
batches = [torch.ones(64, 1024) for _ in range(6)]
sinks = [JsonlSink("metrics.jsonl"), CsvSink("metrics.csv"), TensorBoardSink("board"), Broken()]
for batch in recorded(batches, "loop", model=model, optimizer=optimizer, sinks=sinks, every=2,
                      tokens=lambda batch: (batch.numel(), batch.numel() // 4)):
    model(batch.cuda()).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""
NAMES = {"memory/max_active(GiB)", "memory/max_active(%)", "memory/max_reserved(GiB)", "memory/max_reserved(%)",
         "memory/num_alloc_retries", "memory/num_ooms", "throughput(tps)", "tflops", "mfu(%)", "time_metrics/end_to_end(s)",
         "padding(%)"}


def test_a_plain_loop_with_sinks(tmp_path):
    done = run(tmp_path, sys.executable, "-c", LOOP)
    assert done.stderr.count("Broken failed and is left out") == 1
    directory = only_run(tmp_path)
    assert result_of(tmp_path, directory)["steps"] == 6
    assert [r["tokens"] for r in of_kind(directory, "tokens")] == [64 * 1024] * 6
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [row.pop("step") for row in rows] == [2, 4, 6]
    timed = {"throughput(tps)", "tflops", "mfu(%)", "time_metrics/end_to_end(s)", "padding(%)"}
    assert set(rows[0]) == NAMES - timed  # the recorder takes time of the first three steps
    assert 0.0002 < rows[1]["time_metrics/end_to_end(s)"] < 5
    assert set(rows[-1]) == NAMES and rows[-1]["padding(%)"] == 75
    peaks = [m["since_active"] for m in of_kind(directory, "mark") if m["step"] in (5, 6) and m["name"] != "run_end"]
    assert rows[-1]["memory/max_active(GiB)"] * 2**30 == max(peaks)
    with open(tmp_path / "metrics.csv", encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    assert [row["step"] for row in table] == ["2", "4", "6"] and set(table[0]) == NAMES | {"step"}
    assert table[0]["throughput(tps)"] == "" and float(table[2]["throughput(tps)"]) > 0


def test_the_callback_of_hugging_face(tmp_path):
    reference = json.loads(run(tmp_path, "record_trainer.py", "reference", tmp_path / "out").stdout.splitlines()[-1])
    run(tmp_path, "record_trainer.py", "callback", tmp_path / "out")
    directory = only_run(tmp_path)
    result = result_of(tmp_path, directory)
    assert phases_of(result)[1:12] == reference[1:12] and result["steps"] == 3
    assert of_kind(directory, "recording")[0]["config"]["max_steps"] == 3


DECORATED = """
import torch, ullage
model = torch.nn.Linear(64, 64, device="cuda")
optimizer = torch.optim.SGD(model.parameters())
@ullage.record("decorated", model=model, optimizer=optimizer, directory="run")
def train(steps):
    for _ in range(steps):
        model(torch.ones(4, 64, device="cuda")).sum().backward()
        optimizer.step()
    return steps
print(train(2), train(3), train.__name__)
"""


def test_the_decorator_records_each_call(tmp_path):
    assert run(tmp_path, sys.executable, "-c", DECORATED).stdout.split() == ["2", "3", "train"]
    assert [result_of(tmp_path, tmp_path / name)["steps"] for name in ("run", "run-2")] == [2, 3]
