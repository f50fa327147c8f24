"""The fp8 flavour of a target: OCP (e4m3fn) or AMD's fnuz. The same bits mean values a factor of two apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch

from rocport.model import GfxTarget
from rocport.runtime.machine import is_rocm, target


@dataclass(frozen=True)
class Fp8:
    """One fp8 type: `maximum` is the largest finite value, `minimum_normal` the smallest normal one."""

    dtype: torch.dtype
    maximum: float
    minimum_normal: float
    native: bool
    """The target's matrix instructions take it."""


def _describe(dtype: torch.dtype, native: bool) -> Fp8:
    info = torch.finfo(dtype)
    return Fp8(dtype, float(info.max), float(info.tiny), native)


def fp8_range(
    gfx: GfxTarget | None = None, *, forward: bool = True, kind: Literal["e4m3", "e5m2"] | None = None
) -> Fp8:
    """The fp8 type to store in on `gfx` (default: this machine's target), with its range.

    `forward` picks e4m3 (activations, weights), else e5m2 (gradients); `kind` overrides it. Where the target has no
    fp8 matrix instruction the OCP type is returned with `native=False`: it is what checkpoints hold.
    """
    gfx = gfx or target()
    chosen = kind or ("e4m3" if forward else "e5m2")
    if gfx is not None and gfx.fp8 == "fnuz":
        return _describe(torch.float8_e4m3fnuz if chosen == "e4m3" else torch.float8_e5m2fnuz, True)
    native = gfx.fp8 == "ocp" if gfx is not None else not is_rocm()
    return _describe(torch.float8_e4m3fn if chosen == "e4m3" else torch.float8_e5m2, native)


def fp8_dtype(gfx: GfxTarget | None = None, *, forward: bool = True) -> torch.dtype:
    """The fp8 dtype of `gfx`: `float8_e4m3fnuz` on gfx942, `float8_e4m3fn` on gfx950, gfx1201 and NVIDIA."""
    return fp8_range(gfx, forward=forward).dtype
