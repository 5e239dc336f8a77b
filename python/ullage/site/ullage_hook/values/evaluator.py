# SPDX-License-Identifier: Apache-2.0
"""Stands in front of CUDA kernels: see the package's text."""
import threading
import warnings

from . import operators, policies, special
from .memory import DeviceValues
from .operator import Operator

_FLOAT_LIMIT = 64 << 10   # bytes of a floating-point tensor that is evaluated
_MOVED_FLOAT_LIMIT = 2 << 20  # of one that is only copied, selected or compared: masks of batches
_INTEGER_LIMIT = 8 << 20  # of integers and booleans: ids, masks, routing
_SEED = 0x0A11A6E


class Evaluator:
    def __init__(self, torch, session):
        self.torch = torch
        self.session = session
        self.values = DeviceValues(torch, session.device)
        self.routing = session.routing
        self._generator = torch.Generator()
        self._generator.manual_seed(_SEED)
        self._library = torch.library.Library("aten", "IMPL")
        self._running = threading.local()
        self._uses = set()

    def attach(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "overriding a previously registered kernel": on purpose
            for name in (*operators.evaluated(), *operators.only_reading(self.torch)):
                if Operator.exists(self.torch, name):
                    self._attach(name)
            special.attach(self)

    def put(self, name, function):
        """Registers function(keyset, *args, **kwargs) in front of an operator's CUDA kernel."""
        self._library.impl(name, function, "CUDA", with_keyset=True)

    def _attach(self, name):
        operator = Operator(self.torch, name)
        kernel, run = operator.kernel, self._run
        sized = name in operators.SIZED_BY_VALUES

        def front(keyset, *args, **kwargs):
            args = operator.with_tensors(args)
            if sized:
                return special.sized(self, operator, keyset, args, kwargs)
            return run(operator, kernel, keyset, args, kwargs)

        self.put(name, front)

    # --- one call ---

    def _run(self, operator, kernel, keyset, args, kwargs):
        inputs, written = self.tensors_of(operator, args, kwargs)
        small = self.is_movable if operator.moves else self.is_small
        known = operator.computed and all(small(t) and self.values.known(t) for t in inputs) and all(map(small, written))
        out = self.call(kernel, keyset, args, kwargs)
        outputs = written if operator.writes_arguments else self._tensors(out)
        if not (known and all(map(small, outputs)) and self.compute(operator, args, kwargs, outputs)):
            special.unknown(self, operator, args, outputs)
        return out

    def call(self, kernel, keyset, args, kwargs):
        """Runs PyTorch's kernel. What it writes is settled here, so the device need not guess it from pointers."""
        self.values.settle_here(1)
        try:
            return kernel.call_boxed(keyset, *args, **kwargs)
        finally:
            self.values.settle_here(0)

    def tensors_of(self, operator, args, kwargs):
        """Tensors that are read, and tensors that are written."""
        inputs, written = [], []
        for name, value in operator.named(args, kwargs):
            tensors = self._tensors(value)
            if name in operator.written:
                written += tensors
                if name == "out" or operator.name.endswith("out") or operator.name in operators.OVERWRITING:
                    continue
            inputs += tensors
        return inputs, written

    def _tensors(self, value):
        if isinstance(value, self.torch.Tensor):
            return [value]
        if isinstance(value, (list, tuple)):
            return [t for t in value if isinstance(t, self.torch.Tensor)]
        return []

    def is_small(self, tensor, floats=_FLOAT_LIMIT):
        size = tensor.numel() * tensor.element_size()
        return size <= (floats if tensor.is_floating_point() or tensor.is_complex() else _INTEGER_LIMIT)

    def is_movable(self, tensor):
        return self.is_small(tensor, _MOVED_FLOAT_LIMIT)

    # --- computing ---

    def compute(self, operator, args, kwargs, outputs):
        """Runs the CPU operator on the same memory; False where that is not possible."""
        if self.torch.cuda.is_current_stream_capturing():
            return False
        try:
            result = operator.cpu(*self._aliases(args), **self._cpu_kwargs(operator, kwargs))
            if not operator.writes_arguments and not self._store(self._tensors(result), outputs):
                return False
        except Exception:
            return False  # an index out of range, an operator without a CPU kernel for this dtype
        for tensor in outputs:
            if tensor.is_cuda:
                self.values.set_known(tensor)
        return True

    def _store(self, results, outputs):
        if [r.shape for r in results] != [o.shape for o in outputs]:
            return False
        for result, output in zip(results, outputs):
            self.values.alias(output).copy_(result)
        return True

    def _aliases(self, value):
        if isinstance(value, self.torch.Tensor):
            return self.values.alias(value)
        if isinstance(value, (list, tuple)):
            return type(value)(self._aliases(v) for v in value)
        return value

    def _cpu_kwargs(self, operator, kwargs):
        made = {k: self._aliases(v) for k, v in kwargs.items() if k not in ("device", "layout", "pin_memory", "generator")}
        if operator.name in operators.RANDOM:
            made["generator"] = self._generator
        return made

    # --- policies ---

    def used(self, policy):
        """Lists a policy with the line of code that needed it, once."""
        line = self.session.lines.current()
        if (policy, line) not in self._uses:
            self._uses.add((policy, line))
            self.session.records.add("policy", policy=policy, line=line, text=policies.DESCRIPTIONS[policy])

    def write(self, tensor, cpu_values):
        """Gives a device tensor values that count as known."""
        self.values.alias(tensor).copy_(cpu_values)
        self.values.set_known(tensor)
