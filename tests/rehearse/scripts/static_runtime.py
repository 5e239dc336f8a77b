# SPDX-License-Identifier: Apache-2.0
"""Asks the driver for the table that a statically linked CUDA runtime asks for."""
import ctypes
import uuid

import torch

torch.zeros(1, device="cuda")
table = ctypes.c_void_p()
wanted = uuid.UUID("d4082055-bde6-704b-8d34-ba123c66e1f2").bytes
assert ctypes.CDLL("libcuda.so.1").cuGetExportTable(ctypes.byref(table), wanted) != 0
