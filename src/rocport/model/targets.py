"""A gfx target: what a program may ask of it instead of looking at its name."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GfxTarget:
    """One AMD GPU architecture. Sizes in bytes, widths in lanes."""

    name: str
    family: str
    wavefront: int
    """Default wavefront width HIP compiles for."""
    wavefronts: tuple[int, ...]
    lds_bytes: int
    """LDS one workgroup may allocate."""
    matrix: str
    """`mfma`, `wmma` or `none`."""
    fp8: str
    """`fnuz`, `ocp` or `none`: the flavour the matrix instructions take."""
    bf16_matrix: bool
    kind: str
    """`dgpu` or `apu`."""
    products: tuple[str, ...] = ()
    max_workgroup: int = 1024
    source: str = ""
