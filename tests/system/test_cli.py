# SPDX-License-Identifier: Apache-2.0
"""The command line as a person or a script meets it. ULLAGE_BIN names the program."""
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

BIN = os.environ.get("ULLAGE_BIN", "")
pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "schemas"


def ullage(*arguments, **options):
    return subprocess.run([BIN, *arguments], capture_output=True, text=True, timeout=30, **options)


def commands():
    lines = ullage("help").stdout.split("commands:\n")[1].split("\n\n")[0].splitlines()
    return [line.split()[0] for line in lines]


def test_help_is_a_result():
    for arguments in (["help"], ["--help"], ["-h"]):
        done = ullage(*arguments)
        assert done.returncode == 0 and done.stderr == ""
        assert "usage: ullage COMMAND" in done.stdout


def test_every_command_explains_itself():
    assert {"gpus", "help", "completion"} <= set(commands())
    for command in commands():
        done = ullage(command, "--help")
        assert done.returncode == 0
        assert done.stdout == ullage("help", command).stdout
        assert f"usage: ullage {command}" in done.stdout and "--help" in done.stdout


def test_version():
    assert ullage("--version").stdout.startswith("ullage ")


@pytest.mark.parametrize("arguments, hint", [
    (["gpsu"], "did you mean 'gpus'?"),
    (["gpus", "--jsno"], "did you mean '--json'?"),
    (["gpus", "A100"], "'a100-40gb', 'a100-80gb'"),
    (["gpus", "t4", "l4"], "unexpected argument"),
    (["completion", "tcsh"], "bash, zsh or fish"),
    ([], "ullage help"),
])
def test_usage_errors_say_what_to_do(arguments, hint):
    done = ullage(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert hint in done.stderr


def test_gpus_table_and_detail():
    table = ullage("gpus").stdout
    assert "a100-40gb" in table and "39.39 GiB" in table
    detail = ullage("gpus", "A100-40GB").stdout
    assert "SXM form" in detail and "42298834944" not in detail and "[1]" in detail
    assert "SXM form" not in ullage("gpus", "t4").stdout


def test_gpus_json_fits_its_schema():
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads((SCHEMAS / "gpus.schema.json").read_text())
    for arguments in (["gpus", "--json"], ["gpus", "t4", "--json"]):
        jsonschema.validate(json.loads(ullage(*arguments).stdout), schema)


def test_gpus_json_is_deterministic_and_has_integers():
    first, second = ullage("gpus", "--json"), ullage("gpus", "--json")
    assert first.stdout == second.stdout
    gpus = {gpu["short_name"]: gpu for gpu in json.loads(first.stdout)["gpus"]}
    assert gpus["a100-40gb"]["capacity_bytes"] == 42298834944
    assert isinstance(gpus["h100-80gb"]["quantities"]["memory_bandwidth"]["value"], int)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_valid_shell(shell):
    script = ullage("completion", shell).stdout
    assert all(command in script for command in commands())
    if shutil.which(shell):
        checked = subprocess.run([shell, "-n"], input=script, capture_output=True, text=True)
        assert checked.returncode == 0, checked.stderr


@pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")
def test_bash_completion_completes():
    probe = '\nCOMP_WORDS=(ullage gpus a100-4); COMP_CWORD=2; _ullage; echo "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", ullage("completion", "bash").stdout + probe], capture_output=True, text=True)
    assert done.stdout.strip() == "a100-40gb"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_is_an_io_error():
    with open("/dev/full", "w") as full:
        done = subprocess.run([BIN, "gpus"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 4 and "could not be written" in done.stderr
