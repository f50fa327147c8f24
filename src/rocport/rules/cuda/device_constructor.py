"""A `__device__` constructor that host code calls: nvcc warns in a template and calls it, clang finds none.

A functor is often made on the host and passed to a kernel by value, while its constructor says `__device__` only. In a
template nvcc lets the host call it ("calling a __device__ function from a __host__ function", a warning), and its host
compiler sees an ordinary constructor. clang says "no matching constructor". The port adds `__host__`, which is what
the CUDA build does in effect. Constructors of classes that no host code of the file makes stay.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.syntax.cuda import CudaSource

_WORDS = frozenset({b"inline", b"__inline__", b"__forceinline__", b"explicit", b"constexpr", b"__noinline__"})
_BEFORE_VALUE = frozenset({b"(", b",", b"=", b"return", b"{"})

RULE = Rule(
    name="device-constructor",
    summary="constructor for the device that host code calls",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"__device__"}),
    examples=(
        Example(
            "template <int K> struct F { __device__ inline F(float d) : d(d) {} float d; };\n"
            "template <int K> void run(float d) { const F<K> f(d); k<K><<<1, 1>>>(f); }\n",
            contains=("{ __host__ __device__ inline F(float d)",),
        ),
        Example(
            "struct F { __device__ F(float d) : d(d) {} float d; };\n"
            "template <int K> void run(float d) { k<K><<<1, 1>>>(F(d)); }\n",
            contains=("{ __host__ __device__ F(float d)",),
        ),
        Example(
            "template <class T> class P { public: __device__ P(T *d) {} };\n"
            "template <class T> struct M { using Q = P<T>; operator Q() const { return Q(0); } };\n",
            contains=("public: __host__ __device__ P(T *d)",),
        ),
        Example(
            "struct Lock { __device__ Lock() : value{0}, next(-1) {} __device__ Lock(int v) : value{v} {} };\n",
            contains=("{ __host__ __device__ Lock() : value{0}, next(-1) {} __host__ __device__ Lock(int v)",),
        ),
    ),
    clean=(
        "struct L { __device__ L() : value(-clock()) {} };\nstruct M { __device__ M() { f(); } };\n",
        "template <class T> struct P { __device__ P(T *d) {} };\nusing Q = P<int>;\n__device__ void f() { Q q(0); }\n",
        "struct F { __device__ F(float d) : d(d) {} float d; };\n__global__ void k(float *p) { F f(*p); }\n",
        "struct F { __host__ __device__ F(float d) {} };\nvoid run(float d) { F f(d); }\n",
        "struct F { __device__ F(float d) {} __host__ F(int n) {} };\nvoid run(int n) { F f(n); }\n",
        "__device__ float f(float x) { return x; }\nvoid run(float x) { g(f(x)); }\n",
    ),
    sources=("warning 20011-D and 20014-D of nvcc 12", "https://llvm.org/docs/CompileCudaWithLLVM.html"),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    made: dict[bytes, list[int]] = {}
    for position in source.find(b"__device__"):
        at = position + 1
        while source.at(at) in _WORDS:
            at += 1
        if source.is_ident(at) and source.at(at + 1) == b"(" and source.at(at) != b"__launch_bounds__":
            made.setdefault(source.at(at), []).append(position)
    for name, positions in made.items():
        ours = [position for position in positions if not _for_host(source, position)]
        if not ours or len(ours) < len(positions) or _others(source, name, len(ours)):
            continue
        made_here = any(_makes(source, position) for position in source.find(*_names(source, name)))
        setting = [position for position in ours if _only_sets(source, position)]
        held = any(source.at(_parameters(source, position) + 1) == b")" for position in setting)
        for position in ours if made_here else setting if held else ():
            yield finding(
                RULE,
                source,
                position,
                f"host code makes {name.decode()} with a constructor for the device only, as nvcc lets a template do"
                if made_here
                else f"a class of the host's with a {name.decode()} makes it with a constructor for the device only",
                edits=[insert(source.starts[position], b"__host__ ")],
            )


def _parameters(source: CudaSource, position: int) -> int:
    """The parenthesis behind the name of a constructor whose `__device__` is at a token."""
    at = position + 1
    while source.at(at) in _WORDS:
        at += 1
    return at + 1


def _only_sets(source: CudaSource, position: int) -> bool:
    """True for a constructor that calls nothing: `__device__ Lock() : value{0} {}`."""
    open_ = _parameters(source, position)
    at = source.pairs.get(open_, open_) + 1
    while source.at(at) in (b":", b",") and (close := source.pairs.get(at + 2)) is not None:
        if any(source.at(inner) == b"(" and source.is_ident(inner - 1) for inner in range(at + 4, close)):
            return False
        at = close + 1
    return source.at(at) == b"{" and source.at(at + 1) == b"}"


def _names(source: CudaSource, name: bytes) -> Iterator[bytes]:
    """The class and what `using X = Name<...>;` calls it."""
    yield name
    for position in source.find(name):
        if source.at(position - 1) == b"=" and source.at(position - 3) == b"using":
            yield source.at(position - 2)


def _for_host(source: CudaSource, position: int) -> bool:
    around = (source.at(position - 1), source.at(position - 2), source.at(position + 1), source.at(position + 2))
    return b"__host__" in around


def _others(source: CudaSource, name: bytes, known: int) -> bool:
    """True where the class has constructors that are not the device's: the host has its own."""
    declared = 0
    for position in source.find(name):
        before = source.at(position - 1)
        if source.at(position + 1) == b"(" and (
            before in (b"{", b"}", b";", b":", b"__host__", b"__device__") or before in _WORDS
        ):
            # A call as a statement of its own has no body and no initializers.
            close = source.pairs.get(position + 1)
            declared += close is not None and source.at(close + 1) in (b":", b"{", b"=")
    return declared != known


def _makes(source: CudaSource, position: int) -> bool:
    """True where host code makes an object: `Name<...> f(d)`, `Name<...>(d)`."""
    if source.in_device(position):
        return False
    at = position + 1
    if source.at(at) == b"<":
        close = source.angle_end(at)
        if close is None:
            return False
        at = close + 1
    if source.is_ident(at):
        return source.at(at + 1) in (b"(", b"{") and source.at(position - 1) not in (b"struct", b"class")
    return source.at(at) == b"(" and source.at(position - 1) in _BEFORE_VALUE
