"""A function template that is declared, and then defined `static`: clang refuses what nvcc takes.

    template <bool, bool> cudaError_t copy_filters(cudaStream_t stream);           // in a header
    template <bool, bool> static cudaError_t copy_filters(cudaStream_t stream) {}  // in the .cu that includes it

For nvcc the first declaration says how the template is linked, and the other units of the program, which see the header
alone, find it. The port leaves `static` out where a declaration with as many parameters stands before: SAFE.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.scopes import Kind, Scopes
from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.syntax.cuda import CudaSource
from rocport.syntax.declarations import behind_template_head
from rocport.syntax.project import template_key

RULE = Rule(
    name="static-template",
    summary="static definition of a function template that was declared without",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"static"}),
    examples=(
        Example(
            "template <class T> int f(T x);\ntemplate <class T> static int f(T x) { return x > 0; }\n",
            contains=("template <class T> int f(T x) { return x > 0; }",),
        ),
    ),
    clean=(
        "template <class T> static int f(T x) { return x > 0; }\ntemplate <class T> int f(T x);\n",
        "template <class T> int f(T x);\ntemplate <class T> static int f(T x, int n) { return x > n; }\n",
        "template <class T> int f(T x);\nstruct S {\n  template <class T> static int f(T x) { return x > 0; }\n};\n",
        "template <class T> static int f(T x);\ntemplate <class T> static int f(T x) { return x > 0; }\n",
    ),
    sources=("https://eel.is/c++draft/dcl.stc (linkages of successive declarations agree)",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    scopes: Scopes | None = None
    declared: set[bytes] = set()
    for position in sorted(source.find(b"template")):
        if source.directive_of(position) is not None or source.at(position - 1) == b">":
            continue
        first = behind_template_head(source, position)
        open_ = _parameters(source, first)
        if first == position or open_ is None:
            continue
        key = template_key(source.at(open_ - 1), source.text(open_ + 1, source.pairs[open_]))
        words = [at for at in range(first, open_) if source.at(at) == b"static"]
        if not words and source.at(source.pairs[open_] + 1) == b";":
            declared.add(key)
        if len(words) != 1 or source.at(source.pairs[open_] + 1) != b"{":
            continue
        if key not in declared and not _included(source.path, key, context):
            continue
        scopes = scopes or Scopes(source)
        if any(scope.kind is not Kind.NAMESPACE for scope in scopes.enclosing(words[0])):
            continue
        start, end = source.starts[words[0]], source.starts[words[0] + 1]
        yield finding(
            RULE,
            source,
            words[0],
            f"{source.at(open_ - 1).decode()} was declared without static: clang refuses what nvcc passes over",
            edits=[Edit(Span(start, end), b"")],
        )


def _parameters(source: CudaSource, first: int) -> int | None:
    """The parenthesis that opens the parameters of the function declared from `first`; None for anything else."""
    for at in range(first, min(first + 60, len(source.texts))):
        if source.at(at) == b"(":
            return at if source.is_ident(at - 1) and at in source.pairs else None
        if source.at(at) in (b";", b"{", b"}", b"="):
            return None
    return None


def _included(path: str, key: bytes, context: Context) -> bool:
    """Whether a header that a file includes declares the template."""
    others = (other for other in context.project.templates.get(key, ()) if other != path)
    return any(context.project.reached_by(other, path) for other in others)
