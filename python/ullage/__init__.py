# SPDX-License-Identifier: Apache-2.0
"""Ullage: what a training run costs in memory, compute and time, before, during and after it."""

__version__ = "0.1.0"
