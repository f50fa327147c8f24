"""Calls outside tracing: decided once a shape, then launched.

`quantized_matmul`, `dequantize` and `gather_qmm` are operators of PyTorch (`rocport.ops.library`), so that tracing sees
one opaque call with a shape and a gradient. Where nothing traces, that costs the host more than the work: the boxing of
the operator, its generated gradient, the tiers' refusals, Triton's argument work. Here a call looks up the plan of
its weight, shape, type, device and pins, and runs it, under one autograd Function when a gradient is wanted.

A plan holds pointers. It is dropped when a tensor of its weight lies elsewhere than at its making. What has no packed
weight is served by `rocport.ops.served`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from rocport.ops import library
from rocport.ops.dispatch import asked, operator
from rocport.ops.experts import by_expert
from rocport.ops.formats import QuantTensor
from rocport.ops.served import KEPT_AT_MOST, PLAIN, direct, select

_matmul_operator = operator("quantized_matmul")
_dequantize_operator = operator("dequantize")
_gather_operator = operator("gather_qmm")


class _Plan:
    """What serves a call on one weight. `valid` while the weight lies where it lay."""

    __slots__ = ("_pointers", "_where", "call")

    def __init__(self, q: QuantTensor, call: Callable[..., torch.Tensor]) -> None:
        self.call = call
        self._where = tuple(part.data_ptr for part in q.parts if part is not None)
        self._pointers = [where() for where in self._where]

    def valid(self) -> bool:
        return [where() for where in self._where] == self._pointers


Made = Callable[..., Callable[..., Any]]


def _serve(q: QuantTensor, key: tuple[Any, ...], make: Made, *args: Any) -> Callable[..., Any]:
    """The kept plan of `key`, or `make` of the arguments. On the CPU, where nothing is launched, none is kept."""
    plan: _Plan | None = q.plans.get(key)
    if plan is not None and plan.valid():
        return plan.call
    call = make(*args)
    if q.codes.is_cuda and _read_in_place(q):
        if len(q.plans) >= KEPT_AT_MOST:
            q.plans.clear()
        q.plans[key] = _Plan(q, call)
    return call


def _read_in_place(q: QuantTensor) -> bool:
    """Kernels read the tensors of `q` themselves, no aligned or padded copy, which would not follow a write to them."""
    parts = [part for part in q.parts if part is not None]
    whole_words = not q.format.flat or q.codes.numel() % 4 == 0
    return whole_words and q.codes.data_ptr() % 16 == 0 and all(part.is_contiguous() for part in parts)


def _plain(q: QuantTensor, device: torch.device) -> bool:
    return all(part is None or (type(part) in PLAIN and part.device == device) for part in q.parts)


def matmul(x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None, tier: str) -> torch.Tensor:
    """`quantized_matmul` by one matrix [N, K], where `direct(x)`. What has a plan fitted when it was made."""
    if not x.is_contiguous():
        x = x.contiguous()
    key = (
        "matmul", x.shape, x.dtype, x.get_device(), None if bias is None else bias.dtype, tier,
        asked(), _matmul_operator._pinned, _dequantize_operator._pinned,
    )  # fmt: skip
    call = _serve(q, key, _make_matmul, x, q, bias, tier)
    if torch.is_grad_enabled() and (x.requires_grad or (bias is not None and bias.requires_grad)):
        out: torch.Tensor = _Matmul.apply(x, bias, q, call)  # type: ignore[no-untyped-call]
        return out
    return call(x, bias)  # type: ignore[no-any-return]


def _make_matmul(x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None, tier: str) -> Callable[..., torch.Tensor]:
    library.check_matmul(x, q)
    rows = x.reshape(-1, x.shape[-1])
    if not _plain(q, x.device):
        return lambda x, bias: library.matmul(x, q, bias, tier)
    shape = (*x.shape[:-1], q.shape[0])
    if rows.shape[0] == 0 or q.shape[0] == 0:
        return lambda x, bias: x.new_empty(shape)
    chosen = select(_matmul_operator, x.device, rows, q, bias, tier=tier)
    if chosen.prepare is not None:
        return chosen.prepare(x, q, bias)
    return lambda x, bias: chosen.run(x.view(-1, x.shape[-1]), q, bias).view(shape)


def dense(q: QuantTensor, dtype: torch.dtype, tier: str = "") -> torch.Tensor:
    """`dequantize`, where `direct(q.codes)`."""
    key = ("dequantize", dtype, tier, asked(), _dequantize_operator._pinned)
    return _serve(q, key, _make_dense, q, dtype, tier)()  # type: ignore[no-any-return]


def _make_dense(q: QuantTensor, dtype: torch.dtype, tier: str) -> Callable[..., torch.Tensor]:
    if not _plain(q, q.codes.device):
        return lambda: library.dequantize(q, dtype, tier)
    chosen = select(_dequantize_operator, q.codes.device, q, dtype, tier=tier)
    return chosen.prepare(q, dtype) if chosen.prepare is not None else lambda: chosen.run(q, dtype)


def _expert_key(what: str, x: torch.Tensor, experts: torch.Tensor, tier: str) -> tuple[Any, ...]:
    return (
        what, x.shape, x.dtype, x.get_device(), experts.shape, experts.dtype, tier,
        asked(), _gather_operator._pinned, _dequantize_operator._pinned,
    )  # fmt: skip


def sorts(x: torch.Tensor, q: QuantTensor, experts: torch.Tensor) -> bool:
    """Whether `gather` of these, where `direct(x)`, would sort the rows of x by expert."""

    def make() -> Callable[..., Any]:
        chosen = select(_gather_operator, x.device, x, q, experts, tier="")
        return lambda: chosen.name == "sorted"

    return _serve(q, _expert_key("sorts", x, experts, ""), make)()  # type: ignore[no-any-return]


def gather(x: torch.Tensor, q: QuantTensor, experts: torch.Tensor, tier: str) -> torch.Tensor:
    """`gather_qmm` of x [T, K], where `direct(x)`. What has a plan fitted when it was made."""
    if not experts.is_cuda:
        library.check_experts(experts, q.shape[0])
    if not x.is_contiguous():
        x = x.contiguous()
    if not experts.is_contiguous():
        experts = experts.contiguous()
    call = _serve(q, _expert_key("gather", x, experts, tier), _make_gather, x, q, experts, tier)
    if torch.is_grad_enabled() and x.requires_grad:
        out: torch.Tensor = _Gather.apply(x, experts, q, call)  # type: ignore[no-untyped-call]
        return out
    return call(x, experts)  # type: ignore[no-any-return]


def _make_gather(x: torch.Tensor, q: QuantTensor, experts: torch.Tensor, tier: str) -> Callable[..., torch.Tensor]:
    library.check_gather(x, q, experts)
    if not _plain(q, x.device) or type(experts) not in PLAIN:
        return lambda x, experts: library.gather(x, q, experts, tier)
    if experts.numel() == 0:
        return lambda x, experts: x.new_empty((*experts.shape, q.shape[1]))
    chosen = select(_gather_operator, x.device, x, q, experts, tier=tier)
    if chosen.prepare is not None:
        return chosen.prepare(x, q, experts)
    return lambda x, experts: chosen.run(x, q, experts)


def _saved(ctx: Any) -> tuple[QuantTensor, tuple[torch.Tensor, ...]]:
    """The weight of a forward, and what else it saved. Hooks on saved tensors may have put others in their place."""
    kept, q = ctx.saved_tensors, ctx.q
    names = [name for name, part in zip(_PARTS, q.parts, strict=True) if part is not None]
    parts, others = kept[: len(names)], kept[len(names) :]
    if any(part is not getattr(q, name) for name, part in zip(names, parts, strict=True)):
        q = replace(q, **dict(zip(names, parts, strict=True)))
    return q, others


_PARTS = ("codes", "scales", "biases", "absmax2", "offset")


def _weight(q: QuantTensor, dtype: torch.dtype) -> torch.Tensor:
    return dense(q, dtype) if direct(q.codes) else library.dequantize(q, dtype)


class _Matmul(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, bias: torch.Tensor | None, q: QuantTensor, call: Callable[..., torch.Tensor]
    ) -> torch.Tensor:
        ctx.save_for_backward(*(part for part in q.parts if part is not None))
        ctx.q, ctx.shape, ctx.dtype = q, x.shape, x.dtype
        return call(x, bias)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        q, _ = _saved(ctx)
        flat = grads[0].reshape(-1, q.shape[0])
        grad_x = grad_bias = None
        if ctx.needs_input_grad[0]:
            grad_x = (flat.to(ctx.dtype) @ _weight(q, ctx.dtype)).view(ctx.shape)
        if ctx.needs_input_grad[1]:
            grad_bias = flat.sum(0)
        return grad_x, grad_bias, None, None


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, experts: torch.Tensor, q: QuantTensor, call: Callable[..., torch.Tensor]
    ) -> torch.Tensor:
        ctx.save_for_backward(*(part for part in q.parts if part is not None), experts)
        ctx.q, ctx.dtype = q, x.dtype
        return call(x, experts)

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        q, (experts,) = _saved(ctx)
        grad, weight = grads[0].to(ctx.dtype), _weight(q, ctx.dtype)
        if not direct(grad):
            return library.gather_gradient(grad, weight, experts), None, None, None
        # A matrix a row, as a traced gradient takes them, would be 48 GiB for 2048 tokens of 8 experts of 768 x 2048.
        each = by_expert(grad.reshape(-1, q.shape[1]), weight, experts.reshape(-1))
        return each.view(*experts.shape, -1).sum(1) if experts.dim() == 2 else each, None, None, None
