# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's management library, loaded while running where there is one: memory of a device and of this process on it."""
import ctypes
import os


class _Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


class _Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("used", ctypes.c_ulonglong), ("gpu_instance", ctypes.c_uint),
                ("compute_instance", ctypes.c_uint)]


_PROCESSES = "nvmlDeviceGetComputeRunningProcesses_v3"
_NOT_KNOWN = (1 << 64) - 1  # what the library gives for a process that it cannot tell about
_PROCESSES_AT_MOST = 256


class Nvml:
    """Of one device, named by its PCI bus. Errors: OSError where the library or the device is not there."""

    def __init__(self, bus_id):
        self._library = ctypes.CDLL("libnvidia-ml.so.1")
        self._call("nvmlInit_v2")
        self._device = ctypes.c_void_p()
        self._call("nvmlDeviceGetHandleByPciBusId_v2", ctypes.c_char_p(bus_id.encode()), ctypes.byref(self._device))

    def _call(self, name, *arguments):
        status = getattr(self._library, name)(*arguments)
        if status != 0:
            raise OSError(f"{name} gave {status}")

    def used_bytes(self):
        """Of the whole device, other processes included."""
        memory = _Memory()
        self._call("nvmlDeviceGetMemoryInfo", self._device, ctypes.byref(memory))
        return memory.used

    def process_bytes(self):
        """Of this process, its context included; None where the driver does not tell (in many containers)."""
        count = ctypes.c_uint(_PROCESSES_AT_MOST)
        processes = (_Process * _PROCESSES_AT_MOST)()
        try:
            self._call(_PROCESSES, self._device, ctypes.byref(count), processes)
        except (OSError, AttributeError):
            return None
        own = os.getpid()
        sizes = [process.used for process in processes[:count.value] if process.pid == own and process.used != _NOT_KNOWN]
        return sizes[0] if sizes else None

    def close(self):
        self._library.nvmlShutdown()


def bus_id(properties):
    """As NVML spells it, from torch's properties of a device."""
    return f"{properties.pci_domain_id:08X}:{properties.pci_bus_id:02X}:{properties.pci_device_id:02X}.0"
