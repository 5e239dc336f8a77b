# SPDX-License-Identifier: Apache-2.0
"""Records and dumps its own memory history, as the tutorials do."""
import pickle
import sys

import torch

before = torch.empty(1 << 20, device="cuda")
torch.cuda.memory._record_memory_history(max_entries=100)
kept = [torch.empty(1 << 20, device="cuda") for _ in range(3)]
torch.cuda.memory._dump_snapshot(sys.argv[1])
torch.cuda.memory._record_memory_history(enabled=None)
after = torch.empty(1 << 20, device="cuda")
again = torch.cuda.memory._snapshot()
allocs = [e for e in pickle.load(open(sys.argv[1], "rb"))["device_traces"][0] if e["action"] == "alloc"]
assert len(allocs) == 3, allocs
assert sum(e["action"] == "alloc" for e in again["device_traces"][0]) == 3
print("script: own snapshot right")
