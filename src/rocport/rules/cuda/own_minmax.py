"""A project's own template `max` or `min`, beside clang's.

CUDA declares `max` and `min` for numbers only. Clang's headers for HIP add templates for any type, in the global
namespace. In a namespace of the project `max(a, b)` of two `__half` finds the project's template by its name and
clang's by the type of the arguments, which HIP declares in the global namespace: the call is ambiguous, or clang's is
taken. In parentheses a name is not looked up by its arguments, and the call is the project's, as it was: SAFE; REVIEW
where more than one namespace of the project has such a function, one of which the arguments might have found.

A template at file scope is clang's again. One of device code that returns the greater of two values as clang's does is
left out: SAFE. Another, or one that the host calls too, is MANUAL.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding import Binder, Owner, binder
from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.rules.cuda.definitions import PLATFORM, leave_out_on_hip, parameters
from rocport.syntax.cuda import NUMBER, CudaSource, kind_of
from rocport.syntax.declarations import definition_start

_NAMES = (b"min", b"max")
_BODIES = {
    b"max": (b"a>b?a:b", b"a>=b?a:b", b"a<b?b:a", b"b<a?a:b", b"b>a?b:a"),
    b"min": (b"a<b?a:b", b"a<=b?a:b", b"a>b?b:a", b"b>a?a:b", b"b<a?b:a"),
}

RULE = Rule(
    name="own-min-max",
    summary="the project's own template max or min beside clang's",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    binds=True,
    triggers=frozenset(_NAMES),
    examples=(
        Example(
            "namespace op {\ntemplate <class T> __device__ T max(T a, T b) { return a > b ? a : b; }\n"
            "template <class T> __global__ void k(T *p) { p[0] = max(p[1], p[2]); p[1] = max<T>(p[0], 0); }\n}\n",
            contains=("p[0] = (max)(p[1], p[2])", "p[1] = (max<T>)(p[0], 0)"),
        ),
        Example(
            "namespace op { template <class T> __device__ T min(T a, T b) { return a < b ? a : b; }\n"
            "template <class T> __device__ T f(T a, T b) { return min(a, b); } }\n"
            "namespace other { template <class T> __device__ T min(T a, T b) { return b < a ? b : a; } }\n",
            contains=("return (min)(a, b)",),
        ),
        Example(
            "template <typename T> __device__ inline T max(T a, T b) { return (a > b) ? a : b; }\n"
            "__global__ void k(unsigned char *p) { p[0] = max(p[1], p[2]); }\n",
            contains=("#if !ROCPORT_HIP", "#endif\n__global__", "p[0] = max(p[1], p[2])"),
        ),
        Example(
            "template <typename T> __device__ T max(const T &a, const T &b) { return a > b ? a : b; }\n",
            absent=("ROCPORT_HIP",),
        ),
        Example(
            "template <class T> __host__ __device__ T min(T x, T y) { return x < y ? x : y; }\n",
            absent=("ROCPORT_HIP",),
        ),
    ),
    clean=(
        "namespace op { __device__ int max(int a, int b); __device__ int f(int a) { return max(a, a); } }\n",
        "namespace op { template <class T> __device__ T max(T, T); }\n__device__ int f(int a) { return max(a, a); }",
        "struct V { int x; };\n__device__ V max(V a, V b) { return a.x > b.x ? a : b; }\n",
        "template <class T> T max(T a, T b) { return a > b ? a : b; }\n",
        "template <class T> __device__ T max(T a, T b, T c) { return a; }\n",
        "template <class T> struct S { __device__ T max(T a, T b) { return a; } };\n",
        "__device__ int f(int a, int b) { return max(a, b); }\n",
    ),
    sources=(
        "clang 19's __clang_hip_math.h: template <class T> T max(T, T)",
        "[basic.lookup.argdep] of C++: no such lookup for a name in parentheses",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    bound = binder(source, context)
    for name in _NAMES:
        if name not in source.names or bound.definitions(name, "macro") or name in context.project.macros:
            continue
        own = [item for item in bound.definitions(name, "function") if item.owner]
        several = len({item.owner for item in own}) > 1
        templates = any(_of_any(item.takes) for item in own)
        for position in sorted(source.find(name)):
            if source.at(position - 1) in (b".", b"->", b"::"):
                continue
            if templates and source.in_device(position):
                yield from _call(source, bound, position, several)
            if source.at(position + 1) == b"(":
                yield from _at_file_scope(source, bound, position)


def _of_any(takes: bytes) -> bool:
    """True for a first parameter that is likely a template's: `T`, `T &`, `scalar_t`."""
    word = takes.rstrip(b"& ")
    return (word[:1].isupper() and word.isalnum()) or word in (b"scalar_t", b"value_t", b"data_t")


def _call(source: CudaSource, bound: Binder, position: int, several: bool) -> Iterator[Finding]:
    call = source.call(position)
    if call is None or len(call.args) != 2 or (source.is_ident(position - 1) and source.at(position - 1) != b"return"):
        return
    numbers = (last - first == 1 and kind_of(source.at(first)) == NUMBER for first, last in call.args)
    if call.open == position + 1 and any(numbers):
        return
    binding = bound.bind(position)
    if binding.owner is not Owner.PROJECT or binding.what != "function":
        return
    name = source.at(position).decode()
    yield finding(
        RULE,
        source,
        position,
        f"{name} is the project's own ({binding.path}:{binding.line}); clang's template of that name is found by "
        "arguments of HIP's types, too: in parentheses only the project's is",
        last=call.open - 1,
        edits=[insert(source.starts[position], b"("), insert(source.end(call.open - 1), b")")],
        applicability=Applicability.REVIEW if several else Applicability.SAFE,
        fix=f"write which {name} is meant, with its namespace" if several else "",
        cause="own min and max",
    )


def _at_file_scope(source: CudaSource, bound: Binder, position: int) -> Iterator[Finding]:
    close = source.pairs.get(position + 1)
    body = close + 1 if close is not None else -1
    start = definition_start(source, position)
    if close is None or source.at(body) != b"{" or source.at(start) != b"template" or body not in source.pairs:
        return
    types = [kind.rstrip(b"&") for kind, _ in parameters(source, position + 1, close)]
    if len(types) != 2 or types[0] != types[1] or types[0] not in source.texts[start:position]:
        return
    if next(bound.scopes.enclosing(position), None) is not None or not source.in_device(body + 1):
        return
    name, end = source.at(position).decode(), source.pairs[body]
    same = _as_clangs(source, position, close, b"__host__" in source.texts[start:position])
    yield finding(
        RULE,
        source,
        position,
        f"clang has a template {name} of its own for device code: this one is "
        + ("the same and is left out" if same else "a second one, or makes its calls ambiguous"),
        edits=leave_out_on_hip(source, start, end, b"clang has the same") if same else (),
        headers=[PLATFORM] if same else [],
        applicability=Applicability.SAFE if same else Applicability.MANUAL,
        fix="" if same else "give the function a name of its own, or put it and its callers into a namespace",
    )


def _as_clangs(source: CudaSource, position: int, close: int, for_host: bool) -> bool:
    """True for `T max(T a, T b) { return a > b ? a : b; }` of device code."""
    taken = parameters(source, position + 1, close)
    words = source.texts[close + 2 : source.pairs[close + 1]]
    said = {name: letter for (_, name), letter in zip(taken, (b"a", b"b"), strict=True)}
    body = b"".join(said.get(word, word) for word in words if word not in (b"(", b")", b"return", b";"))
    plain = words[:1] == [b"return"] and words.count(b";") == 1 and not any(b"&" in kind for kind, _ in taken)
    return plain and not for_host and body in _BODIES[source.at(position)]
