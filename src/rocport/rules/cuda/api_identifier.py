"""CUDA library and runtime names become the HIP names that really exist.

Every identifier is looked up once in the symbol facts (facts/libraries): a name the HIP headers declare is replaced, a
name they lack is a MANUAL finding and stays as it is, because a likely name that does not exist is worse than none. A
symbol with a note (another signature, other semantics) is replaced and listed for REVIEW with that note.

The edit is right wherever the identifier is the library's: a name the file itself defines as a macro or declares as a
parameter, local or member is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from rocport.facts.symbols import Symbol, load
from rocport.model import Applicability, Context, Example, Finding, RocmVersion, Rule, Severity
from rocport.rules import discover
from rocport.rules.cuda.common import finding, replace
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="api-identifier",
    summary="CUDA API name",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset(load().identifiers),
    fallback=True,
    examples=(
        Example(
            "#include <cuda_runtime.h>\nvoid f(void **p) { cudaMalloc(p, 4); }\n",
            contains=("hipMalloc(p, 4)",),
            absent=("cudaMalloc",),
        ),
        Example("__global__ void k() { cudaDeviceSynchronize(); }\n", contains=("cudaDeviceSynchronize",)),
        Example(
            "#define CHECK(x) if ((x) != cudaSuccess) abort()\n",
            contains=("hipSuccess",),
        ),
    ),
    clean=(
        '// cudaMalloc in a comment\nconst char *s = "cudaMalloc";\n',
        "void my_cudaMalloc();\n",
    ),
    sources=("HIP headers of ROCm 6.4 and the ROCm 10 bindings; see facts/libraries",),
)

# PyTorch 2.9's wheels are built with it; a name that came later is worth a look.
_OLDEST_USED = RocmVersion(6, 4)


@cache
def _claimed() -> frozenset[bytes]:
    """Names another rule answers for."""
    return frozenset().union(*(loaded.rule.claims for loaded in discover()))


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    identifiers = load().identifiers
    for name in (source.names & identifiers.keys()) - _claimed():
        symbol = identifiers[name]
        if symbol.hip == symbol.cuda and not symbol.note:
            continue
        for position in source.find(name):
            if not _is_own(source, position):
                yield _finding(source, position, symbol, context.options.rocm)


def _is_own(source: CudaSource, position: int) -> bool:
    """True when the file defines the name itself as a macro, or names a member or file so."""
    before = source.at(position - 1)
    if before in (b".", b"->"):
        return True
    directive = source.directive_of(position)
    if directive is None:
        return False
    if directive.name == b"include":
        return True
    return directive.name in (b"define", b"undef") and position == directive.first + 2


def _on_device(source: CudaSource, position: int, symbol: Symbol) -> bool:
    """True for a call of the runtime from device code alone: CUDA's device runtime, which HIP does not have."""
    if symbol.kind != "function" or symbol.library != "runtime" or source.at(position + 1) != b"(":
        return False
    function = source.enclosing(position)
    return function is not None and b"__host__" not in function.specifiers


def _finding(source: CudaSource, position: int, symbol: Symbol, rocm: RocmVersion | None) -> Finding:
    if symbol.cuda.startswith("cuda") and _on_device(source, position, symbol):
        return finding(
            RULE,
            source,
            position,
            f"{symbol.cuda} is called from device code: HIP has no device runtime (dynamic parallelism)",
            fix="move the call to the host",
        )
    if not symbol.hip:
        return finding(
            RULE,
            source,
            position,
            f"{symbol.cuda} has no HIP counterpart" + (f": {symbol.note}" if symbol.note else ""),
            fix="write this part again with what HIP has, or leave it out under `#ifdef __HIP_PLATFORM_AMD__`",
        )
    if rocm is not None and symbol.declared_in(rocm) is False:
        return finding(
            RULE,
            source,
            position,
            f"{symbol.cuda} is {symbol.hip}, which ROCm {rocm} does not declare ({_range(symbol)})",
            fix="port for a ROCm that has it, or write this part with what there is",
            holds=_range(symbol),
        )
    narrow = rocm is None and _is_narrow(symbol)
    reasons = [reason for reason in (_range(symbol) if narrow else "", symbol.note) if reason]
    if symbol.hip == symbol.cuda:
        return finding(
            RULE,
            source,
            position,
            f"{symbol.cuda}: {'; '.join(reasons)}",
            applicability=Applicability.REVIEW,
            holds=_range(symbol),
        )
    return finding(
        RULE,
        source,
        position,
        "; ".join([f"{symbol.cuda} is {symbol.hip}", *reasons]),
        applicability=Applicability.REVIEW if reasons else Applicability.SAFE,
        routine=not reasons,
        edits=[replace(source, position, symbol.hip.encode())],
        holds=_range(symbol),
    )


def _range(symbol: Symbol) -> str:
    """The ROCm releases that declare the HIP name, in words; empty when all inspected ones do."""
    parts = []
    if symbol.since:
        parts.append(f"from ROCm {symbol.since.lstrip('~')} on" + (" or earlier" if symbol.since[0] == "~" else ""))
    if symbol.until:
        parts.append(f"until ROCm {symbol.until.lstrip('~')}")
    return ", ".join(parts)


def _is_narrow(symbol: Symbol) -> bool:
    """True when a ROCm release people still use lacks the name."""
    since = RocmVersion.parse(symbol.since.lstrip("~")) if symbol.since else _OLDEST_USED
    return bool(symbol.until) or since > _OLDEST_USED
