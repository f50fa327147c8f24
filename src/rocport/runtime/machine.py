"""Which GPU this is, from PyTorch and the target facts. Answers are cached; no GPU is needed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Literal

import torch

from rocport.facts.targets import canonical, load_target
from rocport.model import GfxTarget, HipVersion

TARGET_VARIABLE = "ROCPORT_TARGET"
"""Names the gfx target to assume where no AMD GPU is there, such as gfx942."""


def is_rocm() -> bool:
    """True when this PyTorch is a ROCm build, whether or not a GPU is there."""
    return getattr(torch.version, "hip", None) is not None


def hip_version() -> HipVersion | None:
    """The HIP version PyTorch was built with (a HIP version, not a ROCm release); None off ROCm."""
    text = getattr(torch.version, "hip", None)
    return HipVersion.parse(text) if text else None


@cache
def _gfx_of_device(index: int) -> str | None:
    properties = torch.cuda.get_device_properties(index)
    arch = getattr(properties, "gcnArchName", "")
    return canonical(arch) if arch.startswith("gfx") else None


def _gfx(device: torch.device | int | None) -> str | None:
    if is_rocm() and torch.cuda.is_available():
        if isinstance(device, torch.device):
            device = device.index
        return _gfx_of_device(torch.cuda.current_device() if device is None else device)
    return os.environ.get(TARGET_VARIABLE) or None


def target(device: torch.device | int | None = None) -> GfxTarget | None:
    """The gfx target of `device` (default: the current one), with its facts; None when there is none.

    Without an AMD GPU the environment variable ROCPORT_TARGET names the target to assume. Raises FactError, naming the
    nearest known targets, when there are no facts for it: a guess would decide wavefront width and LDS size.
    """
    name = _gfx(device)
    return None if name is None else load_target(name)


@dataclass(frozen=True)
class Platform:
    """What a tier asks before it says yes."""

    kind: Literal["rocm", "cuda", "cpu"]
    target: GfxTarget | None = None
    """Set on ROCm only."""
    capability: tuple[int, int] | None = None
    """CUDA compute capability; None elsewhere."""
    interpreted: bool = False
    """Triton kernels run under Triton's CPU interpreter (TRITON_INTERPRET=1)."""

    @property
    def gfx(self) -> str:
        return self.target.name if self.target else ""

    def __str__(self) -> str:
        if self.kind == "rocm":
            return f"ROCm on {self.gfx or 'an unknown target'}"
        if self.kind == "cuda":
            return "CUDA" + (" sm_{}{}".format(*self.capability) if self.capability else "")
        return "the CPU" + (" (Triton interpreted)" if self.interpreted else "")


@cache
def _accelerator(index: int) -> Platform:
    if is_rocm():
        return Platform("rocm", target=target(index))
    return Platform("cuda", capability=torch.cuda.get_device_capability(index))


_assumed: ContextVar[Platform | None] = ContextVar("_assumed", default=None)


@contextmanager
def assume(where: Platform) -> Iterator[None]:
    """Decide as on `where`, whatever is here: for explaining and compiling for a machine one does not have."""
    token = _assumed.set(where)
    try:
        yield
    finally:
        _assumed.reset(token)


def assumed() -> Platform | None:
    """The platform that `assume` names, inside its block."""
    return _assumed.get()


def platform(device: torch.device | None = None) -> Platform:
    """The platform of `device`; without one, of the current accelerator, or of the CPU where there is none."""
    if (assumed := _assumed.get()) is not None:
        return assumed
    if device is None:
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if device.type == "cuda":
        return _accelerator(torch.cuda.current_device() if device.index is None else device.index)
    return Platform("cpu", interpreted=os.environ.get("TRITON_INTERPRET", "0") == "1")
