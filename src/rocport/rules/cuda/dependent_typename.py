"""A type of a class that depends on a template parameter needs `typename` in front.
`Traits::BlockLoadT(storage).Load(p, x)` is a call of a function named BlockLoadT to Clang, as the standard says, and an
error when Traits turns out to hold a type of that name; nvcc's front end guesses. The port writes
`typename Traits::BlockLoadT(storage)`, which means the same to both. Only where the file itself names it as a type
elsewhere (`typename Traits::BlockLoadT::TempStorage`, `using BlockLoadT = ...`): a static member function looks alike.

A class inside a class template depends, too: `Pair::Sum()`. Two names in a row, `Traits::index_t i = 0;`, declare a
variable.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.scopes import Kind, Scopes
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.rules.cuda.dependent_template import dependent_types
from rocport.syntax.cuda import CudaSource
from rocport.syntax.declarations import definition_start

_BEHIND_VARIABLE = (b";", b"=", b"{", b"[", b",", b"(")

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
        Example(
            "template <typename T> struct A {\n  struct P { struct Sum { int v; }; static int f(int); };\n"
            "  __device__ int f() { return g(P::Sum()) + P::f(1); }\n};\n",
            contains=("g(typename P::Sum()) + P::f(1)",),
        ),
        Example(
            "template <class T> __global__ void f(T *p) {\n  using C = Config<T>;\n  T::index_t i = 0;\n"
            "  const C::value_t v[2] = {1, 2};\n  p[i] = v[T::first];\n}\n",
            contains=("  typename T::index_t i = 0;\n  const typename C::value_t v[2]", "v[T::first]"),
        ),
    ),
    clean=(
        "template <typename Traits> __device__ void f(float* p) { using L = typename Traits::LoadT; "
        "typename Traits::LoadT(p).Load(); }\n",
        "template <typename Traits> __device__ float f(float x) { return Traits::scale(x); }\n",
        "struct M { template <class T> using apply = T; };\ntemplate <class T> auto f(int n) { return T::apply(n); }\n",
        "#define SUITE(name) using name = A<name>\ntemplate <class T> auto f() { return T::name(); }\n",
        "struct Traits { using LoadT = int; };\n__device__ int f(int x) { return Traits::LoadT(x); }\n",
        "struct Traits { struct Sum {}; };\n__device__ int f() { return g(Traits::Sum()); }\n",
        "template <class T> __device__ int f(int n) { typename T::index_t i = 0; return T::size * n; }\n",
        "template <class T> struct A : T::Base { T::index_t n; __device__ T::index_t f(T::index_t i); };\n",
    ),
    sources=("https://eel.is/c++draft/temp.res.general",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    texts = source.texts
    dependent: set[bytes] | None = None
    types: set[bytes] = set()
    scopes: Scopes | None = None
    for position in source.positions(b"::"):
        declares = source.is_ident(position + 2) and source.at(position + 3) in _BEHIND_VARIABLE
        if not source.is_ident(position - 1) or not source.is_ident(position + 1):
            continue
        if not declares and source.at(position + 2) != b"(":
            continue
        if source.at(position - 2) in (b"typename", b"::", b".", b"->", b"template", b"using"):
            continue
        if dependent is None or scopes is None:
            scopes = Scopes(source)
            dependent, types = dependent_types(source) | _nested_classes(source, scopes), _types(source)
        if texts[position - 1] not in dependent:
            continue
        if _is_local(source, scopes, position - 1) if declares else texts[position + 1] in types:
            yield finding(
                RULE,
                source,
                position - 1,
                f"{texts[position + 1].decode()} is a type of a dependent class: Clang wants the word typename",
                edits=[insert(source.starts[position - 1], b"typename ")],
            )


def _is_local(source: CudaSource, scopes: Scopes, first: int) -> bool:
    """True for a statement of a function's body that begins at `first`, but for a `const`."""
    first -= source.at(first - 1) in (b"const", b"static", b"constexpr")
    if source.at(first - 1) not in (b";", b"{", b"}"):
        return False
    inner = next(scopes.enclosing(first), None)
    return inner is not None and inner.kind in (Kind.FUNCTION, Kind.BLOCK)


def _nested_classes(source: CudaSource, scopes: Scopes) -> set[bytes]:
    """Classes that stand in a class template of the file."""
    found: set[bytes] = set()
    for position in source.find(b"struct", b"class"):
        if not source.is_ident(position + 1) or source.at(position + 2) not in (b"{", b":"):
            continue
        outer = [scope.open for scope in scopes.enclosing(position) if scope.kind is Kind.CLASS]
        if any(source.at(definition_start(source, open_)) == b"template" for open_ in outer):
            found.add(source.at(position + 1))
    return found


def _types(source: CudaSource) -> set[bytes]:
    """Classes, what the file declares by `using`, or names behind `typename X::`; none of templates, which are called
    with arguments."""
    names: set[bytes] = set()
    for position in source.positions(b"::"):
        if source.at(position - 2) == b"typename" and source.is_ident(position + 1):
            names.add(source.texts[position + 1])
    for position in source.find(b"struct", b"class"):
        if source.at(position + 2) in (b"{", b":") and source.at(position - 1) != b">":
            names.add(source.at(position + 1))
    for position in source.positions(b"using"):
        in_macro = source.directive_of(position) is not None
        if source.at(position + 2) == b"=" and source.at(position - 1) != b">" and not in_macro:
            names.add(source.texts[position + 1])
    return names
