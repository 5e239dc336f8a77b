# SPDX-License-Identifier: Apache-2.0
"""Which operators are evaluated. Functional, in-place and out variants are operators of their own; those that a torch does
not have are skipped."""
import re


# name.overload; the in-place and out variants follow where they exist
_COMPUTED = """
add.Tensor sub.Tensor mul.Tensor div.Tensor div.Tensor_mode remainder.Tensor fmod.Tensor floor_divide neg abs sgn sign
reciprocal sqrt rsqrt exp log log2 floor ceil round trunc pow.Tensor_Scalar pow.Tensor_Tensor
bitwise_and.Tensor bitwise_or.Tensor bitwise_xor.Tensor bitwise_not logical_and logical_or logical_xor logical_not
bitwise_left_shift.Tensor bitwise_right_shift.Tensor
eq.Tensor eq.Scalar ne.Tensor ne.Scalar lt.Tensor lt.Scalar le.Tensor le.Scalar gt.Tensor gt.Scalar ge.Tensor ge.Scalar
minimum maximum clamp clamp.Tensor clamp_min clamp_max isnan isin.Tensor_Tensor isin.Tensor_Scalar
where.self masked_fill.Scalar masked_fill.Tensor tril triu
all all.dim all.dims any any.dim any.dims sum sum.dim_IntList prod prod.dim_int mean mean.dim amax amin max min max.dim
min.dim aminmax argmax argmin cumsum cumprod
index.Tensor index_select gather scatter.src scatter.value scatter_add index_add index_fill.int_Scalar
index_put cat flip roll bincount bucketize.Tensor searchsorted.Tensor sort.stable topk repeat_interleave.Tensor
_unique2 unique_consecutive take
"""
_IN_PLACE = "fill_.Scalar fill_.Tensor zero_ copy_ _index_put_impl_ masked_scatter_ _amp_update_scale_"
_FACTORIES = "arange.start_out linspace.out eye.out eye.m_out randperm.generator_out"
_RANDOM = "random_ random_.from random_.to uniform_ normal_ bernoulli_.float multinomial exponential_"
# Operators of large results that are never computed. They are named so that exactly what they write becomes unknown: the
# device alone would have to guess it from the pointers of their kernels.
_ONLY_READING = re.compile(
    r"^(_foreach_|_fused_|mm\b|bmm\b|addmm|baddbmm|mv\b|addmv|dot\b|linear\b|_scaled_|_flash_|_efficient_|embedding)"
    r"|backward|norm|softmax|dropout|gelu|silu|elu\b|mish|softplus|tanh|sigmoid|loss|convolution|pool|upsample|_thnn_|rnn")

#: they only move or compare elements: a mask of floating-point numbers may be larger than what is calculated with
MOVING = frozenset("""copy_ index.Tensor index_select gather cat cat.out isnan logical_not nonzero
eq.Tensor eq.Scalar ne.Tensor ne.Scalar lt.Tensor lt.Scalar le.Tensor le.Scalar gt.Tensor gt.Scalar ge.Tensor ge.Scalar
""".split())
#: drawn with a generator of our own, so that the script's CPU generator is left alone
RANDOM = frozenset((*_RANDOM.split(), "randperm.generator_out"))
#: their first argument is only written
OVERWRITING = frozenset("fill_.Scalar fill_.Tensor zero_ copy_ random_ random_.from random_.to uniform_ normal_ "
                        "bernoulli_.float exponential_".split())
#: the kernel reads the size of its result from the device
SIZED_BY_VALUES = frozenset(("nonzero", "_unique2", "unique_consecutive"))


def _variants(name):
    base, _, overload = name.partition(".")
    yield name
    yield f"{base}_.{overload}" if overload else f"{base}_"
    out = {"": "out", "Tensor": "out", "Tensor_mode": "out_mode", "dim_IntList": "IntList_out"}
    yield f"{base}.{out.get(overload, overload + '_out')}"


def evaluated():
    """All names, each once, in a fixed order."""
    names = [v for n in _COMPUTED.split() for v in _variants(n)]
    names += (_IN_PLACE + " " + _FACTORIES + " " + _RANDOM).split() + ["nonzero"]
    return list(dict.fromkeys(names))


COMPUTED = frozenset(evaluated())


def only_reading(torch):
    """Names of the operators that are never computed, of those that this torch has."""
    names = (n.removeprefix("aten::") for n in torch._C._dispatch_get_all_op_names() if n.startswith("aten::"))
    return sorted(n for n in names if _ONLY_READING.search(n) and n not in COMPUTED)
