# SPDX-License-Identifier: Apache-2.0
"""The wheel: built in one environment, installed in another that has nothing else, and used from there."""
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = os.environ.get("ULLAGE_BIN", "")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")]

SCRIPT = """
import torch
model = torch.nn.Linear(1024, 1024).to("cuda")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    model(torch.ones(8, 1024, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


def run(*words, timeout=600, **options):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=timeout, **options)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def builder():
    """The environment that builds: kept in build/, because only its content matters."""
    folder = ROOT / "build" / "wheel-environment"
    requirements = ROOT / "scripts" / "requirements-wheel.txt"
    stamp = folder / "requirements.txt"
    if not stamp.exists() or stamp.read_bytes() != requirements.read_bytes():
        run(sys.executable, "-m", "venv", folder)
        run(folder / "bin" / "pip", "install", "--quiet", "--no-deps", "-r", requirements)
        stamp.write_bytes(requirements.read_bytes())
    return folder / "bin" / "pip"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    # The compilers by the names that build/release has them under: ccache knows what they have compiled.
    environment = {"CC": "cc", "CXX": "c++", **os.environ}
    run(builder(), "wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", folder, ROOT, env=environment, timeout=1800)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The folder of a fresh environment in which nothing but the wheel is installed."""
    folder = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    run(builder(), "--python", folder / "bin" / "python", "install", "--quiet", "--no-index", wheel)
    return folder


def test_one_wheel_for_every_python(wheel):
    assert wheel.name.startswith("ullage-") and "-py3-none-linux_" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(next(name for name in names if name.endswith("METADATA"))).decode()
        entry_points = archive.read(next(name for name in names if name.endswith("entry_points.txt"))).decode()
    assert "Requires-Dist" not in metadata
    assert "[pytest11]" in entry_points and "ullage.pytest_plugin" in entry_points
    for part in ("ullage/bin/ullage", "ullage/lib/ullage/cuda13/libcuda.so.1", "ullage/lib/ullage/site/sitecustomize.py",
                 "ullage/lib/ullage/files/libullage_files.so",
                 "ullage/__init__.py", "ullage/py.typed"):
        assert part in names
    assert not [name for name in names if name.startswith("ullage/site/") or "__pycache__" in name]


def test_it_needs_glibc_only(installed):
    package = next((installed / "lib").glob("python3*/site-packages/ullage"))
    assert "nothing else" in run(ROOT / "scripts" / "check_portability", package)


def test_the_installed_command(installed):
    assert "a100-40gb" in run(installed / "bin" / "ullage", "gpus")


def test_a_rehearsal_with_the_installed_command(installed, tmp_path):
    (tmp_path / "train.py").write_text(SCRIPT)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ULLAGE_")}
    text = run(installed / "bin" / "ullage", "rehearse", "--gpu", "t4", "--json", "--out", tmp_path / "run", "--",
               sys.executable, tmp_path / "train.py", env=environment)
    result = json.loads(text)
    assert (result["verdict"], result["script_exit_code"]) == ("fits", 0)


def test_elsewhere_it_says_what_is_needed(installed):
    code = "import sys; sys.platform = 'darwin'; from ullage._command import main; sys.exit(main())"
    done = subprocess.run([installed / "bin" / "python", "-c", code], capture_output=True, text=True)
    assert done.returncode == 7 and "Linux" in done.stderr
