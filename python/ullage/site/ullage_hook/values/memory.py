# SPDX-License-Identifier: Apache-2.0
"""Device memory as the host sees it: which of it is known, and CPU tensors on the same bytes."""
import ctypes


class DeviceValues:
    def __init__(self, torch, device):
        self._torch = torch
        self._is_known = device.function("ullage_is_known", ctypes.c_int, ctypes.c_uint64, ctypes.c_uint64)
        self._set_known = device.function("ullage_set_known", None, ctypes.c_uint64, ctypes.c_uint64)
        self._set_unknown = device.function("ullage_set_unknown", None, ctypes.c_uint64, ctypes.c_uint64)
        #: 1: what this thread's kernels write is told by set_known and set_unknown; 0: the device looks at their pointers
        self.settle_here = device.function("ullage_settle_here", None, ctypes.c_int)
        self._answer = device.function("ullage_answer_next_read", None, ctypes.c_int64)

    def span(self, tensor):
        """First byte and number of bytes from a tensor's first to its last element; (0, 0) when it is empty."""
        if tensor.numel() == 0:
            return 0, 0
        last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
        return tensor.data_ptr(), (last + 1) * tensor.element_size()

    def known(self, tensor):
        if not tensor.is_cuda:
            return True
        address, size = self.span(tensor)
        return size == 0 or self._is_known(address, size) == 1

    def set_known(self, tensor):
        address, size = self.span(tensor)
        if size:
            self._set_known(address, size)

    def set_unknown(self, tensor):
        address, size = self.span(tensor)
        if size:
            self._set_unknown(address, size)

    def answer_next_read(self, value):
        """The next read by the host on this thread, if of something unknown and of 4 or 8 bytes, gives this integer."""
        self._answer(value)

    def alias(self, tensor):
        """A CPU tensor on the same memory."""
        if not tensor.is_cuda:
            return tensor
        torch = self._torch
        address, size = self.span(tensor)
        if size == 0:
            return torch.empty(tensor.shape, dtype=tensor.dtype)
        raw = torch.frombuffer((ctypes.c_char * size).from_address(address), dtype=tensor.dtype)
        return raw.as_strided(tensor.shape, tensor.stride())
