# SPDX-License-Identifier: Apache-2.0
"""Starts a second process that uses the device too."""
import subprocess
import sys

import torch

kept = torch.zeros(1 << 20, device="cuda")
subprocess.run([sys.executable, "-c", "import torch; torch.zeros(1 << 22, device='cuda')"], check=True)
