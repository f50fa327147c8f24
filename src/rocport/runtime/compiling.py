"""torch.compile, with the mode ROCm can take. On NVIDIA the call is torch.compile, unchanged."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import torch
from packaging.version import Version

from rocport.model import GfxTarget
from rocport.runtime.machine import is_rocm, target

F = TypeVar("F", bound=Callable[..., Any])

Mode = str | None

OVERRIDE = "TORCH_COMPILE_DISABLE"
"""PyTorch's own switch: 0 says that the user wants torch.compile where it is off by default."""


@dataclass(frozen=True)
class _Hazard:
    """One mode that was seen to fail on ROCm: for torch in [since, until), use `instead`."""

    mode: str
    instead: Mode
    since: str
    until: str
    evidence: str


HAZARDS = (
    _Hazard(
        mode="reduce-overhead",
        instead="default",
        since="2.0",
        until="",
        evidence="training converged measurably slower on MI300X with torch 2.10 and ROCm 7.0, raw graph capture was "
        "right: https://github.com/pytorch/pytorch/issues/187715 (closed; no fix named, so no upper version is known)",
    ),
    _Hazard(
        mode="max-autotune",
        instead="max-autotune-no-cudagraphs",
        since="2.0",
        until="",
        evidence="max-autotune turns on the same cudagraph_trees as reduce-overhead: "
        "https://github.com/pytorch/pytorch/issues/187715",
    ),
)

STOCK = {
    "max_autotune": False,
    "max_autotune_pointwise": False,
    "max_autotune_gemm": False,
    "coordinate_descent_tuning": False,
    "memory_planning": False,
    "triton.cudagraphs": False,
}
"""Inductor settings that decide about hangs and graphs, as PyTorch ships them (read from torch 2.13)."""

VARIABLES = {
    "TORCHINDUCTOR_MAX_AUTOTUNE": "mode='default' then tunes like max-autotune: minutes at the first call",
    "TORCHINDUCTOR_MAX_AUTOTUNE_POINTWISE": "every pointwise kernel is benchmarked at the first call",
    "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM": "every matmul is benchmarked at the first call",
    "TORCHINDUCTOR_COORDINATE_DESCENT_TUNING": "kernels are tuned one coordinate at a time at the first call",
}
"""Environment variables that AMD's container images were seen to set, and what each does."""


@dataclass(frozen=True)
class CompileDecision:
    """The mode that will be used and why it differs from the one asked for (empty: it does not). `eager`: nothing is
    compiled, because the target's compiled code is not to be trusted."""

    mode: Mode
    reason: str = ""
    eager: bool = False


def compile_decision(
    mode: Mode = None, *, rocm: bool | None = None, torch_version: str = "", on: GfxTarget | None = None
) -> CompileDecision:
    """What `compile(fn, mode=mode)` will do; pure, so that it can be asked for another platform, version or target."""
    if rocm is None:
        rocm = is_rocm()
        on = target() if rocm and on is None else on
    if not rocm:
        return CompileDecision(mode)
    if on is not None:
        for record in on.library("torch.compile"):
            if record.state == "no":
                return CompileDecision(mode, f"{on.name}: not compiled: {record.versions}: {record.source}", True)
    version = Version(torch_version or torch.__version__.split("+")[0])
    for hazard in HAZARDS:
        in_range = Version(hazard.since) <= version and (not hazard.until or version < Version(hazard.until))
        if hazard.mode == mode and in_range:
            return CompileDecision(hazard.instead, f"mode={mode!r} becomes {hazard.instead!r}: {hazard.evidence}")
    return CompileDecision(mode)


def inductor_report(environment: dict[str, str] | None = None) -> list[str]:
    """Differences of the live Inductor configuration from what PyTorch ships, and variables that cause them.

    Nothing is changed: a setting may be the user's. Each line names the setting, its value, the stock value and, where
    one is set, the environment variable to unset.
    """
    environment = dict(os.environ) if environment is None else environment
    import torch._inductor.config as live

    lines = []
    for name, stock in STOCK.items():
        value: Any = live
        for part in name.split("."):
            value = getattr(value, part, None)
        if value is not None and value != stock:
            lines.append(f"torch._inductor.config.{name} is {value}, PyTorch ships {stock}")
    for name, effect in VARIABLES.items():
        if environment.get(name) == "1":
            lines.append(f"{name}=1 is set: {effect}; unset it before the first compile")
    return lines


def compile(
    fn: F,
    *,
    mode: Mode = None,
    options: dict[str, Any] | None = None,
    on_change: Callable[[str], None] | None = None,
    **arguments: Any,
) -> F:
    """`torch.compile(fn, mode=mode, ...)`, with the mode replaced on ROCm where it is known to go wrong.

    On a target whose facts say that Inductor's code is not to be trusted, `fn` itself comes back; another `backend`, or
    TORCH_COMPILE_DISABLE=0 in the environment, compiles all the same. `on_change` receives the reason when the mode is
    replaced or nothing is compiled; without it a UserWarning carries it. `options` is passed through: an explicit
    option is the caller's.
    """
    decision = compile_decision(mode)
    if decision.eager and (arguments.get("backend", "inductor") != "inductor" or os.environ.get(OVERRIDE) == "0"):
        decision = CompileDecision(mode)
    if decision.reason:
        if on_change is not None:
            on_change(decision.reason)
        else:
            import warnings

            warnings.warn(decision.reason, UserWarning, stacklevel=2)
    if decision.eager:
        return fn
    return cast(F, torch.compile(fn, mode=decision.mode, options=options, **arguments))
