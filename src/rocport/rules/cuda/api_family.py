"""Names of CUDA's libraries that have no row of their own: one entry of the facts answers a whole family of them.

`CUBLASLT_MATMUL_TILE_64x64` and some 700 like it name tiles that hipBLASLt does not let a program choose: MANUAL, with
what to use. A tag of the driver API (`enum CUdevice_P2PAttribute_enum`) is the typedef that
HIP has for it, and MANUAL where HIP has none and the file may reach cuda.h. What the project declares itself under
such a name is its own, and so is a name of another scope.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rocport.binding import Owner, binder
from rocport.facts.symbols import Symbol, in_families, library, of_family
from rocport.model import Applicability, Context, Edit, Example, Finding, RocmVersion, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.dependent_template import template_parameters
from rocport.syntax.cuda import CudaSource
from rocport.syntax.includes import included

RULE = Rule(
    name="api-family",
    summary="CUDA name of a family without rows",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    binds=True,
    examples=(
        Example(
            "#include <cublasLt.h>\nint f() { return CUBLASLT_MATMUL_TILE_64x64; }\n",
            contains=("return CUBLASLT_MATMUL_TILE_64x64;",),
        ),
        Example(
            "#include <cuda.h>\nvoid f(enum CUdevice_P2PAttribute_enum *a, CUDA_MEMCPY3D_PEER_st *b);\n",
            contains=("void f(hipDeviceP2PAttr *a, hipMemcpy3DPeerParms *b);",),
        ),
        Example("#define TILE(n) CUBLASLT_MATMUL_TILE_##n\n", contains=("CUBLASLT_MATMUL_TILE_##n",)),
        Example(
            "#include <cuda.h>\nvoid f(enum CUtensorMapSwizzle_enum *a);\n",
            contains=("void f(enum CUtensorMapSwizzle_enum *a);",),
        ),
    ),
    clean=(
        "typedef enum CUown_mode_enum { CU_OWN } CUown_mode;\nvoid f(enum CUown_mode_enum *a);\n",
        "struct CUgreenCtx_st;\nvoid f(struct CUgreenCtx_st *a);\n",
        "struct S { int CUDA_OWN_st; };\nint f(S *s) { return s->CUDA_OWN_st; }\n",
        "#include <cuda.h>\nvendor::CUmode_enum m;\n",
        "#include <cuda.h>\ntemplate <class CUtag_enum> CUtag_enum f(CUtag_enum a);\n",
        '#include "vendor.h"\nenum CUmode_enum m;\n',
        "int MY_CUBLASLT_MATMUL_TILE_64x64 = 1;\n",
        "#ifdef CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA\n#endif\n",
    ),
    sources=("cublasLt.h and cuda.h of CUDA 12.9 and 13.5; hipblaslt.h of ROCm 10",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    bound = None
    names = in_families(source.data) & source.names
    if not names:
        return
    driver = _reaches_driver(source, context)
    for name in sorted(names - template_parameters(source)):
        symbol = of_family(name)
        if symbol is not None and symbol.kind == "type" and not symbol.hip and not driver:
            continue
        bound = bound or binder(source, context)
        for position in source.find(name):
            directive = source.directive_of(position)
            if symbol is None or (directive is not None and directive.name != b"define"):
                continue
            if source.at(position - 1) in (b".", b"->") or source.qualified(position):
                continue
            if bound.bind(position).owner is Owner.PROJECT:
                continue
            if directive is not None and position == directive.first + 2:
                continue
            if not symbol.hip and source.at(position - 1) in (b"struct", b"union"):
                continue  # which declares the tag, so that a pointer to it compiles
            yield _finding(source, position, symbol, context.options.rocm)


_FOLDERS = ("ATen/cuda", "c10/cuda", "cute", "cutlass")
"""Of headers that include cuda.h and are seldom in the tree."""


def _reaches_driver(source: CudaSource, context: Context) -> bool:
    """True where the file or one that shares a unit with it includes cuda.h, or a header that does."""
    project = context.project
    return _names_driver(included(source)) or any(
        _names_driver(names) and project.together(source.path, path) for path, names in project.includes.items()
    )


def _names_driver(names: Sequence[str]) -> bool:
    return any(
        name.rpartition("/")[2] in library("driver").headers or name.startswith(tuple(f"{one}/" for one in _FOLDERS))
        for name in names
    )


def _finding(source: CudaSource, position: int, symbol: Symbol, rocm: RocmVersion | None) -> Finding:
    since = f"; from ROCm {symbol.since.lstrip('~')} on" if symbol.since else ""
    if not symbol.hip or (rocm is not None and symbol.declared_in(rocm) is False):
        reason = f"is {symbol.hip}, which ROCm {rocm} lacks{since}" if symbol.hip else "has no HIP counterpart"
        return finding(
            RULE,
            source,
            position,
            f"{symbol.cuda} {reason}" + ("" if symbol.hip else f": {symbol.note}"),
            fix="write this part again with what HIP has, or leave it out under `#ifdef __HIP_PLATFORM_AMD__`",
            holds=since.removeprefix("; "),
        )
    tagged = source.at(position - 1) in (b"struct", b"enum")
    start = source.starts[position - 1 if tagged else position]
    return finding(
        RULE,
        source,
        position,
        f"{symbol.cuda} is the tag of a type that is {symbol.hip} in HIP{since}",
        applicability=Applicability.REVIEW if since else Applicability.SAFE,
        edits=[Edit(Span(start, source.end(position)), symbol.hip.encode())],
        holds=since.removeprefix("; "),
    )
