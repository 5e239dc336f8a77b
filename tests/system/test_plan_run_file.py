# SPDX-License-Identifier: Apache-2.0
"""`ullage plan --run-file`: settings from YAML or JSON, and the TrainingArguments of transformers."""
import json
import os
import subprocess

import pytest
from test_plan import BIN, plan, result

pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")


@pytest.fixture
def write(tmp_path):
    def written(text, name="run.yaml"):
        (tmp_path / name).write_text(text if isinstance(text, str) else json.dumps(text))
        return tmp_path / name

    return written


def same(one, other):
    return {key: value for key, value in one.items() if key != "run_file"} == {key: value for key, value in other.items() if key != "run_file"}


def test_a_run_file_says_what_flags_say(write):
    file = write("model: gpt2\ngpu: a100-40gb\nmicro_batch: [1, 2]\nseq: 128\ncheckpoint: full\nkeep-gradients: true\nfreeze: ['*wte*', '*wpe*']\nheadroom: 10%\ntokens:\n")
    told = result("gpt2", "--gpu", "a100-40gb", "--micro-batch", "1,2", "--seq", 128, "--checkpoint", "full", "--keep-gradients", "--freeze", "*wte*",
                  "--freeze", "*wpe*", "--headroom", "10%")
    read = result("--run-file", file)
    assert same(read, told)
    assert read["run_file"] == {"path": str(file), "training_arguments": False, "ignored": [], "unplanned": []}


def test_a_pipe_is_a_run_file_too(tmp_path):
    told = result("gpt2", "--gpu", "a100-40gb", "--micro-batch", 2, "--seq", 128)
    made = subprocess.run(["bash", "-c", f'"{BIN}" plan --json --run-file <(echo "{{model: gpt2, gpu: a100-40gb, micro-batch: 2, seq: 128}}")'],
                          capture_output=True, text=True, timeout=60)
    assert same(json.loads(made.stdout), told), made.stderr
    os.mkfifo(tmp_path / "nobody")
    nobody = subprocess.run([BIN, "plan", "--run-file", tmp_path / "nobody"], capture_output=True, text=True, timeout=60)
    assert nobody.returncode == 3 and "not a map of settings" in nobody.stderr


def test_the_command_line_wins(write):
    file = write({"model": "opt-350m", "gpu": "a100-40gb", "micro-batch": 4, "seq": 128, "accumulate": 4, "freeze": "*embed*"})
    assert result("--run-file", file, "--micro-batch", 2)["values"]["micro_batch"] == 2
    assert result("--run-file", file, "opt-125m")["model"]["name"] == "opt-125m"
    assert result("--run-file", file, "--fit", "micro-batch")["values"]["largest"] > 4
    assert result("--run-file", file, "--global-batch", 8)["setup"]["accumulate"] == 2
    assert result("--run-file", file, "--freeze", "*norm*")["setup"]["freeze"] == ["*norm*"]


def test_training_arguments_of_transformers(write):
    file = write({"output_dir": "out", "per_device_train_batch_size": 2, "gradient_accumulation_steps": 4, "bf16": True, "fp16": False, "optim": "adamw_torch_fused",
                  "gradient_checkpointing": True, "learning_rate": 5e-05, "max_grad_norm": 1.0, "fsdp": [], "deepspeed": None, "torch_compile": False,
                  "lr_scheduler_kwargs": {"a": 1}}, "args.json")
    words = ("--gpu", "a100-40gb", "--seq", 128)
    read = result("gpt2", *words, "--run-file", file)
    told = result("gpt2", *words, "--micro-batch", 2, "--accumulate", 4, "--precision", "bf16-autocast", "--optimizer", "adamw-fused", "--checkpoint", "full")
    assert same(read, told)
    assert read["run_file"] == {"path": str(file), "training_arguments": True, "ignored": ["learning_rate", "lr_scheduler_kwargs", "output_dir"],
                                "unplanned": ["max_grad_norm"]}
    shown = plan("gpt2", *words, "--run-file", file).stdout
    assert f"{file}: not planned, and would change the numbers: max_grad_norm" in shown


def test_yaml_spells_truth_in_three_ways_and_flags_win_over_training_arguments(write):
    words = ("--gpu", "a100-40gb", "--run-file", write("output_dir: x\nbf16: True\ngradient_checkpointing: TRUE\nseq: 64\noptim: lomo\n"))
    read = result("gpt2", *words, "--optimizer", "adamw")
    assert (read["setup"]["precision"], read["setup"]["checkpoint"], read["values"]["sequence"]) == ("bf16-autocast", "full", 64)
    states = result("gpt2", "--run-file", write("output_dir: x\nbf16: True\n", "states.yaml"))
    assert states["evidence"]["partial"] is True and states["setup"]["optimizer"] == "adamw-fused"
    assert result("gpt2", "--gpu", "a100-40gb", "--seq", 64, "--mode", "infer", "--run-file", write("output_dir: x\n", "infer.yaml"))["verdict"] == "fits"
    assert result("gpt2", "--gpu", "a100-40gb", "--seq", 64, "--run-file", write("model: gpt2\nfit: seq\n", "fit.yaml"))["values"]["sequence"] == 64


def test_what_training_arguments_leave_out_is_the_trainers_default(write):
    read = result("gpt2", "--gpu", "a100-40gb", "--seq", 128, "--run-file", write({"output_dir": "out"}))
    assert (read["values"]["micro_batch"], read["setup"]["precision"], read["setup"]["optimizer"]) == (8, "fp32", "adamw-fused")


@pytest.mark.parametrize("text, status, said", [
    ("micro_bach: 2\n", 3, "line 1"), ('{"model": "gpt2"}{"seq": 64}', 3, "more than one document"), ("seq: []\n", 3, "an empty list"),
    ("micro_batch: 4\nmicro-batch: 9\n", 3, "line 2"), ("model: [gpt2, x]\n", 3, "not a name"), ("model: --help\n", 2, "unknown model: '--help'"),
    ("output_dir: x\nbf16: 1\n", 3, "line 2"), ("output_dir: x\nbf16: true\nfp16: true\n", 3, "fp16 and bf16 are both true"), ("output_dir: x\nper_device_train_batch_size: [1, 2]\nseq: 8\n", 3, "line 2"), ("output_dir: x\noptim: sgd\n", 3, "no plan of 'sgd'"), ("a: [\n", 3, "not YAML"), ("- 1\n", 3, "not a map of settings"), ("model: gpt2\nmodel: opt-125m\n", 3, "there twice"),
    ("model: gpt2\nkeep-gradients: 3\n", 3, "not a switch"), ("model: gpt2\ngpu: {a: 1}\n", 3, "a map"), ("model: gpt2\nrun-file: x\n", 3, "no setting of a plan"),
    ("model: gpt2\ngpu: t4\nseq: x\n", 2, "not a list of whole numbers"), ("output_dir: x\noptim: lion_32bit\n", 3, "no plan of 'lion_32bit'")])
def test_what_is_refused(write, text, status, said):
    assert said in plan("--run-file", write(text), status=status).stderr


def test_there_has_to_be_such_a_file(tmp_path):
    assert "No such file" in plan("--run-file", tmp_path / "none", status=4).stderr


@pytest.mark.parametrize("text, said", [
    ("model: gpt2\ngpu: t4\nseq: lots\n", "--seq lots, --seq of {file}, line 3"),
    ("model: gpt2\naccumulate: few\n", "--accumulate few, --accumulate of {file}, line 2"),
    ("gpu: nope\nmodel: gpt2\n", "--gpu nope, --gpu of {file}, line 1"),
    ("model: gpt2\nprecision: fp12\n", "--precision, --precision of {file}, line 2"),
    ("output_dir: x\nmodel: gpt2\ngpu: t4\nseq: 64\nper_device_train_batch_size: many\n", "--micro-batch many, --micro-batch of {file}, line 5")])
def test_a_bad_value_is_refused_with_its_line(write, text, said):
    file = write(text)
    assert said.format(file=file) in plan("--run-file", file, status=2).stderr


def test_a_bad_value_of_the_command_line_is_not_the_files(write):
    file = write("model: gpt2\ngpu: t4\nseq: 64\n")
    assert str(file) not in plan("--run-file", file, "--seq", "lots", status=2).stderr
