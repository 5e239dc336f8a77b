# SPDX-License-Identifier: Apache-2.0
"""What a recording is asked to do beside its marks: by arguments, else by the environment."""
import os

from .batches import Batches
from .evidence import StepHistory, StepProfile, steps_of
from .ooms import Ooms
from .sampler import Sampler

_INTERVAL = 0.5


def companions_of(problems, interval=None, history=None, profile=None):
    """The sampler and what else goes along with a recording. A value that cannot be read counts as a problem."""
    companions = [Sampler(_read(problems, float, interval, "ULLAGE_RECORD_INTERVAL", _INTERVAL), problems), Ooms(problems), Batches(problems)]
    steps = _read(problems, steps_of, history, "ULLAGE_RECORD_HISTORY", [])
    if steps:
        companions.append(StepHistory(steps, problems))
    steps = _read(problems, steps_of, profile, "ULLAGE_RECORD_PROFILE", [])
    if steps:
        companions.append(StepProfile(steps, problems))
    return companions


def _read(problems, read, value, variable, fallback):
    try:
        value = os.environ.get(variable) if value is None else value
        return fallback if value in (None, "") else read(value)
    except (TypeError, ValueError) as error:
        problems.see(variable, error)
        return fallback
