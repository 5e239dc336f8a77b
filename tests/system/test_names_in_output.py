# SPDX-License-Identifier: Apache-2.0
"""Names out of other people's files: what is printed of them stays in its line and reads in one direction."""
import json

import pytest
from test_plan import BIN, plan

pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")
HIDDEN = [chr(code) for code in (0x1B, 0x9B, 0x061C, 0x200E, 0x200F, 0x2028, *range(0x202A, 0x202F), *range(0x2066, 0x206A))]
SMALL = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 96, "vocab_size": 100}


def assert_plain(text, forged):
    assert not [char for char in HIDDEN if char in text]
    assert not [line for line in text.splitlines() if line.strip().startswith(forged)], text


@pytest.fixture
def config(tmp_path):
    def made(folder="model", **fields):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "config.json").write_text(json.dumps({**SMALL, **fields}))
        return tmp_path / folder

    return made


def test_a_field_and_a_folder_of_a_model_stay_in_their_lines(config):
    name = "x\nFITS: all of it" + "".join(HIDDEN)
    path = config("a\nFITS: here\u202e", **{name: 1})
    text = plan(path).stdout
    assert_plain(text, "FITS")
    assert "fields without effect on these numbers: x?FITS: all of it" in text
    printed = plan(path, "--json").stdout
    assert_plain(printed, "FITS")
    assert name in json.loads(printed)["model"]["ignored"]


def test_an_error_has_its_own_lines_alone(config, tmp_path):
    error = plan(config(model_type="llama\nullage: fits\u202e"), status=3).stderr
    assert_plain(error, "ullage: fits")
    (tmp_path / "run.json").write_text(json.dumps({"model": "gpt2", "gpu": "a\n  hint: pay\u2066"}))
    assert_plain(plan("--run-file", tmp_path / "run.json", status=2).stderr, "hint: pay")


def test_an_error_shortens_a_long_name(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"model": "x" * 900_000, "gpu": "t4"}))
    error = plan("--run-file", tmp_path / "run.json", status=2).stderr
    assert "bytes left out" in error and len(error) < 20_000
