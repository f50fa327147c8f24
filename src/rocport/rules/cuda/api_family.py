"""Names of CUDA's libraries that have no row of their own: one entry of the facts answers a whole family of them.

`CUBLASLT_MATMUL_TILE_64x64` and some 700 like it name tiles that hipBLASLt does not let a program choose: MANUAL, with
what to use. A tag of the driver API (`enum CUdevice_P2PAttribute_enum`) is the typedef that
HIP has for it, and MANUAL where HIP has none. What the project declares itself under such a name is its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding import Owner, binder
from rocport.facts.symbols import Symbol, in_families, of_family
from rocport.model import Applicability, Context, Edit, Example, Finding, RocmVersion, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource

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
        "int MY_CUBLASLT_MATMUL_TILE_64x64 = 1;\n",
        "#ifdef CUBLASLT_NUMERICAL_IMPL_FLAGS_HMMA\n#endif\n",
    ),
    sources=("cublasLt.h and cuda.h of CUDA 12.9 and 13.5; hipblaslt.h of ROCm 10",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    bound = None
    for name in sorted(in_families(source.data) & source.names):
        symbol = of_family(name)
        bound = bound or binder(source, context)
        for position in source.find(name):
            directive = source.directive_of(position)
            if symbol is None or (directive is not None and directive.name != b"define"):
                continue
            if source.at(position - 1) in (b".", b"->") or bound.bind(position).owner is Owner.PROJECT:
                continue
            if directive is not None and position == directive.first + 2:
                continue
            if not symbol.hip and source.at(position - 1) in (b"struct", b"union"):
                continue  # which declares the tag, so that a pointer to it compiles
            yield _finding(source, position, symbol, context.options.rocm)


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
