# SPDX-License-Identifier: Apache-2.0
"""Memory budgets in tests: pytest runs test files of a user, with and without what the budget needs."""
import os
import re
import subprocess
import sys
import textwrap

import pytest

from conftest import ROOT, ullage

CONFTEST = """
    import pytest

    def pytest_addoption(parser):
        parser.addoption("--width", type=int, default=64)

    @pytest.fixture(scope="session")
    def device():
        import torch
        assert torch.cuda.is_available()      # no fixture of these tests runs where there is no GPU
        return torch.device("cuda")

    @pytest.fixture
    def model(device, request):
        import torch
        width = request.config.getoption("width")
        yield torch.nn.Linear(width, width).to(device)
        assert torch.cuda.is_available()
"""
STEP = """
    import pytest

    def has_gpu():
        try:
            import torch
        except (ImportError, OSError, ValueError):     # a torch for CUDA without CUDA's libraries
            return False
        return torch.cuda.is_available()

    def step(model, rows):
        import torch
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model(torch.ones(rows, model.in_features, device="cuda")).sum().backward()
        optimizer.step()

"""


def run_tests(folder, text, *flags, ini="", program=None, conftest=CONFTEST, path="test_it.py"):
    (folder / "conftest.py").write_text(textwrap.dedent(conftest))
    (folder / path).write_text(textwrap.dedent(STEP) + textwrap.dedent(text))
    (folder / "pytest.ini").write_text(f"[pytest]\n{ini}")
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python"), "ULLAGE_BIN": program or ullage(),
                   "TMPDIR": str(folder)}
    words = [sys.executable, "-m", "pytest", "-p", "ullage.pytest_plugin", "-p", "no:cacheprovider", "-rA", *flags]
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def outcomes(done):
    """Name of a test -> passed, failed ..."""
    found = re.findall(r"^(PASSED|FAILED|SKIPPED|XFAIL|ERROR)(?: \[\d+\])? \S*?(?:::(\S+))?(?: - .*)?(?::\d+: .*)?$", done.stdout, re.M)
    assert found and "ERROR" not in done.stdout, done.stdout + done.stderr
    return {name: outcome for outcome, name in found}


def test_within_and_over_a_budget_with_fixtures_options_and_parameters(tmp_path):
    done = run_tests(tmp_path, """
        @pytest.mark.parametrize("rows", [4, 4096])
        @pytest.mark.gpu_budget("40 MiB", metric="peak_allocated", gpu="a100-40gb")
        def test_step(model, rows):
            assert model.in_features == 1024
            step(model, rows)

        def test_of_another_kind():
            assert not has_gpu()
    """, "--width", "1024", "test_it.py")
    assert outcomes(done) == {"test_step[4]": "PASSED", "test_step[4096]": "FAILED", "test_of_another_kind": "PASSED"}
    assert done.returncode == 1
    value = re.search(r"peak_allocated +([\d.]+) MiB +<= 40.00 MiB +budget +OVER by", done.stdout)
    assert value and float(value[1]) > 48  # weights and gradients are 8 MiB, inputs, results and their gradient 16 MiB each
    assert re.search(r"temporaries +16.00 MiB", done.stdout) and re.search(r"inputs +16.00 MiB", done.stdout)
    kept = re.search(r"the run: (\S+)", done.stdout)[1]
    assert os.path.exists(os.path.join(kept, "run.json"))
    assert len(list(tmp_path.glob("ullage-budget-*"))) == 1  # that of the test which held is gone


@pytest.mark.slow
def test_several_budgets_of_one_test_and_of_its_class(tmp_path):
    done = run_tests(tmp_path, """
        @pytest.mark.gpu_budget("4 MiB", metric="peak_reserved", gpu="a100-40gb")
        class TestAll:
            @pytest.mark.gpu_budget("2 GiB", gpu="a100-40gb")
            @pytest.mark.gpu_budget(1, metric="steps", gpu="a100-40gb")
            @pytest.mark.gpu_budget("1 GiB", metric="peak_allocated", gpu="t4")
            def test_own(self, model):
                step(model, 4)

            def test_of_the_class(self, model):
                for _ in range(2):
                    step(model, 40000)
    """)
    assert outcomes(done) == {"TestAll::test_own": "PASSED", "TestAll::test_of_the_class": "FAILED"}
    assert "peak_reserved" in done.stdout and "<= 4.00 MiB" in done.stdout


@pytest.mark.slow
def test_what_the_test_says_itself(tmp_path):
    done = run_tests(tmp_path, """
        pytestmark = pytest.mark.gpu_budget("1 GiB", gpu="t4")

        def test_wrong(model):
            print("seen before")
            assert model.in_features == 7

        @pytest.mark.xfail(reason="known")
        def test_known(model):
            assert False

        @pytest.mark.skipif(not has_gpu(), reason="needs a GPU")
        def test_needs_a_gpu(model):
            step(model, 4)

        def test_too_large(device):
            import torch
            torch.empty(40 << 30, dtype=torch.uint8, device=device)
    """)
    found = outcomes(done)
    assert {name: found.get(name) for name in ("test_wrong", "test_known", "test_needs_a_gpu", "test_too_large")} == {
        "test_wrong": "FAILED", "test_known": "XFAIL", "test_needs_a_gpu": "PASSED", "test_too_large": "FAILED"}
    assert "assert 64 == 7" in done.stdout and "seen before" in done.stdout
    assert "out of memory; peak_reserved 40.00 GiB <= 1.00 GiB" in done.stdout


def test_mistakes_are_said(tmp_path):
    done = run_tests(tmp_path, """
        @pytest.mark.gpu_budget("1 GiB", metric="peak_reservd", gpu="t4")
        def test_metric(): pass

        @pytest.mark.gpu_budget("1 GiB", gpu="a100-41gb")
        def test_gpu(): pass

        @pytest.mark.gpu_budget("1 parsec", gpu="t4")
        def test_limit(model): pass

        @pytest.mark.gpu_budget("8", gpu="t4")
        def test_unit(): pass

        @pytest.mark.gpu_budget("8 GiB")
        def test_no_gpu(): pass

        @pytest.mark.gpu_budget()
        def test_nothing(): pass
    """)
    assert set(outcomes(done).values()) == {"FAILED"}
    for said in ("no metric is called 'peak_reservd'", "peak_reserved,", "a100-40gb", "1parsec", "limit",
                 "a limit without a unit is a number of bytes: 'peak_reserved=8'", "8GiB (2^30 bytes each) or 8GB",
                 "no GPU was chosen", "gpu=\"a100-40gb\" of the mark", "--ullage-gpu NAME", "ullage_gpu = NAME"):
        assert said in done.stdout, said


@pytest.mark.parametrize("flags, ini, outcome", [((), "", "FAILED"), (("--ullage-unavailable=skip",), "", "SKIPPED"),
                                                 ((), "ullage_unavailable = skip\n", "SKIPPED")])
def test_where_nothing_can_be_rehearsed_it_fails_unless_told_otherwise(tmp_path, flags, ini, outcome):
    done = run_tests(tmp_path, """
        @pytest.mark.gpu_budget("1 GiB", gpu="t4")
        def test_it(model): step(model, 4)
    """, *flags, ini=ini, program=str(tmp_path / "nothing"))
    assert outcome in outcomes(done).values() and done.returncode == (outcome == "FAILED")
    assert "a GPU budget cannot be checked here" in done.stdout


@pytest.mark.slow
def test_the_gpu_of_the_settings_and_a_selection_and_workers(tmp_path):
    (tmp_path / "below").mkdir()
    done = run_tests(tmp_path, """
        @pytest.mark.gpu_budget("1 GiB", metric="needed")
        def test_it(model):
            import torch
            assert torch.cuda.get_device_name() == "Tesla T4"

        @pytest.mark.gpu_budget("1 GiB", memory="3 GiB")
        def test_other(model):
            import torch
            assert torch.cuda.get_device_properties(0).total_memory == 3 << 30
    """, "-n1", "-k", "test_it or test_other", "--junitxml=out.xml", "below", ini="ullage_gpu = t4\n", path="below/test_it.py")
    assert set(outcomes(done).values()) == {"PASSED"} and "2 passed" in done.stdout
    assert 'tests="2"' in (tmp_path / "out.xml").read_text()


def test_the_summary_names_figures_over_a_limit_and_under_one(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "python")
    from ullage import _budget

    said = "peak_reserved      2 GiB  <= 1 GiB  budget  OVER by 1 GiB\nsteps  1  <= 9  budget  ok\ntokens_per_second  5  >= 9  budget  UNDER by 4"
    assert _budget._headline(said, {}) == "peak_reserved 2 GiB <= 1 GiB budget OVER by 1 GiB; tokens_per_second 5 >= 9 budget UNDER by 4"
