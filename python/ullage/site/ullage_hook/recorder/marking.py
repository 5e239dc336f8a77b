# SPDX-License-Identifier: Apache-2.0
"""The phases of a recording: those of a rehearsal, through hooks of given modules and optimizers or global ones, or by hand."""
import contextlib
import functools

from ..phases import Phases
from .problems import harmless

_KNOWN = ("forward", "backward", "optimizer")


def _unless_by_hand(name):
    """Hooks say nothing about a phase that the script itself marks."""

    def decorate(method):
        @functools.wraps(method)
        def guarded(self, *args, **kwargs):
            if self.by_hand == name:
                return
            try:
                method(self, *args, **kwargs)
            except Exception as error:
                self.problems.see(method.__name__.strip("_"), error)

        return guarded

    return decorate


class RecordedPhases(Phases):
    """Phases whose hooks cannot fail the script and can be taken away."""

    _frames_to_call = 4  # with the guard, and _begin_forward of this class

    def __init__(self, torch, session, problems):
        self._torch = torch  # None where only phases by hand are marked
        self._session = session
        self._in_backward = torch._C._current_graph_task_id if torch is not None else None
        self.problems = problems
        self.by_hand = None
        self._hooks = []
        self._engine = None
        self._marked = False     # something but steps was marked
        self._told = 0           # steps that ended, when run.step() was called last
        self._ended = 0
        self.reset()

    # --- hooks ---

    def attach_to(self, modules, optimizers):
        """Given modules: only their forward counts. None: that of every outermost module. The same of optimizers."""
        if not modules:
            self._hooks.extend(self._watch_all_modules())
        for module in modules:
            self._hooks.append(module.register_forward_pre_hook(self._before_module))
            self._hooks.append(module.register_forward_hook(self._after_module, always_call=True))
        if not optimizers:
            self._hooks.extend(self._watch_all_optimizers())
        for optimizer in map(_inner_optimizer, optimizers):
            self._hooks.append(optimizer.register_step_pre_hook(self._before_step))
            self._hooks.append(optimizer.register_step_post_hook(self._after_step))
        self._engine = self._wrap_engine()

    def detach(self):
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()
        if self._engine is not None and self._torch.autograd._engine_run_backward is self._engine[0]:
            self._torch.autograd._engine_run_backward = self._engine[1]

    _before_module = _unless_by_hand("forward")(Phases._before_module)
    _after_module = _unless_by_hand("forward")(Phases._after_module)
    _begin_backward = _unless_by_hand("backward")(Phases._begin_backward)
    _end_backward = _unless_by_hand("backward")(Phases._end_backward)
    _before_step = _unless_by_hand("optimizer")(Phases._before_step)
    _after_step = _unless_by_hand("optimizer")(Phases._after_step)

    def _begin_forward(self, module, args):
        self._marked = True
        super()._begin_forward(module, args)

    def _end_step(self, optimizer, name=None):
        self._ended += 1
        self._marked = True
        super()._end_step(optimizer, name)

    # --- by hand ---

    @contextlib.contextmanager
    def phase(self, name):
        self._enter(name)
        try:
            yield
        finally:
            self._leave(name)

    @harmless
    def _enter(self, name):
        self._marked = True
        if name not in _KNOWN:
            return self._session.mark("range_begin", range=name)
        if name == "forward":
            self._begin_pass()
        elif name == "backward":
            self._backward_seen = True
        elif self._stepped:
            self.step, self.micro_batch, self._stepped = self.step + 1, 0, False
        self.by_hand = self.name = name
        self._session.mark(f"{name}_begin")

    @harmless
    def _leave(self, name):
        self.by_hand = None
        if name not in _KNOWN:
            self._session.mark("range_end", range=name)
        elif name == "optimizer":
            self._end_step(self)
        else:
            self._session.mark(f"{name}_end")

    @harmless
    def end_step(self):
        """run.step(): nothing to say where a hook has seen the step's end."""
        if self._ended > self._told:
            self._told = self._ended
            return
        if self._marked:
            self.own_step()
        else:
            self.step += 1
            self._session.mark("step_end")
            self._session.after_step(self)
        self._told = self._ended


def _inner_optimizer(optimizer):
    """What wrappers (accelerate's, Lightning's) step in the end: it has the hooks."""
    for _ in range(8):
        inner = getattr(optimizer, "optimizer", None)
        if inner is None:
            break
        optimizer = inner
    return optimizer
