"""Enumerators of a CUDA library used as numbers: HIP's have other values.

`CUBLAS_OP_N` is 0 and `HIPBLAS_OP_N` 111, `CURAND_RNG_PSEUDO_DEFAULT` is 100 and HIP's 400, `CUBLAS_GEMM_DEFAULT` is
-1 and HIP's 160, attribute 16 of a device is its number of multiprocessors in CUDA, and in HIP that is 63. The names
are translated; a number cast to the type, read from a file or counted through in a loop is not, and no compiler warns.

A cast from a number becomes a function of the port's, made of the table of both numbers (facts/enum_numbers.csv), where
no number means one enumerator in CUDA and another in HIP: it takes CUDA's and HIP's numbers for the same enumerator, so
that it is right wherever the number comes from: SAFE. REVIEW, with nothing edited, at each other conversion between a
number and one of the types whose values differ: a cast, a comparison with a number (of a status that an integer keeps,
too), arithmetic, an index, a question whether it is zero, a variable or a result of an integer type. Aliases of the
types in the same file are followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from rocport.facts.enum_numbers import Renumbered, renumbered
from rocport.facts.symbols import load
from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert, replace, replace_range
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import IDENT, NUMBER, CudaSource, kind_of

# A prefix that other enumerators of the library have, too (`CUBLAS_`), tells nothing.
_TYPES = {name.encode(): item for name, item in renumbered().items() if item.prefix.count("_") != 1}
_SPELLED = tuple(item.prefix.encode() for item in _TYPES.values())
_ATTRIBUTE_CALLS = {b"cudaDeviceGetAttribute": 1, b"cuDeviceGetAttribute": 1}
_INTEGERS = frozenset(
    b"int unsigned long short char auto size_t int32_t uint32_t int64_t uint64_t uint8_t int8_t".split()
)
_NUMBERS = _INTEGERS - {b"auto"}
_NO_ZERO = frozenset(name for name, item in _TYPES.items() if item.keeps_zero)
"""Types whose enumerator of the value 0 is 0 in HIP too: they may be asked whether they are zero."""
_FROM_CUDA = {"hipblas": "rocport_hipblas_numbers.h", "hiprand": "rocport_hiprand_numbers.h"}
_FROM_CUDA["hipsolver"] = "rocport_hipsolver_numbers.h"

_STATUSES = {b"cublas": b"cublasStatus_t", b"cusolver": b"cusolverStatus_t"}
_RETURNS = {
    name: status
    for name, symbol in load().identifiers.items()
    for library, status in _STATUSES.items()
    if symbol.kind == "function" and name.startswith(library) and name[len(library) : len(library) + 1].isupper()
}
"""Functions that return a library's status, with its type."""

_ENUMERATORS = frozenset(
    name for name, symbol in load().identifiers.items() if symbol.kind == "enum" and name.startswith(_SPELLED)
)

_SAME = frozenset(
    number.cuda.encode()
    for item in _TYPES.values()
    for number in item.numbers
    if number.cuda_number == number.hip_number
)
"""Enumerators that are one number in both: an integer may keep them."""

RULE = Rule(
    name="enum-number",
    summary="enumerator of a CUDA library as a number",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.REVIEW,
    phase=5,
    triggers=frozenset({*_TYPES, *_ATTRIBUTE_CALLS, *_ENUMERATORS, *_RETURNS}),
    examples=(
        Example(
            "cublasOperation_t f(int t) { return (cublasOperation_t)t; }\n",
            contains=("return rocport::from_cuda<hipblasOperation_t>(t);", '#include "rocport_hipblas_numbers.h"'),
        ),
        Example(
            "auto f(int t) { return static_cast<curandRngType_t>(100 + t); }\n",
            contains=("return rocport::from_cuda<hiprandRngType_t>(100 + t);",),
        ),
        Example("void f() { for (int a = CUBLAS_GEMM_DEFAULT; a < 24; ++a) g(static_cast<cublasGemmAlgo_t>(a)); }\n"),
        Example("void f(int *v) { cudaDeviceGetAttribute(v, (cudaDeviceAttr)16, 0); }\n"),
        Example("int f(cublasComputeType_t t) { return (int)t; }\n"),
        Example("auto f(cublasOperation_t o) { return names[o]; }\n"),
        Example("auto f(int t) { return g(CUBLAS_OP_N + t); }\n"),
        Example("void f(int *v) { cuDeviceGetAttribute(v, 16, 0); }\n"),
        Example(
            "using Op = cublasOperation_t;\nOp f(int t) { return (Op)(t + 1); }\n",
            contains=("return rocport::from_cuda<Op>(t + 1);",),
        ),
        Example("int f(cublasOperation_t op, int m, int k) { return op ? k : m; }\n"),
        Example('void f(cublasFillMode_t u) { printf("%s", names[u]); }\n'),
        Example("bool f(cublasFillMode_t u) { return 0 != u; }\n"),
        Example("bool f(cublasStatus_t s) { return s == 3; }\n"),
        Example("const char *f(cublasStatus_t s) { switch (s) { case 3: return 0; } return 0; }\n"),
        Example("bool f(cublasHandle_t h) { int rc = cublasDestroy(h); return rc == 7; }\n"),
        Example("bool f(cusolverDnHandle_t h) { return cusolverDnDestroy(h) != 7; }\n"),
        Example("int f(bool t) { return t ? CUBLAS_OP_T : CUBLAS_OP_N; }\n"),
        Example("struct G { int t; };\nvoid f(G &g, bool t) { g.t = t ? CUBLAS_OP_T : CUBLAS_OP_N; }\n"),
        Example("std::map<int, int> m;\nint f(cublasStatus_t s) { return m.at(s); }\n"),
        Example("bool f(cublasOperation_t o) { return CUBLAS_OP_T >= o; }\n"),
        Example("int f(cublasFillMode_t u) { return u >> 1; }\n"),
        Example("enum class Layout : int { columns = CUBLAS_OP_N, rows = CUBLAS_OP_T };\n"),
        Example("bool f() { return CUBLAS_OP_T == 1; }\n"),
        Example("std::string f() { return std::to_string(CUBLAS_OP_T); }\n"),
        Example('const std::map<std::string, int> m = {{"n", 7}, {"t", CUBLAS_OP_T}};\n'),
        Example("static const int ops[2] = {0, CUBLAS_OP_T};\n"),
        Example("struct H { float f; int a, op; };\nH h() { return H{1, 2, CUBLAS_OP_T}; }\n"),
        Example("void save(FILE *f, int op);\nvoid g(FILE *f) { save(f, CUBLAS_OP_T); }\n"),
        Example("cublasStatus_t f(int s) { return (cublasStatus_t)s; }\n", contains=("return (hipblasStatus_t)s;",)),
        Example(
            "auto f(int e) { return g(cusolverEigMode_t(e), cusolverEigRange_t{e}); }\n",
            contains=("g(rocport::from_cuda<hipsolverEigMode_t>(e), hipsolverEigRange_t{e})",),
        ),
    ),
    clean=(
        "template <int ok = CUSOLVER_STATUS_SUCCESS, class T> bool f(T status) { return status == ok; }\n",
        "cublasOperation_t f(bool t) { return t ? CUBLAS_OP_T : CUBLAS_OP_N; }\n",
        "bool f(cublasStatus_t s) { return s == CUBLAS_STATUS_SUCCESS; }\n",
        "auto f() { return static_cast<cublasOperation_t>(CUBLAS_OP_T); }\n",
        'void f(cublasStatus_t s) { printf("%d", (int)s); }\n',
        "cublasStatus_t f(cublasHandle_t h);\n",
        "struct P { cublasOperation_t op; int n; };\nP p = {CUBLAS_OP_T, 3};\nP q() { return {CUBLAS_OP_N, 2}; }\n",
        "const cublasOperation_t ops[] = {CUBLAS_OP_N, CUBLAS_OP_T};\n",
        "void f(cublasOperation_t o, int n);\nvoid g() { f(CUBLAS_OP_T, 1); }\n",
        "void f(cublasLtMatmulDesc_t d) {\n  const int32_t t = CUBLAS_OP_T;\n"
        "  cublasLtMatmulDescSetAttribute(d, CUBLASLT_MATMUL_DESC_TRANSA, &t, sizeof(t));\n}\n",
        "bool f(cublasHandle_t h) { int rc = cublasDestroy(h); if (rc != 0) throw rc; return !rc; }\n",
        "void f(cublasStatus_t s) { if (s) throw 1; if (s != 0) throw 2; }\n",
        "std::map<cublasStatus_t, int> m;\nint f(cublasStatus_t s) { return m.at(s); }\n",
        "int f(cublasOperation_t t) { return g(t == CUBLAS_OP_N ? 1 : 2); }\n",
    ),
    sources=(
        "hipblas/hipblas.h, hipblas-common.h, hiprand/hiprand.h, hipsolver-types.h, hip_runtime_api.h of ROCm 6.4",
        "https://docs.nvidia.com/cuda/cublas/index.html#cublas-datatypes-reference",
    ),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    seen: set[int] = set()
    for found in _all(source, not context.project.reached_by(source.path, ".c")):
        line = source.line(found.span.start)
        if (line in seen and not found.edits) or amd_only(source, source.token_at(found.span.start)):
            continue
        if not found.edits:
            seen.add(line)
        yield found


def _all(source: CudaSource, written: bool) -> Iterator[Finding]:
    """`written`: the file is C++, which takes a function of the port's."""
    for name in sorted(source.names & _TYPES.keys()):
        item = _TYPES[name]
        spellings = {name, *_aliases(source, name)}
        places = sorted(at for spelling in spellings for at in source.index.get(spelling, ()))
        for position in places:
            yield from _conversion(source, position, item, written)
        for variable in sorted(_variables(source, places)):
            for position in source.index[variable]:
                what = _used_as_number(source, position, name)
                if what and (what == _INDEX or not _is_status_text(source, position)):
                    yield _finding(source, position, position, f"a {name.decode()} {what}", item.differs)
    yield from _arithmetic(source)
    for name, status in _RETURNS.items() if not source.names.isdisjoint(_RETURNS) else ():
        yield from _returned(source, name, status)
    for name, place in _ATTRIBUTE_CALLS.items():
        for position in source.find(name):
            call = source.call(position)
            if call is None or len(call.args) <= place:
                continue
            first, last = call.args[place]
            if last - first == 1 and kind_of(source.at(first)) == NUMBER:
                yield _finding(
                    source, position, call.close, "an attribute given by its number", _TYPES[b"cudaDeviceAttr"].differs
                )


def _returned(source: CudaSource, name: bytes, status: bytes) -> Iterator[Finding]:
    """`rc = cublasX(...)` of an integer `rc` that is compared with a number, and `cublasX(...) == 7`."""
    seen: set[bytes] = set()
    for position in source.find(name):
        close = source.pairs.get(position + 1)
        if close is None:
            continue
        kept = source.at(position - 1) == b"=" and source.is_ident(position - 2) and _is_integer(source, position - 2)
        if kept and source.at(position - 2) in seen:
            continue
        seen.add(source.at(position - 2) if kept else b"")
        for at in source.index[source.at(position - 2)] if kept else (close,):
            used = "" if kept and source.at(at - 1) in _INTEGERS else _used_as_number(source, at, status)
            if used == _COMPARED and (kept or source.operator(close + 1) in (b"==", b"!=")):
                yield _finding(source, at, at, f"a {status.decode()} {used}", _TYPES[status].differs)


def _aliases(source: CudaSource, name: bytes) -> Iterator[bytes]:
    """`using X = name;`, `typedef name X;`."""
    for at in source.index.get(name, ()):
        if source.at(at - 1) == b"=" and source.at(at - 3) == b"using" and source.at(at + 1) == b";":
            yield source.at(at - 2)
        elif source.at(at - 1) == b"typedef" and source.at(at + 2) == b";":
            yield source.at(at + 1)


def _variables(source: CudaSource, places: list[int]) -> set[bytes]:
    """Names declared with the type at the places."""
    declares = (b";", b"=", b",", b")", b"{", b"[")
    behind = (at + 2 if source.at(at + 1) in (b"const", b"&") else at + 1 for at in places)
    return {source.at(at) for at in behind if source.is_ident(at) and source.at(at + 1) in declares}


def _arithmetic(source: CudaSource) -> Iterator[Finding]:
    """Enumerators as numbers: `int a = t ? CUBLAS_OP_T : CUBLAS_OP_N`, `CUBLAS_OP_N + t`, `i <= CUBLAS_OP_C`."""
    for position, text in enumerate(source.texts):
        if not text.startswith(_SPELLED) or kind_of(text) != IDENT or source.directive_of(position) is not None:
            continue
        before, after = source.operator_before(position), source.operator(position + 1)
        kept = text not in _SAME and (
            _goes_to_integer(source, position) or _is_a_number(source, position) or _sets_integer(source, position)
        )
        if after in _COUNTS - {b">>"} or before in _COUNTS or kept:
            differs = next(item.differs for item in _TYPES.values() if text.startswith(item.prefix.encode()))
            yield _finding(source, position, position, f"{text.decode()} is used as a number", differs)


_COUNTS = frozenset({b"+", b"-", b"<", b"<=", b">=", b"++", b"*", b"%", b"<<", b"[", b"^", b"|", b"&", b">>"})
_ENDS = frozenset({b";", b"{", b"}", b"(", b",", b"[", b"return", b"case"})


def _goes_to_integer(source: CudaSource, position: int) -> bool:
    """True where the value of an enumerator, perhaps one of two, is kept in or returned as an integer."""
    if source.at(position + 1) not in (b";", b":", b",", b"}"):
        return False
    at = position - 1
    while at > 0 and source.at(at) not in _ENDS and source.at(at) != b"=":
        at = source.pairs.get(at, at) - 1 if source.at(at) in (b")", b"]") else at - 1
    if source.at(at) == b"return":
        return _returned_type(source, at) in _NUMBERS
    kept = source.at(at) == b"=" and source.is_ident(at - 1) and _is_integer(source, at - 1)
    return kept and not _is_an_attribute(source, at - 1)


def _is_an_attribute(source: CudaSource, declared: int) -> bool:
    """True for `int32_t transa = CUBLAS_OP_T;` of which only the address goes to cuBLASLt, which reads HIP's number."""
    uses = [at for at in source.index[source.at(declared)] if at != declared and source.at(at - 2) != b"sizeof"]
    opens = (_around(source, at) for at in uses if source.at(at - 1) == b"&")
    given = [open_ for open_ in opens if source.at(open_ - 1).startswith(b"cublasLt") and source.at(open_) == b"("]
    return bool(uses) and len(given) == len(uses)


def _is_a_number(source: CudaSource, position: int) -> bool:
    """True for `{ RowMajor = CUBLAS_OP_T }`, `CUBLAS_OP_T == 1`, `int(CUBLAS_OP_T)`, `std::to_string(CUBLAS_OP_T)`."""
    before, after = source.operator_before(position), source.operator(position + 1)
    for beside, other in ((after, position + 2), (before, position - 2)):
        if beside in (b"==", b"!=") and kind_of(source.at(other) or b" ") == NUMBER:
            return True
    if before == b"=" and after in (b",", b"}"):
        open_ = _around(source, position)
        return source.at(open_) == b"{" and _opens_enum(source, open_)
    if after != b")" or _is_status_text(source, position):
        return False
    if before == b"(":
        called = source.at(position - 2)
        cast = called == b">" and source.at(position - 3) in _NUMBERS and source.at(position - 5) == b"static_cast"
        return cast or called in _NUMBERS or called == b"to_string"
    return False


_NEAR = 256
"""Tokens that are looked back: a list of thousands is no list of arguments."""


def _around(source: CudaSource, position: int) -> int:
    """The bracket that is open at a token; -1 where none is near."""
    open_ = source.around(position)
    return open_ if open_ >= position - _NEAR else -1


def _opens_enum(source: CudaSource, open_: int) -> bool:
    """`enum class X : int {`."""
    return any(source.at(at) == b"enum" for at in range(max(0, open_ - 6), open_)) and source.at(open_ - 1) != b")"


def _sets_integer(source: CudaSource, position: int) -> bool:
    """True for an enumerator in a list or among arguments where it sets an integer: `int ops[] = {CUBLAS_OP_N}`, fields
    of structs of this file, parameters of functions of it."""
    if source.at(position - 1) not in (b"{", b",", b"(") or source.at(position + 1) not in (b"}", b",", b")"):
        return False
    open_ = _around(source, position)
    place = _place(source, open_, position)
    if source.at(open_) == b"(":
        return source.is_ident(open_ - 1) and _takes_integer(source, source.at(open_ - 1), place)
    if source.at(open_) != b"{":
        return False
    while source.at(open_ - 1) in (b"{", b","):
        open_, place = _around(source, open_), -1
    at = open_ - 2 if source.at(open_ - 1) == b"=" else open_ - 1
    while source.at(at) == b"]" and at in source.pairs:
        at, place = source.pairs[at] - 1, -1
    if not source.is_ident(at):
        return False
    before = source.at(at - 1)
    if before == b">":
        first = next((back for back in range(at - 2, max(0, at - 20), -1) if source.at(back) == b"<"), at)
        return not _NUMBERS.isdisjoint(source.texts[first:at])
    if place < 0 or before in _NUMBERS:
        return before in _NUMBERS
    named = source.is_ident(at - 1) and before != b"return"  # else `H{...}`
    return _field_is_integer(source, before if named else source.at(at), place)


def _place(source: CudaSource, open_: int, position: int) -> int:
    """Which of the parts between brackets holds a token."""
    parts = source.split(open_, source.pairs.get(open_, position))
    return next((number for number, (first, last) in enumerate(parts) if first <= position < last), -1)


@lru_cache(maxsize=256)
def _takes_integer(source: CudaSource, name: bytes, place: int) -> bool:
    """True where the file declares a function `type name(...)` whose parameter of that place is an integer, and none
    else of the name."""
    found: list[bool] = []
    for at in source.index.get(name, ()):
        declared = source.is_ident(at - 1) or source.at(at - 1) in (b"*", b"&", b">")
        close = source.pairs.get(at + 1)
        if not declared or source.at(at + 1) != b"(" or close is None or source.at(at - 1) in (b"return", b"else"):
            continue
        parts = source.split(at + 1, close)
        words = source.texts[slice(*parts[place])] if 0 <= place < len(parts) else []
        found.append(not _NUMBERS.isdisjoint(words) and kind_of(words[0]) == IDENT)
    return bool(found) and all(found)


@lru_cache(maxsize=256)
def _field_is_integer(source: CudaSource, name: bytes, place: int) -> bool:
    """True where the file has a struct of the name without functions, whose field of that place is an integer."""
    for at in source.index.get(name, ()):
        close = source.pairs.get(at + 1)
        if source.at(at - 1) != b"struct" or source.at(at + 1) != b"{" or close is None:
            continue
        if b"(" in source.texts[at + 1 : close]:
            return False
        fields: list[bytes] = []
        typed = at + 2
        for end in range(at + 2, close):
            if source.at(end) in (b",", b";"):
                fields.append(source.at(typed + 1 if source.at(typed) in (b"const", b"unsigned") else typed))
            if source.at(end) == b";":
                typed = end + 1
        return 0 <= place < len(fields) and fields[place] in _NUMBERS
    return False


def _returned_type(source: CudaSource, at: int) -> bytes:
    """The word before the name of the function around a token: `int` of `int f(...) {`; `)` of a lambda."""
    while at > 0:
        at = source.pairs[at] - 1 if source.at(at) in (b")", b"]", b"}") and at in source.pairs else at - 1
        if source.at(at) != b"{" or source.at(at - 1) != b")" or at - 1 not in source.pairs:
            continue
        name = source.pairs[at - 1] - 1
        if source.at(name) not in (b"if", b"for", b"while", b"switch"):
            return source.at(name - 1)
    return b""


def _is_integer(source: CudaSource, position: int) -> bool:
    """True where the name at a token is declared here, or as a member in this file, with an integer type."""
    places = [position]
    if source.at(position - 1) in (b".", b"->"):
        places = source.index.get(source.at(position), [])
    return any(_declared_integer(source, at) for at in places if source.at(at - 1) not in (b".", b"->"))


def _declared_integer(source: CudaSource, at: int) -> bool:
    """`int a`, `int b, a`."""
    at -= 1
    while source.at(at) == b"," and source.is_ident(at - 1):
        at -= 2
    return source.at(at) in _NUMBERS


def _conversion(source: CudaSource, position: int, item: Renumbered, written: bool) -> Iterator[Finding]:
    """A cast to the type spelled at `position` of anything but its enumerators."""
    prefix = item.prefix.encode()
    before, after = source.at(position - 1), source.at(position + 1)
    operand: tuple[int, int] | None = None
    start = position
    if before == b"(" and after == b")" and source.at(position - 2) != b"sizeof" and not _is_call(source, position - 1):
        operand, start = _operand(source, position + 2), position - 1
    elif (
        before == b"<"
        and after == b">"
        and source.at(position - 2) in (b"static_cast", b"reinterpret_cast", b"bit_cast")
    ):
        close = source.pairs.get(position + 2)
        operand = (position + 3, close) if close is not None else None
        start = position - 2
    elif after in (b"(", b"{") and before in (b"=", b"(", b",", b"return", b"{", b"?", b":"):
        close = source.pairs.get(position + 1)
        operand = (position + 2, close) if close is not None else None
    if operand is None or operand[0] >= operand[1]:
        return
    words = source.texts[operand[0] : operand[1]]
    names = [word for word in words if kind_of(word) == IDENT]
    if names and all(word.startswith(prefix) for word in names) and b"+" not in words:
        return
    if names and any(word.endswith(b"_t") for word in names):
        return
    header = _FROM_CUDA.get(item.header) if written and item.apart else None
    if header is None or source.at(position + 1) == b"{" or source.at(start) == b"reinterpret_cast":
        yield _finding(source, start, operand[1] - 1, f"a number becomes a {item.cuda}", item.differs)
        return
    yield finding(
        RULE,
        source,
        start,
        f"a number becomes a {item.cuda}: a function of the port's takes CUDA's numbers, which are others in HIP",
        last=operand[1] - 1,
        applicability=Applicability.SAFE,
        edits=_taken(source, start, position, operand, item),
        headers=[header],
    )


def _taken(source: CudaSource, start: int, position: int, operand: tuple[int, int], item: Renumbered) -> list[Edit]:
    """`(T)x`, `static_cast<T>(x)` and `T(x)` as `rocport::from_cuda<T>(x)`."""
    if source.at(start) == b"static_cast":
        return [replace(source, start, b"rocport::from_cuda")]
    spelled = source.at(position)
    name = item.hip.encode() if spelled == item.cuda.encode() else spelled
    call = b"rocport::from_cuda<" + name + b">"
    if start == position:
        return [replace_range(source, position, position + 2, call + b"(")]
    if source.at(start + 3) == b"(":
        return [replace_range(source, start, start + 3, call)]
    return [replace_range(source, start, start + 3, call + b"("), insert(source.end(operand[1] - 1), b")")]


def _is_call(source: CudaSource, open_: int) -> bool:
    return source.is_ident(open_ - 1) and source.at(open_ - 1) not in (b"return", b"case", b"else")


def _operand(source: CudaSource, first: int) -> tuple[int, int] | None:
    """Tokens of the unary expression behind a cast."""
    text = source.at(first)
    if text in (b"-", b"*", b"&", b"~"):
        inner = _operand(source, first + 1)
        return (first, inner[1]) if inner else None
    if text == b"(":
        close = source.pairs.get(first)
        return (first + 1, close) if close is not None else None
    if not text or kind_of(text) not in (IDENT, NUMBER):
        return None
    last = first + 1
    while source.at(last) in (b"(", b"[", b".", b"->", b"::"):
        last = source.pairs.get(last, last + 1) + 1 if source.at(last) in (b"(", b"[") else last + 2
    return first, last


_COMPARED = "is compared with a number"
_INDEX = "is an index"
"""Wrong even in a text for a person: what is printed is the name of another enumerator."""
_ASKS = frozenset({b"&&", b"||", b"?"})
_LOOKS_UP = frozenset({b"at", b"find", b"count", b"contains"})


def _used_as_number(source: CudaSource, position: int, name: bytes) -> str:
    """What the variable of the type at a token is used for that only a number is; empty for all else."""
    start, after = _object_start(source, position), source.operator(position + 1)
    before, earlier = source.operator_before(start), source.at(start - 2)
    if before in _INTEGERS | {b"*", b"&", b"const"} or after in (b"(", b"::") or source.at(position - 1) == b"::":
        return ""
    if before == b")" and earlier in _INTEGERS and source.at(start - 3) == b"(":
        return "becomes a number"
    if before == b"(" and earlier == b">" and source.at(start - 3) in _INTEGERS:
        return "becomes a number" if source.at(start - 5) == b"static_cast" else ""
    if before == b"(" and after == b")" and earlier in _NUMBERS:
        return "becomes a number"
    if before == b"[" and after == b"]" and (source.is_ident(start - 2) or earlier == b"]"):
        return _INDEX
    if after in (b"==", b"!=") or before in (b"==", b"!="):
        other = source.at(position + 2 if after in (b"==", b"!=") else start - 2)
        zero = name in _NO_ZERO and other in (b"0", b"0u")
        return _COMPARED if kind_of(other) == NUMBER and not zero else ""
    if after in _COUNTS - {b"&", b"*", b"[", b"<", b">"} or before in _COUNTS - {b"&", b"*", b"<", b"["}:
        return "is counted with"
    if before == b"(" and earlier == b"switch" and after == b")":
        return _COMPARED if _numbered_cases(source, position + 2, name) else ""
    if before == b"(" and after == b")" and earlier in _LOOKS_UP:
        return "is looked up among numbers" if _keyed_by_integer(source, source.at(start - 4)) else ""
    if name in _NO_ZERO:
        return ""
    if after == b";" and before == b"return" and _returned_type(source, start - 1) in _NUMBERS:
        return "is returned as a number"
    if after in (b";", b",") and before == b"=" and source.is_ident(start - 2) and _is_integer(source, start - 2):
        return "becomes a number"
    condition = before == b"(" and after == b")" and earlier in (b"if", b"while")
    asked = before == b"!" or after in _ASKS or (before in (b"&&", b"||") and after in (b")", b"&&", b"||", b";", b"?"))
    return "is asked whether it is zero" if condition or asked else ""


def _object_start(source: CudaSource, position: int) -> int:
    """First token of `a[i].b->member` for the member at a token; the token itself where it is no member."""
    start = position
    while source.at(start - 1) in (b".", b"->"):
        start -= 2
        while source.at(start) in (b"]", b")") and start in source.pairs and source.is_ident(source.pairs[start] - 1):
            start = source.pairs[start] - 1
    return start


def _numbered_cases(source: CudaSource, open_: int, name: bytes) -> bool:
    """True for a switch over the type with `case 1:`, and with `case 0:` unless its enumerator is 0 in HIP too."""
    close = source.pairs.get(open_, open_)
    same = (b"0",) if name in _NO_ZERO else ()
    return any(
        source.at(at) == b"case" and kind_of(source.at(at + 1)) == NUMBER and source.at(at + 1) not in same
        for at in range(open_, close)
    )


def _keyed_by_integer(source: CudaSource, container: bytes) -> bool:
    """`std::map<int, ...> container`."""
    for at in source.index.get(container, ()):
        first = at - 1
        while first > 0 and at - first < 24 and source.at(first) not in (b";", b"{", b"}"):
            if source.at(first) in (b"map", b"unordered_map") and source.at(first + 1) == b"<":
                return source.at(first + 2) in _NUMBERS
            first -= 1
    return False


def _is_status_text(source: CudaSource, position: int) -> bool:
    """True inside a statement that prints to a person: printf and streams, but not a file that is read again."""
    at = position
    while at > 0 and source.at(at) not in (b";", b"{", b"}"):
        text = source.at(at)
        if text in (b"printf", b"cout", b"cerr", b"snprintf", b"sprintf", b"throw", b"assert", b"stderr", b"LOG"):
            return True
        if text == b"fprintf":
            return source.at(at + 2) in (b"stderr", b"stdout")
        at -= 1
    return False


def _finding(source: CudaSource, first: int, last: int, what: str, differs: str) -> Finding:
    return finding(
        RULE,
        source,
        first,
        f"{what}, and the values differ in HIP: {differs}",
        last=last,
        fix="map the enumerators by name, with a switch, wherever a number comes in or goes out",
    )
