"""A function declared `__host__ __device__` and defined without: nvcc goes by the declaration, clang sees two.

"__host__ function cannot overload __host__ __device__ function", or "out-of-line definition does not match". The port
gives the definition the spaces of its declaration in the same file: that of the same class, name and parameter types.
One whose head may say them by a macro stays. A declaration in another file is what the repair of this name is for
(`port --build`).
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.model import Applicability, Context, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.rules.cuda.definitions import parameters
from rocport.syntax.cuda import CudaSource
from rocport.syntax.declarations import behind_template_head, definition_start

_SPACES = (b"__host__", b"__device__")
_SUFFIXES = (b"const", b"noexcept", b"override", b"final", b"volatile", b"&")
_WITH_ARGUMENTS = (b"__launch_bounds__", b"__attribute__", b"alignas", b"__align__", b"explicit")
_IN_HEAD = frozenset({b"*", b"&", b"::", b"<", b">", b",", b"[", b"]"})
Key = tuple[bytes, bytes, tuple[bytes, ...]]

RULE = Rule(
    name="definition-space",
    summary="definition without the spaces of its declaration",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"__device__"}),
    examples=(
        Example(
            "struct Q {\n  __host__ __device__ Q &operator/=(const float &r);\n"
            "  __host__ __device__ Q operator/=(const Q &r);\n};\ninline Q Q::operator/=(const Q &r) { return r; }\n",
            contains=("__host__ __device__ inline Q Q::operator/=(const Q &r) { return r; }",),
        ),
        Example(
            "template <class T> struct S { __device__ S(int n); int n; };\n"
            "template <class T> S<T>::S(int n) : n(n) {}\n",
            contains=("template <class T> __device__ S<T>::S(int n) : n(n) {}",),
        ),
        Example(
            "__host__ __device__ int f(int);\ninline int f(int x) { return x; }\n",
            contains=("\n__host__ __device__ inline int f(int x) { return x; }",),
        ),
    ),
    clean=(
        "struct S { __device__ int f(int); int f(float); };\nint S::f(float x) { return 1; }\n"
        "__device__ int S::f(int x) { return 2; }\n",
        "__device__ int f(int);\nint g(int x) { return f(x); }\nstruct A { int f(int x) { return x; } };\n",
        "#define HD __host__ __device__\n__host__ __device__ int f(int);\nHD int f(int x) { return x; }\n",
    ),
    sources=("https://llvm.org/docs/CompileCudaWithLLVM.html#overloading-based-on-host-and-device-attributes",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    declared: dict[Key, set[tuple[bytes, ...]]] = {}
    names = {position: name for position in source.find(b"__device__") if (name := _name(source, position)) is not None}
    classes = _classes(source, set(names.values()))
    for name in names.values():
        if source.at(_behind(source, name)) == b";":
            spaces = tuple(word for word in _SPACES if word in _head(source, name))
            declared.setdefault(_key(source, classes[name], name), set()).add(spaces)
    words = {name for _, name, _ in declared}
    candidates = [at + (source.at(at) == b"operator") for at in sorted(source.find(b"operator", *words))]
    within = _classes(source, set(candidates))
    for name in candidates:
        wanted = declared.get(_key(source, _qualifier(source, name), name)) if _defines(source, name) else None
        if wanted is None or len(wanted) > 1 or within[name] != b"" or _may_say(source, name, context):
            continue
        words_of = b" ".join(next(iter(wanted)))
        start = behind_template_head(source, definition_start(source, name))
        yield finding(
            RULE,
            source,
            name,
            f"{source.at(name).decode()} is declared {words_of.decode()}: clang takes a definition without for another",
            edits=[insert(source.starts[start], words_of + b" ")],
        )


def _name(source: CudaSource, position: int) -> int | None:
    """The name of the function that a `__device__` belongs to."""
    at = position
    while at < len(source.texts):
        word = source.at(at)
        if word in _WITH_ARGUMENTS and source.at(at + 1) == b"(":
            at = source.pairs.get(at + 1, at + 1)
        elif word == b"<" and (close := source.angle_end(at)) is not None:
            at = close
        elif word == b"(":
            return at - 1
        elif word in (b";", b"{", b"}", b"="):
            return None
        at += 1
    return None


def _behind(source: CudaSource, name: int) -> int:
    """What follows the parameters of a function and the words behind them."""
    at = source.pairs.get(name + 1, name + 1) + 1
    while source.at(at) in _SUFFIXES:
        at += 1
    return at


def _head(source: CudaSource, name: int) -> list[bytes]:
    return source.texts[behind_template_head(source, definition_start(source, name)) : name]


def _key(source: CudaSource, of_class: bytes | None, name: int) -> Key:
    types = parameters(source, name + 1, source.pairs.get(name + 1, name + 1))
    return of_class or b"", source.at(name), tuple(kind for kind, _ in types)


def _qualifier(source: CudaSource, name: int) -> bytes:
    """The class before a name: `S` of `S::f`, `S<T>::f`, `S::operator/=`."""
    at = name - 1 - (source.at(name - 1) == b"operator")
    if source.at(at) != b"::":
        return b""
    at -= 1
    while source.at(at) == b">":
        depth = 0
        while at > 0 and (depth := depth + (source.at(at) == b">") - (source.at(at) == b"<")) > 0:
            at -= 1
        at -= 1
    return source.at(at)


def _defines(source: CudaSource, name: int) -> bool:
    """True for a definition outside a class whose head has types and specifiers only, and no space."""
    if source.at(name + 1) != b"(" or source.directive_of(name) is not None:
        return False
    if source.at(_behind(source, name)) not in (b"{", b":"):
        return False
    head = _head(source, name)
    member = bool(_qualifier(source, name))
    types = all(word in _IN_HEAD or word[:1].isalpha() or word[:1] == b"_" for word in head)
    return types and (member or len(head) > 0) and b"__device__" not in head and b"__global__" not in head


def _may_say(source: CudaSource, name: int, context: Context) -> bool:
    return any(b"__" in context.project.macros.get(word, b"") for word in _head(source, name))


def _classes(source: CudaSource, positions: set[int]) -> dict[int, bytes | None]:
    """The class around each of the tokens, empty at the file's or a namespace's level, None inside other braces."""
    opened = {at: name for keyword in (b"struct", b"class") for at, name in _bodies(source, keyword)}
    opened |= {at: b"" for keyword in (b"namespace", b"extern") for at, _ in _bodies(source, keyword)}
    around: list[bytes | None] = [b""]
    found: dict[int, bytes | None] = {}
    for at, word in enumerate(source.texts):
        if word == b"{":
            around.append(opened.get(at))
        elif word == b"}" and len(around) > 1:
            around.pop()
        if at in positions:
            found[at] = around[-1]
    return found


def _bodies(source: CudaSource, keyword: bytes) -> Iterator[tuple[int, bytes]]:
    """Where the braces of a class or namespace open, and its name."""
    for position in source.find(keyword):
        at, name, based = position + 1, b"", False
        while (word := source.at(at)) not in (b"{", b";", b"", b")", b"=") and (
            based or word not in (b">", b",", b"(")
        ):
            name = word if source.is_ident(at) and not based and word != b"final" else name
            based = based or word == b":"
            at += 1
        if source.at(at) == b"{":
            yield at, name
