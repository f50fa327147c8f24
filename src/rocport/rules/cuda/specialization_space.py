"""A specialization of a function template that says `__host__ __device__` where the template says less.

nvcc gives every specialization the spaces it is written with. clang looks for a template of the same spaces and finds
none: "no function template matches function template specialization". The port gives the template the spaces of its
specializations where those have all of its own: SAFE, nobody loses a function. Specializations that differ from each
other, and those with less than their template, stay.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.syntax.cuda import CudaSource

_SPACES = (b"__host__", b"__device__")
_NO_FUNCTION = frozenset(b"; { } = class struct union enum using friend operator concept requires".split())
Spaces = frozenset[bytes]

RULE = Rule(
    name="specialization-space",
    summary="specialization for more spaces than its template",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"template"}),
    examples=(
        Example(
            "template <class T> inline __device__ T alpha(T v) { return v; }\n"
            "template <> inline __host__ __device__ float alpha(float v) { return v; }\n"
            "template <> inline __host__ __device__ int alpha<int>(int v) { return v; }\n",
            contains=("template <class T> inline __host__ __device__ T alpha(T v)",),
        ),
        Example(
            "template <class T> typename X<T>::Y size(T v);\n"
            "template <> __host__ __device__ int size(int v) { return v; }\n",
            contains=("template <class T> __host__ __device__ typename X<T>::Y size(T v);",),
        ),
    ),
    clean=(
        "template <class T> __device__ T f(T v) { return v; }\ntemplate <> __device__ int f(int v) { return v; }\n",
        "template <class T> __host__ __device__ T f(T v);\ntemplate <> __device__ int f(int v) { return 0; }\n",
        "template <class T> __device__ T f(T v);\ntemplate <> __device__ int f(int v) { return v; }\n"
        "template <> __host__ __device__ float f(float v) { return v; }\n",
        "template <class T> struct S { __device__ T f(); };\n"
        "template <> __host__ __device__ int S<int>::f() { return 0; }\n",
        "#define HD __device__\ntemplate <class T> HD T f(T v);\n"
        "template <> __host__ __device__ int f(int v) { return v; }\n",
    ),
    sources=("https://llvm.org/docs/CompileCudaWithLLVM.html#overloading-based-on-host-and-device-attributes",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    general: dict[bytes, list[tuple[int, Spaces]]] = {}
    special: dict[bytes, set[Spaces]] = {}
    for position in sorted(source.find(b"template")):
        close = source.angle_end(position + 1) if source.at(position + 1) == b"<" else None
        declared = None if close is None else _function(source, close + 1, context)
        if close is None or declared is None or source.directive_of(position) is not None:
            continue
        name, spaces = declared
        if close == position + 2:
            special.setdefault(name, set()).add(spaces)
        else:
            general.setdefault(name, []).append((close + 1, spaces))
    for name, wanted in special.items():
        together = next(iter(wanted))
        for first, spaces in general.get(name, ()) if len(wanted) == 1 else ():
            if spaces < together:
                yield _finding(source, first, name, together - spaces)


def _function(source: CudaSource, first: int, context: Context) -> tuple[bytes, Spaces] | None:
    """Name and spaces of the function declared from `first`; None for anything else, and where a macro may say them."""
    position, name, spaces = first, b"", set()
    while position < len(source.texts) and source.at(position) != b"(":
        word = source.at(position)
        if word in _NO_FUNCTION or word == b"__global__" or b"__device__" in context.project.macros.get(word, b""):
            return None
        if word == b"template" and source.at(position - 1) != b"::":
            return None  # a head of its own, which is looked at by itself
        if word == b"<":
            close = source.angle_end(position)
            if close is None:
                return None
            position = close
        elif word in _SPACES:
            spaces.add(word)
        else:
            name = word if source.is_ident(position) and source.at(position - 1) != b"::" else b""
        position += 1
    return (name, frozenset(spaces)) if name else None


def _finding(source: CudaSource, first: int, name: bytes, lacking: Spaces) -> Finding:
    words = b" ".join(space for space in _SPACES if space in lacking)
    at = next(at for at in range(first, len(source.texts)) if source.at(at) in (b"(", *_SPACES))
    at = first if source.at(at) == b"(" else at
    return finding(
        RULE,
        source,
        at,
        f"specializations of {name.decode()} say {words.decode()}, which their template does not: clang matches none",
        edits=[insert(source.starts[at], words + b" ")],
    )
