# SPDX-License-Identifier: Apache-2.0
"""Runs the reference loop for many cases under the stand-in libraries, each in a process of its own.

Cases come as JSON lines on stdin: {"config": {...}, "flags": [...], "profile": "...", "events": path or null, "flops": true or false}.
Results go to stdout, one line each: the peaks of PyTorch's own counters and the bytes of parameters, gradients and optimizer state after the
last backward pass, or the error; with "flops" instead what FlopCounterMode counts in one training step. PyTorch is imported once; every case is
a fork of that process.
"""
import json
import os
import pathlib
import sys
import warnings
from types import SimpleNamespace

import torch
import transformers
from reference_loop import flags, train
from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop_count, sdpa_flop_count
from transformers import AutoModelForCausalLM  # noqa: F401  imports what every case needs

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python/ullage/site"))
from ullage_hook import values  # noqa: E402
from ullage_hook.virtual_device import VirtualDevice  # noqa: E402

transformers.utils.logging.set_verbosity_error()


def compute_small_values():
    """As in a rehearsal: what steers the script is really computed (transformers asks whether sequences are packed)."""
    silent = SimpleNamespace(current=lambda: "", add=lambda *_, **__: None)
    values.install(torch, SimpleNamespace(device=VirtualDevice(), routing="balanced", lines=silent, records=silent))


def write_events(path):
    """PyTorch's own history: `a NUMBER BYTES` for a request, `f NUMBER` for its end."""
    numbers, lines, count = {}, [], 0
    for event in torch.cuda.memory._snapshot()["device_traces"][0]:
        if event["action"] == "alloc":
            numbers[event["addr"]] = count
            lines.append(f"a {count} {event['size']}")
            count += 1
        elif event["action"] == "free_completed":
            lines.append(f"f {numbers.pop(event['addr'])}")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def grouped_heads():
    """Formulas for attention with fewer key heads, which FlopCounterMode refuses: the kernel multiplies as if each were repeated."""
    def wide(query, heads):
        return (heads[0], query[1], *heads[2:])

    def forward(query, key, value, *_, **__):
        return sdpa_flop_count(query, wide(query, key), wide(query, value))

    def backward(gradient, query, key, value, *_, **__):
        return sdpa_backward_flop_count(gradient, query, wide(query, key), wide(query, value))

    kernels = [getattr(torch.ops.aten, f"_scaled_dot_product_{name}_attention") for name in ("flash", "cudnn")]
    backwards = [getattr(torch.ops.aten, f"_scaled_dot_product_{name}_attention_backward") for name in ("flash", "cudnn")]
    return {**dict.fromkeys(kernels, forward), **dict.fromkeys(backwards, backward)}


def count_flops(case, chosen):
    """FLOPs by operator of one training step: {"aten.mm": 123}."""
    chosen.steps = 1
    with FlopCounterMode(display=False, custom_mapping=grouped_heads()) as counter:
        train(case["config"], chosen)
    return {str(name): flops for name, flops in counter.get_flop_counts().get("Global", {}).items()}


def bytes_of(tensors):
    """Of those on the device, a storage once."""
    return sum({t.untyped_storage().data_ptr(): t.numel() * t.element_size() for t in tensors if t.is_cuda}.values())


def states_of(model, optimizer):
    parameters = list(model.parameters())
    kept = [value for state in optimizer.state.values() for value in state.values() if torch.is_tensor(value)]
    return {"parameters": bytes_of(parameters), "gradients": bytes_of(p.grad for p in parameters if p.grad is not None),
            "optimizer_state": bytes_of(kept)}


def run(case):
    states = {}
    chosen = flags().parse_args(["-", *case["flags"]])
    if case.get("flops"):
        return {"flops": count_flops(case, chosen)}
    if case.get("events"):
        torch.cuda.memory._record_memory_history(context=None, max_entries=5_000_000)
    try:
        train(case["config"], chosen, lambda model, optimizer: states.update(states_of(model, optimizer)))
    except torch.OutOfMemoryError:
        return {"error": "out of memory"}
    if case.get("events"):
        write_events(case["events"])
    return {"allocated": torch.cuda.max_memory_allocated(), "reserved": torch.cuda.max_memory_reserved(), **states}


def in_child(case):
    warnings.simplefilter("ignore")
    os.environ["ULLAGE_VGPU_PROFILE"] = case["profile"]
    try:
        result = run(case)
    except Exception as error:  # noqa: BLE001  a case that fails is a result
        result = {"error": f"{type(error).__name__}: {error}"}
    os.write(1, (json.dumps(result) + "\n").encode())
    os._exit(0)


def main():
    compute_small_values()
    for line in sys.stdin:
        case = json.loads(line)
        child = os.fork()
        if child == 0:
            in_child(case)
        _, status = os.waitpid(child, 0)
        if status != 0:
            os.write(1, (json.dumps({"error": f"ended with status {status}"}) + "\n").encode())


if __name__ == "__main__":
    main()
