# SPDX-License-Identifier: Apache-2.0
"""A plain loop over a small network, with switches for what the tests need."""
import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--optimizer", default="adamw", choices=["adamw", "fused", "forloop", "sgd"])
parser.add_argument("--accumulate", type=int, default=1)
parser.add_argument("--steps", type=int, default=10)
parser.add_argument("--width", type=int, default=1024)
parser.add_argument("--swallow", action="store_true", help="catch the end of the rehearsal")
parser.add_argument("--reset-peaks", action="store_true")
args = parser.parse_args()

model = torch.nn.Sequential(torch.nn.Linear(args.width, args.width), torch.nn.ReLU(),
                            torch.nn.Linear(args.width, args.width)).cuda()
parameters = model.parameters()
if args.optimizer == "sgd":
    optimizer = torch.optim.SGD(parameters, lr=0.1, momentum=0.9)
else:
    optimizer = torch.optim.AdamW(parameters, lr=1e-3, fused=args.optimizer == "fused" or None,
                                  foreach=False if args.optimizer == "forloop" else None)
print("script: start", flush=True)
try:
    for step in range(args.steps):
        for _ in range(args.accumulate):
            batch = torch.randn(256, args.width, pin_memory=True).cuda(non_blocking=True)
            loss = model(batch).square().mean() / args.accumulate
            loss.backward()
        try:
            optimizer.step()
        except BaseException:
            if not args.swallow:
                raise
            print("script: swallowed", flush=True)
        optimizer.zero_grad()
        if args.reset_peaks:
            torch.cuda.reset_peak_memory_stats()
        print("script: step", step + 1, loss.item(), flush=True)
finally:
    print("script: finally", flush=True)
print("script: end", flush=True)
