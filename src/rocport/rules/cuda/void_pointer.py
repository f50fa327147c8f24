"""`p + n` of a pointer to void counts bytes in nvcc, as in GNU C; clang refuses it in C++.

Such sums become `rocport::plus(p, n)` and `rocport::minus(p, n)` of a header of the port, which count bytes for a
pointer to void and add anything else as it is written. The operand is known by the declaration of its name (`void *p`,
`void *q, *p[4]`), by its cast (`(void *)p + n`), or, where it is a call, by a function of the name somewhere in the
tree (`void *getBlockPtr(...)`). A `CUdeviceptr` is such a pointer in HIP and a number in CUDA: sums of one are written
the same way, in host files, too. `p += n` becomes an assignment. A sum whose end cannot be told without a compiler (a
`<` in it, `(n) - 1`), `++p`, `n + p`, `n - p`, a member's `+=`, and sums in a header that C files include are MANUAL,
and so is what only a number does: `p % 256`, `p & mask`, `size_t n = p`.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.scopes import Scopes
from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding, insert, replace_range
from rocport.rules.cuda.const_argument import cast_for
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

HEADER = "rocport_pointer.h"

_KERNELS = (".cu", ".cuh")
_ADDRESS = (b"CUdeviceptr", b"CUdeviceptr_v2")
_OF_NUMBERS = (b"%", b"/", b"&", b"|", b"^")
_NUMBERS = (b"size_t", b"uint64_t", b"uintptr_t", b"int64_t", b"long", b"int")
_QUALIFIERS = (b"const", b"volatile", b"__restrict__", b"__restrict", b"restrict")
_FUNCTIONS = {b"+": b"plus", b"-": b"minus", b"+=": b"plus", b"-=": b"minus"}
# What a sum may stand behind, so that its first operand is not part of a product, a cast or another sum.
_BEFORE = (
    *(b"(", b",", b"=", b"return", b"{", b"[", b"?", b":", b";", b"}", b"==", b"!=", b"&&", b"||"),
    *(b"<<", b"+=", b"-="),
)
# What ends a sum.
_AFTER = (
    *(b")", b"]", b"}", b",", b";", b"?", b":", b"==", b"!=", b"<=", b">=", b"&&", b"||", b"|", b"&", b"^"),
    *(b"=", b"<<", b">>"),
)
# What a statement may stand behind besides.
_STATEMENTS = (b")", b"else", b"do")

RULE = Rule(
    name="void-pointer",
    summary="arithmetic on a pointer to void",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=frozenset({b"void", *_ADDRESS}),
    examples=(
        Example(
            "__global__ void k(void *p, int n, float *y) { *y = *reinterpret_cast<float *>(p + n * 4); }\n",
            contains=('#include "rocport_pointer.h"', "reinterpret_cast<float *>(rocport::plus(p, n * 4))"),
        ),
        Example(
            "struct S { __device__ void *at(int i); };\n"
            "__device__ char f(S &s, int a, int b) { return *(char *)(s.at(a) + a - b); }\n",
            contains=("(char *)(rocport::minus(rocport::plus(s.at(a), a), b))",),
        ),
        Example(
            "__device__ void *f(const void *q, void *p, int n) { p += n; const void *r = q - 1; return p; }\n",
            contains=("p = rocport::plus(p, n);", "r = rocport::minus(q, 1);"),
        ),
        Example("__device__ void *f(void *p) { return ++p; }\n", contains=("return ++p;",)),
        Example("__device__ void *f(void *p, long n) { return p + (long)-n; }\n", contains=("return p + (long)-n;",)),
        Example("__device__ void f(void *p, int a, int b) { p += a, b++; }\n", contains=("p += a, b++;",)),
        Example("__device__ void *f(void *p, int n) { return n + p; }\n", contains=("return n + p;",)),
        Example("struct B { void *ptr; };\n__device__ void f(B *b) { b->ptr += 4; }\n", contains=("b->ptr += 4;",)),
        Example(
            "struct B { void *ptr; };\n__device__ char f(B *b, int n) { return *(char *)(b->ptr + ~-n - 1); }\n",
            contains=("(char *)(rocport::minus(rocport::plus(b->ptr, ~-n), 1))",),
        ),
        Example("__device__ void *f(void *p, int a) { return p + (a < 2) * a<3; }\n", contains=("p + (a < 2) * a<3",)),
        Example(
            "__device__ bool f(float *a, int n) { return ((void *)a + n) == ((const void *)(a + 1) - n); }\n",
            contains=("(rocport::plus((void *)a, n))", "(rocport::minus((const void *)(a + 1), n))"),
        ),
        Example(
            "__device__ void *f(float *a, int n) { return static_cast<void *>(a) + n; }\n",
            contains=("return rocport::plus(static_cast<void *>(a), n);",),
        ),
        Example(
            "__device__ void *f(void *q, int n) { void *a = q, *b = q, *c[2] = {a, b}; g(b + n); return c[1] + n; }\n",
            contains=("g(rocport::plus(b, n)); return rocport::plus(c[1], n);",),
        ),
        Example(
            "#define AT(p, n) ((void *)(p) + (n) * 4)\n__device__ void *f(int *p) { return AT(p, 1); }\n",
            contains=("#define AT(p, n) (rocport::plus((void *)(p), (n) * 4))",),
        ),
        Example(
            "#define PIN(p, n) { \\\n  void *at = (void *)p; \\\n  g(at + n, 1); }\nvoid f(int *p) { PIN(p, 4) }\n",
            contains=("g(rocport::plus(at, n), 1); }",),
        ),
        Example(
            "struct A { CUdeviceptr base, end; };\nCUdeviceptr f(A &a, CUdeviceptr p, size_t n) "
            "{ p += 8; g(p - a.base, a.end + n); return (CUdeviceptr)((size_t)p + 1); }\n",
            path="a.cpp",
            contains=("p = rocport::plus(p, 8); g(rocport::minus(p, a.base), rocport::plus(a.end, n))",),
        ),
        Example("size_t f(CUdeviceptr p, size_t n) { return n - p; }\n", contains=("n - p",), path="a.cpp"),
        Example("bool f(CUdeviceptr p) { return p % 256 == 0; }\n", contains=("p % 256",), path="a.cpp"),
        Example("size_t f(CUdeviceptr p) { size_t n = p; return n; }\n", contains=("n = p;",), path="a.cpp"),
    ),
    clean=(
        "__device__ float *f(void *p, int n) { return (float *)p + n; }\n",
        "CUdeviceptr f(CUdeviceptr *p, CUdeviceptr q, char *a) { g(&q, a); CUdeviceptr r = q; return r ? r : *p; }\n",
        "size_t f(CUdeviceptr p) { size_t n = (size_t)p % 256; return n; }\n",
        "__device__ int f(void *p, int n) { return n + 1; }\n",
        "void f(void *p) {}\n__device__ int g(int p) { return p + 1; }\n",
        "__device__ void *f(void **p, int n) { return *(p + n); }\n",
        "struct A { void *get(int); };\nstruct M { int &get(int); };\nvoid m(M &m, int *k) { m.get((*k)++) += 1; }\n",
        "__device__ int f(void *p) { return !p + 1; }\n",
        "__device__ int f(void *p[4], int n) { return g(p + n) + *(int *)(void *)p + n; }\n",
        "__device__ int f(void *a, int b, int c) { return b + c; }\n",
    ),
    sources=("https://gcc.gnu.org/onlinedocs/gcc/Pointer-Arith.html",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    of_device = context.project.reached_by(source.path, _KERNELS)
    if not of_device and source.names.isdisjoint(_ADDRESS):
        return
    shared = context.project.reached_by(source.path, ".c")
    scopes = Scopes(source)
    addresses = set(_addresses(source))
    named = {*(_declared(source) if of_device else ()), *addresses}
    arrays = {name for name in named if source.at(name + 1) == b"["}
    for position, last in _casts(source) if of_device else ():
        found = list(_sum(source, position, last))
        yield from [_by_hand(source, position, last)] if found and shared else found
    names = {source.texts[position] for position in named}
    in_macro = {
        (directive.start, source.texts[name]): name for name in named if (directive := source.directive_of(name))
    }
    done = 0
    for position in sorted(source.find(*names | context.project.void_functions)):
        directive = source.directive_of(position)
        of_macro = None if directive is None else in_macro.get((directive.start, source.texts[position]))
        if position in named or (directive is not None and of_macro is None) or amd_only(source, position):
            continue
        last = position
        seen = scopes.visible(position) if of_macro is None else None
        declared = of_macro if of_macro is not None else seen.position if seen is not None else -1
        if declared in arrays:
            if source.at(position + 1) != b"[":
                continue
            last = source.pairs.get(position + 1, position)
        elif source.at(position + 1) == b"(":
            if source.at(position) not in context.project.void_functions:
                continue
            last = source.pairs.get(position + 1, position)
        elif source.texts[position] not in names or not _is_void(source, named, declared, position):
            continue
        found = list(_sum(source, position, last))
        if shared:  # a C file takes the sum and no function of C++; a call's type is only guessed
            found = [_by_hand(source, position, last)] if found and last == position else []
        if declared in addresses and not found and _as_number(source, position):
            found = [_by_hand(source, position, last, "a CUdeviceptr is a pointer in HIP, and a number is asked of it")]
        if source.starts[position] >= done:
            yield from found
        done = max([done, *(edit.span.end for one in found for edit in one.edits)])


def _declared(source: CudaSource) -> Iterator[int]:
    """The names declared as `void *name` or `void *name[n]`, the later ones of `void *a, *b` too."""
    for position in source.find(b"void"):
        at = position + 1
        while (name := _pointer(source, at)) is not None:
            yield name
            if source.at(name + 1) in (b"(", b")"):
                break
            at = name + 1
            while at < len(source.texts) and source.at(at) not in (b",", b";", b")", b"{", b"}"):
                at = source.pairs.get(at, at) + 1
                at += source.at(at - 1) == b"=" and source.at(at) == b"{" and source.pairs.get(at, at) - at + 1
            if source.at(at) != b",":
                break
            at += 1


def _addresses(source: CudaSource) -> Iterator[int]:
    """The names declared as `CUdeviceptr name`, the later ones of `CUdeviceptr a, b` too."""
    for position in source.find(*_ADDRESS):
        at = position + 1
        while source.is_ident(at) and source.at(at + 1) in (b",", b";", b"=", b"{", b"[", b")"):
            yield at
            at = source.until(at, b",", b";", b")")
            at += source.at(at) == b","


def _pointer(source: CudaSource, at: int) -> int | None:
    """The name of the declarator of a pointer, `*name`, that begins at a token."""
    while source.at(at) in _QUALIFIERS:
        at += 1
    if source.at(at) != b"*":
        return None
    at += 1
    while source.at(at) in _QUALIFIERS:
        at += 1
    return at if source.is_ident(at) else None


def _casts(source: CudaSource) -> Iterator[tuple[int, int]]:
    """First and last token of `(void *)p`, `(const void *)(p + 1)` and `static_cast<void *>(p)`."""
    for position in source.find(b"void"):
        if source.at(position + 1) != b"*":
            continue
        first = position - 1
        while source.at(first) in _QUALIFIERS:
            first -= 1
        opening, closing = source.at(first), source.at(position + 2)
        if opening == b"(" and closing == b")" and not source.is_ident(first - 1):
            last = _unary(source, position + 3)
            if last is not None and not amd_only(source, position):
                yield first, last
        elif opening == b"<" and closing == b">" and source.at(first - 1) in (b"static_cast", b"reinterpret_cast"):
            close = source.pairs.get(position + 3)
            if close is not None and not amd_only(source, position):
                yield first - 1, close


def _unary(source: CudaSource, at: int) -> int | None:
    """The last token of the name, call, member or parenthesis that begins at a token, behind `&` and `*`."""
    while source.at(at) in (b"&", b"*"):
        at += 1
    if source.at(at) == b"(":
        return source.pairs.get(at)
    if not source.is_ident(at):
        return None
    while source.at(at + 1) in (b".", b"->", b"::", b"(", b"["):
        if source.at(at + 1) in (b"(", b"["):
            if at + 1 not in source.pairs:
                return None
            at = source.pairs[at + 1]
        else:
            at += 2
    return at


def _is_void(source: CudaSource, named: set[int], declared: int, position: int) -> bool:
    if source.at(position - 1) in (b".", b"->"):
        return True  # a member of a name that is a pointer to void in this file; of another type it is added as written
    return source.at(position - 1) != b"::" and declared in named


def _sum(source: CudaSource, position: int, last: int) -> Iterator[Finding]:
    operator = source.at(last + 1)
    first = _operand(source, position)
    before = source.at(first - 1)
    called = last != position
    if b"++" in (before, operator) or b"--" in (before, operator):
        if not called:
            yield _by_hand(source, position, last)
        return
    if before in (b"+", b"-") and not called and source.at(first - 2) not in (*_FUNCTIONS, *_BEFORE):
        yield _by_hand(source, position, last)
        return
    if operator not in _FUNCTIONS or before not in (*_BEFORE, *_STATEMENTS):
        return
    message = "a sum of a pointer to void counts bytes in nvcc, and clang refuses it: a function of the port's"
    if operator.endswith(b"="):
        if called:
            return  # no pointer to void is a call's value that something can be assigned to
        if source.at(position - 1) in (b".", b"->"):
            yield _by_hand(source, position, last)  # a member of the name may be of a type whose += does more
            return
        end = _term(source, last + 2, whole=True)
        if end is None or source.at(end) != b";" or before not in (b";", b"{", b"}", *_STATEMENTS):
            yield _by_hand(source, position, last)
            return
        target = source.text(first, last + 1)
        call = b"= rocport::%s(%s," % (_FUNCTIONS[operator], target)
        edits = [replace_range(source, last + 1, last + 2, call), insert(source.end(end - 1), b")")]
    elif before in _STATEMENTS:
        return  # a cast: `(float *)p + n`
    else:
        opened, edits, at, closing = b"", [], last + 1, b""
        while source.at(at) in (b"+", b"-"):
            end = _term(source, at + 1)
            if end is None:
                yield _by_hand(source, position, last)
                return
            opened = b"rocport::%s(" % _FUNCTIONS[source.at(at)] + opened
            edits.append(Edit(Span(source.end(at - 1), source.end(at)), closing + b","))
            at, closing = end, b")"
        opened = cast_for(source, first, at) + opened
        edits = [insert(source.starts[first], opened), *edits, insert(source.end(at - 1), b")")]
    yield finding(
        RULE, source, position, message, last=last, applicability=Applicability.SAFE, edits=edits, headers=[HEADER]
    )


def _as_number(source: CudaSource, position: int) -> bool:
    """`p % 256`, `n & p`, `size_t n = p;`: what no pointer does."""
    first = _operand(source, position)
    before, after = source.operator_before(first), source.operator(position + 1)
    if before == b"=" and after == b";":
        return source.is_ident(first - 2) and source.at(first - 3) in _NUMBERS
    joined = before in _OF_NUMBERS and (source.is_ident(first - 2) or source.at(first - 2) == b")")
    return joined or (after in _OF_NUMBERS and before != b")")


def _operand(source: CudaSource, position: int) -> int:
    """The first token of `a.b(c)->name`."""
    at = position
    while source.at(at - 1) in (b".", b"->", b"::"):
        before = at - 2
        while source.at(before) in (b")", b"]"):
            before = source.pairs.get(before, at) - 1
        if not source.is_ident(before) or before >= at:
            return at - 1
        at = before
    return at


def _term(source: CudaSource, at: int, whole: bool = False) -> int | None:
    """The token behind a term that begins at a token, or, `whole`, behind the statement; None: not sure."""
    start = at
    while at < len(source.texts):
        text = source.texts[at]
        if text in (b";", b")", b"]", b"}") or (not whole and text in _AFTER):
            return at if at > start else None
        if whole and text == b",":
            return None
        if not whole and text in (b"+", b"-") and at > start:
            joins = _joins(source, at)
            if joins is None:
                return None
            if joins:
                return at
        if not whole and text in (b"<", b">"):
            return None
        at = source.pairs.get(at, at) + 1
    return None


def _joins(source: CudaSource, at: int) -> bool | None:
    """Whether a `+` or `-` joins two terms; False: the sign of one; None: `(n) - 1` is a difference or a cast."""
    before = source.at(at - 1)
    if before != b")":
        return before == b"]" or before[:1].isalnum() or before[:1] in (b"_", b"'", b'"')
    opened = source.pairs.get(at - 1, 0)
    if source.is_ident(opened - 1):
        return True
    inside = range(opened + 1, at - 1)
    return None if all(source.is_ident(one) or source.at(one) in (b"*", b"::") for one in inside) else True


def _by_hand(
    source: CudaSource,
    position: int,
    last: int,
    message: str = "arithmetic on a pointer to void, which nvcc counts in bytes and clang refuses",
) -> Finding:
    return finding(
        RULE,
        source,
        position,
        message,
        last=last,
        applicability=Applicability.MANUAL,
        fix="cast the pointer to char *",
    )
