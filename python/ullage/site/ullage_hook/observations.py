# SPDX-License-Identifier: Apache-2.0
"""What happened at least once: evaluation, generation, checkpoints, the shapes of batches, synchronisations by name."""
import functools
import sys

from . import uploads
from .importing import after_import

_GENERATING = frozenset(("generate", "sample"))  # what models' own functions that make text or images are called
_FRAMES_AT_MOST = 12


class Observations:
    def __init__(self, torch, session):
        self._torch = torch
        self._session = session
        self._seen = set()
        self._shapes = None
        self._zeroed = set()

    def attach(self):
        self._watch(self._torch, "save", "checkpoint_save")
        after_import("safetensors.torch", lambda m: self._watch(m, "save_file", "checkpoint_save"))
        uploads.refuse(self._session.records)
        after_import("transformers.generation.utils", lambda m: self._watch(m.GenerationMixin, "generate", "generation"))
        for owner, name in ((self._torch.cuda, "synchronize"), (self._torch.cuda.Stream, "synchronize"),
                            (self._torch.cuda.Event, "synchronize")):
            self._name_line(owner, name)
        for owner in (self._torch.optim.Optimizer, self._torch.nn.Module):
            self._watch_zero_grad(owner)

    def saw(self, what):
        if what not in self._seen:
            self._seen.add(what)
            self._session.records.add("saw", what=what)

    def see_forward(self, module, args, kwargs):
        if not module.training and not self._torch.is_grad_enabled():
            self.saw("evaluation")
            if "generation" not in self._seen and self._is_generating():
                self.saw("generation")
        shapes = [list(v.shape) for v in (*args, *kwargs.values()) if isinstance(v, self._torch.Tensor)]
        if shapes != self._shapes:
            self._shapes = shapes
            self._session.records.add("batch", step=self._session.phases.step, shapes=shapes)

    def _is_generating(self):
        frame = sys._getframe(1)
        for _ in range(_FRAMES_AT_MOST):
            frame = frame.f_back
            if frame is None:
                return False
            if frame.f_code.co_name in _GENERATING:
                return True
        return False

    def _watch(self, owner, name, what):
        function = getattr(owner, name)

        @functools.wraps(function)
        def watched(*args, **kwargs):
            self.saw(what)
            return function(*args, **kwargs)

        setattr(owner, name, watched)

    def _watch_zero_grad(self, owner):
        """Where gradients are given up, in which phase, and whether they are only filled with zeros."""
        function = owner.zero_grad

        @functools.wraps(function)
        def watched(this, set_to_none=True):
            fact = (self._session.lines.current(), bool(set_to_none), self._session.phases.name, id(this))
            if fact not in self._zeroed:
                self._zeroed.add(fact)
                self._session.records.add("zero_grad", line=fact[0], set_to_none=fact[1], phase=fact[2],
                                          bytes=self._parameter_bytes(this))
            return function(this, set_to_none=set_to_none)

        owner.zero_grad = watched

    @staticmethod
    def _parameter_bytes(owner):
        groups = getattr(owner, "param_groups", None)
        parameters = owner.parameters() if groups is None else (p for group in groups for p in group["params"])
        try:
            return sum(p.numel() * p.element_size() for p in parameters)
        except Exception:
            return 0  # parameters that are not there yet

    def _name_line(self, owner, name):
        """The device cannot ask for the line of a synchronisation: PyTorch may hold its allocator's lock then."""
        function = getattr(owner, name)
        session = self._session

        @functools.wraps(function)
        def named(*args, **kwargs):
            session.device.name_line(session.lines.current())
            return function(*args, **kwargs)

        setattr(owner, name, named)
