# SPDX-License-Identifier: Apache-2.0
"""The recorder under Lightning, and its metrics in TensorBoard, as both are published."""
import json
import subprocess

import pytest
from conftest import SCRIPTS, TRACKERS_PYTHON, needs_trackers
from recordings import environment_of, of_kind, only_run, result_of

HAS_LIGHTNING = TRACKERS_PYTHON and subprocess.run([TRACKERS_PYTHON, "-c", "import importlib.util as u, sys; sys.exit(not u.find_spec('lightning'))"],
                                                   check=False).returncode == 0
pytestmark = [*needs_trackers, pytest.mark.skipif(not HAS_LIGHTNING, reason="no Lightning: scripts/environment trackers installs it")]

READ = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
board = EventAccumulator("board")
board.Reload()
print(json.dumps({tag: [[e.step, e.value] for e in board.Scalars(tag)] for tag in board.Tags()["scalars"]}))
"""


def run(folder, *words):
    done = subprocess.run([TRACKERS_PYTHON, *map(str, words)], cwd=folder, env=environment_of(folder), capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def test_lightning_with_tensorboard(tmp_path):
    seen = json.loads(run(tmp_path, SCRIPTS / "record_lightning.py").splitlines()[-1])
    directory = only_run(tmp_path)
    result = result_of(tmp_path, directory)
    assert result["steps"] == 4 == len(seen)
    forwards = [phase for phase in result["phases"] if phase["name"] == "forward"]
    assert len(forwards) >= 8, "two micro batches a step"
    # The optimizer's step calls the closure that runs the last micro batch, so its phase comes before that and behind.
    steps = [phase for phase in result["phases"] if phase["name"] == "optimizer"]
    assert [phase["step"] for phase in steps] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert of_kind(directory, "recording")[0]["name"] == "lightning"
    board = json.loads(run(tmp_path, "-c", READ).splitlines()[-1])
    assert [step for step, _ in board["memory/max_reserved(GiB)"]] == [1, 2, 3, 4]
    for (_, reserved), (_, held) in zip(board["memory/max_reserved(GiB)"], seen):
        assert reserved * 2**30 == pytest.approx(held, rel=1e-6)
