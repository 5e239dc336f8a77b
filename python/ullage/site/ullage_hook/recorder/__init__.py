# SPDX-License-Identifier: Apache-2.0
"""The recorder: measures a training on the GPU that it really runs on, and writes a run directory like a rehearsal's.

It is in nobody's way: what fails in it is counted and said once, and the training goes on.
"""
from .run import Run

__all__ = ["Run"]
