"""How far two right implementations of an operator may be apart: bounds that scale with type, operator and size.

All bounds are of the relative Frobenius norm, |b - a| / |a|. docs/adr/0040 has the measurements behind the constants.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

UNIT = {
    "float64": 2.0**-53, "complex128": 2.0**-53, "float32": 2.0**-24, "complex64": 2.0**-24, "float16": 2.0**-11,
    "bfloat16": 2.0**-8, "float8_e4m3fn": 2.0**-4, "float8_e4m3fnuz": 2.0**-4, "float8_e5m2": 2.0**-3,
    "float8_e5m2fnuz": 2.0**-3, "float8_e8m0fnu": 0.5,
}  # fmt: skip
"""Half the distance from 1 to the next number: the largest relative error of one rounding to nearest."""
TF32 = 2.0**-11


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_EXACT = _names(
    """clone copy_ _to_copy to contiguous cat stack index index_select gather embedding where masked_fill
    masked_fill_ masked_select relu relu_ neg abs amax amin max min maximum minimum argmax argmin topk sort eq ne
    lt le gt ge bitwise_and bitwise_or bitwise_xor bitwise_not logical_and logical_or logical_not logical_xor fill
    fill_ zero_ zeros zeros_like ones ones_like full full_like arange eye slice_scatter select_scatter index_copy
    index_copy_ scatter scatter_ repeat flip roll tril triu constant_pad_nd threshold threshold_backward
    max_pool2d_with_indices pixel_shuffle clamp clamp_min clamp_max sign floor ceil round trunc isnan isinf any
    all nonzero one_hot hardtanh nll_loss_backward _foreach_copy_ _foreach_zero_ slice_backward select_backward
    new_zeros new_ones new_full scalar_tensor unbind split as_strided index_fill index_fill_ masked_scatter
    bucketize searchsorted tril_ triu_ zeros_ isfinite ones_"""
)
"""Move or choose values: right implementations agree in every bit."""
_PRODUCTS = _names(
    """mm bmm addmm baddbmm addbmm mv addmv dot vdot linear matmul einsum convolution _convolution conv1d conv2d
    conv3d convolution_backward _int_mm _scaled_mm _grouped_mm addr"""
)
_ATTENTION = "scaled_dot_product"
_ADDITIVE = _names(
    """add add_ sub sub_ rsub sum mean cumsum lerp lerp_ addcmul addcmul_ addcdiv addcdiv_ index_add index_add_
    scatter_add scatter_add_ var std var_mean"""
)
"""The difference of the inputs adds up while the result may cancel."""
_STEEP = _names(
    """exp exp_ softmax _softmax log_softmax _log_softmax _softmax_backward_data _log_softmax_backward_data sigmoid
    logsumexp sin cos tan pow nll_loss_forward expm1 silu silu_backward gelu gelu_backward tanh"""
)
"""The absolute error of an input becomes a relative one of the output."""
_DISCRETE = _names(
    """argmax argmin topk sort eq ne lt le gt ge nonzero bucketize searchsorted round floor ceil trunc sign any all"""
)
"""A small difference of an input may flip a whole step of the output."""
_GAIN = 4.0
_LARGEST_GAIN = 1e3


_ARITHMETIC = _names(
    """add add_ sub sub_ rsub mul mul_ div div_ reciprocal sqrt square addcmul addcmul_ addcdiv addcdiv_ lerp lerp_
    sqrt_"""
)
_FUNCTIONS = _names(
    """rsqrt exp exp_ log sin cos tanh sigmoid silu gelu pow erf silu_backward gelu_backward sigmoid_backward
    tanh_backward expm1 log1p softplus"""
)
"""Computed to a few units in the last place of float32, how many differs by library: CUDA documents 2 for sinf."""
_SIMPLE = _ARITHMETIC | _FUNCTIONS
_MODULE = 4.0
"""A module runs several operators."""


def base_name(operator: str) -> str:
    """`mm` of `aten.mm.default`; the name as it is where it has no dots."""
    parts = operator.split(".")
    return parts[1] if len(parts) > 2 else operator


def is_exact(operator: str) -> bool:
    """Right implementations of it agree in every bit."""
    return base_name(operator) in _EXACT


def is_discrete(operator: str) -> bool:
    """Its output jumps where an input moves a little."""
    return base_name(operator) in _DISCRETE


@dataclass(frozen=True)
class Operand:
    """What a bound needs to know of a tensor. `norm` and `largest` are None where they were not measured."""

    dtype: str
    shape: tuple[int, ...]
    norm: float | None = None
    largest: float | None = None
    relative: float = 0.0
    """How far the two sides' operands are apart already."""


def terms(operator: str, inputs: Sequence[Operand], output: Operand) -> int:
    """How many products or values are added up for one element of the output, from the shapes alone."""
    name = base_name(operator)
    shapes = [operand.shape for operand in inputs if operand.shape]
    if not shapes:
        return 1
    if name in ("mm", "bmm", "linear", "matmul", "mv", "dot", "_int_mm", "_scaled_mm"):
        return max(shapes[0][-1], 1)
    if name in ("addmm", "baddbmm", "addmv", "addbmm") and len(shapes) > 1:
        return max(shapes[-2][-1] if len(shapes[-2]) else 1, 1)
    if "convolution" in name or name.startswith("conv"):
        return max((math.prod(shape[1:]) for shape in shapes[1:2]), default=1)
    if _ATTENTION in name and len(shapes) > 1 and len(shapes[1]) > 1:
        return max(shapes[0][-1], shapes[1][-2])
    numel, out = max(math.prod(shape) for shape in shapes), max(math.prod(output.shape), 1)
    if numel > out:
        return max(numel // out, 1)
    return max(max(shape) for shape in shapes)


def own_error(operator: str, inputs: Sequence[Operand], output: Operand, *, tf32: bool = False) -> float:
    """Bound for equal inputs: rounding of the result on both sides, and of a sum of `terms` in another order."""
    unit = UNIT.get(output.dtype)
    name = base_name(operator)
    if unit is None or name in _EXACT:
        return 0.0
    narrow = [UNIT[operand.dtype] for operand in inputs if operand.dtype in UNIT]
    accumulate = 2.0**-53 if unit <= 2.0**-53 else 2.0**-24
    count = terms(operator, inputs, output)
    rounding = max([unit, *(narrow if _ATTENTION in name else [])])
    if tf32 and output.dtype == "float32" and name in _PRODUCTS:
        rounding = TF32
    if name in _SIMPLE:
        return 2 * unit + (6 * accumulate if name in _FUNCTIONS else 2 * accumulate)
    growth = max((_growth(name, operand, inputs, output, count) for operand in inputs), default=1.0)
    return (_MODULE if name == "module" else 1) * (2 * rounding + 4 * math.sqrt(count) * accumulate * growth)


def _growth(name: str, operand: Operand, inputs: Sequence[Operand], output: Operand, count: int) -> float:
    """How much larger what is added up is than what comes out: errors are relative to the former."""
    if not output.norm or operand.norm is None:
        return 1.0
    growth = 1.0
    if name in _PRODUCTS and not name.endswith("_backward"):
        norms = [other.norm for other in inputs if other.norm]
        product = math.prod(sorted(norms)[-2:]) if len(norms) > 1 else operand.norm
        growth = product / (math.sqrt(count) * output.norm)
    elif name in _ADDITIVE or name.endswith(("_backward", "_backward_data")):
        growth = operand.norm / output.norm
    return min(max(growth, 1.0), _LARGEST_GAIN)


def _gain(name: str, operand: Operand, inputs: Sequence[Operand], output: Operand, count: int) -> float:
    """How much the relative difference of an operand may grow: by cancellation, or by a steep function."""
    growth = _growth(name, operand, inputs, output, count)
    if (name in _STEEP or _ATTENTION in name) and operand.largest:
        growth = max(growth, min(operand.largest, 64.0))
    return _GAIN * growth


def bound(operator: str, inputs: Sequence[Operand], output: Operand, *, tf32: bool = False) -> float:
    """What two right implementations may be apart, given how far their inputs already are."""
    name = base_name(operator)
    count = terms(operator, inputs, output)
    spread = sum(
        (_gain(name, operand, inputs, output, count) * operand.relative) ** 2
        for operand in inputs
        if 0 < operand.relative < math.inf
    )
    return own_error(operator, inputs, output, tf32=tf32) + math.sqrt(spread)
