# SPDX-License-Identifier: Apache-2.0
"""What `rehearse --json` prints has the shape of docs/schemas/result.schema.json, however the run ended."""
import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = os.environ.get("ULLAGE_BIN", "")
pytestmark = pytest.mark.skipif(not BIN, reason="ULLAGE_BIN is not set")

TRAIN = """
import torch
layer = torch.nn.Linear(4096, WIDTH, device="cuda")
optimizer = torch.optim.Adam(layer.parameters())
for step in range(4):
    loss = layer(torch.randn(16, 4096).to("cuda")).sum()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(loss.item())
"""

CASES = {
    "fits": (TRAIN.replace("WIDTH", "4096"), 0, "fits"),
    "tight": (TRAIN.replace("WIDTH", "170000"), 0, "tight"),
    "out of memory": (TRAIN.replace("WIDTH", "400000"), 1, "oom"),
    "failed": ("import torch\ntorch.ones(1, device='cuda')\nraise ValueError('as expected')\n", 5, "failed"),
    "timeout": ("import time, torch\ntorch.ones(1, device='cuda')\ntime.sleep(60)\n", 6, "timeout"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_result_fits_its_schema(case, tmp_path):
    script, status, verdict = CASES[case]
    (tmp_path / "train.py").write_text(script)
    limit = ["--time-limit", "8s"] if case == "timeout" else []
    done = subprocess.run([BIN, "rehearse", "--gpu", "t4", "--json", "--out", tmp_path / "run", *limit, "--",
                           sys.executable, tmp_path / "train.py"], capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr[-2000:]
    result = json.loads(done.stdout)
    schema = json.loads((ROOT / "docs" / "schemas" / "result.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(result, schema)
    assert result["verdict"] == verdict
    assert json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8")) == result
