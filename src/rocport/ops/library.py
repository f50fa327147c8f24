"""The operators torch.compile must not look into, registered with PyTorch: opaque, with shapes and gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from rocport.ops.dispatch import operator
from rocport.ops.formats import Format, QuantTensor
from rocport.runtime.machine import platform

_PACKED = "Tensor codes, Tensor scales, Tensor? biases, Tensor? absmax2, Tensor? offset, str format, int[] shape"
_library = torch.library.Library("rocport", "DEF")  # type: ignore[no-untyped-call]
_library.define(f"dequantize({_PACKED}, ScalarType dtype, str tier) -> Tensor")  # type: ignore[no-untyped-call]
_library.define(f"quantized_matmul(Tensor x, {_PACKED}, Tensor? bias, str tier) -> Tensor")  # type: ignore[no-untyped-call]
_library.define(f"gather_qmm(Tensor x, {_PACKED}, Tensor experts, str tier) -> Tensor")  # type: ignore[no-untyped-call]


def packed(q: QuantTensor) -> tuple[Any, ...]:
    """The arguments that stand for `q` in a registered operator."""
    return (q.codes, q.scales, q.biases, q.absmax2, q.offset, q.format.name, list(q.shape))


def matmul(x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None, tier: str = "") -> torch.Tensor:
    """The registered operator on `q`."""
    out: torch.Tensor = torch.ops.rocport.quantized_matmul(x, *packed(q), bias, tier)
    return out


def dequantize(q: QuantTensor, dtype: torch.dtype, tier: str = "") -> torch.Tensor:
    """The registered operator on `q`."""
    out: torch.Tensor = torch.ops.rocport.dequantize(*packed(q), dtype, tier)
    return out


def gather(x: torch.Tensor, q: QuantTensor, experts: torch.Tensor, tier: str = "") -> torch.Tensor:
    """The registered operator on `q`."""
    out: torch.Tensor = torch.ops.rocport.gather_qmm(x, *packed(q), experts, tier)
    return out


def check_matmul(x: torch.Tensor, q: QuantTensor, transpose: bool = True) -> None:
    """Raises ValueError when x [..., K] does not meet q [N, K] (without `transpose` [K, N])."""
    if len(q.shape) != 2 or x.shape[-1] != q.shape[1 if transpose else 0]:
        raise ValueError(apart(x, q, transpose))


def apart(x: torch.Tensor, q: QuantTensor, transpose: bool) -> str:
    """What is said of operands of `quantized_matmul` that do not meet."""
    return f"quantized_matmul: x {tuple(x.shape)} does not meet W {q.shape}" + ("" if transpose else ", not transposed")


def check_experts(experts: torch.Tensor, count: int) -> None:
    """Where indices are in the host's memory, a look at them is free. Raises IndexError when one is not one of
    `count`."""
    if experts.device.type == "cpu" and experts.numel():
        least, most = int(experts.min()), int(experts.max())
        if least < 0 or most >= count:
            wrong = least if least < 0 else most
            raise IndexError(f"gather_qmm: expert {wrong} is none of the {count}: expected 0 to {count - 1}")


def check_gather(x: torch.Tensor, q: QuantTensor, experts: torch.Tensor, transpose: bool = True) -> None:
    """Raises ValueError when x [T, K] or [T, M, K], q and experts do not meet."""
    fits = len(q.shape) == 3 and x.dim() in (2, 3) and x.shape[-1] == q.shape[2 if transpose else 1]
    if not fits or experts.dim() not in (1, 2) or experts.shape[0] != x.shape[0]:
        raise ValueError(f"gather_qmm: x {tuple(x.shape)}, experts {tuple(experts.shape)} do not meet W {q.shape}")


def gather_gradient(grad: torch.Tensor, weight: torch.Tensor, experts: torch.Tensor) -> torch.Tensor:
    """The gradient of x [T, K] from that of its product with one or several experts, [T, N] or [T, top, N], of weight
    [E, N, K]. 0 where there is no such expert."""
    if experts.dim() == 2:
        each = gather_gradient(grad.flatten(0, 1), weight, experts.flatten())
        return each.view(*experts.shape, -1).sum(1)
    there = (experts >= 0) & (experts < weight.shape[0])
    chosen = weight[torch.where(there, experts, 0)]
    product = torch.bmm(grad.to(weight.dtype).unsqueeze(1), chosen).squeeze(1)
    return product.masked_fill(~there.unsqueeze(1), 0)


def _rebuild(args: Sequence[Any], dtype: torch.dtype) -> QuantTensor:
    codes, scales, biases, absmax2, offset, fmt, shape = args
    return QuantTensor(Format.parse(fmt), tuple(shape), dtype, codes, scales, biases, absmax2, offset)


def _dequantize(*args: Any) -> torch.Tensor:
    *parts, dtype, tier = args
    q = _rebuild(parts, dtype)
    op = operator("dequantize")
    out: torch.Tensor = op.select(platform(q.codes.device), q, dtype, tier=tier).run(q, dtype)
    return out


def _quantized_matmul(x: torch.Tensor, *args: Any) -> torch.Tensor:
    *parts, bias, tier = args
    q = _rebuild(parts, x.dtype)
    rows = x.reshape(-1, x.shape[-1]).contiguous()
    if rows.shape[0] == 0 or q.shape[0] == 0:
        return x.new_empty((*x.shape[:-1], q.shape[0]))
    chosen = operator("quantized_matmul").select(platform(x.device), rows, q, bias, tier=tier)
    out: torch.Tensor = chosen.run(rows, q, bias)
    return out.view(*x.shape[:-1], q.shape[0])


def _gather_qmm(x: torch.Tensor, *args: Any) -> torch.Tensor:
    *parts, experts, tier = args
    q = _rebuild(parts, x.dtype)
    x, experts = x.contiguous(), experts.contiguous()
    check_experts(experts, q.shape[0])
    if experts.numel() == 0:
        return x.new_empty((*experts.shape, q.shape[1]))
    chosen = operator("gather_qmm").select(platform(x.device), x, q, experts, tier=tier)
    out: torch.Tensor = chosen.run(x, q, experts)
    return out


for _name, _fn in (("dequantize", _dequantize), ("quantized_matmul", _quantized_matmul), ("gather_qmm", _gather_qmm)):
    _library.impl(_name, _fn, "CPU")  # type: ignore[no-untyped-call]
    _library.impl(_name, _fn, "CUDA")  # type: ignore[no-untyped-call]


def _fake_dequantize(codes: torch.Tensor, *args: Any) -> torch.Tensor:
    return codes.new_empty(args[5], dtype=args[6])


def _fake_quantized_matmul(x: torch.Tensor, *args: Any) -> torch.Tensor:
    return x.new_empty((*x.shape[:-1], args[6][0]))


def _fake_gather_qmm(x: torch.Tensor, *args: Any) -> torch.Tensor:
    return x.new_empty((*args[7].shape, args[6][1]))


torch.library.register_fake("rocport::dequantize", _fake_dequantize)
torch.library.register_fake("rocport::quantized_matmul", _fake_quantized_matmul)
torch.library.register_fake("rocport::gather_qmm", _fake_gather_qmm)


def _save_matmul(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    x, codes, scales, biases, absmax2, offset, fmt, shape, bias, _tier = inputs
    ctx.save_for_backward(codes, scales, biases, absmax2, offset)
    ctx.meta = (fmt, shape, x.dtype, bias is not None)


def _matmul_backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
    fmt, shape, dtype, has_bias = ctx.meta
    weight = torch.ops.rocport.dequantize(*ctx.saved_tensors, fmt, shape, dtype, "")
    grad_x = grad.to(dtype) @ weight
    grad_bias = grad.flatten(0, -2).sum(0) if has_bias else None
    return (grad_x, *([None] * 7), grad_bias, None)


torch.library.register_autograd("rocport::quantized_matmul", _matmul_backward, setup_context=_save_matmul)


def _save_gather(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    x, codes, scales, biases, absmax2, offset, fmt, shape, experts, _tier = inputs
    ctx.save_for_backward(codes, scales, biases, absmax2, offset, experts)
    ctx.meta = (fmt, shape, x.dtype)


def _gather_backward(ctx: Any, grad: torch.Tensor) -> tuple[Any, ...]:
    fmt, shape, dtype = ctx.meta
    *parts, experts = ctx.saved_tensors
    weight = torch.ops.rocport.dequantize(*parts, fmt, shape, dtype, "")
    return (gather_gradient(grad, weight, experts), *([None] * 7), None, None)


torch.library.register_autograd("rocport::gather_qmm", _gather_backward, setup_context=_save_gather)
