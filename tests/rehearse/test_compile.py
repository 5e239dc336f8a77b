# SPDX-License-Identifier: Apache-2.0
"""torch.compile on the virtual GPU, in an environment that has Triton: its modes, and cold and warm caches told apart."""
import importlib.util
import os
import re
import subprocess
import sys

import pytest

from conftest import ROOT, SCRIPTS, MiB

COMPILE_PYTHON = ROOT / "build/venv-compile/bin/python"
PYTHON = os.environ.get("ULLAGE_COMPILE_PYTHON") or (
    sys.executable if importlib.util.find_spec("triton") else str(COMPILE_PYTHON) if COMPILE_PYTHON.exists() else None)
pytestmark = pytest.mark.skipif(PYTHON is None, reason="no Python with Triton: scripts/environment compile makes one")
L2_OF_A100 = 40 * MiB


@pytest.fixture(scope="module")
def caches(tmp_path_factory):
    """A cache home that is cold for the first test that uses a mode."""
    return tmp_path_factory.mktemp("caches")


@pytest.fixture
def compiled(rehearse, caches):
    def run(mode, what, *flags, cache=caches):
        command = [PYTHON, str(SCRIPTS / "compiled_gpt.py"), mode, what]
        return rehearse(command=command, flags=["--steps", "all", *flags], environment={"XDG_CACHE_HOME": str(cache)})
    return run


@pytest.mark.parametrize("mode, what", [
    ("default", "train"),
    pytest.param("reduce-overhead", "train", marks=pytest.mark.slow),
    pytest.param("reduce-overhead", "infer", marks=pytest.mark.slow),
    pytest.param("max-autotune", "product", marks=pytest.mark.slow)])
def test_a_mode_works_and_is_reported_warm(compiled, mode, what):
    first = compiled(mode, what)
    assert (first.directory / "stdout.log").read_text().endswith("done\n")
    assert first.compiler["cache"] == "warm"
    assert first.compiler["graphs"] >= 1
    assert first.compiler["compiled"] == first.compiler["timed"] == 0
    assert first.compiler["cold_peak_reserved_bytes"] >= first.peak["reserved_bytes"]


def test_what_a_rehearsal_compiled_is_kept(compiled):
    first, again = compiled("default", "train"), compiled("default", "train")
    assert "cold_peak_reserved_bytes" not in again.compiler
    assert again.peak["allocated_bytes"] == first.peak["allocated_bytes"]
    assert again.peak["reserved_bytes"] == first.peak["reserved_bytes"]


@pytest.mark.slow
def test_cold_caches_hold_the_buffers_of_timing(compiled):
    cold = compiled("default", "train", "--compile-cache", "cold")
    assert cold.compiler["cache"] == "cold"
    assert cold.compiler["compiled"] == cold.compiler["graphs"]
    assert cold.compiler["timed"] > 0
    warm = compiled("default", "train")
    assert warm.compiler["cache"] == "warm"
    assert cold.peak["allocated_bytes"] >= warm.peak["allocated_bytes"] + L2_OF_A100 // 2
    assert cold.peak["reserved_bytes"] >= warm.peak["reserved_bytes"] + L2_OF_A100 // 2


@pytest.mark.slow
def test_a_cold_run_does_not_touch_the_kept_caches(compiled, tmp_path):
    compiled("max-autotune", "product", "--compile-cache", "cold", cache=tmp_path / "home")
    assert not (tmp_path / "home/ullage").exists()


def test_the_users_own_caches_stay_as_they_are(rehearse, caches, tmp_path):
    own = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path / "inductor"), "TRITON_CACHE_DIR": str(tmp_path / "triton")}
    rehearse(command=[PYTHON, str(SCRIPTS / "compiled_gpt.py"), "default", "train"], flags=["--steps", "all"],
             environment={"XDG_CACHE_HOME": str(caches), **own})
    assert not (tmp_path / "inductor").exists()
    assert not (tmp_path / "triton").exists()


@pytest.mark.slow
def test_no_warning_about_hooks_that_are_not_the_scripts(compiled):
    assert "global hooks" not in (compiled("default", "train").directory / "stderr.log").read_text()


def test_a_script_without_a_compiler_says_nothing_of_it(rehearse):
    assert "compiler" not in rehearse("mlp.py").result


def test_a_kernel_of_tritons(rehearse, caches, tmp_path):
    made = rehearse(command=[PYTHON, str(SCRIPTS / "triton_kernel.py")], environment={"XDG_CACHE_HOME": str(caches)})
    printed = dict(re.findall(r"(before|after|registers) (.*)", (made.directory / "stdout.log").read_text()))
    assert printed["before"] == "0"
    assert printed["after"] == "False False", "what a kernel wrote over must be unknown, not what was there before"
    finder = "import importlib.util as u; print(u.find_spec('triton').submodule_search_locations[0])"
    folder = subprocess.run([PYTHON, "-c", finder], capture_output=True, text=True, check=True).stdout.strip()
    shown = subprocess.run([f"{folder}/backends/nvidia/bin/cuobjdump", "-res-usage", str(tmp_path / "kernel.cubin")],
                           capture_output=True, text=True, check=True).stdout
    registers, stack = re.search(r"REG:(\d+) STACK:(\d+)", shown).groups()
    assert printed["registers"] == f"{registers} spills {int(stack) // 4}"
