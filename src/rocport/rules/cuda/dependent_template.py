"""A member template of a class that depends on a template parameter needs the word `template` in front of its name.
`cast<T>::to<N>(x)` is read as a comparison by Clang, as the standard says; nvcc's front end guesses what is meant. The
port writes `cast<T>::template to<N>(x)`, which means the same to both. Only where an argument of the class is a
template parameter of the file: elsewhere the compilers agree.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.syntax.cuda import CudaSource

RULE = Rule(
    name="dependent-template",
    summary="member template of a dependent class",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"template"}),
    examples=(
        Example(
            "template <typename T, int N> __device__ void f(T x) { convert<T>::to<N>(x); }\n",
            contains=("convert<T>::template to<N>(x);",),
        ),
    ),
    clean=(
        "template <typename T> __device__ void f(T x) { convert<T>::template to<4>(x); }\n",
        "template <typename T> __device__ void f(T x) { convert<int>::to<4>(x); }\n",
        "template <typename T> __device__ bool f(T x) { return limits<T>::low < x; }\n",
        "template <typename T> __device__ void f(T x) { convert<T>::to(x); }\n",
    ),
    sources=("https://eel.is/c++draft/temp.names#3",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    texts = source.texts
    parameters: set[bytes] | None = None
    for position in [at for at in source.positions(b"::") if source.at(at - 1) == b">"]:
        if not source.is_ident(position + 1) or source.at(position + 2) != b"<":
            continue
        end = source.angle_end(position + 2)
        if end is None or source.at(end + 1) != b"(" or texts[position + 1] in (b"template", b"operator"):
            continue
        if parameters is None:
            parameters = template_parameters(source)
        open_ = _angle_start(source, position - 1)
        if open_ is None or parameters.isdisjoint(texts[open_ + 1 : position - 1]):
            continue
        if texts[open_ - 1] in (b"template", b"operator") or (
            source.at(end + 2) == b")" and source.at(end + 3) == b"{"
        ):
            continue
        yield finding(
            RULE,
            source,
            position + 1,
            f"{texts[position + 1].decode()} is a member template of a dependent class: Clang wants the word template",
            edits=[insert(source.starts[position + 1], b"template ")],
        )


def template_parameters(source: CudaSource) -> set[bytes]:
    """Names of all template parameters of the file."""
    names: set[bytes] = set()
    for position in source.find(b"template"):
        if source.at(position + 1) != b"<":
            continue
        end = source.angle_end(position + 1)
        if end is None:
            continue
        for at in range(position + 2, end):
            if (
                source.at(at + 1) in (b",", b">", b"=")
                and source.is_ident(at)
                and source.at(at - 1) not in (b"=", b"::")
            ):
                names.add(source.texts[at])
    return names


def _angle_start(source: CudaSource, close: int) -> int | None:
    depth = 0
    for position in range(close, max(-1, close - 200), -1):
        text = source.texts[position]
        depth += (text == b">") - (text == b"<")
        if depth == 0:
            return position
        if text in (b";", b"{", b"}"):
            return None
    return None
