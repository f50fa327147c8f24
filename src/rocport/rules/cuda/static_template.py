"""A function template, kernel or device function that is declared, and then defined `static`: clang refuses it.

    template <bool, bool> cudaError_t copy_filters(cudaStream_t stream);           // in a header
    template <bool, bool> static cudaError_t copy_filters(cudaStream_t stream) {}  // in the .cu that includes it

For nvcc the first declaration says how the function is linked, and the other units of the program, which see the header
alone, find it. The port leaves `static` out where a declaration with as many parameters stands before, for what is no
template in the same file and with the same types: SAFE.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.scopes import Kind, Scopes
from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding
from rocport.rules.cuda.definitions import parameters
from rocport.syntax.cuda import CudaSource
from rocport.syntax.declarations import behind_template_head, definition_start
from rocport.syntax.project import template_key

RULE = Rule(
    name="static-template",
    summary="static definition of a function that was declared without",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"static"}),
    examples=(
        Example(
            "template <class T> int f(T x);\ntemplate <class T> static int f(T x) { return x > 0; }\n",
            contains=("template <class T> int f(T x) { return x > 0; }",),
        ),
        Example(
            "__global__ void k(const float *p, int);\nvoid f() { k<<<1, 1>>>(0, 1); }\n"
            "static __global__ void k(const float *q, int n) { }\n",
            contains=("\n__global__ void k(const float *q, int n) { }",),
        ),
    ),
    clean=(
        "template <class T> static int f(T x) { return x > 0; }\ntemplate <class T> int f(T x);\n",
        "template <class T> int f(T x);\ntemplate <class T> static int f(T x, int n) { return x > n; }\n",
        "template <class T> int f(T x);\nstruct S {\n  template <class T> static int f(T x) { return x > 0; }\n};\n",
        "template <class T> static int f(T x);\ntemplate <class T> static int f(T x) { return x > 0; }\n",
        "__device__ int f(int x);\nstatic __device__ int f(float x) { return x > 0; }\n",
        "namespace a { __device__ int f(int x); }\nstatic __device__ int f(int x) { return x > 0; }\n",
        "static __device__ int f(int x);\nstatic __device__ int f(int x) { return x > 0; }\n",
        "struct S { __device__ int f(int x);\n static __device__ int g(int x) { return x; } };\n",
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
        yield _left_out(source, words[0], open_ - 1)
    yield from _plain_functions(source)


def _plain_functions(source: CudaSource) -> Iterator[Finding]:
    """Kernels and device functions that are no templates."""
    declared: set[tuple[object, ...]] = set()
    scopes: Scopes | None = None
    for function in sorted(source.functions, key=lambda item: item.name):
        start = definition_start(source, function.name)
        words = [at for at in range(start, function.name) if source.at(at) == b"static"]
        if source.at(start) == b"template" or function.specifiers <= {b"__host__"} or len(words) > 1:
            continue
        if words and not declared:
            continue
        scopes = scopes or Scopes(source)
        around = list(scopes.enclosing(function.name))
        types = [kind for kind, _ in parameters(source, *function.params)]
        key = (source.at(function.name), *types, *(scope.name for scope in around))
        if any(scope.kind is not Kind.NAMESPACE for scope in around):
            continue
        if not words and function.body is None:
            declared.add(key)
        elif words and function.body is not None and key in declared:
            yield _left_out(source, words[0], function.name)


def _left_out(source: CudaSource, word: int, name: int) -> Finding:
    return finding(
        RULE,
        source,
        word,
        f"{source.at(name).decode()} was declared without static: clang refuses what nvcc passes over",
        edits=[Edit(Span(source.starts[word], source.starts[word + 1]), b"")],
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
