# SPDX-License-Identifier: Apache-2.0
"""Who owns which storage: parameters, buffers, gradients, optimizer state, inputs, outputs; by weak references only."""
import gc
import weakref

from .holders import Holders

_FORWARD_MARKS_IN_FULL = 64  # of one forward phase: a script may call thousands of modules one by one


class Owners:
    def __init__(self, torch, records):
        self._torch = torch
        self._records = records
        self._modules = {}     # id -> weak reference to an outermost module
        self._optimizers = []  # weak references
        self._parameters = {}  # id -> (weak reference, name)
        self._passed = {"input": [], "output": []}  # of the last forward: (weak reference, name)
        self._last = {}        # class -> rows written last
        self._unwritten = []   # weak references to modules seen since parameters were written
        self._forward_marks = 0

    @property
    def known(self):
        return bool(self._modules or self._optimizers)

    def see_module(self, module):
        known = self._modules.get(id(module))
        if known is not None and known() is module:
            return
        self._modules[id(module)] = weakref.ref(module)
        self._unwritten.append(self._modules[id(module)])
        for name, parameter in module.named_parameters():
            self._parameters[id(parameter)] = (weakref.ref(parameter), name)

    def see_optimizer(self, optimizer):
        if not any(ref() is optimizer for ref in self._optimizers):
            self._optimizers.append(weakref.ref(optimizer))
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                known = self._parameters.get(id(parameter))
                if known is None or known[0]() is not parameter:
                    self._parameters[id(parameter)] = (weakref.ref(parameter), f"parameter {len(self._parameters)}")

    def see_inputs(self, args, kwargs):
        self._passed = {"input": list(self._tensors((*args, kwargs), "input")), "output": []}

    def see_output(self, output):
        self._passed["output"] = list(self._tensors(output, "output"))

    def _tensors(self, value, name, depth=0):
        """The tensors of nested containers with a name: the key where there is one."""
        if isinstance(value, self._torch.Tensor):
            yield weakref.ref(value), name
        elif isinstance(value, dict) and depth < 4:
            for key, item in value.items():
                yield from self._tensors(item, str(key), depth + 1)
        elif isinstance(value, (list, tuple)) and depth < 4:
            for i, item in enumerate(value):
                yield from self._tensors(item, f"{name} {i}", depth + 1)

    def find_modules(self):
        """Modules that nobody has called, too (a copy with averaged weights): the outermost ones that are alive."""
        module_type = self._torch.nn.Module
        # type(), not isinstance: objects may answer for their class themselves
        alive = [o for o in gc.get_objects() if issubclass(type(o), module_type)]
        inner = {id(child) for module in alive for child in module.children()}
        for module in alive:
            if id(module) not in inner:
                self.see_module(module)

    def optimizer_exists(self):
        """Whether any torch.optim.Optimizer is alive: it may step later."""
        optimizer_type = self._torch.optim.Optimizer
        return any(issubclass(type(o), optimizer_type) for o in gc.get_objects())

    def write_holders(self, index):
        """At the end: what lives on and has no other name belongs to an object of the script."""
        known = {row[4] for rows in self._last.values() for row in rows}
        rows = []
        for tensor, name in Holders(self._torch).find(known):
            self._row(rows, "held", tensor, name)
        if rows:
            self._records.add("tensors", index=index, complete=["held"], tensors=rows)

    def write_at(self, index, mark):
        """Writes the rows that changed; late marks of a long forward phase write only what came with them."""
        self._forward_marks = self._forward_marks + 1 if mark.startswith("forward") else 0
        if self._forward_marks > _FORWARD_MARKS_IN_FULL:
            self._write_news(index)
        else:
            self.write(index)

    def _write_news(self, index):
        rows = []
        for reference in self._unwritten:
            module = reference()
            if module is not None:
                for name, parameter in module.named_parameters():
                    self._row(rows, "parameter", parameter, name)
                for name, buffer in module.named_buffers():
                    self._row(rows, "buffer", buffer, name)
        self._unwritten.clear()
        passed = self._passed_rows()
        changed = [name for name in passed if self._last.get(name, []) != passed[name]]
        self._last.update((name, passed[name]) for name in changed)
        rows += [row for name in changed for row in passed[name]]
        if rows or changed:
            self._records.add("tensors", index=index, complete=changed, tensors=rows)

    def _passed_rows(self):
        rows = {}
        for owner, passed in self._passed.items():
            rows[owner] = []
            for reference, name in passed:
                self._row(rows[owner], owner, reference(), name)
        return rows

    def write(self, index):
        """Writes all rows of the classes that changed since the last call."""
        self._unwritten.clear()
        rows = {"parameter": [], "buffer": [], "gradient": [], "optimizer_state": []}
        for reference, name in list(self._parameters.values()):
            parameter = reference()
            if parameter is not None:
                self._row(rows["parameter"], "parameter", parameter, name)
                self._row(rows["gradient"], "gradient", parameter.grad, name)
        self._buffers(rows["buffer"])
        self._states(rows["optimizer_state"])
        rows.update(self._passed_rows())
        changed = [name for name, value in rows.items() if self._last.get(name, []) != value]
        if not changed:
            return
        for name in changed:
            self._last[name] = rows[name]
        self._records.add("tensors", index=index, complete=changed, tensors=[r for name in changed for r in rows[name]])

    def _buffers(self, rows):
        for reference in list(self._modules.values()):
            module = reference()
            if module is not None:
                for name, buffer in module.named_buffers():
                    self._row(rows, "buffer", buffer, name)

    def _states(self, rows):
        for reference in self._optimizers:
            optimizer = reference()
            if optimizer is None:
                continue
            kind = type(optimizer).__name__
            for parameter, state in list(optimizer.state.items()):
                name = self._parameters.get(id(parameter), (None, ""))[1]
                for key, value in (state.items() if isinstance(state, dict) else ()):
                    for tensor in value if isinstance(value, (list, tuple)) else (value,):
                        self._row(rows, "optimizer_state", tensor, name, str(key), kind)

    def _row(self, rows, owner, tensor, name, state=None, optimizer=None):
        local = getattr(tensor, "_local_tensor", tensor)  # the part of a distributed tensor that is here
        if not isinstance(local, self._torch.Tensor) or not local.is_cuda:
            return
        try:
            for part in self._parts(local):
                storage = part.untyped_storage()
                address, size = storage.data_ptr(), storage.nbytes()
                if size:
                    row = [owner, name, state, str(part.dtype).removeprefix("torch."), address, size, optimizer]
                    rows.append([*row, tensor.requires_grad] if owner == "parameter" else row)
        except (RuntimeError, NotImplementedError, ValueError):
            return  # a wrapped tensor has no storage, a lazy one not yet

    def _parts(self, tensor):
        """The tensors that hold a sparse tensor's indices and values; a dense one itself."""
        torch, layout = self._torch, tensor.layout
        if layout == torch.strided:
            return (tensor,)
        tensor = tensor.detach()
        if layout == torch.sparse_coo:
            return tensor._indices(), tensor._values()
        if layout in (torch.sparse_csr, torch.sparse_bsr):
            return tensor.crow_indices(), tensor.col_indices(), tensor.values()
        if layout in (torch.sparse_csc, torch.sparse_bsc):
            return tensor.ccol_indices(), tensor.row_indices(), tensor.values()
        return (tensor,)
