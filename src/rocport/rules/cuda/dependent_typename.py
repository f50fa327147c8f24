"""A type of a class that depends on a template parameter, called as a constructor, needs `typename` in front.
`Traits::BlockLoadT(storage).Load(p, x)` is a call of a function named BlockLoadT to Clang, as the standard says, and an
error when Traits turns out to hold a type of that name; nvcc's front end guesses. The port writes
`typename Traits::BlockLoadT(storage)`, which means the same to both. Only where the file itself names it as a type
elsewhere (`typename Traits::BlockLoadT::TempStorage`, `using BlockLoadT = ...`): a static member function looks alike.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="dependent-typename",
    summary="type of a dependent class called without typename",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"template"}),
    examples=(
        Example(
            "template <typename Traits> __global__ void f(float* p, char* s) {\n"
            "  auto& t = reinterpret_cast<typename Traits::LoadT::TempStorage&>(*s);\n"
            "  Traits::LoadT(t).Load(p);\n}\n",
            contains=("  typename Traits::LoadT(t).Load(p);",),
        ),
    ),
    clean=(
        "template <typename Traits> __device__ void f(float* p) { using L = typename Traits::LoadT; "
        "typename Traits::LoadT(p).Load(); }\n",
        "template <typename Traits> __device__ float f(float x) { return Traits::scale(x); }\n",
        "struct Traits { using LoadT = int; };\n__device__ int f(int x) { return Traits::LoadT(x); }\n",
    ),
    sources=("https://eel.is/c++draft/temp.res.general",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    texts = source.texts
    parameters: set[bytes] | None = None
    types: set[bytes] | None = None
    for position in source.positions(b"::"):
        if not source.is_ident(position - 1) or not source.is_ident(position + 1) or source.at(position + 2) != b"(":
            continue
        if source.at(position - 2) in (b"typename", b"::", b".", b"->", b"template", b"using"):
            continue
        if parameters is None:
            parameters = _type_parameters(source)
        if texts[position - 1] not in parameters:
            continue
        if types is None:
            types = _types(source)
        if texts[position + 1] in types:
            yield finding(
                RULE,
                source,
                position - 1,
                f"{texts[position + 1].decode()} is a type of a dependent class: Clang wants the word typename",
                edits=[insert(source.starts[position - 1], b"typename ")],
            )


def _type_parameters(source: CudaSource) -> set[bytes]:
    """Names of the template parameters of the file that are types."""
    names: set[bytes] = set()
    for position in source.find(b"template"):
        if source.at(position + 1) != b"<":
            continue
        end = source.angle_end(position + 1)
        for at in range(position + 2, end or position):
            if source.texts[at - 1] in (b"typename", b"class") and source.is_ident(at):
                names.add(source.texts[at])
    return names


def _types(source: CudaSource) -> set[bytes]:
    """Members the file declares by `using`, or names behind `typename X::`."""
    names: set[bytes] = set()
    for position in source.positions(b"::"):
        if source.at(position - 2) == b"typename" and source.is_ident(position + 1):
            names.add(source.texts[position + 1])
    for position in source.positions(b"using"):
        if source.at(position + 2) == b"=":
            names.add(source.texts[position + 1])
    return names
