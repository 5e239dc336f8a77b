# SPDX-License-Identifier: Apache-2.0
"""`ullage reconcile` of trainings on the virtual GPU: a recording against a rehearsal that was made apart, and both against the
plan of the same model, which the run keeps by itself."""
import json
import os
import subprocess
import sys

import jsonschema
import pytest
from conftest import ROOT, SCRIPTS, WORKSPACES_STAY, check_adds_up, rehearse_in, ullage
from recordings import environment_of, record, runs_in

CONFIG = {"model_type": "gpt2", "n_embd": 256, "n_layer": 2, "n_head": 4, "vocab_size": 3000, "n_positions": 256}


class Home:
    """Runs of one folder, with a history of their own."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {"XDG_DATA_HOME": str(folder / "data"), "ULLAGE_STORE": str(folder / "store.db"),
                            "PYTHONPATH": str(ROOT / "python")}
        self.made = 0

    def rehearse(self, *command, **options):
        self.made += 1
        options.setdefault("environment", self.environment)
        return rehearse_in(self.folder, name=f"rehearsal{self.made}", command=[sys.executable, *map(str, command)], **options).directory

    def record(self, *command, flags=()):
        """A recording on the virtual GPU: its directory."""
        before = set(runs_in(self.folder / "data"))
        self.made += 1
        rehearse_in(self.folder, name=f"around{self.made}", environment=self.environment, flags=["--steps", "all"],
                    command=[ullage(), "record", *flags, "--", sys.executable, *map(str, command)])
        made = set(runs_in(self.folder / "data")) - before
        assert len(made) == 1
        return made.pop()

    def record_bare(self, *command, flags=()):
        """The same on the bare stand-ins, where no rehearsal has PyTorch's memory history for itself."""
        (self.folder / "data").mkdir(exist_ok=True)
        record(self.folder / "data", *command, flags=flags, environment=environment_of(self.folder / "data", **self.environment))
        return runs_in(self.folder / "data")[-1]

    def run(self, *words, status=0):
        done = subprocess.run([ullage(), *map(str, words)], capture_output=True, text=True, timeout=120, cwd=self.folder,
                              env={**os.environ, **self.environment})
        assert done.returncode == status, (words, done.stdout[-2000:], done.stderr[-2000:])
        return done

    def ullage(self, *words):
        return self.run(*words).stdout

    def reconcile(self, *words):
        result = json.loads(self.ullage("reconcile", *words, "--json"))
        jsonschema.validate(result, json.loads((ROOT / "docs/schemas/reconcile.schema.json").read_text()))
        for column in result["columns"]:
            check_adds_up(of_column(result["ledger"], column["id"]))
        for one in result["comparisons"]:
            assert sum(line["difference_bytes"] for line in one["lines"]) == one["difference_bytes"]
        return result


def of_column(line, column):
    made = {"id": line["id"], "bytes": line["bytes"][column]}
    if "children" in line:
        made["children"] = [of_column(child, column) for child in line["children"]]
    return made


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path)


MLP = (SCRIPTS / "mlp.py", "--steps", "3")


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory):
    """A recording, and what `rehearse --json` says of the same script."""
    home = Home(tmp_path_factory.mktemp("rehearsed"))
    return home.record(*MLP), (home.rehearse(*MLP, flags=["--steps", "all"]) / "run.json").read_text()


def test_a_recording_and_a_rehearsal_of_the_same_script_reconcile_to_zero(home):
    recording, rehearsal = home.record(*MLP), home.rehearse(*MLP, flags=["--steps", "all"])
    result = home.reconcile(recording, "--rehearsal", rehearsal)
    comparison = result["comparisons"][0]
    assert [column["id"] for column in result["columns"]] == ["rehearsal", "measured"]
    assert comparison["lines"] == [] and comparison["difference_bytes"] == 0
    assert result["ledger"]["id"] == "used" and result["ledger"]["bytes"]["measured"] > 471_859_200
    lines = {line["id"]: line["bytes"] for line in memory_of(result)["children"]}
    assert set(lines) == {"parameters", "optimizer_state", "everything_else", "cached"}
    assert lines["parameters"]["measured"] == 4 * 2 * (1024 * 1024 + 1024)
    text = home.ullage("reconcile", recording, "--rehearsal", rehearsal)
    assert text.startswith("measured - rehearsal: 0 B, every line is the same")


def test_the_nearest_rehearsal_of_the_script_is_found(home):
    home.rehearse(*MLP, flags=["--steps", "all"])
    home.rehearse(*MLP, "--width", "512", flags=["--steps", "all"])
    recording = home.record(*MLP)
    result = home.reconcile(recording)
    assert [column["id"] for column in result["columns"]] == ["rehearsal", "measured"]
    assert result["comparisons"][0]["difference_bytes"] == 0
    assert any("with the same arguments" in note for note in result["notes"])
    wide = home.record_bare("mlp.py", *MLP[1:], "--width", "2048")
    assert any("one argument differs" in note for note in home.reconcile(wide)["notes"])
    alone = home.run("reconcile", recording, "--rehearsal", "none", status=2).stderr
    assert "nothing to reconcile" in alone


def test_with_a_memory_history_every_line_reconciles(home):
    recording = home.record_bare("mlp.py", "--steps", "3", flags=["--history", "3"])
    result = home.reconcile(recording, "--rehearsal", home.rehearse(*MLP, flags=["--steps", "all"]))
    lines = {line["id"]: line for line in memory_of(result)["children"]}
    assert lines["activations"]["bytes"]["measured"] > 0 and "gradients" in lines
    assert memory_of(result)["difference_bytes"] == {"rehearsal": 0}
    for name in ("parameters", "gradients", "optimizer_state", "rounding", "cached"):
        assert lines[name]["difference_bytes"] == {"rehearsal": 0}, name


@pytest.mark.parametrize("alter, said", [
    (lambda result: result["ledger"]["children"][0].update(id=""), "expected: a text that is not empty"),
    (lambda result: result["ledger"].pop("name"), "result.ledger.name is missing"),
    (lambda result: result["ledger"].update(bytes=-1), "result.ledger.bytes is -1"),
    (lambda result: result.pop("ledger"), "no ledger that adds up"),
    (lambda result: result.update(time={"seconds": -1, "low": -2, "high": 0}), "the time of this result is none"),
    (lambda result: result.update(peak={"allocated_bytes": -5}, ledger_of=7, device=[], stack="x"), "expected: an object"),
    (lambda result: result["ledger"]["children"][0].update(bytes=result["ledger"]["children"][0]["bytes"] + 1), "result.ledger"),
    (lambda result: result.update(notes=[], unknown_field={"a": 1}), None)])
def test_an_altered_result_is_refused_or_makes_no_harm(home, rehearsed, alter, said):
    recording, result = rehearsed
    changed = json.loads(result)
    alter(changed)
    (home.folder / "changed.json").write_text(json.dumps(changed))
    if said is None:
        home.reconcile(recording, "--rehearsal", home.folder / "changed.json")
    else:
        assert said in home.run("reconcile", recording, "--rehearsal", home.folder / "changed.json", status=3).stderr


def test_one_flag_changed_is_named_with_the_line_that_it_moves_most(home):
    recording, rehearsal = home.record(*MLP), home.rehearse(*MLP, "--optimizer", "sgd", flags=["--steps", "all"])
    result = home.reconcile(recording, "--rehearsal", rehearsal)
    comparison = result["comparisons"][0]
    causes = {line["cause"]["text"] for line in comparison["lines"]}
    assert causes == {"--optimizer sgd -> (not given), the only setting that differs"}
    assert comparison["unexplained_bytes"] == 0 and comparison["explained_bytes"] > 0
    assert comparison["largest"].startswith("optimizer_state")
    states = {line["id"]: line["difference_bytes"] for line in comparison["lines"]}
    assert states["optimizer_state.exp_avg"] == 4 * 2 * (1024 * 1024 + 1024)
    wider = home.rehearse(*MLP, "--width", "2048", flags=["--steps", "all"])
    result = home.reconcile(recording, "--rehearsal", wider)
    facts = {fact["key"]: fact for fact in result["configuration"]}
    assert facts["parameters"]["differs"] and not facts["GPU"]["differs"]
    assert facts["--width"]["values"] == {"rehearsal": "2048", "measured": "(not given)"}


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG))
    return path


LOOP = ROOT / "bench/accuracy/reference_loop.py"


@pytest.mark.skipif(not WORKSPACES_STAY, reason="the plan is of the pinned torch")
def test_a_run_keeps_the_plan_of_its_model(home, config):
    choices = ("--micro-batch", "2", "--seq", "128", "--attention", "eager")
    rehearsal = home.rehearse(LOOP, config, *choices, flags=["--steps", "all"])
    kept = json.loads((rehearsal / "run.json").read_text())["plan"]
    jsonschema.validate(kept, json.loads((ROOT / "docs/schemas/plan.schema.json").read_text()))
    planned = json.loads(home.ullage("plan", config, "--gpu", "a100-80gb", *choices, "--json"))
    for key in ("peak", "values", "ledger", "phases", "needed_bytes"):
        assert kept[key] == planned[key], key
    result = home.reconcile(rehearsal)
    assert [column["id"] for column in result["columns"]] == ["plan", "rehearsal"]
    facts = {fact["key"]: fact for fact in result["configuration"]}
    for key in ("model", "GPU", "torch", "parameters", "micro batch", "sequence", "precision", "optimizer", "attention", "checkpoint",
                "accumulate"):
        assert len(facts[key]["values"]) == 2 and not facts[key]["differs"], facts[key]
    (config.parent / "plan.json").write_text(json.dumps(planned))
    assert home.reconcile(rehearsal, "--plan", "plan.json")["ledger"] == result["ledger"]
    comparison = result["comparisons"][0]
    accounts = {line["id"]: line["difference_bytes"] for line in memory_of(result)["children"]}
    for name in ("parameters", "optimizer_state", "gradients", "rounding", "cached"):
        assert accounts[name].get("plan", 0) == 0, accounts
    assert comparison["difference_bytes"] == 0
    assert "PLAN" in home.ullage("show", rehearsal)
    assert "nothing to reconcile" in home.run("reconcile", rehearsal, "--plan", "none", status=2).stderr


@pytest.mark.skipif(not WORKSPACES_STAY, reason="the plan is of the pinned torch")
def test_three_columns(home, config):
    choices = ("--micro-batch", "2", "--seq", "128")
    recording = home.record(LOOP, config, *choices)
    rehearsal = home.rehearse(LOOP, config, *choices, flags=["--steps", "all"])
    result = home.reconcile(recording, "--rehearsal", rehearsal)
    assert [column["id"] for column in result["columns"]] == ["plan", "rehearsal", "measured"]
    assert [one["column"] for one in result["comparisons"]] == ["plan", "rehearsal"]
    assert result["comparisons"][1]["lines"] == []
    assert result["columns"][0]["time"]["known_by"] == "estimated"
    assert memory_of(result)["difference_bytes"] == {"plan": 0, "rehearsal": 0}
    other = home.rehearse(LOOP, config, "--micro-batch", "4", "--seq", "128", flags=["--steps", "all"])
    result = home.reconcile(recording, "--rehearsal", other)
    assert {line["cause"]["text"] for line in result["comparisons"][1]["lines"]} == {
        "--micro-batch 4 -> 2, the only setting that differs"}


def memory_of(result):
    line = result["ledger"]
    return line if line["id"] == "reserved" else next(child for child in line["children"] if child["id"] == "reserved")


def test_what_cannot_be_reconciled(home):
    rehearsal = home.rehearse(*MLP)
    assert "nothing to reconcile" in home.run("reconcile", rehearsal, status=2).stderr
    assert "both are rehearsals" in home.run("reconcile", rehearsal, "--rehearsal", rehearsal, status=2).stderr
    (home.folder / "no_plan.json").write_text("{}")
    assert "no plan" in home.run("reconcile", rehearsal, "--plan", "no_plan.json", status=3).stderr
    assert "--plan" in home.run("reconcile", status=2).stderr
