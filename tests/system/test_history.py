# SPDX-License-Identifier: Apache-2.0
"""The history of runs as a person or a script meets it: runs, show, diff, check, trend, rm, store. The runs are folders
with a result of a real rehearsal, changed by hand."""
import copy
import json
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from histories import BIN, ROOT, TRAIN, Home, home, keep, rehearsed, result, schema  # noqa: F401  fixtures among them

pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
MiB = 1 << 20


def grown(result, by):
    """The same run with more activations."""
    for key in ("allocated_bytes", "reserved_bytes", "requested_bytes", "used_bytes"):
        result["peak"][key] += by
    result["needed_bytes"] += by
    for phase in result["phases"]:
        if phase["name"] == "backward":
            phase["peak_allocated_bytes"] += by

    def grow(line):
        if line["id"] == "activations":
            line["bytes"] += by
            line.get("children", [line])[0]["bytes"] += by if "children" in line else 0
            return True
        found = any([grow(child) for child in line.get("children", ())])
        line["bytes"] += by if found else 0
        return found

    grow(result["ledger"])
    return result


def test_a_rehearsal_is_listed_by_itself(rehearsed):
    home, result = rehearsed
    runs = home.json("runs", "--columns", "id,--width,peak_allocated,PYTORCH_CUDA_ALLOC_CONF")
    assert runs["total"] == 1
    run = runs["runs"][0]
    assert run["name"] == "train" and run["verdict"] == result["verdict"] and run["gpu"] == "a100-40gb"
    assert run["directory"] == result["run_directory"] and run["id"] == Path(run["directory"]).name
    assert run["metrics"] == {"peak_allocated": result["peak"]["allocated_bytes"]}
    assert run["settings"] == {"--width": "512", "PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:False"}
    assert result["run"]["input_shapes"] == ["[[64,1024]]"]


def test_everything_that_takes_a_run_finds_it(rehearsed):
    home, result = rehearsed
    name = Path(result["run_directory"]).name
    for word in (result["run_directory"], name, name[:-3], "train", "@last"):
        assert home("ledger", word).stdout == home("ledger", name).stdout
        assert home.json("show", word)["history"]["id"] == name
    for verb in ("explain", "findings", "operators"):
        home(verb, "train")
    assert home("convert", "train", "--to", "csv").stdout


def test_a_folder_that_is_no_run_hides_none(rehearsed):
    home, _ = rehearsed
    (home.folder / "train").mkdir()
    assert home("ledger", "train").stdout == home("ledger", "@last").stdout
    (home.folder / "train").rmdir()
    (home.folder / "folder").mkdir()
    assert "this folder is no run directory" in home("ledger", "folder", status=3).stderr


def test_a_run_elsewhere_is_found_through_the_store(rehearsed, tmp_path):
    home, _ = rehearsed
    command = ["rehearse", "--gpu", "t4", "--name", "other", "--out", tmp_path / "run", "--store", tmp_path / "s.db", "--",
               sys.executable, "train.py", "--width", "64"]
    home(*command)
    assert home.ids("--store", tmp_path / "s.db") == [run["id"] for run in home.json(
        "runs", "--store", tmp_path / "s.db", "--name", "other")["runs"]]
    assert "used on the device" in home("ledger", "other", ULLAGE_STORE=str(tmp_path / "s.db")).stdout
    assert "used on the device" in home("ledger", "other", "--store", tmp_path / "s.db").stdout
    home("ledger", "other", status=2)


def test_a_store_that_cannot_be_written_harms_no_rehearsal(rehearsed, tmp_path):
    home, _ = rehearsed
    (tmp_path / "file").write_text("")
    command = ["--", sys.executable, "train.py", "--width", "64"]
    done = home("rehearse", "--gpu", "t4", "--out", tmp_path / "a", "--store", tmp_path / "file/store.db", *command)
    assert done.stderr.count("this run is not in the history") == 1
    (tmp_path / "other.db").write_text("no database" * 1000)
    done = home("rehearse", "--gpu", "t4", "--out", tmp_path / "b", "--store", tmp_path / "other.db", *command)
    assert done.stderr.count("this run is not in the history") == 1
    done = home("rehearse", "--gpu", "t4", "--out", tmp_path / "c", "--no-store", *command)
    assert "history" not in done.stderr and len(home.ids()) == 1


def test_the_commit_of_the_script_is_known(rehearsed, tmp_path):
    home, _ = rehearsed

    def git(*words):
        subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", *words], cwd=tmp_path, check=True, capture_output=True)

    def code(name):
        done = home("rehearse", "--gpu", "t4", "--json", "--no-store", "--out", tmp_path.parent / f"{tmp_path.name}-{name}", "--",
                    sys.executable, tmp_path / "train.py", "--width", "64")
        return json.loads(done.stdout)["run"].get("code")

    (tmp_path / "train.py").write_text(TRAIN)
    assert code("none") is None
    git("init", "-q")
    git("add", "train.py")
    git("commit", "-qm", "first")
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tmp_path, capture_output=True, text=True).stdout.strip()
    assert code("clean") == {"commit": head, "dirty": False}
    (tmp_path / "train.py").write_text(TRAIN + "# changed\n")
    assert code("dirty") == {"commit": head, "dirty": True}


def test_show_refuses_an_altered_result_in_json_too(home, result):
    changes = ({"needed_bytes": "7"}, {"host": {"pinned_bytes": -1}},
               {"plan": {"ledger": {"id": "used", "name": "used", "bytes": 18446744073709551615}}})
    for number, change in enumerate(changes):
        directory = keep(home, f"run-{number}", result, **change)
        for words in ([], ["--json"]):
            assert next(iter(change)) in home("show", directory, *words, status=3).stderr


def test_show_has_the_result_and_what_the_history_knows(rehearsed):
    home, result = rehearsed
    shown = home.json("show", "@last")
    for added in ("history", "configuration", "metrics"):
        shown.pop(added)
    assert {**shown, "command": "rehearse"} == result
    text = home("show", "@last").stdout
    for part in ("FITS", "--width", "PHASES", "LEDGER", "█", "events of the allocator"):
        assert part in text
    assert "the peak and the end of each phase" in home("show", "@last", "--curve", "phases").stdout
    assert "█" not in home("show", "@last", "--curve", "none").stdout


def test_a_run_whose_directory_is_gone_is_still_known(home, result):
    keep(home, "a", result, 1)
    directory = keep(home, "b", grown(copy.deepcopy(result), 64 * MiB), 2, ["--width", "1024"])
    home("store", "rebuild")
    shutil.rmtree(directory)
    assert "is gone" in home("show", "b").stdout
    assert "ullage show b" in home("ledger", "b", status=2).stderr
    shutil.rmtree(home.runs / "a")
    difference = home.json("diff", "a", "b")
    assert difference["difference"]["difference_bytes"] == 64 * MiB
    assert {"from": "script", "key": "--width", "before": "512", "after": "1024"} in difference["configuration"]
    assert "one setting differs: --width 512 -> 1024; +64.00 MiB in all" in home("diff", "a", "b").stdout
    home("diff", "a", "b", "--at", "end", status=2)


def test_diff_of_two_rehearsals_names_the_flag_and_the_phase(rehearsed, tmp_path):
    home, _ = rehearsed
    for width in ("512", "4096"):
        home("rehearse", "--gpu", "a100-40gb", "--out", tmp_path / width, "--no-store", "--", sys.executable, "train.py",
             "--width", width)
    difference = home.json("diff", tmp_path / "512", tmp_path / "4096")
    chosen = [one for one in difference["configuration"] if one["from"] in ("script", "device", "environment")]
    assert chosen == [{"from": "script", "key": "--width", "before": "512", "after": "4096"}]
    phases = {phase["name"]: phase for phase in difference["phases"]}
    assert phases["optimizer"]["after_bytes"] > phases["optimizer"]["before_bytes"]
    text = home("diff", tmp_path / "512", tmp_path / "4096").stdout
    assert "one setting differs: --width 512 -> 4096; +" in text and "grew most" in text


def test_the_list_is_filtered_sorted_and_cut(home, result):
    keep(home, "a", result, 1, ["--width", "8"])
    keep(home, "b", grown(copy.deepcopy(result), MiB), 2, ["--width", "16"], verdict="oom")
    keep(home, "c", grown(copy.deepcopy(result), 2 * MiB), 3, ["--width", "32"])
    home("store", "rebuild")
    assert home.ids() == ["c", "b", "a"]
    assert home.ids("--reverse") == ["a", "b", "c"]
    assert home.ids("--sort", "peak_allocated", "--reverse") == ["a", "b", "c"]
    assert home.ids("--sort", "--width") == ["a", "b", "c"]
    assert home.ids("--verdict", "oom") == ["b"]
    assert home.ids("--where", "--width=32") == ["c"]
    assert home.ids("--since", "2026-11-30T15:02:00Z", "--until", "2026-11-30T15:03") == ["b"]
    assert home.ids("--script", "train.py", "--limit", "1") == ["c"]
    assert "1 of 3 runs" in home("runs", "--limit", "1").stdout
    assert home.ids("--gpu", "t4") == []


@pytest.mark.parametrize("words, hint", [
    (["runs", "--columns", "peak_reservd"], "did you mean 'peak_reserved'"),
    (["runs", "--columns", "--widht"], "did you mean '--width'"),
    (["runs", "--verdict", "fit"], "did you mean 'fits'"),
    (["runs", "--gpu", "a100-40g"], "a100-40gb"),
    (["runs", "--since", "yesterday"], "2026-11-30"),
    (["runs", "--where", "width"], "--where --batch=4"),
    (["show", "ru"], "run-1 (train), run-2 (train)"),
    (["show", "nobody"], "ullage runs"),
    (["check", "run-1"], "--budget"),
    (["check", "run-1", "--budget", "peak_resrved=1GiB"], "did you mean 'peak_reserved'"),
    (["check", "run-1", "--budget", "peak_reserved"], "peak_reserved=38GiB"),
    (["check", "run-1", "--budget", "peak_reserved=lots"], "38GiB"),
    (["check", "run-1", "--budget", "peak_reserved=6"], "6GiB (2^30 bytes each)"),
    (["check", "run-1", "--budget", "step_growth=0.5"], "0.5GiB"),
    (["check", "run-1", "--update", "--budget", "steps=1"], "--against"),
    (["check", "run-1", "--against", "b.json", "--metrics", "steps"], "--update"),
    (["trend", "--key", "activation"], "did you mean 'activations'"),
    (["store", "rebuid"], "did you mean 'rebuild'"),
    (["store"], "rebuild, export or import"),
    (["rm"], "ullage rm RUN"),
    (["rm", "", "--files"], "the run has no name"),
    (["show", ""], "the run has no name"),
])
def test_usage_errors_say_what_to_do(home, result, words, hint):
    for number in (1, 2):
        keep(home, f"run-{number}", result, number, ["--width", "8"])
    home("store", "rebuild")
    done = home(*words, status=2)
    assert hint in done.stderr and done.stdout == ""


def test_check_against_a_budget(home, result):
    keep(home, "a", result)
    peak = result["peak"]["reserved_bytes"]
    report = home.json("check", "a", "--budget", f"peak_reserved={peak},step_growth=0,steps=2,headroom=1GiB")
    assert report["passed"] and [check["status"] for check in report["checks"]] == ["ok"] * 4
    report = home.json("check", "a", "--budget", f"peak_reserved={peak - 1},steps=1", status=1)
    assert not report["passed"] and [check["status"] for check in report["checks"]] == ["over", "over"]
    assert "OVER by 1 B" in home("check", "a", "--budget", f"peak_reserved={peak - 1}", status=1).stdout
    home("check", "a", "--budget", "headroom=39GiB", status=1)
    assert home.json("check", "a", "--budget", "missing=1GiB", status=3)["checks"][0]["status"] == "unknown"


@pytest.mark.parametrize("verdict", ["oom", "failed", "timeout"])
def test_a_run_that_does_not_fit_passes_no_check(home, result, verdict):
    keep(home, "a", result, verdict=verdict)
    assert f"verdict is {verdict}" in home("check", "a", "--budget", "peak_reserved=1TiB", status=1).stdout


def test_check_against_a_baseline(home, result):
    keep(home, "a", result, words=["--width", "512"])
    keep(home, "b", grown(copy.deepcopy(result), 8 * MiB), words=["--width", "512", "--extra"])
    baseline = home.folder / "baseline.json"
    home("check", "a", "--against", baseline, status=4)
    home("check", "a", "--against", baseline, "--update")
    jsonschema.validate(json.loads(baseline.read_text()), schema("baseline"))
    assert home.json("check", "a", "--against", baseline)["passed"]
    report = home.json("check", "b", "--against", baseline, "--markdown", home.folder / "summary.md", status=1)
    assert report["configuration"] == [{"from": "script", "key": "--extra", "after": "true"}]
    assert report["ledger"][0]["id"].startswith("activations")
    assert report["ledger"][0]["after_bytes"] - report["ledger"][0]["before_bytes"] == 8 * MiB
    summary = (home.folder / "summary.md").read_text()
    assert "FAILED" in summary and "| activations" in summary and "+8.00 MiB" in summary and "--extra" in summary
    assert home.json("check", "b", "--against", baseline, "--tolerance", "100%")["passed"]
    home("check", "b", "--against", baseline, "--update", "--metrics", "activations")
    assert list(json.loads(baseline.read_text())["metrics"]) == ["activations"]
    home("check", "b", "--against", baseline, "--update")
    assert list(json.loads(baseline.read_text())["metrics"]) == ["activations"]
    assert home.json("check", "a", "--against", baseline)["checks"][0]["status"] == "improved"


@pytest.mark.parametrize("verdict, hint", [("oom", "ullage explain a"), ("failed", "run it again"), ("timeout", "run it again")])
def test_a_baseline_is_of_a_run_that_fits(home, result, verdict, hint):
    keep(home, "a", result, verdict=verdict)
    keep(home, "b", result, verdict="tight")
    said = home("check", "a", "--against", home.folder / "b.json", "--update", status=2).stderr
    assert f"the verdict of this one is {verdict}" in said and hint in said
    assert not (home.folder / "b.json").exists()
    home("check", "b", "--against", home.folder / "b.json", "--update")


def with_growth(result, bytes):
    """The same run, whose last step ends with so many bytes more than the one before."""
    before, last = [phase for phase in result["phases"] if phase["name"] == "optimizer"][-2:]
    last["allocated_bytes"] = before["allocated_bytes"] + bytes
    return result


def test_memory_that_shrank_once_is_no_standard(home, result):
    for name, minute, growth in (("shrank", 1, -MiB), ("less", 2, -1024), ("none", 3, 0), ("grew", 4, 1)):
        keep(home, name, with_growth(copy.deepcopy(result), growth), minute)
    home("check", "shrank", "--against", "b.json", "--update", "--metrics", "step_growth")
    assert json.loads((home.folder / "b.json").read_text())["metrics"] == {"step_growth": -MiB}
    for name, status in (("shrank", "ok"), ("less", "ok"), ("none", "ok"), ("grew", "over")):
        check = home.json("check", name, "--against", "b.json", "--tolerance", "50%", status=int(status == "over"))["checks"][0]
        assert (check["status"], check["limit"], check["baseline"]) == (status, 0, -MiB)
    home("store", "rebuild")
    trend = home.json("trend", "--key", "step_growth", status=1)
    assert [run["regression"] for run in trend["runs"]] == [False, False, False, True]


@pytest.mark.parametrize("bound", [{}, {"needed_at_least_bytes": 0}])
def test_a_run_that_never_used_the_device_knows_nothing_of_it(home, result, bound):
    for key in ("peak", "needed_bytes", "needed_reserved_bytes"):
        result.pop(key)
    keep(home, "a", {**result, **bound, "headroom": {"bytes": 1 << 35, "fraction": 1.0}}, verdict="failed")
    report = home.json("check", "a", "--budget", "needed=1GiB,headroom=1GiB,peak_used=1GiB", status=1)
    assert [check["status"] for check in report["checks"]] == ["unknown"] * 3


@pytest.mark.parametrize("text, status", [("", 3), ("[]", 3), ("{}", 3), ('{"metrics": {"peak": 1}}', 2),
                                          ('{"metrics": {"needed": "x"}}', 3), ("[" * 100000, 3)])
def test_a_baseline_that_is_none(home, result, text, status):
    keep(home, "a", result)
    (home.folder / "bad.json").write_text(text)
    home("check", "a", "--against", home.folder / "bad.json", status=status)


def test_the_table_of_metrics_is_the_documented_one(home):
    shown = home.json("check", "--list")["metrics"]
    document = (ROOT / "docs/runs.md").read_text(encoding="utf-8")
    for metric in shown:
        assert f"| `{metric['name']}` | {metric['unit']} | {metric['meaning']} |" in document, metric["name"]


def test_a_trend_flags_what_got_worse_of_the_same_configuration(home, result):
    keep(home, "a", result, 1, ["--width", "8"])
    keep(home, "b", grown(copy.deepcopy(result), 8 * MiB), 2, ["--width", "16"])
    keep(home, "c", result, 3, ["--width", "8"], verdict="failed")
    home("store", "rebuild")
    trend = home.json("trend", "--key", "peak_allocated")
    assert [run["id"] for run in trend["runs"]] == ["a", "b"] and trend["left_out"] == 1
    assert trend["runs"][1]["change"] == 8 * MiB and not trend["regressed"]
    keep(home, "d", grown(copy.deepcopy(result), 4 * MiB), 4, ["--width", "8"])
    home("store", "rebuild")
    trend = home.json("trend", "--key", "peak_allocated", "--name", "train", status=1)
    assert trend["regressed"] and [run["regression"] for run in trend["runs"]] == [False, False, True]
    assert trend["runs"][2]["same_configuration_before"] == trend["runs"][0]["value"]
    assert "REGRESSION: d is worse than a" in home("trend", "--key", "peak_allocated", status=1).stdout
    assert not home.json("trend", "--key", "peak_allocated", "--tolerance", "100%")["regressed"]
    assert home.json("trend", "--key", "headroom")["runs"][0]["regression"] is False


def test_a_trend_is_of_one_name(home, result):
    keep(home, "a", result)
    result["run"]["name"] = "other"
    keep(home, "b", result)
    home("store", "rebuild")
    assert "other, train" in home("trend", status=2).stderr
    assert len(home.json("trend", "--name", "other")["runs"]) == 1


def test_rm_forgets_and_removes(home, result):
    for name in ("a", "b", "c"):
        keep(home, name, result)
    home("store", "rebuild")
    home("rm", "a")
    assert home.ids() == ["c", "b"] and (home.runs / "a/run.json").exists()
    home("rm", "b", "nobody", status=2)
    assert home.ids() == ["c", "b"]
    home("rm", "b", "c", "--files")
    assert home.ids() == [] and not (home.runs / "b").exists()
    assert "--files" in home("rm", "a", status=2).stderr
    home("store", "rebuild")
    assert home.ids() == ["a"]
    (home.folder / "precious").mkdir()
    home("rm", home.folder / "precious", "--files", status=2)
    assert (home.folder / "precious").exists()


def test_rebuild_says_what_it_skips(home, result):
    keep(home, "a", result)
    (home.runs / "unfinished").mkdir()
    (home.runs / "unfinished/marks.jsonl").write_text("")
    (home.runs / "damaged").mkdir()
    (home.runs / "damaged/run.json").write_text('{"verdict":')
    (home.runs / "damaged/unlimited").mkdir()
    (home.runs / "damaged/unlimited/marks.jsonl").write_text("")
    rebuilt = home.json("store", "rebuild")
    assert rebuilt["runs"] == 1
    reasons = {Path(one["directory"]).name: one["reason"] for one in rebuilt["skipped"]}
    assert set(reasons) == {"unfinished", "damaged"} and "did not end" in reasons["unfinished"]
    assert "did not end" in home("show", home.runs / "unfinished", status=3).stderr


def test_a_damaged_store_is_put_aside(home, result):
    keep(home, "a", result)
    store = home.folder / "ullage/store.db"
    store.write_bytes(b"no database at all" * 500)
    assert "store rebuild" in home("runs", status=4).stderr
    assert home.json("store", "rebuild")["damaged_store"] == f"{store}.damaged"
    assert home.ids() == ["a"] and Path(f"{store}.damaged").exists()


def test_a_newer_store_is_left_alone(home, result):
    keep(home, "a", result)
    home("store", "rebuild")
    with sqlite3.connect(home.folder / "ullage/store.db") as database:
        database.execute("PRAGMA user_version = 999")
    for words in (["runs"], ["store", "rebuild"], ["trend"]):
        assert "newer Ullage" in home(*words, status=4).stderr
    assert home("show", "a").stdout  # a kept run needs no store


def test_a_store_goes_from_machine_to_machine(home, result, tmp_path_factory):
    keep(home, "a", result, 1)
    keep(home, "b", result, 2)
    home("store", "rebuild")
    home("store", "export", "runs.jsonl")
    for line in (home.folder / "runs.jsonl").read_text().splitlines():
        jsonschema.validate(json.loads(line), schema("store_line"))
    other = Home(tmp_path_factory.mktemp("other"))
    keep(other, "a", result, 3)
    other("store", "rebuild")
    assert other.json("store", "import", home.folder / "runs.jsonl")["runs"] == 2
    ids = other.ids()
    assert len(ids) == 3 and ids[:2] == ["a", "b"] and ids[2].startswith("a-")
    other("store", "import", "-", input=home("store", "export", "-").stdout)
    assert other.ids() == ids
    assert home("store", "export", "runs.jsonl", status=2).stderr.count("already there") == 1
    lines = (home.folder / "runs.jsonl").read_text() + "{}\n"
    assert "line 3" in other("store", "import", "-", input=lines, status=3).stderr


def test_without_any_history(home):
    assert "rehearsals come into it by themselves" in home("runs").stdout
    assert home.json("runs")["total"] == 0 and home.json("trend")["runs"] == []
    assert not (home.folder / "ullage/store.db").exists()
    assert "ULLAGE_STORE" in home("store", "rebuild", status=2, ULLAGE_STORE="none").stderr
    assert home("runs", ULLAGE_STORE="none").stdout
