# SPDX-License-Identifier: Apache-2.0
"""Which object of the script holds a tensor that is no parameter, gradient or state of torch.optim: `MyAdam.m`."""
import gc
import types

_TENSORS_AT_MOST = 20000
_DEPTH = 4
_SKIPPED = (types.FrameType, types.ModuleType, types.FunctionType, types.CodeType)


class Holders:
    def __init__(self, torch):
        self._torch = torch

    def find(self, known):
        """Yields (tensor, name) for living CUDA tensors whose storage address is not in `known`."""
        kind, parameter = self._torch.Tensor, self._torch.nn.Parameter
        tensors = [o for o in gc.get_objects() if type(o) is kind or type(o) is parameter]
        tensors = [t for t in tensors if t.is_cuda and _address(t) not in known][:_TENSORS_AT_MOST]
        names = self._names(tensors)
        for tensor in tensors:
            if id(tensor) in names:
                yield tensor, names[id(tensor)]

    def _names(self, tensors):
        """id of tensor -> name, walking up from containers to the object that has them as an attribute."""
        names = {}
        wanted = {id(t): {id(t)} for t in tensors}  # id of what is held -> ids of the tensors in it
        objects = list(tensors)
        for _ in range(_DEPTH):
            above, found = {}, []
            ignored = {id(objects), id(found), id(tensors)}
            for holder in gc.get_referrers(*objects):
                if id(holder) in ignored or isinstance(holder, _SKIPPED):
                    continue
                inside = self._inside(holder, wanted)
                if not inside:
                    continue
                if isinstance(holder, (list, tuple, dict, set)):
                    above.setdefault(id(holder), set()).update(inside)
                    found.append(holder)
                self._name_owner(holder, wanted, names)
            if not found:
                break
            wanted, objects = above, found
        return names

    @staticmethod
    def _inside(holder, wanted):
        values = holder.values() if isinstance(holder, dict) else holder if isinstance(holder, (list, tuple, set)) else ()
        if not values:
            values = getattr(holder, "__dict__", {}).values()
        inside = set()
        for value in values:
            inside |= wanted.get(id(value), set())
        return inside

    def _name_owner(self, holder, wanted, names):
        if isinstance(holder, (list, tuple, dict, set)) or issubclass(type(holder), self._torch.nn.Module):
            return
        for attribute, value in list(getattr(holder, "__dict__", {}).items()):
            for tensor in wanted.get(id(value), ()):
                names.setdefault(tensor, f"{type(holder).__name__}.{attribute}")


def _address(tensor):
    try:
        return tensor.untyped_storage().data_ptr()
    except (RuntimeError, NotImplementedError):
        return None
