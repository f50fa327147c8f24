"""`p + n` of a pointer to void counts bytes in nvcc, as in GNU C; clang refuses it in C++.

Such sums become `rocport::plus(p, n)` and `rocport::minus(p, n)` of a header of the port, which count bytes for a
pointer to void and add anything else as it is written: the operand is known by the declaration of its name (`void *p`),
or, where it is a call, by a function of the name somewhere in the tree (`void *getBlockPtr(...)`). `p += n` becomes an
assignment. A sum whose end cannot be told without a compiler (a `<` in it, `(n) - 1`), `++p`, `n + p`, a member's `+=`,
and sums in a header that C files include are MANUAL.
"""

from __future__ import annotations

from collections.abc import Iterator

from rocport.binding.scopes import Scopes
from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity, Span
from rocport.rules.cuda.common import finding, insert, replace_range
from rocport.rules.cuda.warp_common import amd_only
from rocport.syntax.cuda import CudaSource

HEADER = "rocport_pointer.h"

_KERNELS = (".cu", ".cuh")
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
    triggers=frozenset({b"void"}),
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
    ),
    clean=(
        "__device__ float *f(void *p, int n) { return (float *)p + n; }\n",
        "__device__ int f(void *p, int n) { return n + 1; }\n",
        "void f(void *p) {}\n__device__ int g(int p) { return p + 1; }\n",
        "__device__ void *f(void **p, int n) { return *(p + n); }\n",
        "struct A { void *get(int); };\nstruct M { int &get(int); };\nvoid m(M &m, int *k) { m.get((*k)++) += 1; }\n",
        "__device__ int f(void *p) { return !p + 1; }\n",
    ),
    sources=("https://gcc.gnu.org/onlinedocs/gcc/Pointer-Arith.html",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if not any(context.project.reached_by(source.path, suffix) for suffix in _KERNELS):
        return
    shared = context.project.reached_by(source.path, ".c")
    scopes = Scopes(source)
    named = set(_declared(source))
    names = {source.texts[position] for position in named}
    for position in sorted(source.find(*names | context.project.void_functions)):
        if position in named or source.directive_of(position) is not None or amd_only(source, position):
            continue
        last = position
        if source.at(position + 1) == b"(":
            if source.at(position) not in context.project.void_functions:
                continue
            last = source.pairs.get(position + 1, position)
        elif not _is_void(source, scopes, named, position):
            continue
        found = list(_sum(source, position, last))
        if shared:  # a C file takes the sum and no function of C++; a call's type is only guessed
            found = [_by_hand(source, position, last)] if found and last == position else []
        yield from found


def _declared(source: CudaSource) -> Iterator[int]:
    """The names declared as `void *name`."""
    for position in source.find(b"void"):
        at = position + 1
        while source.at(at) in _QUALIFIERS:
            at += 1
        if source.at(at) != b"*":
            continue
        at += 1
        while source.at(at) in _QUALIFIERS:
            at += 1
        if source.is_ident(at) and source.at(at + 1) != b"[":
            yield at


def _is_void(source: CudaSource, scopes: Scopes, named: set[int], position: int) -> bool:
    if source.at(position - 1) in (b".", b"->"):
        return True  # a member of a name that is a pointer to void in this file; of another type it is added as written
    if source.at(position - 1) == b"::":
        return False
    seen = [item for item in scopes.declarations(source.texts[position]) if item.first <= position < item.last]
    return bool(seen) and max(seen, key=lambda item: item.first).position in named


def _sum(source: CudaSource, position: int, last: int) -> Iterator[Finding]:
    operator = source.at(last + 1)
    first = _operand(source, position)
    before = source.at(first - 1)
    called = last != position
    if b"++" in (before, operator) or b"--" in (before, operator):
        if not called:
            yield _by_hand(source, position, last)
        return
    if before == b"+" and not called and source.at(first - 2) not in (*_FUNCTIONS, *_BEFORE):
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
        edits = [insert(source.starts[first], opened), *edits, insert(source.end(at - 1), b")")]
    yield finding(
        RULE, source, position, message, last=last, applicability=Applicability.SAFE, edits=edits, headers=[HEADER]
    )


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


def _by_hand(source: CudaSource, position: int, last: int) -> Finding:
    return finding(
        RULE,
        source,
        position,
        "arithmetic on a pointer to void, which nvcc counts in bytes and clang refuses",
        last=last,
        applicability=Applicability.MANUAL,
        fix="cast the pointer to char *",
    )
