# SPDX-License-Identifier: Apache-2.0
"""Marks the phases of a training step through PyTorch's global hooks."""
import importlib
import sys
import threading


class Phases:
    """load, then forward / backward / optimizer / other in each step; see docs/run_directory.md."""

    _frames_to_call = 2  # from _begin_forward to PyTorch's call of the module

    def __init__(self, torch, session):
        self._torch = torch
        self._session = session
        self._in_backward = torch._C._current_graph_task_id
        self.reset()

    def reset(self):
        self._modules = []       # the modules whose forward runs, outermost first
        self._backward_depth = 0
        self._backward_thread = None
        self.name = "load"
        self.step = 0            # 0 until the first forward
        self.micro_batch = 0
        self._stepped = True     # the next forward begins a step
        self._backward_seen = False
        self.passes = 0          # backward passes of the run

    @property
    def between_steps(self):
        return self._stepped

    def attach(self):
        self._hooks = [*self._watch_all_modules(), *self._watch_all_optimizers()]
        self._wrap_engine()

    def _watch_all_modules(self):
        module = self._torch.nn.modules.module
        return (module.register_module_forward_pre_hook(self._before_module),
                module.register_module_forward_hook(self._after_module, always_call=True))

    def _watch_all_optimizers(self):
        optimizer = importlib.import_module("torch.optim.optimizer")
        return (optimizer.register_optimizer_step_pre_hook(self._before_step),
                optimizer.register_optimizer_step_post_hook(self._after_step))

    def _wrap_engine(self):
        autograd = self._torch.autograd
        run = autograd._engine_run_backward

        def run_backward(*args, **kwargs):
            self._begin_backward()
            try:
                return run(*args, **kwargs)
            finally:
                self._end_backward()

        autograd._engine_run_backward = run_backward
        return run_backward, run

    def backward_frame(self):
        """Where backward was called: its own thread runs no Python code."""
        return sys._current_frames().get(self._backward_thread) if self._backward_depth > 0 else None

    def module_path(self):
        """Dotted name of the module whose forward runs, or None."""
        if not self._modules:
            return None
        outermost, innermost = self._modules[0], self._modules[-1]
        for name, module in outermost.named_modules():
            if module is innermost:
                return f"{type(outermost).__name__}.{name}" if name else type(outermost).__name__
        return type(innermost).__name__

    # --- forward ---

    def _before_module(self, module, args):
        if self._torch.compiler.is_compiling() or self._in_backward() != -1:
            return
        self._modules.append(module)
        if len(self._modules) == 1:
            self._begin_forward(module, args)
        elif self._session.masks.wanted:
            kwargs = sys._getframe(1).f_locals.get("kwargs")
            if kwargs and any("mask" in name for name in kwargs):
                self._session.see_masks(module, (), kwargs)

    def _after_module(self, module, args, output):
        if self._torch.compiler.is_compiling() or self._in_backward() != -1 or not self._modules:
            return
        # A forward that was left by an exception may have left modules behind.
        while self._modules and self._modules.pop() is not module:
            pass
        if not self._modules:
            self._session.owners.see_output(output)
            self._session.mark("forward_end")

    def _begin_forward(self, module, args):
        self._begin_pass()
        self._session.see_forward(module, args, sys._getframe(self._frames_to_call).f_locals.get("kwargs"))
        self._session.mark("forward_begin", grad_enabled=self._torch.is_grad_enabled(), training=module.training)

    def _begin_pass(self):
        """A forward begins a step, or after a backward pass a micro batch."""
        if self._backward_seen:
            self._session.after_pass()
        if self._stepped:
            self.step, self.micro_batch, self._stepped = self.step + 1, 1, False
        elif self._backward_seen:
            self.micro_batch += 1
        self._backward_seen = False
        self.name = "forward"

    # --- backward ---

    def _begin_backward(self):
        self._backward_depth += 1
        if self._backward_depth == 1:
            self._backward_thread = threading.get_ident()
            self.passes += 1
        if self._backward_depth > 1 or self._modules:
            return
        self._backward_seen = True
        self.name = "backward"
        self._session.mark("backward_begin")

    def _end_backward(self):
        self._backward_depth -= 1
        if self._backward_depth == 0 and not self._modules:
            self._session.mark("backward_end")

    # --- optimizer ---

    def _before_step(self, optimizer, args, kwargs):
        self._modules.clear()
        if self._stepped:  # a closure runs forward and backward inside the step
            self.step, self.micro_batch, self._stepped = self.step + 1, 0, False
        self._session.before_step(optimizer)
        self.name = "optimizer"
        self._session.mark("optimizer_begin", type(optimizer).__name__)

    def own_step(self):
        """ullage.step(): the script's own update is done."""
        if self._stepped:
            self.step, self.micro_batch = self.step + 1, 0
        self._session.before_step(None)
        self._end_step(self)

    def _after_step(self, optimizer, args, kwargs):
        self._session.see_optimizer(optimizer)
        self._end_step(optimizer, type(optimizer).__name__)

    def _end_step(self, optimizer, name=None):
        self._session.mark("optimizer_end", name)
        self.name = "other"
        self._stepped, self._backward_seen = True, False
        self._session.after_step(optimizer)
