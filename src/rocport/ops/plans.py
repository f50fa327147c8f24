"""Calls outside tracing: decided once a shape, then launched.

`quantized_matmul`, `dequantize` and `gather_qmm` are operators of PyTorch (`rocport.ops.library`), so that tracing sees
one opaque call with a shape and a gradient. Where nothing traces, that costs the host more than the work: the boxing of
the operator, its generated gradient, the tiers' refusals, Triton's argument work. Here a call looks up the plan of
its weight, shape, type, device and pins, and runs it, under one autograd Function when a gradient is wanted.

A plan holds pointers. It is dropped when a tensor of its weight lies elsewhere than at its making.

`serve` does the same for operators without a packed weight (norms, rope, swiglu, cross entropy): their plans hold no
pointer and are kept with the process. Under torch.compile they are their specification, which the compiler fuses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from rocport.ops import library
from rocport.ops.dispatch import Operator, Tier, asked, operator
from rocport.ops.experts import by_expert
from rocport.ops.formats import QuantTensor
from rocport.runtime import machine

KEPT_AT_MOST = 256
"""Plans of one weight, or of all operators without; beyond that they are dropped, as with prompts of every length."""

_matmul_operator = operator("quantized_matmul")
_dequantize_operator = operator("dequantize")
_gather_operator = operator("gather_qmm")
_PLAIN = (torch.Tensor, torch.nn.Parameter)


def direct(x: torch.Tensor) -> bool:
    """Nothing but autograd watches the operators called on `x`: no compiler, tracer, functional transform, dispatch or
    function mode, no subclass, and no assumed platform."""
    return (
        not torch.compiler.is_compiling()
        and type(x) in _PLAIN
        and not torch._C._len_torch_dispatch_stack()
        and not torch._C._len_torch_function_stack()
        and torch._C._functorch.peek_interpreter_stack() is None
        and not torch._C._is_tracing()
        and machine.assumed() is None
    )


class _Plan:
    """What serves a call on one weight. `valid` while the weight lies where it lay."""

    __slots__ = ("_pointers", "_tensors", "call")

    def __init__(self, q: QuantTensor, call: Callable[..., torch.Tensor]) -> None:
        self.call = call
        self._tensors = tuple(part for part in q.parts if part is not None)
        self._pointers = [part.data_ptr() for part in self._tensors]

    def valid(self) -> bool:
        return [part.data_ptr() for part in self._tensors] == self._pointers


def _serve(q: QuantTensor, key: tuple[Any, ...], make: Callable[[], Callable[..., torch.Tensor]]) -> Callable[..., Any]:
    """The kept plan of `key`, or a new one. On the CPU, where nothing is launched, none is kept."""
    key = (*key, asked(), _matmul_operator._pinned, _dequantize_operator._pinned)
    plan: _Plan | None = q.plans.get(key)
    if plan is not None and plan.valid():
        return plan.call
    call = make()
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
    return all(part is None or (type(part) in _PLAIN and part.device == device) for part in q.parts)


def _select(chosen_from: Operator, device: torch.device, *args: Any, tier: str) -> Tier:
    return chosen_from.select(machine.platform(device), *args, tier=tier)


_kept: dict[tuple[Any, ...], Callable[..., Any]] = {}


def serve(
    op: Operator, specification: Callable[..., Any], args: tuple[Any, ...], tier: str,
    check: Callable[..., None] | None = None,
) -> Any:  # fmt: skip
    """What `op` gives for `args`, whose first is a tensor. `args` beside tensors are hashed. `check` raises for args
    that do not fit; what has a plan fitted when it was made."""
    if torch.compiler.is_compiling() and not (tier or op._pinned):
        if check is not None:
            check(*args)
        return specification(*args)
    if not direct(args[0]):
        if check is not None:
            check(*args)
        return op.select(machine.platform(args[0].device), *args, tier=tier).run(*args)
    key = (
        op.name, tier, op._pinned, asked(), torch.is_grad_enabled(),
        *[(a.shape, a.dtype, a.get_device(), a.requires_grad) if isinstance(a, torch.Tensor) else a for a in args],
    )  # fmt: skip
    call = _kept.get(key)
    if call is None:
        if check is not None:
            check(*args)
        call = _prepared(op, args, tier, key)
    return call(*args)


def _prepared(op: Operator, args: tuple[Any, ...], tier: str, key: tuple[Any, ...]) -> Callable[..., Any]:
    device = args[0].device
    chosen = _select(op, device, *args, tier=tier)
    if chosen.prepare is None:
        return chosen.run
    call = chosen.prepare(*args)
    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    if device.type == "cuda" and all(type(a) in _PLAIN and a.device == device for a in tensors):
        if len(_kept) >= KEPT_AT_MOST:
            _kept.clear()
        _kept[key] = call
    return call


def matmul(x: torch.Tensor, q: QuantTensor, bias: torch.Tensor | None, tier: str) -> torch.Tensor:
    """`quantized_matmul` of operands that fit, where `direct(x)`."""
    if not x.is_contiguous():
        x = x.contiguous()

    def make() -> Callable[..., torch.Tensor]:
        rows = x.reshape(-1, x.shape[-1])
        if not _plain(q, x.device):
            return lambda x, bias: library.matmul(x, q, bias, tier)
        shape = (*x.shape[:-1], q.shape[0])
        if rows.shape[0] == 0 or q.shape[0] == 0:
            return lambda x, bias: x.new_empty(shape)
        chosen = _select(_matmul_operator, x.device, rows, q, bias, tier=tier)
        if chosen.prepare is not None:
            return chosen.prepare(x, q, bias)
        return lambda x, bias: chosen.run(x.view(-1, x.shape[-1]), q, bias).view(shape)

    kind = None if bias is None else bias.dtype
    call = _serve(q, ("matmul", x.shape, x.dtype, x.get_device(), kind, tier), make)
    if torch.is_grad_enabled() and (x.requires_grad or (bias is not None and bias.requires_grad)):
        out: torch.Tensor = _Matmul.apply(x, bias, q, call)  # type: ignore[no-untyped-call]
        return out
    return call(x, bias)  # type: ignore[no-any-return]


def dense(q: QuantTensor, dtype: torch.dtype, tier: str = "") -> torch.Tensor:
    """`dequantize`, where `direct(q.codes)`."""

    def make() -> Callable[..., torch.Tensor]:
        if not _plain(q, q.codes.device):
            return lambda: library.dequantize(q, dtype, tier)
        chosen = _select(_dequantize_operator, q.codes.device, q, dtype, tier=tier)
        return chosen.prepare(q, dtype) if chosen.prepare is not None else lambda: chosen.run(q, dtype)

    return _serve(q, ("dequantize", dtype, tier), make)()  # type: ignore[no-any-return]


def gather(x: torch.Tensor, q: QuantTensor, experts: torch.Tensor, tier: str) -> torch.Tensor:
    """`gather_qmm` of x [T, K], where `direct(x)`. What has a plan fitted when it was made."""
    if not experts.is_cuda:
        library.check_experts(experts, q.shape[0])
    if not x.is_contiguous():
        x = x.contiguous()
    if not experts.is_contiguous():
        experts = experts.contiguous()

    def make() -> Callable[..., torch.Tensor]:
        library.check_gather(x, q, experts)
        if not _plain(q, x.device) or type(experts) not in _PLAIN:
            return lambda x, experts: library.gather(x, q, experts, tier)
        if experts.numel() == 0:
            return lambda x, experts: x.new_empty((*experts.shape, q.shape[1]))
        chosen = _select(_gather_operator, x.device, x, q, experts, tier=tier)
        if chosen.prepare is not None:
            return chosen.prepare(x, q, experts)
        return lambda x, experts: chosen.run(x, q, experts)

    key = ("gather", x.shape, x.dtype, x.get_device(), experts.shape, experts.dtype, _gather_operator._pinned, tier)
    call = _serve(q, key, make)
    if torch.is_grad_enabled() and x.requires_grad:
        out: torch.Tensor = _Gather.apply(x, experts, q, call)  # type: ignore[no-untyped-call]
        return out
    return call(x, experts)  # type: ignore[no-any-return]


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
