# SPDX-License-Identifier: Apache-2.0
"""One operator: PyTorch's own CUDA kernel, the CPU operator, and which of its arguments are what."""

from . import operators


def _is_tensor(argument):
    return str(argument.type) in ("Tensor", "Optional[Tensor]")


class Operator:
    def __init__(self, torch, name):
        base, _, overload = name.partition(".")
        self._torch = torch
        self.name = name
        self.cpu = getattr(getattr(torch.ops.aten, base), overload or "default")
        self.kernel = torch.library.get_kernel(f"aten::{name}", "CUDA")
        schema = self.cpu._schema.arguments
        self._tensors = [i for i, a in enumerate(schema) if _is_tensor(a) and not a.kwarg_only]
        self._names = [a.name for a in schema]
        self.written = {a.name for a in schema if a.alias_info is not None and a.alias_info.is_write}
        self.writes_arguments = bool(self.written)
        self.computed = name in operators.COMPUTED
        self.moves = name in operators.MOVING

    @staticmethod
    def exists(torch, name):
        base, _, overload = name.partition(".")
        packet = getattr(torch.ops.aten, base, None)
        if packet is None or (overload or "default") not in packet.overloads():
            return False
        has = torch._C._dispatch_has_kernel_for_dispatch_key
        return has(f"aten::{name}", "CUDA") or name == "copy_"

    def with_tensors(self, args):
        """Python numbers where the kernel wants tensors; they keep the result's dtype as they would from Python."""
        for i in self._tensors:
            if i < len(args) and isinstance(args[i], (int, float, complex, bool)):
                args = (*args[:i], self._wrapped(args[i], args), *args[i + 1:])
        return args

    def _wrapped(self, number, args):
        torch = self._torch
        other = next((a for a in args if isinstance(a, torch.Tensor)), None)
        if other is None or isinstance(number, bool):
            return torch.tensor(number)
        same_kind = (other.is_complex() or not isinstance(number, complex)) and (
            other.is_floating_point() or other.is_complex() or isinstance(number, int)) and other.dtype != torch.bool
        return torch.tensor(number, dtype=other.dtype) if same_kind else torch.tensor(number)

    def named(self, args, kwargs):
        """(name, value) of every argument that was passed."""
        yield from zip(self._names, args)
        yield from kwargs.items()
