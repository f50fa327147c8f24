"""Where a declared name is seen."""

from __future__ import annotations

import pytest

from rocport.binding.scopes import Kind, Scopes, What
from rocport.syntax.cuda import CudaSource


def _declared(text: str, name: str = "warpSize") -> list[What]:
    return [item.what for item in Scopes(CudaSource("a.cu", text.encode())).declarations(name.encode())]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("int f() { int warpSize = 3; }", What.LOCAL),
        ("int f() { const unsigned int warpSize{3}; }", What.LOCAL),
        ("int f() { auto &warpSize = x; }", What.LOCAL),
        ("int f() { int a = 1, warpSize = 2; }", What.LOCAL),
        ("int f() { auto [a, warpSize] = g(); }", What.LOCAL),
        ("int f() { for (int warpSize = 0; warpSize < 3; ++warpSize) g(warpSize); }", What.LOCAL),
        ("int f() { int (*warpSize)(int) = g; }", What.LOCAL),
        ("int f() { std::vector<int> warpSize(3); }", None),
        ("int f(int warpSize) { return warpSize; }", What.PARAMETER),
        ("int f(const int &warpSize);", What.PARAMETER),
        ("template <int warpSize> int f() { return warpSize; }", What.PARAMETER),
        ("auto g = [](int warpSize) { return warpSize; };", What.PARAMETER),
        ("struct S { int warpSize; };", What.MEMBER),
        ("struct S { int warpSize() const; };", What.MEMBER),
        ("class S : public B { static constexpr int warpSize = 32; };", What.MEMBER),
        ("struct S { enum { warpSize = 32 }; };", What.ENUMERATOR),
        ("enum { a, warpSize };", What.ENUMERATOR),
        ("namespace n { constexpr int warpSize = 32; }", What.VARIABLE),
        ("static int warpSize(int n) { return n; }", What.FUNCTION),
        ('extern "C" int warpSize(int n);', What.FUNCTION),
        ("using warpSize = int;", What.TYPE),
        ("struct warpSize { int a; };", What.TYPE),
        ("#define F(warpSize) ((warpSize) + 1)", What.MACRO_PARAMETER),
    ],
)
def test_a_declaration_is_read(text: str, what: What | None) -> None:
    assert _declared(text)[:1] == ([what] if what is not None else [])


@pytest.mark.parametrize(
    "text",
    [
        "int f(int n) { return n * warpSize; }",
        "int f(int n) { return warpSize; }",
        "int f(int n) { g(n, warpSize); g(n * warpSize, 1); if (n > warpSize) h(); }",
        "int f(int n) { int a = threadIdx.x / warpSize, b = a & warpSize; return a < warpSize; }",
        "int f(P *p) { return p->warpSize + p[0].warpSize + n::warpSize; }",
        "int f() { CHECK warpSize(3); }",
        "#define LANES warpSize",
        "int a[] = {n * warpSize, 2};",
        "case warpSize:",
        "delete warpSize; new warpSize;",
        "static warpSize (*get)(int) = f;",
        "extern warpSize (CALL *get)(int);",
        "warpSize (*get(int))(int);",
        "#include <vector>\nwarpSize(x);",
    ],
)
def test_a_use_is_no_declaration(text: str) -> None:
    assert _declared(text) == []


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        ("namespace a::b {", Kind.NAMESPACE),
        ('extern "C" {', Kind.NAMESPACE),
        ("struct __align__(16) S {", Kind.CLASS),
        ("template <class T> struct S<T *> : B<T> {", Kind.CLASS),
        ("enum class E : int {", Kind.ENUM),
        ("void f() {", Kind.FUNCTION),
        ("struct S f(struct T t) const {", Kind.FUNCTION),
        ("S::S(int a) : b(a), c(a) {", Kind.FUNCTION),
        ("auto f(int a) -> std::vector<int> {", Kind.FUNCTION),
        ("__global__ void __launch_bounds__(64) k(int *p) {", Kind.FUNCTION),
        ("int a[] = {", Kind.INITIALIZER),
    ],
)
def test_braces_are_told_apart(head: str, kind: Kind) -> None:
    source = CudaSource("a.cu", (head + " x; }").encode())
    innermost = next(Scopes(source).enclosing(next(source.find(b"x"))))
    assert innermost.kind is kind


def test_blocks_of_statements_are_no_functions() -> None:
    source = CudaSource("a.cu", b"void f() { if (a) { for (;;) { x; } } else { y; } }")
    kinds = [scope.kind for scope in Scopes(source).enclosing(next(source.find(b"x")))]
    assert kinds == [Kind.BLOCK, Kind.BLOCK, Kind.FUNCTION]


def test_the_innermost_declaration_is_seen() -> None:
    """What a place sees is the declaration whose range begins last of those that hold it."""
    text = (
        "enum { x }; void f(int x) { g(x); { int x = 1; int x = x; g(x); } g(x); }\n"
        "struct S { int x, y; float x; int h() { return x; } };\n#define M(x) (x + 1)\nint y = x;\n"
    )
    scopes = Scopes(source := CudaSource("a.cu", text.encode()))
    for kinds in (frozenset(What), frozenset({What.LOCAL, What.MEMBER})):
        declared = [item for item in scopes.declarations(b"x") if item.what in kinds]
        for position in source.find(b"x"):
            holding = [item for item in declared if item.first <= position < item.last]
            assert scopes.visible(position, kinds) == max(holding, key=lambda item: item.first, default=None)
    assert {item.what for at in source.find(b"x") if (item := scopes.visible(at))} >= {
        What.ENUMERATOR, What.PARAMETER, What.LOCAL, What.MEMBER, What.MACRO_PARAMETER,
    }  # fmt: skip
