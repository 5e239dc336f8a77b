# SPDX-License-Identifier: Apache-2.0
"""Published memory of PyTorch's own operators (Liger-Kernel's benchmark) on the virtual GPU, without a checkout."""
import csv
import json
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tests/published"))
import liger  # noqa: E402


@pytest.mark.parametrize("gpu", sorted({row["gpu"] for row in liger.figures()}))
def test_published_figures_of_operators(rehearse, tmp_path, gpu):
    rows = [row for row in liger.figures() if row["gpu"] == gpu]
    with (tmp_path / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    command = [sys.executable, str(ROOT / "tests/published/liger/operators.py"), "rows.csv"]
    run = rehearse(command=command, gpu=gpu, flags=["--steps", "all", "--stacks", "none"], check=False)
    assert run.status == 0, run.stderr[-2000:]
    measured = dict(line.split(",") for line in (run.directory / "stdout.log").read_text().splitlines())
    assert measured.keys() == {row["id"] for row in rows}
    for row in rows:
        assert measured[row["id"]] == row["ours"], row["id"]
        assert liger.is_equal(row, row["ours"]), (row["id"], liger.expected(row), row["ours"])


def test_what_a_process_held_is_one_constant_of_a_configuration():
    held = {}
    for row in liger.figures():
        if float(row["held"]) != 0:
            assert row["operator"] == "embedding"
            held.setdefault(json.loads(row["settings"])["D"], set()).add(row["held"])
    assert all(len(values) == 1 for values in held.values()) and len(held) == 2
