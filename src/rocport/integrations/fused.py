"""A transformers model with rocport's norm, gated activation and rotary embedding in place of its own.

Each of these is several small kernels in transformers' Python, and one here. Decoding at batch 1 is bound by the host's
work a kernel, so that this counts for more there than any faster matmul. What is replaced is first compared with what
it stands for, in fp32, on inputs from 1 to a million, once for each class and its settings; where they differ (another
norm, another activation, a clamp) the model keeps its own. A clamp beyond some millions would not be noticed.
"""

from __future__ import annotations

import inspect
import types
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch

from rocport import ops

_NAME = "apply_rotary_pos_emb"


def fuse(model: torch.nn.Module) -> dict[str, int]:
    """Replace what can be, in place. Returns how many of `rms_norm`, `swiglu` and `rope`.

    A module's `forward` is replaced, no parameter and no name in a state dict. Training and torch.compile go on as
    before: the operators have gradients and are their specification in a compiled graph.
    """
    done: Counter[str] = Counter()
    known: dict[Any, bool] = {}
    for module in model.modules():
        for name, fits, forward in (
            ("rms_norm", _is_norm, _norm_forward),
            ("swiglu", _is_gated, _gated_forward),
        ):
            if not hasattr(module, _MARKS[name]) or "forward" in module.__dict__:
                continue
            kind = (settings(module), name)
            if kind not in known:
                known[kind] = fits(module)
            if known[kind] and _same_settings(module, name):
                module.forward = types.MethodType(forward, module)
                done[name] += 1
        done["rope"] += _rotary(module, known)
    return {name: count for name, count in sorted(done.items()) if count}


_MARKS = {"rms_norm": "variance_epsilon", "swiglu": "gate_proj"}


def _norm_forward(self: Any, hidden_states: torch.Tensor) -> torch.Tensor:
    return ops.rms_norm(hidden_states, self.weight, self.variance_epsilon)


def _gated_forward(self: Any, x: torch.Tensor) -> torch.Tensor:
    out: torch.Tensor = self.down_proj(ops.swiglu(self.gate_proj(x), self.up_proj(x)))
    return out


def _same_settings(module: torch.nn.Module, name: str) -> bool:
    """What may differ between modules of one class."""
    return name != "swiglu" or type(getattr(module, "act_fn", None)).__name__ in ("SiLU", "SiLUActivation")


SCALES = (1.0, 30.0, 1e3, 1e6)
"""What probes are multiplied by: a clamp shows only where values reach it."""


def agree(theirs: Callable[[float], torch.Tensor], ours: Callable[[float], torch.Tensor]) -> bool:
    """Whether both give the same values for inputs of each of `SCALES`, fp32."""
    try:
        with torch.no_grad():
            return all(_near(theirs(scale), ours(scale)) for scale in SCALES)
    except (RuntimeError, TypeError, AttributeError, ValueError, LookupError, ArithmeticError, AssertionError):
        return False


def _near(got: torch.Tensor, want: torch.Tensor) -> bool:
    return torch.allclose(got, want, rtol=1e-4, atol=1e-5 * float(want.abs().max()))


def settings(module: torch.nn.Module) -> Any:
    """What `twin` takes over of a module, as a key: class, numbers and strings, and which other objects it holds."""
    internal = torch.nn.Module().__dict__.keys()
    own = sorted(
        (key, value if isinstance(value, (int, float, str, type(None))) else id(value))
        for key, value in module.__dict__.items()
        if key not in internal
    )
    act = getattr(module, "act_fn", None)
    return type(module), tuple(own), settings(act) if isinstance(act, torch.nn.Module) else None


def twin(module: torch.nn.Module, **parts: Any) -> Any:
    """A module of the same class and settings, with other parts and no hooks."""
    other = type(module).__new__(type(module))
    torch.nn.Module.__init__(other)
    internal = other.__dict__.keys()
    other.__dict__.update({key: value for key, value in module.__dict__.items() if key not in internal})
    if isinstance(act := getattr(module, "act_fn", None), torch.nn.Module):
        other.act_fn = act
    for name, part in parts.items():
        setattr(other, name, part)
    return other.eval()


def _is_norm(module: torch.nn.Module) -> bool:
    other = twin(module, weight=torch.nn.Parameter(torch.linspace(0.5, 2.0, 16)))
    x = torch.linspace(-3, 5, 48).view(3, 16)
    return agree(lambda scale: other(scale * x), lambda scale: _norm_forward(other, scale * x))


def _is_gated(module: torch.nn.Module) -> bool:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        linears = {name: torch.nn.Linear(8, 8) for name in ("gate_proj", "up_proj", "down_proj")}
        x = torch.randn(3, 8)
    other = twin(module, **linears)
    return agree(lambda scale: other(scale * x), lambda scale: _gated_forward(other, scale * x))


def rotary(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """transformers' `apply_rotary_pos_emb`: q [B, H, S, D] (or, with 2, [B, S, H, D]), cos and sin [B, S, D]."""
    half = cos.shape[-1] // 2
    cos, sin = cos[..., :half], sin[..., :half]
    if unsqueeze_dim == 2:
        return ops.rope(q, k, cos, sin)
    turned_q, turned_k = ops.rope(q.transpose(1, 2), k.transpose(1, 2), cos, sin)
    return turned_q.transpose(1, 2), turned_k.transpose(1, 2)


def _rotary(module: torch.nn.Module, known: dict[Any, bool]) -> int:
    """1 when the module's forward turns q and k by its file's `apply_rotary_pos_emb` and now by ours."""
    if "forward" in module.__dict__:
        return 0
    forward = type(module).forward
    ours = _by_ours(forward)
    if ours is None:
        return 0
    kind = (type(module), _NAME)
    if kind not in known:
        known[kind] = _is_rotary(inspect.unwrap(forward).__globals__[_NAME])
    if not known[kind]:
        return 0
    module.forward = types.MethodType(ours, module)
    return 1


def _by_ours(forward: Callable[..., Any]) -> types.FunctionType | None:
    """A copy of a function that turns by `rotary`, below the decorators that `functools.wraps` names; None where it
    turns by nothing, or holds variables of another function."""
    if not isinstance(forward, types.FunctionType):
        return None
    names, closure = forward.__globals__, forward.__closure__ or ()
    if (below := getattr(forward, "__wrapped__", None)) is not None:
        inner = _by_ours(below)
        own = [cell.cell_contents is below for cell in closure]
        if inner is None or not any(own):
            return None
        closure = tuple(types.CellType(inner) if is_it else cell for is_it, cell in zip(own, closure, strict=True))
    elif closure or _NAME not in forward.__code__.co_names or not callable(names.get(_NAME)):
        return None
    else:
        names = {**names, _NAME: rotary}
    ours = types.FunctionType(forward.__code__, names, forward.__name__, forward.__defaults__, closure)
    ours.__kwdefaults__ = forward.__kwdefaults__
    return ours


def _is_rotary(theirs: Callable[..., Any]) -> bool:
    if list(inspect.signature(theirs).parameters)[:4] != ["q", "k", "cos", "sin"]:
        return False
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        q, k, angle = torch.randn(2, 4, 5, 8), torch.randn(2, 2, 5, 8), torch.randn(2, 5, 4)
    tables = torch.cat((angle, angle), -1)

    def flat(turn: Callable[..., Any], scale: float) -> torch.Tensor:
        return torch.cat([part.flatten() for part in turn(scale * q, scale * k, tables.cos(), tables.sin())])

    return agree(lambda scale: flat(theirs, scale), lambda scale: flat(rotary, scale))
