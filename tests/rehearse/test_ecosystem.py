# SPDX-License-Identifier: Apache-2.0
"""Scripts as people write them with transformers and datasets."""
import json

import pytest


def files_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def tokens_by_expert(run):
    return [json.loads(line.split("tokens ")[1]) for line in run.stderr.splitlines() if "script: tokens" in line]


@pytest.mark.parametrize("implementation", ["eager", "grouped_mm"])
def test_mixtral_routes_an_eighth_to_each_expert(rehearse, implementation):
    slots = 4 * 512 * 2
    run = rehearse("mixtral.py", implementation)
    assert tokens_by_expert(run) == [[slots // 8] * 8] * 4  # two layers, two steps
    assert run.steps() == 2 and run.phase("optimizer", 2)
    skewed = rehearse("mixtral.py", implementation, flags=["--routing", "skewed"])
    assert tokens_by_expert(skewed) == [[slots // 2] * 2 + [0] * 6] * 4


def write_rows(path):
    rows = [{"text": "word " * (1 + index % 7), "label": index % 3} for index in range(24)] + [{"text": "no", "label": 0}]
    if path.suffix == ".csv":
        path.write_text("text,label\n" + "".join(f"{row['text']},{row['label']}\n" for row in rows))
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_load_dataset_of_a_local_file(rehearse, tmp_path, kind):
    """Its cache is written where HF_HOME says; nothing else is, and the data stays as it is."""
    (tmp_path / "data").mkdir()
    write_rows(tmp_path / f"data/rows.{kind}")
    before = files_of(tmp_path / "data")
    cache = tmp_path / "hf"
    environment = {"HF_HOME": str(cache), "HF_DATASETS_OFFLINE": "1", "HOME": str(tmp_path / "home")}
    run = rehearse("local_data.py", kind, tmp_path / f"data/rows.{kind}", environment=environment,
                   flags=["--steps", "all"])
    assert "script: rows 24" in run.stderr and "script: done" in run.stderr
    assert run.steps() == 12  # two epochs of six batches
    assert files_of(tmp_path / "data") == before
    assert any(path.suffix == ".arrow" for path in files_of(cache)), "the cache is kept for the next run"
    assert run.files == {"protected": True, "created": [], "overwritten": [], "deleted": []}
    assert {row["batches"] for row in run.inputs} == {1}


def test_a_second_run_reads_the_cache_of_the_first(rehearse, tmp_path):
    write_rows(tmp_path / "rows.json")
    environment = {"HF_HOME": str(tmp_path / "hf")}
    first, second = (rehearse("local_data.py", "json", tmp_path / "rows.json", environment=environment,
                              flags=["--steps", "2"]) for _ in range(2))
    assert "script: rows 24" in second.stderr  # shuffled: their peaks may differ
    assert "Generating train split" in first.stderr and "Generating train split" not in second.stderr
