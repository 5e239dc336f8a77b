# SPDX-License-Identifier: Apache-2.0
"""What stands for a value that nobody computed. Each use is listed with its line of code."""

#: Answers of a read by the host, by kind of dtype: a loss or gradient norm of 1, a flag that is not set, index 0.
READ = {"float": 1.0, "bool": False, "int": 0, "complex": 1.0}

#: Reductions of something unknown: nothing was found, everything is fine.
REDUCTION = {"any": False, "all": True}

DESCRIPTIONS = {
    "read-float": "a floating-point value that the script read: 1.0",
    "read-int": "an integer that the script read: 0",
    "read-bool": "a flag that the script read: False",
    "read-complex": "a complex value that the script read: 1.0",
    "any": "any() of unknown values: False",
    "all": "all() of unknown values: True",
    "routing-balanced": "top-k of unknown scores: every index equally often",
    "routing-skewed": "top-k of unknown scores: always the same indices",
    "found-inf": "the gradient scaler's check: nothing infinite was found",
    "index": "argmax, multinomial or sort of unknown values: valid indices",
    "mask-all": "a mask of unknown values selects everything: a shape depends on it",
}
