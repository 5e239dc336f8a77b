# SPDX-License-Identifier: Apache-2.0
"""Trains a little and saves into folders that may hold better weights: save.py FOLDER [BYTES]"""
import pathlib
import shutil
import sys

import torch
from safetensors.torch import save_file

folder = pathlib.Path(sys.argv[1])
print("script: before", sorted(str(p.relative_to(folder)) for p in folder.rglob("*")), (folder / "last.pt").stat().st_size)
model = torch.nn.Linear(256, 256, device="cuda")
optimizer = torch.optim.AdamW(model.parameters())
for step in range(2):
    model(torch.randn(8, 256, device="cuda")).sum().backward()
    torch.save(model.state_dict(), folder / "last.pt")
    save_file(model.state_dict(), folder / "model.safetensors")
    torch.jit.script(torch.nn.ReLU()).save(str(folder / "scripted.pt"))  # through C++ streams
    torch.save(optimizer.state_dict(), folder / f"optimizer-{step}.pt")
    with open(folder / "log.txt", "a") as log:
        log.write(f"step {step}\n")
    optimizer.step()
shutil.rmtree(folder / "old", ignore_errors=True)
assert torch.load(folder / "last.pt").keys() == model.state_dict().keys()
if len(sys.argv) > 2:
    torch.empty(int(sys.argv[2]), dtype=torch.uint8, device="cuda")
print("script: end")
