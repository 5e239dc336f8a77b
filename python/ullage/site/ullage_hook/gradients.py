# SPDX-License-Identifier: Apache-2.0
"""Gradients that nobody gives up: the next step adds to those of the step before."""
import functools
import weakref

_STEPS = 4    # in which it is looked for
_SAMPLED = 8  # parameters of an optimizer


class KeptGradients:
    """A gradient that survives an optimizer step is the same tensor when the next one begins. Each backward pass that adds to it
    counts its version up by one, and so does everything else that writes into it: filling it with zeros, clipping, unscaling.
    Only where no more than the backward passes wrote is it certain that nobody zeroed it. PyTorch's foreach functions do not
    count: a call of any zero_grad() ends the question for the step."""

    def __init__(self, records, line):
        self._records = records
        self._line = line   # () -> "file:line function" of the script
        self._after = {}    # of each optimizer at the end of its last step: passes, [(parameter, gradient, version)], all weak
        self._seen = 0
        self._patched = []

    def attach(self, torch, current=None):
        """`current` gives the one that is to see a call, where that may become another."""
        current = current or (lambda: self)
        for owner in (torch.optim.Optimizer, torch.nn.Module):
            self._watch(owner, owner.zero_grad, current)

    def _watch(self, owner, function, current):
        @functools.wraps(function)
        def watched(*args, **kwargs):
            current().forget()
            return function(*args, **kwargs)

        owner.zero_grad = watched
        self._patched.append((owner, watched, function))

    def detach(self):
        """Unless somebody has put a function over ours."""
        for owner, watched, function in self._patched:
            if owner.zero_grad is watched:
                owner.zero_grad = function

    def forget(self):
        """Gradients are given up or zeroed."""
        self._after.clear()

    def before_step(self, optimizer, step, passes):
        """`passes` counts the backward passes of the run."""
        if self._seen >= _STEPS:
            return
        passes_then, before = self._after.pop(id(optimizer), (0, ()))
        kept = [_was_kept(*one, passes - passes_then) for one in before]
        if kept and all(kept):
            self._seen += 1
            gradients = list(_gradients(optimizer))
            self._records.add("kept_gradients", step=step, line=self._line(), count=len(gradients),
                              bytes=sum(gradient.numel() * gradient.element_size() for _, gradient in gradients))

    def after_step(self, optimizer, passes):
        if self._seen < _STEPS:
            sampled = [one for one, _ in zip(_gradients(optimizer), range(_SAMPLED))]
            self._after[id(optimizer)] = passes, [(weakref.ref(parameter), weakref.ref(gradient), gradient._version)
                                                  for parameter, gradient in sampled]


def _was_kept(parameter, gradient, version, passes):
    parameter = parameter()
    now = parameter.grad if parameter is not None else None  # before the weak reference is asked: it makes the object anew
    return now is not None and gradient() is now and 1 <= now._version - version <= passes


def _gradients(optimizer):
    """Parameters that have a gradient, with it."""
    for group in getattr(optimizer, "param_groups", ()):
        for parameter in group["params"]:
            if parameter.grad is not None and not parameter.grad.is_sparse:
                yield parameter, parameter.grad
