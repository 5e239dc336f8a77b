# SPDX-License-Identifier: Apache-2.0
"""The stand-in driver's functions for the hook, through ctypes. Where the driver is not the stand-in, nothing happens."""
import ctypes

_LINE_CALLBACK = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.POINTER(ctypes.c_char), ctypes.c_uint32)
_API_ACTIVITIES = (4, 5)  # CUPTI_ACTIVITY_KIND_DRIVER, _RUNTIME


class VirtualDevice:
    def __init__(self):
        try:
            library = ctypes.PyDLL("libcuda.so.1")
            library.ullage_owns_run  # a real driver lacks it
        except (OSError, AttributeError):
            library = None
        self._library = library
        self._callback = None

    @property
    def present(self):
        return self._library is not None

    def function(self, name, result, *arguments):
        """A function of the stand-in driver with its types."""
        found = getattr(self._library, name)
        found.restype, found.argtypes = result, arguments
        return found

    def owns_run(self):
        """True when this process is the one whose memory the run is about."""
        return self.present and self._library.ullage_owns_run() == 1

    def mark(self, index):
        if self.present:
            self._library.ullage_mark(ctypes.c_uint32(index))

    def flush(self):
        if self.present:
            self._library.ullage_flush()

    def host_costs(self):
        """Host memory in bytes: pages behind device memory, pinned memory, the part of it that was touched."""
        costs = (ctypes.c_uint64 * 3)()
        if self.present:
            self._library.ullage_host_costs(costs)
        return tuple(costs)

    def pinned_range_bytes(self, address):
        """Size of the pinned range that holds the address; 0 when there is none."""
        if not self.present:
            return 0
        return self.function("ullage_pinned_range_bytes", ctypes.c_uint64, ctypes.c_uint64)(address)

    def close_log(self):
        """Completes the device's log; what the process does from now on is not in it."""
        if self.present:
            self._library.ullage_close_log()

    def name_line(self, line):
        """Names the line of code from which the next synchronisation of this thread comes."""
        if self.present:
            self._library.ullage_set_thread_line(line.encode("utf-8", "replace"))

    def ask_lines_from(self, current_line):
        """From now on the device asks current_line() for the line of code of each transfer."""
        if not self.present:
            return

        def answer(buffer, capacity):
            text = current_line().encode("utf-8", "replace")[: capacity - 1]
            ctypes.memmove(buffer, text, len(text))
            return len(text)

        self._callback = _LINE_CALLBACK(answer)
        self._library.ullage_set_line_callback(self._callback)

    def silence_calls(self):
        """A profiler that is on records no calls of the CUDA API until one is enabled again: nobody reads them."""
        if self.present:
            cupti = ctypes.CDLL("libcupti.so.13")
            for kind in _API_ACTIVITIES:
                cupti.cuptiActivityDisable(ctypes.c_uint32(kind))

    def stop_asking(self):
        if self.present:
            self._library.ullage_set_line_callback(None)
