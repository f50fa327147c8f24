"""An object of one type read and written in pieces of another: `int *w = reinterpret_cast<int *>(&value); w[i] = ...`.

Device code takes values of any type apart so, for shuffles of structs and wide loads, and NVIDIA's device compiler
compiles it as it is meant. To clang an int never lies where a double does: where the pieces are walked through in a
loop it drops the writes, and the object keeps its old value. The port makes such a pointer one to
`rocport::aliased<int>`, an int that may lie anywhere. SAFE: no value changes but those that were lost. Found are
pointers to whole and floating-point numbers in device code, made by a cast from the address of an object, from an array
or a parameter of the function (not of a kernel, nor of shared memory), that are walked through: `w[i]`, `w++`.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.scopes import Scopes, What
from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert
from rocport.syntax.cuda import CudaSource, Function, between

HEADER = "rocport_pointer.h"
_WORDS = frozenset(b"int unsigned short long float double signed".split())
_NAMES = frozenset(b"int16_t uint16_t int32_t uint32_t int64_t uint64_t size_t uint ushort ulong".split())
_QUALIFIERS = frozenset(b"const volatile __restrict__ __restrict restrict".split())
_DEVICE = frozenset({b"__device__", b"__global__"})
_OWN = frozenset({What.PARAMETER, What.LOCAL})
_BEFORE = (b";", b"{", b"}", b"(", b",")
"""What stands before a declaration or a parameter."""
_FAR = 64
"""Uses of a pointer that are looked through for one that walks."""
_CASTS = (b"reinterpret_cast",)

RULE = Rule(
    name="aliased-pointer",
    summary="object taken apart through a pointer of another type",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.SAFE,
    phase=2,
    triggers=frozenset({b"__device__", b"__global__"}),
    examples=(
        Example(
            "template <class T> __device__ T f(T v, int l) {\n  int *w = reinterpret_cast<int *>(&v);\n"
            "  for (int i = 0; i < sizeof(T) / 4; ++i) w[i] = __shfl_sync(~0u, w[i], l);\n  return v;\n}\n",
            contains=("rocport::aliased<int> *w = reinterpret_cast<rocport::aliased<int> *>(&v);",),
        ),
        Example(
            "__device__ double f(double v) { for (int i = 0; i < 2; ++i) ((unsigned int *)&v)[i] ^= 1; return v; }\n",
            contains=("((rocport::aliased<unsigned int> *)&v)[i] ^= 1",),
        ),
        Example(
            "template <class T> __device__ void f(T *to, const T *from) {\n"
            "  auto *d = reinterpret_cast<uint32_t *>(to); const uint32_t *const s = (const uint32_t *)from;\n"
            "  for (int i = 0; i < 4; ++i) d[i] = s[i];\n}\n",
            contains=(
                "auto *d = reinterpret_cast<rocport::aliased<uint32_t> *>(to)",
                "const rocport::aliased<uint32_t> *const s = (const rocport::aliased<uint32_t> *)from;",
            ),
        ),
        Example(
            "__device__ void all(unsigned *w, int n) { for (int i = 0; i < n; ++i) w[i] = __shfl(w[i], 0); }\n"
            "struct S { double d; };\n__device__ void f(S &s) { S t = s; all(reinterpret_cast<unsigned *>(&t), 2); }\n",
            contains=("void all(rocport::aliased<unsigned> *w, int n)",),
        ),
        Example(
            "template <class W, class T> __device__ T f(T v) {\n  W *w = (W *)&v;\n"
            "  for (int i = 0; i < int(sizeof(T) / sizeof(W)); ++i) w[i] += 1;\n  return v;\n}\n",
            contains=("rocport::aliased<W> *w = (rocport::aliased<W> *)&v;",),
        ),
        Example(
            "__device__ float f(const float (&r)[4]) { float x[4]; for (int i = 0; i < 4; ++i) x[i] = r[i];\n"
            "  int *p = (int *)x; int s = 0; while (s < 9) s += *p++; return x[0] + s; }\n",
            contains=("rocport::aliased<int> *p = (rocport::aliased<int> *)x;",),
        ),
    ),
    clean=(
        "__device__ int f(float v) { return *reinterpret_cast<int *>(&v); }\n",
        "__device__ int f(double v) { int *w = (int *)&v; return w[0] + w[1]; }\n",
        "__global__ void k(void *p, int n) { float *x = (float *)p; for (int i = 0; i < n; ++i) x[i] = 0; }\n",
        "__global__ void k(int n) { extern __shared__ char s[]; int *x = (int *)&s[n]; x[threadIdx.x] = 0; }\n",
        "__device__ char f(double v, int i) { return reinterpret_cast<char *>(&v)[i]; }\n",
        "int f(double v, int i) { return reinterpret_cast<int *>(&v)[i]; }\n",
        "__device__ float f(float v[4], int i) { const float *x = (const float *)v; return x[i]; }\n",
    ),
    sources=("https://gcc.gnu.org/onlinedocs/gcc/Common-Type-Attributes.html (may_alias)",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    scopes = Scopes(source)
    given: dict[int, tuple[int, int]] = {}
    for cast in sorted({*source.find(*_CASTS), *_parenthesized(source)}):
        function = source.enclosing(cast)
        if function is None or function.body is None or not function.specifiers & _DEVICE:
            continue
        type_ = _pointee(source, cast + 1 + (source.at(cast) in _CASTS))
        if type_ is None or source.directive_of(cast) is not None:
            continue
        close = source.at(type_[1] + 1) if source.at(type_[1]) == b"*" else b""
        operand = type_[1] + 2
        if close not in (b">", b")") or not _is_object(source, scopes, function, operand, type_):
            continue
        edits = _edits(source, function, cast, type_, operand)
        if edits:
            said = source.text(*type_).decode("utf-8", "replace")
            message = f"an object is walked through as {said}: to clang no {said} lies where another type does"
            yield finding(RULE, source, cast, message, last=operand, edits=edits, headers=[HEADER])
        elif (taken := _parameter(source, cast)) is not None:
            given[taken[0]] = taken
    for declared in given.values():
        said = source.text(*declared).decode("utf-8", "replace")
        message = f"a function walks through an object as {said}: to clang no {said} lies where another type does"
        yield finding(RULE, source, declared[0], message, edits=_aliased(source, declared), headers=[HEADER])


def _parameter(source: CudaSource, cast: int) -> tuple[int, int] | None:
    """The type of the parameter that takes the cast: that of a pointer which a device function of the file walks."""
    open_ = cast - 1
    while source.at(open_) not in (b"(", b";", b"{", b"}", b""):
        open_ = source.pairs.get(open_, open_) - 1
    call = source.call(open_ - 1)
    named = [item for item in source.functions if source.at(item.name) == source.at(open_ - 1)]
    if call is None or len(named) != 1 or named[0].body is None or not named[0].specifiers & _DEVICE:
        return None
    number = next((at for at, (first, last) in enumerate(call.args) if first <= cast < last), None)
    parameters = source.split(*named[0].params)
    if number is None or number >= len(parameters) or call.args[number][0] != cast:
        return None
    first, last = parameters[number]
    while source.at(first) in _QUALIFIERS:
        first += 1
    type_ = _pointee(source, first)
    if type_ is None or source.at(type_[1]) not in (b"*", b"const"):
        return None
    return type_ if _walked(source, source.at(last - 1), last - 1, named[0]) else None


def _parenthesized(source: CudaSource) -> Iterator[int]:
    """The `(` of each `(T *)` with a number's type."""
    for star in source.positions(b"*"):
        if source.at(star + 1) == b")" and (open_ := source.pairs.get(star + 1)) is not None and star - open_ < 6:
            yield open_


def _pointee(source: CudaSource, at: int) -> tuple[int, int] | None:
    """The tokens [first, last) of a number's type, qualifiers before it left out."""
    while source.at(at) in _QUALIFIERS:
        at += 1
    last = at
    while source.at(last) in _WORDS:
        last += 1
    if last == at and (source.at(at) in _NAMES or _is_parameter_of_template(source, source.at(at))):
        last += 1
    return (at, last) if last > at else None


def _is_parameter_of_template(source: CudaSource, name: bytes) -> bool:
    return any(source.at(at - 1) in (b"class", b"typename") for at in source.index.get(name, [])[:_FAR])


def _is_object(source: CudaSource, scopes: Scopes, function: Function, at: int, type_: tuple[int, int]) -> bool:
    """True for what lies in the thread's own memory, as far as the function says, and is not of the type itself."""
    while source.at(at) in (b"(", b"&") and source.at(at - 1) != b"&":
        at += 1
    declared = scopes.visible(at, _OWN)
    if declared is None:
        return False
    words = source.texts[source.since(declared.position, *_BEFORE) : declared.position]
    if not {b"__shared__", b"extern"}.isdisjoint(words) or source.text(*type_) in b" ".join(words):
        return False
    if source.at(at - 1) == b"&":
        return True
    if declared.what is What.PARAMETER:
        return b"__global__" not in function.specifiers
    return source.at(declared.position + 1) == b"["


def _edits(source: CudaSource, function: Function, cast: int, type_: tuple[int, int], operand: int) -> list[Edit]:
    """The cast's type, and that of the pointer it initializes; none where nothing is walked through."""
    assert function.body is not None, "the caller has seen the body"
    edits = _aliased(source, type_)
    if source.at(cast) in _CASTS:
        behind = source.pairs.get(operand - 1, operand) + 1
    else:
        behind = operand
        while source.at(behind) not in (b")", b";", b",", b"") and behind - operand < 12:
            behind = source.pairs.get(behind, behind) + 1
        behind += source.at(behind) == b")"
    if source.at(behind) == b"[":
        return edits if _varies(source, behind) else []
    name = cast - 2
    if source.at(cast - 1) != b"=" or not source.is_ident(name) or not _walked(source, source.at(name), name, function):
        return []
    start = source.since(name, *_BEFORE)
    if b"auto" in source.texts[start:name]:
        return edits
    while source.at(start) in _QUALIFIERS:
        start += 1
    declared = _pointee(source, start)
    if declared is None or source.at(declared[1]) not in (b"*", b"const"):
        return []
    return [*_aliased(source, declared), *edits]


def _aliased(source: CudaSource, type_: tuple[int, int]) -> list[Edit]:
    return [insert(source.starts[type_[0]], b"rocport::aliased<"), insert(source.end(type_[1] - 1), b">")]


def _varies(source: CudaSource, open_: int) -> bool:
    """True for an index that is more than a number."""
    return any(source.is_ident(at) for at in range(open_ + 1, source.pairs.get(open_, open_)))


def _walked(source: CudaSource, name: bytes, declared: int, function: Function) -> bool:
    assert function.body is not None, "the caller has seen the body"
    for at in between(source.index.get(name, []), declared + 1, function.body[1])[:_FAR]:
        around = (source.at(at - 1), source.at(at + 1))
        if (around[1] == b"[" and _varies(source, at + 1)) or not {b"++", b"--", b"+=", b"-="}.isdisjoint(around):
            return True
    return False
