"""Two CUDA types that become one in HIP: overloads and specializations for both are defined twice.

HIP has one error type for both interfaces, so `void check(cudaError_t)` and `void check(CUresult)` are the same
function after the names are translated, and `Name<cudaError_t>` and `Name<CUresult>` the same specialization: a
redefinition. The second one is left out on AMD, where the first serves the calls of both: REVIEW, as the two may do
different things. Where the second gives nothing but the text of an error (`_cudaGetErrorEnum` of CUDA's samples): SAFE.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from rocport.binding.scopes import Kind, Scopes
from rocport.facts.symbols import load
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.definitions import PLATFORM, leave_out_on_hip
from rocport.syntax.cuda import STRING, CudaSource, kind_of
from rocport.syntax.declarations import definition_start

# Spellings of one type in CUDA too.
_SAME_IN_CUDA = (
    {b"cudaStream_t", b"CUstream"},
    {b"cudaEvent_t", b"CUevent"},
    {b"cudaError_t", b"cudaError"},
    {b"cudaGraph_t", b"CUgraph"},
    {b"cudaGraphExec_t", b"CUgraphExec"},
    {b"cudaGraphNode_t", b"CUgraphNode"},
    {b"cudaMemPool_t", b"CUmemoryPool"},
    {b"cuComplex", b"cuFloatComplex", b"float2", b"cufftComplex"},
    {b"cuDoubleComplex", b"double2", b"cufftDoubleComplex"},
)

_GIVE_TEXT = frozenset(b"cudaGetErrorName cudaGetErrorString".split())
_ERRORS = frozenset({b"CUresult", b"cudaError_t", b"cudaError"})


@cache
def _merged() -> dict[bytes, bytes]:
    """CUDA type -> HIP type, for the HIP types that several CUDA types become."""
    found: dict[str, list[bytes]] = {}
    for name, symbol in load().identifiers.items():
        if symbol.kind == "type" and symbol.hip:
            found.setdefault(symbol.hip, []).append(name)
    return {name: hip.encode() for hip, names in found.items() if len(names) > 1 for name in names}


RULE = Rule(
    name="types-become-one",
    summary="overloads for two CUDA types that are one in HIP",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.REVIEW,
    phase=2,
    triggers=frozenset(_merged()),
    examples=(
        Example(
            "void check(cudaError_t e) { if (e) throw 1; }\nvoid check(CUresult e) { if (e) throw 2; }\n",
            contains=("void check(hipError_t e) { if (e) throw 1; }", "#if !ROCPORT_HIP"),
        ),
        Example(
            'const char *text(cudaError_t e) { return "runtime"; }\n'
            'const char *text(CUresult e) { return "driver"; }\n',
            contains=("#if !ROCPORT_HIP",),
        ),
        Example(
            "template <class T> struct Name;\ntemplate <> struct Name<cudaError_t> { int a; };\n"
            "template <> struct Name<CUresult> { int b; };\n",
            contains=("#if !ROCPORT_HIP",),
        ),
        Example(
            "template <class E> bool driver(E) { return std::is_same<E, CUresult>::value; }\nusing R = cudaError_t;\n"
        ),
        Example(
            "struct Encoder {\n  void add(const cudaKernelNodeParams &p);\n"
            "  void add(const CUDA_KERNEL_NODE_PARAMS &p);\n};\n",
            contains=("void add(const hipKernelNodeParams &p);", "#if !ROCPORT_HIP"),
        ),
        Example("using Any = std::variant<cudaError_t, CUresult>;\n"),
    ),
    clean=(
        "void check(cudaError_t e);\nvoid checkDriver(CUresult e);\n",
        "void check(cudaError_t e) {}\nvoid check(cublasStatus_t e) {}\n",
        "void f(CUresult r, cudaError_t e) {}\n",
        "void check(cudaError_t e, int line) {}\nvoid check(CUresult e) {}\n",
    ),
    sources=("hip/hip_runtime_api.h of ROCm 6.4: hipError_t",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    merged = _merged()
    names = list(source.names & merged.keys())
    if len(names) < 2:
        return
    yield from _listed(source, merged)
    seen: dict[tuple[bytes, ...], tuple[bytes, int]] = {}
    for position in sorted(source.find(*names)):
        found = _head(source, position)
        if found is None or source.directive_of(position) is not None:
            continue
        kind, first, last, subject, defined = found
        words = source.texts[first : last + 1]
        key = (kind, subject, str(defined).encode(), *_normal(words, merged))
        name = source.at(position)
        earlier = seen.get(key)
        if earlier is None:
            seen[key] = (name, first)
        elif (
            earlier[1] != first
            and earlier[0] != name
            and not any({earlier[0], name} <= same for same in _SAME_IN_CUDA)
            and defined
        ):
            yield from _second(source, position, last, name, earlier[0], subject)


def _listed(source: CudaSource, merged: dict[bytes, bytes]) -> Iterator[Finding]:
    """Two of the types in one list of template arguments: `std::variant<cudaError_t, CUresult>`."""
    lists: dict[int, list[int]] = {}
    for position in sorted(source.find(*merged)):
        at = position - 1
        while at > 0 and source.at(at) not in (b"<", b";", b"{", b"(", b")"):
            at -= 1
        if source.at(at) == b"<" and source.angle_end(at) is not None:
            lists.setdefault(at, []).append(position)
    for at, places in lists.items():
        if source.at(at - 1) in (b"is_same", b"is_same_v", b"same_as") and source.at(places[0]) in _ERRORS:
            name = source.at(places[0])
            yield finding(
                RULE,
                source,
                places[0],
                f"{name.decode()} is {merged[name].decode()} in HIP, as other errors are: this asks for them all",
                fix="ask by a type of the project's own, or decide by the function that was called",
                cause="asked whether a type is one of CUDA's errors",
            )
        for position in places[1:]:
            first, name = source.at(places[0]), source.at(position)
            same = any({first, name} <= group for group in _SAME_IN_CUDA)
            if first != name and merged[first] == merged[name] and not same:
                yield finding(
                    RULE,
                    source,
                    position,
                    f"{first.decode()} and {name.decode()} in one list of types are {merged[name].decode()} in HIP",
                    fix="list the type once on AMD, or wrap one of them in a type of its own",
                )
                break


def _normal(words: list[bytes], merged: dict[bytes, bytes]) -> list[bytes]:
    """The words with types as HIP's; of each parameter its type alone."""
    found: list[bytes] = []
    for number, word in enumerate(words):
        after = words[number + 1] if number + 1 < len(words) else b""
        before = words[number - 1] if number else b""
        is_name = after in (b",", b")", b"=") and before not in (b"(", b",", b"<", b"const", b"::", b"")
        if not is_name:
            found.append(merged.get(word, word))
    return found


def _head(source: CudaSource, position: int) -> tuple[bytes, int, int, bytes, bool] | None:
    """The parameter list or the template arguments that hold a type: (kind, first, last, name, has a body)."""
    at = position - 1
    while (at > 0 and source.at(at) in (b"const", b",", b"*", b"&", b"::")) or source.is_ident(at):
        at -= 1
    opening = source.at(at)
    if opening == b"(" and source.is_ident(at - 1) and at in source.pairs:
        before = source.at(at - 2)
        declares = source.is_ident(at - 2) or before in (b"*", b"&", b">", b"::")
        close = source.pairs[at]
        behind = close + 1
        while source.at(behind) in (b"const", b"noexcept"):
            behind += 1
        if (
            declares
            and before not in (b"return", b"else")
            and (source.at(behind) == b"{" or (source.at(behind) == b";" and _in_class(source, at)))
        ):
            return b"function" if source.at(behind) == b"{" else b"member", at, close, source.at(at - 1), True
    if opening == b"<" and source.is_ident(at - 1) and source.at(at - 2) in (b"struct", b"class"):
        close_angle = source.angle_end(at)
        if close_angle is not None and source.at(close_angle + 1) in (b"{", b":"):
            return b"type", at, close_angle, source.at(at - 1), True
    return None


def _is_text(value: bytes) -> bool:
    return kind_of(value) == STRING or value in _GIVE_TEXT


def _in_class(source: CudaSource, position: int) -> bool:
    inside = next(Scopes(source).enclosing(position), None)
    return inside is not None and inside.kind is Kind.CLASS


def _second(
    source: CudaSource, position: int, last: int, name: bytes, other: bytes, subject: bytes
) -> Iterator[Finding]:
    body = last + 1
    while body < len(source.texts) and source.at(body) not in (b"{", b";"):
        body += 1
    end = source.pairs.get(body) if source.at(body) == b"{" else body
    if end is None:
        return
    if source.at(end + 1) == b";" and source.at(last) == b">":
        end += 1
    texts = [source.at(at + 1) for at in range(body, end) if source.at(at) == b"return"]
    yield finding(
        RULE,
        source,
        position,
        f"{name.decode()} and {other.decode()} are both {_merged()[name].decode()} in HIP: this {subject.decode()} "
        "would be a redefinition and is left out on AMD",
        last=last,
        edits=leave_out_on_hip(source, definition_start(source, position), end, b"HIP has one type for both"),
        headers=[PLATFORM],
        fix="see that the one that is left does what the calls of both need",
        applicability=Applicability.SAFE if texts and all(map(_is_text, texts)) else Applicability.REVIEW,
    )
