# SPDX-License-Identifier: Apache-2.0
"""Ullage: what a training run costs in memory, compute and time, before, during and after it."""
import sys

from ._recorder import record

__all__ = ["record", "step"]
__version__ = "0.1.0"


def step():
    """Marks the end of an optimizer step that PyTorch's hooks do not see: an update written by hand, or by a class that is
    no torch.optim.Optimizer. Call it after the update. It does nothing outside a rehearsal and `ullage record --`.

    A script that does not want to depend on Ullage need not: a rehearsal without it is judged by its repeating backward
    passes, and says so.
    """
    hook = sys.modules.get("ullage_hook")
    if hook is not None:
        hook.step()
