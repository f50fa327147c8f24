"""Structures whose bytes differ between CUDA and HIP, where the bytes leave the program.

`cudaDeviceProp` and the other structures of the runtime have other members and sizes in HIP. `double4`, `long4`,
`ulong4`, `longlong4` and `ulonglong4` are aligned to 16 bytes in CUDA (before 13) and to 32 in HIP, so that a structure
that holds one has other offsets. Within one program nothing is wrong; a file, a message or an array in host code that
another program wrote is read wrongly. REVIEW where such a structure is written, sent, or laid out by hand; of one that
holds `double4` and the like, in a file that asks for its size or names a function that takes bytes out of the program,
or where another file does both.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from rocport.binding.scopes import Kind, Scopes
from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.definitions import class_names
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

_RUNTIME = frozenset(
    b"cudaDeviceProp cudaPointerAttributes cudaFuncAttributes cudaTextureDesc cudaResourceDesc CUdevprop "
    b"cudaMemcpy3DParms".split()
)
_ALIGNED = frozenset(b"double4 long4 ulong4 longlong4 ulonglong4".split())
_BYTES = frozenset(b"char uint8_t byte void".split())
_LEAVES = frozenset(
    b"fwrite fread write read send recv sendto recvfrom memcmp static_assert _Static_assert MPI_Send MPI_Recv "
    b"MPI_Bcast MPI_Type_contiguous reinterpret_cast shm_open mmap serialize".split()
)

_TAKES_BYTES = _LEAVES - {b"read", b"write", b"reinterpret_cast", b"static_assert", b"_Static_assert", b"memcmp"} | {
    *b"ofstream ifstream fstream ostream istream iostream stringstream".split(),
}

RULE = Rule(
    name="struct-layout",
    summary="structure with another layout in HIP",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=2,
    triggers=_RUNTIME | _ALIGNED,
    examples=(
        Example("void f(FILE *o, cudaDeviceProp *p) { fwrite(p, sizeof(cudaDeviceProp), 1, o); }\n"),
        Example("struct Wire { int n; double4 q; };\nvoid put(FILE *f, Wire *w) { fwrite(w, 40, 1, f); }\n"),
        Example('static_assert(sizeof(cudaDeviceProp) == 1032, "");\n'),
        Example("void f(char *b, const cudaDeviceProp &p) { memcpy(b, &p, sizeof(p)); }\n"),
        Example("struct Wire { int n; double4 q; };\nbool f() { return sizeof(Wire) == 48; }\n"),
    ),
    clean=(
        "struct Wire { int n; double4 q; };\nvoid *f() { return malloc(sizeof(Wire)); }\n",
        "void f() { cudaDeviceProp p; memset(&p, 0, sizeof(cudaDeviceProp)); }\n",
        "void f(cudaDeviceProp *a, cudaDeviceProp p) { memcpy(a, &p, sizeof(p)); }\n",
        "__device__ double f(double4 q) { return q.x; }\n",
        "struct V { float4 q; };\n",
        "static_assert(sizeof(cudaIpcMemHandle_t) == 64);\n",
        "struct Params { int n; double4 q; };\n__global__ void k(Params p) {}\n",
        "template <> struct Types<double> { typedef double4 vec4_t; };\n",
    ),
    sources=(
        "hip/amd_detail/amd_hip_vector_types.h of ROCm 6.4: alignof(double4) is 32",
        "https://docs.nvidia.com/cuda/cuda-c-programming-guide/#built-in-vector-types (alignment requirements)",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    seen: set[tuple[bytes, bytes]] = set()
    for position in source.find(*_RUNTIME):
        if amd_only(source, position) or source.directive_of(position) is not None:
            continue
        text = f"{source.at(position).decode()} has other members and another size in HIP"
        if source.at(position - 1) == b"(" and source.at(position - 2) == b"sizeof" and _leaves(source, position):
            yield _finding(source, position, text)
        variable = position + 1
        while source.at(variable) in (b"const", b"&", b"*"):
            variable += 1
        if not source.is_ident(variable) or (source.at(position), source.at(variable)) in seen:
            continue
        seen.add((source.at(position), source.at(variable)))
        for at in source.index[source.at(variable)]:
            if b"sizeof" in source.texts[at - 2 : at] and at > position and _leaves(source, at):
                yield _finding(source, at, text)
    asked = None if source.names & _TAKES_BYTES else _sized(source) | context.project.sized
    scopes = Scopes(source)
    for position in source.find(*_ALIGNED):
        if amd_only(source, position) or not source.is_ident(position + 1) or source.directive_of(position) is not None:
            continue
        scope = next(scopes.enclosing(position), None)
        if scope is None or scope.kind is not Kind.CLASS or source.at(position + 2) not in (b";", b",", b"[", b"="):
            continue
        if source.at(position - 1) in (b"static", b"typedef"):
            continue
        if asked is not None and not any(asked & class_names(source, item) for item in scopes.enclosing(position)):
            continue
        text = f"{source.at(position).decode()} is aligned to 32 bytes in HIP and to 16 in CUDA before 13"
        yield _finding(source, position, text)


def _sized(source: CudaSource) -> set[bytes]:
    """Types whose size the file asks for other than to allocate or copy, by their names or by a variable's."""
    names = set()
    for at in source.find(b"sizeof"):
        operand = at + 2
        while source.at(operand) in (b"struct", b"*"):
            operand += 1
        if source.is_ident(operand) and _leaves(source, operand):
            names.add(source.at(operand))
    return names.union(*(_types(source, name) for name in names))


def _types(source: CudaSource, variable: bytes) -> Iterator[bytes]:
    """What stands before a name: its type, where it is declared."""
    for at in source.index.get(variable, ()):
        before = at - 1
        while source.at(before) in (b"&", b"*", b"const"):
            before -= 1
        if source.is_ident(before):
            yield source.at(before)


def _leaves(source: CudaSource, position: int) -> bool:
    """True where the statement hands the bytes to a file, another process or a check."""
    at = position
    while at > 0 and source.at(at) not in (b";", b"{", b"}"):
        if source.at(at) in _LEAVES or source.at(at) in (b"==", b"!="):
            return True
        if source.at(at) == b"memcpy" and _into_bytes(source, at):
            return True
        at -= 1
    after = position + 2
    return source.at(after) in (b"==", b"!=")


def _into_bytes(source: CudaSource, at: int) -> bool:
    """True where a copy goes into a buffer of bytes: `char *b; memcpy(b + 4, ...)`, `memcpy(v.data(), ...)`."""
    call = source.call(at)
    if call is None or not call.args:
        return False
    words = source.texts[slice(*call.args[0])]
    if b"data" in words:
        return True
    names = [word for word in words if word[:1].isalpha() or word[:1] == b"_"]
    return any(_declared_bytes(source, name) < at for name in names)


@lru_cache(maxsize=16)
def _declared_bytes(source: CudaSource, name: bytes) -> int:
    """The first place where a name stands behind a type of one byte; behind the last token where there is none."""
    places = (at for at in source.index[name] if _BYTES.intersection(source.texts[max(0, at - 3) : at]))
    return next(places, len(source.texts))


def _finding(source: CudaSource, position: int, text: str) -> Finding:
    return finding(
        RULE,
        source,
        position,
        f"{text}: bytes that leave the program are read wrongly by one built for the other",
        confidence=Confidence.MEDIUM,
        fix="write the members one by one, or lay the structure out by hand (four doubles, alignas(16))",
    )
