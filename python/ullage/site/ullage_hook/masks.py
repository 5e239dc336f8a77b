# SPDX-License-Identifier: Apache-2.0
"""How much of a batch is padding, where a mask of it is an argument of a module's forward: the first of each pass."""
import ctypes
import inspect

from .values.memory import DeviceValues

_BYTES_AT_MOST = 1 << 20   # what of an upload is really copied (docs/how_it_works.md)
_RECORDS_AT_MOST = 1000
_FORMATS = {1: "b", 2: "h", 4: "i", 8: "q"}


class Masks:
    def __init__(self, torch, session):
        self._torch = torch
        self._session = session
        self._values = DeviceValues(torch, session.device)
        self._last = None
        self.wanted = False  # no mask was seen in this pass yet
        self._left = _RECORDS_AT_MOST

    def see_forward(self, module, args, kwargs):
        """A record when the lengths of a mask change. Reads the device's memory without a copy or a wait."""
        if self._left == 0:
            self.wanted = False
        for name, mask in self._masks(module, args, kwargs):
            lengths = self._lengths(name, mask)
            if lengths is None:
                continue
            self.wanted = False
            facts = {"name": name, "rows": mask.shape[0], "columns": mask.shape[1], "kept": sum(lengths),
                     "kept_squared": sum(length * length for length in lengths)}
            if facts != self._last:
                self._last = facts
                self._left -= 1
                self._session.records.add("mask", step=self._session.phases.step,
                                          line=self._session.lines.current(), **facts)
            return

    def _masks(self, module, args, kwargs):
        """Arguments with two dimensions and a mask's name."""
        names = self._names(module, len(args)) if any(self._can_be_mask(value) for value in args) else ()
        for name, value in (*zip(names, args), *kwargs.items()):
            if "mask" in name and self._can_be_mask(value):
                yield name, value
        for value in (*args, *kwargs.values()):  # a batch as a dictionary
            if isinstance(value, dict):
                yield from ((str(n), v) for n, v in value.items() if "mask" in str(n) and self._can_be_mask(v))

    def _can_be_mask(self, value):
        return (isinstance(value, self._torch.Tensor) and value.dim() == 2 and not value.dtype.is_floating_point
                and value.layout == self._torch.strided and value.numel() > 0 and value.stride(1) > 0)

    @staticmethod
    def _names(module, count):
        try:
            return list(inspect.signature(module.forward).parameters)[:count]
        except (TypeError, ValueError):
            return ()

    def _lengths(self, name, mask):
        """Kept tokens of each row; None where the values are unknown."""
        if mask.numel() * mask.element_size() > _BYTES_AT_MOST or not self._values.known(mask):
            return None
        padding_is_true = "padding" in name and mask.dtype == self._torch.bool  # as in PyTorch's own modules
        zeros = [row.count(0) for row in self._rows(mask)]
        return zeros if padding_is_true else [mask.shape[1] - count for count in zeros]

    def _rows(self, mask):
        """Lists of integers. Without an operator of PyTorch: those are the script's, and recorded."""
        address, size = self._values.span(mask)
        raw = ctypes.string_at(address, size) if mask.is_cuda or mask.device.type == "cpu" else b""
        values = memoryview(raw).cast(_FORMATS[mask.element_size()])
        for row in range(mask.shape[0]):
            begin = row * mask.stride(0)
            yield values[begin:begin + (mask.shape[1] - 1) * mask.stride(1) + 1:mask.stride(1)].tolist()
