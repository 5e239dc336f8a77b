# SPDX-License-Identifier: Apache-2.0
"""Values that steer a script: small results are really computed, the rest is answered by named policies.

Kernels on the virtual GPU do nothing. For the operators of `operators.py` this package stands in front of PyTorch's CUDA
kernel: the kernel itself still runs, so every allocation stays as it is; then, where all inputs are small and known, the
result is computed by the CPU operator on the same memory (device memory is readable). What depends on something unknown
stays unknown, and a read of it is answered by a policy (`policies.py`), which is listed with its line of code.
"""
import os

from .evaluator import Evaluator


def install(torch, session):
    """Puts the evaluation in front of the CUDA kernels; returns the Evaluator, or None without a virtual device."""
    if not session.device.present or os.environ.get("ULLAGE_VALUES") == "0":
        return None
    evaluator = Evaluator(torch, session)
    evaluator.attach()
    return evaluator
