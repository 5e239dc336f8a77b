# SPDX-License-Identifier: Apache-2.0
"""What a script sees of the device, printed as JSON."""
import json

import torch

p = torch.cuda.get_device_properties(0)
tensor = torch.zeros(5, device="cuda")
tensor.fill_(3)
held = [torch.empty(20 << 20, dtype=torch.uint8, device="cuda") for _ in range(4)]
free, total = torch.cuda.mem_get_info()
try:
    torch.empty(1 << 40, device="cuda", dtype=torch.uint8)
    text = ""
except torch.OutOfMemoryError as error:
    text = str(error)
try:
    torch.cuda.set_device(3)
    ordinal = ""
except RuntimeError as error:
    ordinal = str(error)
print("JSON" + json.dumps({
    "name": p.name, "sms": p.multi_processor_count, "total": total, "free": free, "count": torch.cuda.device_count(),
    "addresses": [t.data_ptr() for t in held], "filled": tensor.tolist(), "round_trip": torch.arange(4).cuda().tolist(),
    "pinned": torch.empty(4, pin_memory=True).is_pinned(), "oom": text, "ordinal": ordinal,
    "archs": torch.cuda.get_arch_list()}))
