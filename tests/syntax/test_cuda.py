"""The lexer: what is code, what is not, and that no byte is lost."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocport.syntax.cuda import CHAR, IDENT, NUMBER, PUNCT, STRING, WITH_PARAMETERS, CudaSource, kind_of
from rocport.syntax.includes import include_point, included


def source(text: str | bytes) -> CudaSource:
    return CudaSource("kernel.cu", text.encode() if isinstance(text, str) else text)


def identifiers(text: str | bytes) -> list[bytes]:
    lexed = source(text)
    return [item for item in lexed.texts if kind_of(item) == IDENT]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a // b\nc", [b"a", b"c"]),
        ("a // b \\\n still comment\nc", [b"a", b"c"]),
        ("a // b \\\r\n still comment\r\nc", [b"a", b"c"]),
        ("a // b \\", [b"a"]),
        ("a /* b\n b */ c", [b"a", b"c"]),
        ("a /* unterminated b", [b"a"]),
        ('a "b \\" b" c', [b"a", b"c"]),
        ("a 'b' c", [b"a", b"c"]),
        ('a R"(b " b)" c', [b"a", b"c"]),
        ('a R"x(b )" b)x" c', [b"a", b"c"]),
        ('a u8R"(b)" L"b" c', [b"a", b"L", b"c"]),
        ("#define M(x) cudaFree(x)\n", [b"define", b"M", b"x", b"cudaFree", b"x"]),
        ("#if CUDART_VERSION >= 9000\n#endif", [b"if", b"CUDART_VERSION", b"endif"]),
        ("1'000'000 a", [b"a"]),
        ("0x1fULL 1e-5f .5 a", [b"a"]),
        ("don't a", [b"don", b"t", b"a"]),
        ('"unterminated\na', [b"unterminated", b"a"]),
        ("a\\\nb", [b"a", b"b"]),
        ("\ufeffa", [b"a"]),
        (b"// caf\xe9\na\xff b", [b"a", b"b"]),
        (b"a\0b", [b"a", b"b"]),
    ],
)
def test_identifiers_stand_outside_comments_and_strings(text: str | bytes, expected: list[bytes]) -> None:
    assert identifiers(text) == expected


@given(st.binary(max_size=400))
@settings(max_examples=300, deadline=None)
def test_lexing_keeps_every_byte_in_its_place(data: bytes) -> None:
    lexed = source(data)
    position = 0
    for text, start in zip(lexed.texts, lexed.starts, strict=True):
        assert start >= position
        assert data[start : start + len(text)] == text
        position = start + len(text)


@given(st.text(alphabet="ab<>(){}[];,#\\\n\"/*' ", max_size=200))
@settings(max_examples=300, deadline=None)
def test_structure_never_fails(text: str) -> None:
    lexed = source("__global__ void k" + text)
    assert lexed.launches is not None and lexed.functions is not None
    assert all(lexed.pairs[lexed.pairs[position]] == position for position in lexed.pairs)
    for directive in lexed.directives:
        assert lexed.data[directive.start : directive.start + 1] == b"#"


def test_kinds() -> None:
    assert [kind_of(text) for text in (b"x", b"1", b".5", b'"s"', b"'c'", b"::", b'"', b'R"(s)"')] == [
        IDENT,
        NUMBER,
        NUMBER,
        STRING,
        CHAR,
        PUNCT,
        PUNCT,
        STRING,
    ]


def test_launches_with_templates_macros_and_splices() -> None:
    lexed = source(
        "ns::kernel<float, A<B<int>>><<<dim3(1, 2), n >> 1, 0, s>>>(a, f(b, c));\n"
        "#define LAUNCH(k) k<<<1, \\\n  32>>>()\n"
        "std::vector<std::vector<std::vector<int>>> v(3);\n"
    )
    first, second = lexed.launches
    assert lexed.text(first.kernel, first.open) == b"ns::kernel<float, A<B<int>>>"
    assert [lexed.text(*part) for part in first.config] == [b"dim3(1, 2)", b"n >> 1", b"0", b"s"]
    assert [lexed.text(*part) for part in first.args] == [b"a", b"f(b, c)"]
    assert lexed.at(second.kernel) == b"k"
    assert second.args == ()


def test_calls_split_their_arguments() -> None:
    lexed = source("f<int, 3>(a, g(b, c), {d, e}, [x, y] { return 1; });")
    call = lexed.call(0)
    assert call is not None
    assert [lexed.text(*part) for part in call.args] == [b"a", b"g(b, c)", b"{d, e}", b"[x, y] { return 1; }"]
    assert source("a < b && c > (d)").call(0) is None


def test_functions_know_where_they_run() -> None:
    lexed = source(
        "template <int N> __global__ void __launch_bounds__(N * 32, 8) k(float *p) { p[0] = 1; }\n"
        "__host__ __device__ inline int f(int x) { return x; }\n"
        "__device__ int g(int);\n"
        "int main() { return 0; }\n"
    )
    names = {lexed.at(function.name): function for function in lexed.functions}
    assert set(names) == {b"k", b"f", b"g"}
    assert names[b"f"].specifiers == {b"__host__", b"__device__"}
    assert names[b"g"].body is None
    assert lexed.in_device(lexed.index[b"p"][1])
    assert not lexed.in_device(lexed.index[b"main"][0] + 4)


def test_directives_span_splices_and_comments() -> None:
    lexed = source("#define A \\\n  1\n  #  include <x.h> /* more\n */\nint a;\n/* */ #undef A\n")
    assert [directive.name for directive in lexed.directives] == [b"define", b"include", b"undef"]
    assert lexed.directive_of(lexed.index[b"a"][0]) is None
    assert included(lexed) == ["x.h"]


def test_a_macro_s_name_is_told_from_a_use() -> None:
    lexed = source("#ifndef a\n#undef a\n#define a(x) a x\n#if defined(a) && !defined a && a > 1\n#endif\nint b = a;\n")
    assert [lexed.names_macro(at) for at in lexed.index[b"a"]] == [True, True, True, False, True, True, False, False]
    assert not lexed.names_macro(lexed.index[b"b"][0])


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("// licence\n#pragma once\n#include <a>\nint x;\n", "#include <a>"),
        ("#ifndef G\n#define G\n#include <a>\n#endif\n", "#include <a>"),
        ("#define _GNU_SOURCE\n#ifdef X\n#include <a>\n#endif\n", "#ifdef X"),
        ("/* licence */\nint x;\n", "int x"),
        ("#pragma once\nint x;\n", "int x"),
        ("\ufeffint x;\n", "int x"),
        ("#define W 32\nint f() {\n#if A\n#include <a>\n#endif\n}\n", "int f()"),
    ],
)
def test_an_include_goes_before_the_first_one(text: str, before: str) -> None:
    assert include_point(source(text)) == text.encode().index(before.encode())


def test_the_end_and_the_beginning_of_a_statement() -> None:
    text = source("a; int f = g(h; i)[2], { j }; k } l")
    f = text.texts.index(b"f")
    ends = [text.until(f, *stops) for stops in ((b";",), (b",", b";"), (b"}",), (b"@",))]
    assert [text.at(at - 1) for at in ends] == [b"}", b"]", b"k", b"l"]
    begins = [text.since(f, *stops) for stops in ((b";",), (b"(",), (b"f",))]
    assert [text.at(at) for at in begins] == [b"int", b"a", b"a"]
    assert text.at(text.since(text.until(f, b";"), b";")) == b"i"  # brackets are no bar on the way back


def test_lines_are_those_of_the_file() -> None:
    lexed = source("a\r\nb\nc")
    assert [lexed.line(start) for start in lexed.starts] == [1, 2, 3]
    assert lexed.newline == b"\r\n"
    assert lexed.line_span(1) == (0, 1)


def test_the_innermost_function_around_a_token_is_found() -> None:
    source = CudaSource(
        "a.cu",
        b"int a; __global__ void f() { b; auto g = [=] __device__ (int i) { c; }; d; }int e; __device__ int h() { j; }",
    )

    def around(word: bytes) -> int | None:
        function = source.enclosing(next(source.find(word)))
        return None if function is None else source.starts[function.name]

    f, lambda_, h = source.data.index(b"f()"), source.data.index(b"__device__ (int"), source.data.index(b"h()")
    assert [around(word) for word in (b"a", b"b", b"c", b"d", b"e", b"j")] == [None, f, lambda_, f, None, h]


@pytest.mark.parametrize("line", ["#endif", "#pragma unroll", "#include <a.h>", "#define A B"])
def test_a_directive_is_no_scope_of_the_line_below(line: str) -> None:
    lexed = source(f"{line}\n::__nanosleep(7);\nns::__nanosleep(7);\n#define C ns::__nanosleep\n")
    assert [lexed.qualified(at) for at in lexed.positions(b"__nanosleep")] == [False, True, True]


@pytest.mark.parametrize("word", ["return", "const", "static", "struct", "void", "namespace", "__device__", "public"])
def test_a_keyword_before_the_global_scope_is_no_scope(word: str) -> None:
    """`using namespace ::cub;` named no namespace of CUDA's, and `const ::cudaStream_t` a name of a scope `const`."""
    lexed = CudaSource("a.cu", f"{word} ::name a; own::name b;".encode())
    assert [lexed.qualified(at) for at in lexed.positions(b"name")] == [False, True]


def test_the_bracket_around_a_token() -> None:
    lexed = source("a f(b, {c}, g[d]) e ) h( i")
    around = {lexed.at(at): lexed.at(lexed.around(at)) for at in range(len(lexed.texts)) if lexed.is_ident(at)}
    assert around == {
        b"a": b"",
        b"f": b"",
        b"b": b"(",
        b"c": b"{",
        b"g": b"(",
        b"d": b"[",
        b"e": b"",
        b"h": b"",
        b"i": b"(",
    }


def test_macros_that_stand_for_execution_spaces_mark_functions() -> None:
    lexed = CudaSource(
        "a.h",
        b"#ifdef __CUDACC__\n#define HD __host__ __device__ // both;\n#else\n#define HD inline\n#endif\n"
        b"#define FN HD __attribute__((always_inline))\n#define EACH [=] __device__\n#define F(x) __device__ x\n"
        b"#define WHOLE __device__ int one() {}\n#define SET __device__ int n = 0;\n"
        b"FN int a(int x) { return x; }\nGPU float b() {}\nWHOLE\nint host() { run(EACH (int i) { p; }); }\n",
        marks={b"GPU": frozenset({b"__device__"})},
    )
    assert {name for name in lexed.spaces if name.isupper()} == {b"HD", b"FN", b"EACH", b"F", b"GPU"}
    found = {lexed.at(function.name): function.specifiers for function in lexed.functions if function.body}
    both = frozenset({b"__host__", b"__device__"})
    assert found[b"a"] == both and found[b"b"] == found[b"EACH"] == {b"__device__"} and b"host" not in found
    assert lexed.in_device(lexed.index[b"p"][-1]) and not lexed.in_device(lexed.index[b"run"][0])
    assert b"__device__" in CudaSource("b.h", b"C10_HOST_DEVICE int f();").meant


def test_macros_with_parameters_mark_functions() -> None:
    lexed = CudaSource(
        "a.cu",
        b"#define KERNEL(name) __global__ void name\n#define BOUNDED(n) __global__ __launch_bounds__(n)\n"
        b'#define ENTRY(name, ...) extern "C" __global__ void name(__VA_ARGS__)\n#define EACH(how) [how] __device__\n'
        b"#define VARIABLE(type, name) __device__ type name\n#define BODY(name) __global__ void name() {}\n"
        b"template <int N> KERNEL(a)(int *p) { first; }\nBOUNDED(256) void b(int *p) { second; }\n"
        b"ENTRY(c, int *p) { third; }\nENTRY(d, int *p);\nauto f = EACH(=)(int i) -> int { fourth; };\n"
        b"GPU(int) e(int x) { fifth; }\nVARIABLE(int, n) = 3;\nVARIABLE(int, m);\nint host() { not_there; }\n",
        marks={b"GPU": frozenset({b"__device__", WITH_PARAMETERS})},
    )
    bodies = {lexed.at(function.name): function for function in lexed.functions if function.body}
    assert all(bodies[name].specifiers == {b"__global__"} for name in (b"a", b"b", b"c"))
    assert bodies[b"e"].specifiers == {b"__device__"} and b"host" not in bodies
    assert [lexed.in_device(lexed.index[word][-1]) for word in b"first second third fourth fifth".split()] == [True] * 5
    assert not lexed.in_device(lexed.index[b"not_there"][0])
    assert not {b"n", b"m", b"BODY"} & {lexed.at(function.name) for function in lexed.functions}
