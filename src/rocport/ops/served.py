"""Operators without a packed weight (norms, rope, swiglu, cross entropy, the sorting of a mixture), outside tracing:
decided once a shape, then launched, as `rocport.ops.plans` does for those with one. Their plans hold no pointer and are
kept with the process. Under torch.compile they are their specification, which the compiler fuses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from rocport.ops.dispatch import Operator, Tier, asked
from rocport.runtime import machine

KEPT_AT_MOST = 256
"""Plans of one weight, or of all operators without; beyond that they are dropped, as with prompts of every length."""
PLAIN = (torch.Tensor, torch.nn.Parameter)


def direct(x: torch.Tensor) -> bool:
    """Nothing but autograd watches the operators called on `x`: no compiler, tracer, functional transform, dispatch or
    function mode, no subclass, and no assumed platform."""
    return (
        not torch.compiler.is_compiling()
        and type(x) in PLAIN
        and not torch._C._len_torch_dispatch_stack()
        and not torch._C._len_torch_function_stack()
        and torch._C._functorch.peek_interpreter_stack() is None
        and not torch._C._is_tracing()
        and machine.assumed() is None
    )


def select(chosen_from: Operator, device: torch.device, *args: Any, tier: str) -> Tier:
    """The tier of an operator for a call on `device`."""
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
    chosen = select(op, device, *args, tier=tier)
    if chosen.prepare is None:
        return chosen.run
    call = chosen.prepare(*args)
    tensors = [a for a in args if isinstance(a, torch.Tensor)]
    if device.type == "cuda" and all(type(a) in PLAIN and a.device == device for a in tensors):
        if len(_kept) >= KEPT_AT_MOST:
            _kept.clear()
        _kept[key] = call
    return call
