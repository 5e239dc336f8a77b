# SPDX-License-Identifier: Apache-2.0
"""A companion of a recording: how long it waits for its batches."""
from ..loads import Loads
from .problems import harmless


class Batches:
    def __init__(self, problems):
        self.problems = problems
        self._loads = None

    @harmless
    def begin(self, recording):
        torch = recording.meter.torch
        if torch is not None:
            self._loads = Loads(torch, recording.records, lambda: recording.active)
            self._loads.attach()

    @harmless
    def step_ends(self, step):
        if self._loads is not None:
            self._loads.step_ends(step)

    def end(self):
        if self._loads is not None:
            self._loads.detach()
