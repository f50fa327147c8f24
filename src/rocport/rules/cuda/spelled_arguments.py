"""A member template defined with its own parameters behind its name: `template <class C> void A::run<C>(int n) {`.

nvcc reads it as the definition of `A::run`. To clang it is a partial specialization, which functions do not have. The
port leaves the arguments out: SAFE. Only where they are the parameters of the template in front, in their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource

_FAR = 60
"""Tokens from the template's parameters to the name of the function."""
_ENDS = (b";", b"{", b"}", b"=", b"template", b"class", b"struct", b"operator", b"")

RULE = Rule(
    name="spelled-arguments",
    summary="member template defined with arguments",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"template"}),
    examples=(
        Example(
            "struct A { template <class C> void run(int n) const; };\n"
            "template <typename C>\n__host__ void A::run<C>(int n) const {}\n",
            contains=("__host__ void A::run(int n) const {}",),
        ),
        Example(
            "template <class T>\ntemplate <class U, int N>\nstd::vector<U> A<T>::f<U, N>(B<U> b) { return b; }\n",
            contains=("std::vector<U> A<T>::f(B<U> b)",),
        ),
    ),
    clean=(
        "template <class T> void A<T>::f(B<T> b) {}\ntemplate void A::run<int>(int n);\n",
        "template <> void A::run<int>(int n) {}\ntemplate <class T> void f() { g::h<T>(1); }\n",
        "template <class T> A<T>::operator std::complex<T>() const { return v; }\n",
        "template <class T> std::complex<T> (max)(T a) { return a; }\n",
        "template <class T, class U> struct A { int x = B::f<T, U>(1); };\n",
    ),
    sources=("https://eel.is/c++draft/temp.expl.spec", "https://eel.is/c++draft/temp.spec.partial.general"),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    for opened, end in spelled_arguments(source).items():
        yield finding(
            RULE,
            source,
            opened - 1,
            "a member template is defined with its parameters as arguments, which clang takes for a partial "
            "specialization: they are left out",
            edits=[Edit(Span(source.starts[opened], source.end(end)), b"")],
        )


@lru_cache(maxsize=2)
def spelled_arguments(source: CudaSource) -> dict[int, int]:
    """The brackets behind the names of member templates that are defined with their own parameters."""
    found: dict[int, int] = {}
    for template in source.find(b"template"):
        close = source.angle_end(template + 1) if source.at(template + 1) == b"<" else None
        if close is None or (opened := _arguments(source, close + 1)) is None:
            continue
        end = source.angle_end(opened)
        if end is not None and source.texts[opened + 1 : end] == _parameters(source, template + 2, close) != []:
            found[opened] = end
    return found


def _arguments(source: CudaSource, start: int) -> int | None:
    """The `<` behind the name of a member that is declared from `start` on."""
    at = start
    while at < start + _FAR:
        text = source.at(at)
        if text in _ENDS:
            return None
        if text == b"(":
            close = source.pairs.get(at)
            if close is None or source.at(at - 1) not in (b"decltype", b"__launch_bounds__", b"__attribute__", b"("):
                return None
            at = close
        elif text == b"<" and (close := source.angle_end(at)) is not None:
            behind = source.pairs.get(close + 1) if source.at(close + 1) == b"(" else None
            if source.at(at - 2) == b"::" and behind is not None and source.at(behind + 1) != b"(":
                return at
            at = close
        at += 1
    return None


def _parameters(source: CudaSource, start: int, close: int) -> list[bytes]:
    """The names of template parameters as arguments spell them, with their commas; empty where one has none."""
    found: list[bytes] = []
    at = first = start
    while at <= close:
        text = source.at(at)
        if at == close or text == b",":
            declared = source.texts[first:at]
            declared = declared[: declared.index(b"=")] if b"=" in declared else declared
            if len(declared) < 2 or not source.is_ident(first + len(declared) - 1):
                return []
            found += [declared[-1], *([b"..."] if b"..." in declared else []), b","]
            first = at + 1
        elif text == b"<" and (inner := source.angle_end(at)) is not None:
            at = inner
        elif at in source.pairs and source.pairs[at] > at:
            at = source.pairs[at]
        at += 1
    return found[:-1]
