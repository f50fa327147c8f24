"""Texture and surface fetches do not compile for gfx942 and gfx950, whose compute units have no texture unit.
HIP keeps `tex1Dfetch`, `tex2D`, `surf2Dread` and the rest for targets that have one; for the Instinct MI300 series they
are marked unavailable. A fetch from linear memory without filtering is an array access; filtering and clamping have to
be written out. The call is left as it is: it is right for the other targets.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.branches import branches
from rocport.facts.targets import listed
from rocport.model import Applicability, Context, Example, Finding, GfxTarget, Rule, Severity
from rocport.model.holds import Range
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource

_SHAPES = ("1D", "1DLayered", "2D", "2DLayered", "3D", "Cubemap", "CubemapLayered")
_FETCHES = frozenset(
    {
        b"tex1Dfetch",
        b"tex2Dgather",
        *(f"tex{shape}{kind}".encode() for shape in _SHAPES for kind in ("", "Lod", "Grad")),
        *(f"surf{shape}{kind}".encode() for shape in _SHAPES for kind in ("read", "write")),
    }
)

RULE = Rule(
    name="texture-fetch",
    summary="texture or surface fetch",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    where=Range(target={"textures": (False,)}),
    triggers=_FETCHES,
    examples=(
        Example("__device__ float f(cudaTextureObject_t t, int i) { return tex1Dfetch<float>(t, i); }\n"),
        Example("__global__ void k(float *o) { *o = tex2D(image, 0.5f, 0.5f); }\n"),
    ),
    clean=(
        "struct Image { float tex2D; };\n__device__ float f(Image i) { return i.tex2D; }\n",
        "__device__ float tex2D(const float *p, int x);\n__device__ float g(const float *p) { return tex2D(p, 1); }\n",
    ),
    sources=("hip/amd_detail/texture_fetch_functions.h: __HIP_NO_IMAGE_SUPPORT",),
)


def without_textures(target: GfxTarget) -> bool:
    return target.textures is False


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    bare = listed(without_textures)
    for name in source.names & _FETCHES:
        if name in context.project.device_functions or name in context.project.macros:
            continue
        for position in source.find(name):
            if source.at(position - 1) in (b".", b"->") or source.at(position + 1) not in (b"(", b"<"):
                continue
            if branches(source, context.project.torch_extension).is_dead(source.starts[position]):
                continue
            yield finding(
                RULE,
                source,
                position,
                f"{name.decode()} does not compile for {bare}: they have no texture unit",
                fix="read linear memory as an array, and write filtering and clamping out",
                holds=bare,
            )
