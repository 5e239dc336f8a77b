# SPDX-License-Identifier: Apache-2.0
"""The FLOPs that a token of training takes, and the most that the device can do: what MFU is made of.

The rule is that of PaLM (appendix B) with torchtitan's N: 6 (N - input embeddings) + 12 layers heads head_dim sequence. A
recomputation counts nothing, and no attention is halved for being causal.
"""
import json
import math
import subprocess

from .problems import harmless

_MATH = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32"}
_SHARDED = ("FlatParameter", "DTensor")  # of several ranks: what each computes cannot be told from them
_ASKING_SECONDS = 5
_LARGEST = 1 << 57


class Work:
    """Figures are None while they are not known. A model is asked in its first trained forward, and believed to be all that is
    trained when the optimizer has as many parameters."""

    def __init__(self, problems, flops_per_token=None, peak_flops=None, program=None):
        self.flops_per_token = _count(problems, "flops_per_token", flops_per_token)
        self.peak_flops = _count(problems, "peak_flops", peak_flops)
        self.precision = None  # bf16, fp16, tf32, fp32: what the model multiplies in
        self._rule = "given by the script" if self.flops_per_token else None
        self.problems = problems
        self._program = program
        self._records = None
        self._found = None  # (FLOPs, the rule, parameters) of a model whose optimizer was not seen yet
        self._seen = self._asked = False

    def write_to(self, records):
        """What is given is known from the start."""
        self._records = records
        if self.flops_per_token or self.peak_flops:
            self._write()

    @harmless
    def see_forward(self, torch, module, args, kwargs):
        """Of the first forward that is trained."""
        if self._seen or not (module.training and torch.is_grad_enabled()):
            return
        self._seen = True
        self.precision = _precision(torch, module)
        self._found = (*flops_per_token(torch, module, (*args, *kwargs.values())), _size(module.parameters()))
        self._write()

    @harmless
    def see_optimizer(self, optimizer):
        """Of the first one that steps."""
        if self._found is None:
            return
        (flops, rule, size), self._found = self._found, None
        if flops and self.flops_per_token is None and size == _size(p for group in optimizer.param_groups for p in group["params"]):
            self.flops_per_token, self._rule = flops, rule
            self._write()

    def _write(self):
        self._records.add("work", flops_per_token=self.flops_per_token, rule=self._rule, precision=self.precision,
                          peak_flops=self.peak_flops)

    def peak_of(self, device_name):
        """FLOP/s, dense: as given, else as the catalogue of `ullage gpus` has it; None of a device that is not in it."""
        if self.peak_flops is None and self.precision and self._program and not self._asked:
            self._asked = True
            self.peak_flops = _ask(self._program, device_name, self.precision)
        return self.peak_flops


def flops_per_token(torch, module, values):
    """(FLOPs, the rule), or (None, None) of a model of which the rule is not true."""
    parameters = list(module.parameters())
    if not parameters or any(type(parameter).__name__ in _SHARDED or not parameter.requires_grad for parameter in parameters):
        return None, None
    weights = 6 * (_size(parameters) - _input_embeddings(torch, module))
    config = getattr(getattr(module, "module", module), "config", None)
    if config is None or not getattr(config, "model_type", None):
        return weights, "6 N, attention not counted"
    if not _is_dense(config):
        return None, None
    sequence = next((value.shape[1] for value in values if isinstance(value, torch.Tensor) and value.dim() == 2), None)
    heads, layers = getattr(config, "num_attention_heads", None), getattr(config, "num_hidden_layers", None)
    if not (sequence and heads and layers) or _slides(config, sequence):
        return None, None
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // heads
    return weights + 12 * layers * heads * head_dim * sequence, "6 N + 12 layers heads head_dim sequence"


def _size(parameters):
    return sum(parameter.numel() for parameter in parameters)


def _input_embeddings(torch, module):
    """Weights that are looked up and not multiplied with; those tied to the output are."""
    owners = {}
    for part in module.modules():
        for parameter in part.parameters(recurse=False):
            owners.setdefault(id(parameter), []).append((part, parameter))
    return sum(owned[0][1].numel() for owned in owners.values()
               if all(isinstance(part, torch.nn.Embedding) for part, _ in owned))


def _is_dense(config):
    """A token of a mixture of experts does not meet all parameters."""
    names = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
    return all(not isinstance(getattr(config, name, None), int) or getattr(config, name) <= 1 for name in names)


def _slides(config, sequence):
    window = getattr(config, "sliding_window", None)
    return bool(window) and window < sequence and getattr(config, "use_sliding_window", True)


def _precision(torch, module):
    if torch.is_autocast_enabled("cuda"):
        kind = torch.get_autocast_dtype("cuda")
    else:
        kind = next((parameter.dtype for parameter in module.parameters() if parameter.is_floating_point()), None)
    name = _MATH.get(str(kind).removeprefix("torch."))
    return "tf32" if name == "fp32" and torch.backends.cuda.matmul.allow_tf32 else name


def _count(problems, name, value):
    if value is None:
        return None
    try:
        if math.isfinite(value) and 0 < value < _LARGEST:
            return int(value)
        problems.see(name, ValueError(f"{value!r}: a number above 0 and below 2^57 is expected"))
    except TypeError as error:
        problems.see(name, error)
    return None


def _ask(program, device_name, precision):
    """One call of the program, which answers in milliseconds; its absence or refusal is no error."""
    try:
        answer = subprocess.run([program, "gpus", device_name, "--json"], capture_output=True, timeout=_ASKING_SECONDS, check=True)
        return json.loads(answer.stdout)["gpus"][0]["quantities"][precision + "_peak"]["value"]
    except (OSError, subprocess.SubprocessError, ValueError, LookupError):
        return None
