# SPDX-License-Identifier: Apache-2.0
"""Operators that need more than "compute it": reads by the host, sizes that depend on values, the gradient scaler, and the
policies for results of something unknown."""
from . import policies
from .operator import Operator


def attach(evaluator):
    _attach_read(evaluator)
    _attach_power(evaluator)
    if Operator.exists(evaluator.torch, "_amp_foreach_non_finite_check_and_unscale_"):
        _attach_unscale(evaluator)


def _kind(tensor):
    if tensor.dtype.is_complex:
        return "complex"
    if tensor.dtype.is_floating_point:
        return "float"
    return "bool" if "bool" in str(tensor.dtype) else "int"


def _attach_read(evaluator):
    """item(), bool(), float() ...: all read through _local_scalar_dense."""
    kernel = evaluator.torch.library.get_kernel("aten::_local_scalar_dense", "CUDA")

    def read(keyset, tensor):
        known = evaluator.values.known(tensor)
        value = evaluator.call(kernel, keyset, (tensor,), {})
        if known:
            return value
        kind = _kind(tensor)
        evaluator.used(f"read-{kind}")
        return policies.READ[kind]

    evaluator.put("_local_scalar_dense", read)


def _attach_power(evaluator):
    """number ** tensor: PyTorch's kernel makes the number a device tensor that counts as a number, which Python code in
    front of a further operator cannot be given. Here it is a plain one of the result's type."""
    torch = evaluator.torch

    def power(keyset, base, exponent):
        dtype = torch.result_type(base, exponent)
        if base == 1:
            return torch.ones_like(exponent, dtype=dtype)
        return torch.pow(torch.full((), base, dtype=dtype, device=exponent.device), exponent)

    evaluator.put("pow.Scalar", power)


def _attach_unscale(evaluator):
    """The gradient scaler's check: gradients are unknown, so nothing infinite is found."""
    name = "_amp_foreach_non_finite_check_and_unscale_"
    kernel = evaluator.torch.library.get_kernel(f"aten::{name}", "CUDA")

    def check(keyset, gradients, found_inf, inverse_scale):
        evaluator.call(kernel, keyset, (gradients, found_inf, inverse_scale), {})
        for gradient in gradients:
            evaluator.values.set_unknown(gradient)
        evaluator.used("found-inf")
        evaluator.values.alias(found_inf).zero_()
        evaluator.values.set_known(found_inf)

    evaluator.put(name, check)


# --- sizes that depend on values ---

def sized(evaluator, operator, keyset, args, kwargs):
    """nonzero, unique: the kernel reads its result's size; it gets the true one, or every element's for an unknown mask."""
    source = args[0]
    result = None
    small = evaluator.is_movable if operator.moves else evaluator.is_small
    if small(source) and evaluator.values.known(source):
        result = operator.cpu(evaluator.values.alias(source), *args[1:], **kwargs)
    elif operator.name == "nonzero" and small(source):
        evaluator.used("mask-all")
        result = evaluator.torch.ones(source.shape, dtype=evaluator.torch.bool).nonzero()
    if result is None:
        return evaluator.call(operator.kernel, keyset, args, kwargs)
    first = result[0] if isinstance(result, tuple) else result
    evaluator.values.answer_next_read(first.shape[0])
    out = evaluator.call(operator.kernel, keyset, args, kwargs)
    evaluator.values.answer_next_read(-1)
    results = result if isinstance(result, tuple) else (result,)
    for tensor, value in zip(out if isinstance(out, (list, tuple)) else (out,), results):
        if tensor.shape == value.shape and evaluator.is_small(tensor):
            evaluator.write(tensor, value)
    return out


# --- results of something unknown ---

def unknown(evaluator, operator, args, outputs):
    base = operator.name.partition(".")[0]
    policy = _UNKNOWN.get(base) if all(map(evaluator.is_small, outputs)) else None
    for tensor in outputs:
        if tensor.is_cuda:
            evaluator.values.set_unknown(tensor)
        elif base == "copy_":
            _read_copy(evaluator, tensor)
    if policy is not None and outputs:
        policy(evaluator, base, args, outputs)


def _read_copy(evaluator, tensor):
    """cpu(), tolist(): the host's copy of something unknown."""
    kind = _kind(tensor)
    evaluator.used(f"read-{kind}")
    tensor.fill_(policies.READ[kind])


def _reduction(evaluator, base, args, outputs):
    evaluator.used(base)
    for tensor in outputs:
        if tensor.is_cuda:
            evaluator.write(tensor, evaluator.torch.full(tensor.shape, policies.REDUCTION[base]))


def _index(evaluator, base, args, outputs):
    """A valid index: the middle one, which is no special token of a vocabulary."""
    size = args[0].shape[-1] if args and args[0].dim() else 1
    index = outputs[-1]
    evaluator.used("index")
    evaluator.write(index, evaluator.torch.full(index.shape, size // 2, dtype=index.dtype))


def _order(evaluator, base, args, outputs):
    index = outputs[-1]
    evaluator.used("index")
    evaluator.write(index, evaluator.torch.arange(index.shape[-1] if index.dim() else 1).expand(index.shape))


def _routing(evaluator, base, args, outputs):
    """Experts of unknown scores: each equally often, or always the first ones."""
    torch, index = evaluator.torch, outputs[-1]
    choices = args[0].shape[-1] if args[0].dim() else 1
    k = index.shape[-1] if index.dim() else 1
    rows = max(index.numel() // max(k, 1), 1)
    skewed = evaluator.routing == "skewed"
    evaluator.used("routing-skewed" if skewed else "routing-balanced")
    flat = torch.arange(k).repeat(rows) if skewed else torch.arange(rows * k) % max(choices, 1)
    evaluator.write(index, flat.reshape(index.shape))


_UNKNOWN = {"any": _reduction, "all": _reduction, "argmax": _index, "argmin": _index, "multinomial": _index,
            "sort": _order, "topk": _routing}
