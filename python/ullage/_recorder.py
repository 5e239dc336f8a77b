# SPDX-License-Identifier: Apache-2.0
"""Recording a training: `ullage.record`. The recorder itself is one with the hook of rehearsals (site/ullage_hook)."""
import importlib
import importlib.util
import sys
from pathlib import Path

from . import _program

_HOOK = "ullage_hook"


def _hook_folder():
    """In an installed package, then in the sources."""
    package = Path(__file__).resolve().parent
    for site in (package / "lib" / "ullage" / "site", package / "site"):
        if (site / _HOOK / "__init__.py").is_file():
            return site / _HOOK
    raise ImportError(f"a part of this installation is missing: {package}/lib/ullage/site")


def _part(name):
    """A module of the hook, which is loaded once, also where a rehearsal has loaded it."""
    if _HOOK not in sys.modules:
        folder = _hook_folder()
        spec = importlib.util.spec_from_file_location(_HOOK, folder / "__init__.py", submodule_search_locations=[str(folder)])
        sys.modules[_HOOK] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[_HOOK])
    return importlib.import_module(f"{_HOOK}.{name}")


def record(name=None, *, config=None, model=None, optimizer=None, directory=None, device=None, phases=None,
           interval=None, history=None, profile=None, flops_per_token=None, peak_flops=None):
    """Records a training: memory, time and what belongs to them, into a run directory.

        with ullage.record("my-run", model=model, optimizer=optimizer) as run:
            for batch in loader:
                ...
                run.tokens(batch["input_ids"].numel(), effective=int(batch["attention_mask"].sum()))

    Also a decorator (each call of the function is a recording), and `run = ullage.record(...).start()` with `run.finish()`.

    `name` is the script's without one. `config` is kept with the record; values whose names call them secret are not.
    With `model` or `optimizer` (one or a list) the phases of each step are marked through PyTorch's hooks; with
    `phases="all"` those of whatever module and optimizer runs; else by `run.phase("forward")` and `run.step()`.
    `directory` is a new or empty folder; without it one is made where rehearsals are kept. `device` is the number of the GPU;
    without it, the one that is current in the first step.

    `interval` is the time between two looks at host and device memory in seconds (0.5; 0: never). `history` and `profile` are
    steps, a list or "3,10-12", whose memory history (snapshot.pickle) and torch.profiler trace are kept. These three may also
    come from ULLAGE_RECORD_INTERVAL, ULLAGE_RECORD_HISTORY and ULLAGE_RECORD_PROFILE; ULLAGE_RECORD=off records nothing.

    `flops_per_token` is the training's own (forward and backward), for MFU; without it that of a dense model whose parameters
    are all trained is counted by the rule of PaLM and torchtitan. `peak_flops` is what the device can do, in FLOP/s; without it
    the dense rate of the catalogue, in the precision that the model multiplies in.

    Nothing the recorder does raises: its errors are said once on stderr, and counted in the record.
    """
    return _part("recorder").Run(name, config=config, model=model, optimizer=optimizer, directory=directory, device=device,
                                 phases=phases, interval=interval, history=history, profile=profile,
                                 flops_per_token=flops_per_token, peak_flops=peak_flops, program=_program.find())
