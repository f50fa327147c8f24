"""A parameter of type `auto`, which is C++20: `void show(auto end, auto start);`.

GCC takes it in every standard since C++14, and nvcc as GCC does; clang refuses it before C++20, and a program seldom
says which standard it is written in. The function becomes the template that the standard says it is, the parameter's
type a template parameter behind those it has: the same in every standard, and SAFE. What a lambda takes may be `auto`
since C++14 and stays, and so does `Concept auto`, which no older standard has. A file with C++20's words stays, and one
without a kernel, a device function or CUDA's suffix.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert, replace
from rocport.rules.cuda.definitions import arguments
from rocport.syntax.cuda import CudaSource
from rocport.syntax.declarations import behind_template_head, definition_start

_STATEMENTS = frozenset({b"for", b"if", b"while", b"switch", b"catch"})
_NO_TYPE = frozenset(b"return else throw new delete case goto typename co_return co_yield".split())
_BEHIND = frozenset({b"{", b";", b"const", b"noexcept", b"->", b"override", b"&"})
_QUALIFIERS = frozenset({b"const", b"volatile"})
_NEWER = frozenset({b"concept", b"requires", b"consteval", b"constinit", b"co_await", b"co_yield", b"co_return"})
_DEVICE = frozenset({b"__global__", b"__device__"})

RULE = Rule(
    name="auto-parameter",
    summary="parameter of type auto before C++20",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"auto"}),
    examples=(
        Example(
            "void show(auto end, auto start);\nvoid show(auto end, auto start)\n{\n}\n",
            contains=(
                "template <class Auto1, class Auto2> void show(Auto1 end, Auto2 start);",
                "template <class Auto1, class Auto2> void show(Auto1 end, Auto2 start)\n{",
            ),
        ),
        Example(
            "template <class T> __device__ T sum(const T *p, const auto &op, int n = 1) { return op(*p, n); }\n",
            contains=("template <class T, class Auto1> __device__ T sum(const T *p, const Auto1 &op, int n = 1)",),
        ),
        Example(
            "struct Range {\n  __device__ bool holds(auto &&value) const { return value < 1; }\n};\n",
            contains=("template <class Auto1> __device__ bool holds(Auto1 &&value) const {",),
        ),
    ),
    clean=(
        "int f() { auto g = [](auto a, auto b) { return a + b; };\n  for (auto x : {1, 2}) g(x, x);\n  return 0; }\n",
        "template <class T> void f(T a);\nvoid g() { CHECK(auto a = 1); int b(static_cast<int>(1)); }\n",
        "void f(int n) {\n#pragma unroll\n  for (auto w = 0; w < 4; w++) {}\n  M switch (auto w = 1) {}\n}\n",
        "template <auto N> int f(int a);\ndecltype(auto) g(int a);\n",
        "template <class T> concept Number = true;\nvoid f(auto a);\n",
        "void f(Number auto a);\nvoid g(int (*h)(int), void (*k)(auto));\n",
    ),
    sources=("https://gcc.gnu.org/projects/cxx-status.html#cxx20", "https://clang.llvm.org/cxx_status.html#p1141"),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    del context
    if not source.names.isdisjoint(_NEWER):
        return
    if not source.path.endswith((".cu", ".cuh")) and source.names.isdisjoint(_DEVICE):
        return
    ends: dict[int, int] = {}
    declared: set[int] = set()
    for position in source.find(b"auto"):
        open_ = source.around(position) if _begins_type(source, position) else -1
        if source.at(open_) == b"(" and open_ > 1 and open_ in source.pairs:
            if open_ not in ends:
                ends[open_] = _end_of_types(source, open_)
            if position < ends[open_]:
                declared.add(open_)
    for open_ in sorted(declared):
        if source.directive_of(open_) is not None or not _declares(source, open_):
            continue
        parts = arguments(source, open_, source.pairs[open_])
        if at := [found for first, last in parts if (found := _auto(source, first, last))]:
            yield _finding(source, open_, at)


def _begins_type(source: CudaSource, position: int) -> bool:
    """True where a parameter or argument begins with `auto`, qualifiers aside."""
    position -= 1
    while source.at(position) in _QUALIFIERS:
        position -= 1
    return source.at(position) in (b"(", b",")


def _end_of_types(source: CudaSource, open_: int) -> int:
    """Where parentheses hold no plain list of parameters any more: at a brace, `<` or `;`, or at their end."""
    at = open_ + 1
    while at < source.pairs[open_] and source.at(at) not in (b";", b"{", b"}", b"<"):
        at = source.pairs.get(at, at) + 1 if source.at(at) in (b"(", b"[") else at + 1
    return at


def _declares(source: CudaSource, open_: int) -> bool:
    """True for the parentheses of a function's parameters: a type and a name ahead of them, its end or body behind."""
    name, before = open_ - 1, source.at(open_ - 2)
    if not source.is_ident(name) or source.at(source.pairs[open_] + 1) not in _BEHIND:
        return False
    if source.at(name) in _STATEMENTS or source.directive_of(open_ - 2) is not None:
        return False
    return before in (b"*", b"&", b">", b"&&") or (source.is_ident(open_ - 2) and before not in _NO_TYPE)


def _auto(source: CudaSource, first: int, last: int) -> int:
    """Where a parameter says auto for its type; 0 for one that does not, or that says more than qualifiers before."""
    position = first
    while position < last and source.at(position) in _QUALIFIERS:
        position += 1
    return position if source.at(position) == b"auto" else 0


def _finding(source: CudaSource, open_: int, at: list[int]) -> Finding:
    start = definition_start(source, open_ - 1)
    names = [b"Auto%d" % (number + 1) for number in range(len(at))]
    added = b", ".join(b"class " + name for name in names)
    behind = behind_template_head(source, start)
    head = (
        insert(source.starts[start], b"template <" + added + b"> ")
        if behind == start
        else insert(source.starts[behind - 1], b", " + added)
    )
    return finding(
        RULE,
        source,
        open_ - 1,
        f"{source.texts[open_ - 1].decode()} takes auto, which clang refuses before C++20: now a template",
        edits=[head, *(replace(source, position, name) for position, name in zip(at, names, strict=True))],
    )
