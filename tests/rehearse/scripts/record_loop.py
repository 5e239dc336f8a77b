# SPDX-License-Identifier: Apache-2.0
"""A plain training loop. `reference`: prints the phases by PyTorch's own counters, read and reset by hand at their borders."""
import json
import sys

import torch

MODE, STEPS = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 4


class Counted:
    """PyTorch's counters between two calls."""

    def __init__(self):
        self.phases = []

    def end(self, name, step):
        if MODE == "reference":
            self.phases.append([name, step, torch.cuda.memory_allocated(), torch.cuda.memory_reserved(),
                                torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()])
            torch.cuda.reset_peak_memory_stats()


def train(model, optimizer, counted, run=None):
    generator = torch.Generator().manual_seed(0)
    for step in range(1, STEPS + 1):
        rows = int(torch.randint(16, 256, (1,), generator=generator))
        batch = torch.randn(rows, 1024).to("cuda")
        counted.end("load" if step == 1 else "other", 0 if step == 1 else step - 1)
        output = model(batch)
        counted.end("forward", step)
        loss = output.square().mean()
        loss.backward()
        counted.end("backward", step)
        optimizer.step()
        counted.end("optimizer", step)
        del output, loss
        optimizer.zero_grad()
        if run is not None:
            run.tokens(rows, effective=rows // 2)
            run.step()
    del batch
    counted.end("other", STEPS)


def main():
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(1024, 4096), torch.nn.GELU(), torch.nn.Linear(4096, 1024)).to("cuda")
    optimizer = torch.optim.AdamW(model.parameters())
    counted = Counted()
    if MODE == "recorded":
        import ullage

        with ullage.record("loop", model=model, optimizer=optimizer, config={"rows": 16, "api_key": "abc"}) as run:
            train(model, optimizer, counted, run)
    elif MODE == "by hand":
        by_hand(model, optimizer)
    else:
        if MODE == "reference":
            torch.cuda.reset_peak_memory_stats()
        train(model, optimizer, counted)
    print(json.dumps(counted.phases))


def by_hand(model, optimizer):
    import ullage

    with ullage.record("by-hand") as run:
        for _ in range(STEPS):
            batch = torch.randn(64, 1024).to("cuda")
            with run.phase("forward"):
                loss = model(batch).square().mean()
            with run.phase("backward"):
                loss.backward()
            with run.phase("optimizer"):
                optimizer.step()
            with run.phase("logging"):
                optimizer.zero_grad()
            run.step()


if __name__ == "__main__":
    main()
