"""`float4 a = {0};`, `int2{.x = 1}`, `auto [x, y] = p`: CUDA's vector types are plain structs, HIP's are classes.

A list in braces with fewer values than components sets the others to 0 in CUDA. HIP's constructor of one value is
explicit and sets all components to it: `float4 a = {0};` does not compile, and `float4{1.f}` is (1, 1, 1, 1) instead of
(1, 0, 0, 0). The missing zeros are written out, designated values are put in order, the braces that an array's list
leaves out are set. A structured binding cannot look into HIP's classes: a header of the port gives them the tuple
protocol. Lists of a struct that holds vectors, and those given for a parameter, get the same, and the braces that they
leave out; a struct that begins with a vector takes `{}` for `{0}`. A component is a base's member in HIP, so that a
template takes a pointer to it as `auto`. The values are CUDA's on both platforms. A component of a constexpr vector,
which lies in a union there, is no constant: MANUAL.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Set

from rocport.binding import Binder, Owner, binder
from rocport.model import Applicability, Confidence, Context, Edit, Example, Finding, Rule, Severity
from rocport.rules.cuda.common import finding, insert, replace_range
from rocport.rules.cuda.definitions import arguments, returned_type
from rocport.rules.cuda.index_value import INDICES
from rocport.syntax.cuda import CudaSource, between
from rocport.syntax.project import Member, vector_names
from rocport.syntax.vectors import SCALARS

HEADER = "rocport_vector.h"
_RANKS = {scalar + str(rank).encode(): rank for scalar in SCALARS for rank in (2, 3, 4)}
_AXES = (b"x", b"y", b"z", b"w")
_MAKERS = frozenset(b"make_" + name for name in _RANKS)

RULE = Rule(
    name="vector-value",
    summary="CUDA vector type taken for a plain struct",
    severity=Severity.WRONG_RESULT,
    applicability=Applicability.MANUAL,
    phase=2,
    triggers=_MAKERS.union(_RANKS, (b"__global__", b"__device__", b"__host__")),
    examples=(
        Example("__device__ void f() { float4 a = {0}; int2 b{}; }\n", contains=("a = {0, 0, 0, 0}; int2 b{};",)),
        Example("__device__ float4 f() { return float4{1.f}; }\n", contains=("float4{1.f, 0, 0, 0}",)),
        Example("float3 f(float x) { float3 v{x}; return {x, x}; }\n", contains=("v{x, 0, 0}; return {x, x, 0};",)),
        Example(
            "float4 f(float2 p, float *q) { float4 v{p.x}; return float4{q[0]}; }\n",
            contains=("v{p.x, 0, 0, 0}", "{q[0]}"),
        ),
        Example("int2 p = {.x = 1, .y = n}, q{.y = -1};\n", contains=("p = {1, n}, q{0, -1};",)),
        Example("float4 a[4] = {0};\nint2 b[2] = {{1}, {2, 3}};\n", contains=("a[4] = {};", "{{1, 0}, {2, 3}};")),
        Example("float2 uv[] = {0.f, 1.f, -1.f};\n", contains=("uv[] = {{0.f, 1.f}, {-1.f, 0}};",)),
        Example("float2 uv[2] = {0.f, w};\nint2 c[2][2] = {1, 2};\n", contains=("= {0.f, w};", "= {1, 2};")),
        Example(
            "__device__ float f(float2 p) { auto [x, y] = p; return x; }\n", contains=('#include "rocport_vector.h"',)
        ),
        Example(
            "struct S { float4 v; int2 w; S(float a) : v{a}, w{1} {} };\n", contains=("v{a, 0, 0, 0}, w{1, 0} {}",)
        ),
        Example("struct S { int2 w; S(int a); };\nS::S(int a) : w{a} {}\n", contains=("w{a, 0} {}",)),
        Example(
            "struct P { float4 v; int n; };\nvoid f() { P a = {0}, b[2] = {{0}}, c = {make_float4(1, 2, 3, 4), 1}; }\n",
            contains=("P a = {}, b[2] = {}, c = {make_float4",),
        ),
        Example("typedef struct { const int2 at; int n; } Q;\nQ q = {1, 2, 3};\n", contains=("q = {{1, 2}, 3};",)),
        Example(
            "struct S { int n; float4 v; float w[2]; int2 at; };\n"
            "S f() { S s = {1, {2.f}, {0}}; return {1, 2, 3, 4, 5, 6, 7, 8}; }\n",
            contains=("{1, {2.f, 0, 0, 0}, {0}}", "{1, {2, 3, 4, 5}, 6, 7, {8, 0}}"),
        ),
        Example(
            "struct S { int n; float4 v[2]; };\nS a = {1, {{2}}}, b = {.n = 1, .v = {{2}}};\n"
            "struct T { S s; };\nT t = {{0, 1}};\n",
            contains=("a = {1, {{2, 0, 0, 0}}}, b = {.n = 1, .v = {{2, 0, 0, 0}}};", "t = {{0, 1}}"),
        ),
        Example(
            "void take(int n, float4 v);\nvoid f() { take(1, {2}); take(1, {1, 2, 3, 4}); }\n",
            contains=("take(1, {2, 0, 0, 0}); take(1, {1, 2, 3, 4});",),
        ),
        Example(
            "struct B { float2 lo, hi; };\nfloat volume(const B &b);\nfloat f() { return volume({{0}, {1, 1}}); }\n",
            contains=("volume({{0, 0}, {1, 1}})",),
        ),
        Example("constexpr int2 at[] = {{0, 1}};\nstatic_assert(at[0].x == 0);\n"),
        Example("template <float float3::*M> void f(float3 *p) { p->*M = 1; }\n", contains=("template <auto M>",)),
        Example(
            "struct S { S(float4 v, int n); };\nS a({1}, 2), *p = new S({2}, 3);\nS b{{1}, 2}, c = {{2}, 3};\n",
            contains=("a({1, 0, 0, 0}, 2), *p = new S({2, 0, 0, 0}, 3);", "b{{1, 0, 0, 0}, 2}, c = {{2, 0, 0, 0}, 3};"),
        ),
    ),
    clean=(
        "void f(float4 b) { float4 a{b}, c = {b}, d{make_float4(1, 2, 3, 4)}, h{float4{}}; float2 e = {1, 2}; }\n",
        "struct S { float4 v; S(S const &o) : v{o.v} {} };\nstruct N { int w; N() : w{1} {} };\n",
        "struct T { int2 w; T(int a, bool b) : w(a ? f(b) : g(b)) {} };\n",
        "constexpr int2 at = {0, 1};\nint f() { return at.x; }\n",
        "struct P { int n; float4 v; };\nvoid f() { P p = {0}, q{}; }\nstruct V { float4 v; };\nint a[] = {0};\n",
        "struct C { int n; float4 v; C(int n, float x); };\nC c = {1, 2};\n",
        "struct C { C(float4 v); C(int n); };\nC c({1}), d{{2}};\n",
        "struct R { int n; float4 *v; };\nR r = {0, 0};\n",
        "void take(float4 v);\nvoid take(int n);\nvoid f() { take({1}); }\n",
        "struct P { int2 v; int n; };\nP p = {{1, 2}, 3};\n",
        "void f(float4) { g(); }\nfloat4 h() { return {1, 2, 3, 4}; }\nauto l = [](float2) { g(); };\n",
        "struct float3 { float v[3]; };\nfloat3 v = {0};\n",
        "float4 *p[2] = {0};\nfloat2 q[2] = {make_float2(1, 2), r};\n",
        "std::pair<float2, int> g();\n",
    ),
    sources=("hip/amd_detail/amd_hip_vector_types.h of ROCm 6.4: HIP_vector_type's constructors",),
)


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    bound = binder(source, context)
    others = _of_project(source, context)
    kinds = {name: name for name in source.names & _RANKS.keys()} | {
        name: kind for name, kind in others if kind in _RANKS
    }
    members = _member_initializers(source) if kinds else {}
    asked: dict[bytes, list[Finding]] = {}
    for name, kind in sorted(kinds.items()):
        for position in source.find(name):
            if name == kind and bound.bind(position).owner is Owner.PROJECT:
                continue
            for open_, arrays in _lists(source, position):
                yield from _written_out(source, bound, name, kind, open_, arrays)
            for open_ in members.get(source.at(position + 1), ()):
                seen = bound.scopes.visible(open_ - 1)
                if seen is None or seen.position == position + 1:
                    yield from _written_out(source, bound, name, kind, open_, 0)
            constant = source.at(position + 1) if _is_constexpr(source, position) else b""
            if constant not in asked:
                asked[constant] = list(_constants(source, constant)) if source.is_ident(position + 1) else []
            yield from asked[constant]
            yield from _member_parameter(source, position)
    if kinds or not source.names.isdisjoint(_MAKERS):
        for position in source.find(b"return"):
            name = returned_type(source, bound.scopes, position) if source.at(position + 1) == b"{" else b""
            if name in kinds:
                yield from _written_out(source, bound, name, kinds[name], position + 1, 0)
        yield from _decomposed(source)
    names = kinds, _layouts(source, kinds, others)
    for name in sorted(names[1]):
        for position in source.find(name):
            for open_, arrays in _lists(source, position):
                yield from _of_struct(source, bound, names, name, open_, arrays)
    for position in source.find(b"return") if names[1] else ():
        name = returned_type(source, bound.scopes, position) if source.at(position + 1) == b"{" else b""
        if name in names[1]:
            yield from _of_struct(source, bound, names, name, position + 1, 0)
    given = {parameter[2] for _, told in others if (parameter := _PARAMETER.fullmatch(told)) is not None}
    names = kinds | {name: name for name in given & _RANKS.keys()}, names[1]
    if names[0] or names[1]:
        yield from _arguments(source, bound, others, names)


def _of_project(source: CudaSource, context: Context) -> list[tuple[bytes, bytes]]:
    """What the index knows of vectors (`rocport.syntax.project`) under names of this file, from the files it sees, and
    of what structures among them hold and functions among them take."""
    project = context.project
    found: dict[tuple[bytes, bytes], None] = {}
    wanted: Set[bytes] = source.index.keys()
    while wanted:
        held: set[bytes] = set()
        for key, paths in project.vectors.items():
            name, _, kind = key.partition(b"/")
            if name not in wanted or (name, kind) in found:
                continue
            if any(path == source.path or project.together(source.path, path) for path in paths):
                found[name, kind] = None
                held.update(_HELD.findall(kind))
        wanted = held - _RANKS.keys()
    return list(found)


_HELD = re.compile(rb"(?:=|\(\d+)([A-Za-z_]\w*)")
Kinds = Mapping[bytes, bytes]
"""Names of vector types, with the type."""
Layouts = Mapping[bytes, tuple[Member, ...]]
"""Structures that hold vectors, with their members."""


def _layouts(source: CudaSource, kinds: Kinds, others: list[tuple[bytes, bytes]]) -> Layouts:
    """The structures of the file and of the files it sees that hold a vector."""
    known = {name: kind for name, kind in kinds.items() if name != kind}
    found = dict(vector_names(source.data, known)[1]) if kinds else {}
    for name, told in others:
        if told[:1] == b":" and name not in found:
            parts = (re.fullmatch(rb"(\w*)=(\w*)(.*)", member) for member in told[1:].split(b","))
            found[name] = tuple((part[1], part[2], part[3]) for part in parts if part is not None)
    return found


def _of_struct(
    source: CudaSource, bound: Binder, names: tuple[Kinds, Layouts], name: bytes, open_: int, arrays: int
) -> Iterator[Finding]:
    """`S s = {1, {2.f}};`: values in braces, or numbers without, that are a vector's in CUDA."""
    close = source.pairs[open_]
    edits = _filled(source, bound, names, name, open_, arrays)
    if edits == []:
        return
    emptied = edits is not None and len(edits) == 1 and edits[0].span.end > edits[0].span.start
    yield finding(
        RULE,
        source,
        open_,
        f"{name.decode()} holds a vector, which is a class in HIP and takes a value for each component: "
        + (
            "this list leaves braces out"
            if edits is None
            else "all is zero without the number"
            if emptied
            else "its braces and zeros are written out"
        ),
        last=close,
        applicability=Applicability.MANUAL if edits is None else Applicability.SAFE,
        edits=edits or (),
        fix="write the list with the braces of each vector" if edits is None else "",
    )


def _filled(
    source: CudaSource, bound: Binder, names: tuple[Kinds, Layouts], name: bytes, open_: int, arrays: int
) -> list[Edit] | None:
    """What a structure's list in braces needs; None where its braces cannot be told."""
    kinds, layouts = names
    members = layouts[name]
    parts = [part for part in arguments(source, open_, source.pairs[open_]) if part[0] < part[1]]
    begins = _begins(names, name)
    if begins and len(parts) == 1 and _is_zero(source, *parts[0]):
        return [replace_range(source, *parts[0], b"")]
    if arrays:
        return _each(source, bound, names, name, parts, arrays)
    if parts and source.at(parts[0][0]) == b".":
        given = {source.at(first + 1): first + 2 + (source.at(first + 2) == b"=") for first, _ in parts}
        places = [(member, (given[member[0]], given[member[0]] + 1)) for member in members if member[0] in given]
    else:
        places = []
        at = 0
        for member in members:
            if at >= len(parts):
                break
            first, last = parts[at]
            taken, kind = 1, kinds.get(member[1], member[1])
            scalar = _is_scalar(source, bound, first, last) if kind in _RANKS else _is_number(source, first, last)
            if _braced(source, first) is None and not scalar:
                taken = 1
            elif _braced(source, first) is None and kind in _RANKS and not member[2]:
                taken = min(_RANKS[kind], len(parts) - at)
                last = parts[at + taken - 1][1]
            elif _braced(source, first) is None and (member[2] or kind in layouts):
                size = int(member[2][1:-1]) if member[2][1:-1].isdigit() else 0
                if kind in _RANKS or kind in layouts or not size:
                    return None if _numbers_behind(source, parts[at:]) and _vectors_from(names, members, member) else []
                taken = min(size, len(parts) - at)
            places.append((member, (first, last)))
            at += taken
    found: list[Edit] = []
    for (_, of, dimensions), (first, last) in places:
        kind = kinds.get(of, of)
        braces = _braced(source, first)
        inner: list[Edit] | None = []
        if kind in _RANKS and braces is not None:
            inner = _edits(source, bound, first, dimensions.count(b"["), _RANKS[kind])
        elif kind in layouts and braces is not None:
            inner = _filled(source, bound, names, kind, first, dimensions.count(b"["))
        elif kind in _RANKS and _is_scalar(source, bound, *arguments(source, first - 1, last)[0]):
            missing = _RANKS[kind] - len(arguments(source, first - 1, last))
            inner = [insert(source.starts[first], b"{"), insert(source.end(last - 1), b", 0" * missing + b"}")]
        if inner is None:
            return None
        found += inner
    return found


def _each(
    source: CudaSource,
    bound: Binder,
    names: tuple[Kinds, Layouts],
    name: bytes,
    parts: list[tuple[int, int]],
    arrays: int,
) -> list[Edit] | None:
    """What an array's list needs, whose values have braces of their own, or are no numbers."""
    found: list[Edit] = []
    for first, last in parts:
        if _braced(source, first) is None:
            if _is_number(source, first, last) and not (len(parts) == 1 and _is_zero(source, first, last)):
                return None
            continue
        inner = _filled(source, bound, names, name, first, arrays - 1)
        if inner is None:
            return None
        found += inner
    return found


def _begins(names: tuple[Kinds, Layouts], name: bytes) -> bool:
    """True for a structure whose first member is a vector, or such a structure."""
    kinds, layouts = names
    for _ in range(len(layouts)):
        if name not in layouts or not layouts[name]:
            break
        name = layouts[name][0][1]
    return kinds.get(name, name) in _RANKS


def _vectors_from(names: tuple[Kinds, Layouts], members: tuple[Member, ...], member: Member) -> bool:
    """True where a member, or one behind it, holds a vector."""
    kinds, layouts = names
    return any(kinds.get(of, of) in _RANKS or of in layouts for _, of, _ in members[members.index(member) :])


def _numbers_behind(source: CudaSource, parts: list[tuple[int, int]]) -> bool:
    return any(_is_number(source, *part) for part in parts)


def _braced(source: CudaSource, first: int) -> int | None:
    return source.pairs.get(first) if source.at(first) == b"{" else None


def _is_zero(source: CudaSource, first: int, last: int) -> bool:
    word = source.at(first)
    if _braced(source, first) == last - 1:
        return last - first == 3 and _is_zero(source, first + 1, last - 1)
    return last - first == 1 and word[:1] in b"0." and word != b"" and not word.strip(b"0.fFuUlL")


def _arguments(
    source: CudaSource,
    bound: Binder,
    others: list[tuple[bytes, bytes]],
    names: tuple[Kinds, Layouts],
) -> Iterator[Finding]:
    """`take({1})`: braces for a parameter that is a vector, or a structure that holds one."""
    kinds, layouts = names
    takes: dict[bytes, dict[int, set[bytes]]] = {}
    for name, told in others:
        if (parameter := _PARAMETER.fullmatch(told)) is not None:
            takes.setdefault(name, {}).setdefault(int(parameter[1]), set()).add(parameter[2])
    lists: dict[int, list[tuple[int, int]]] = {}
    for kind in sorted({*kinds, *layouts}):
        for position in source.find(kind):
            open_ = source.around(position)
            if open_ < 1 or source.at(open_) != b"(" or not source.is_ident(open_ - 1) or open_ not in source.pairs:
                continue
            if open_ not in lists:
                lists[open_] = arguments(source, open_, source.pairs[open_])
            number = bisect_right(lists[open_], (position, len(source.texts))) - 1
            if _declares(source, position, *lists[open_][number]):
                takes.setdefault(source.at(open_ - 1), {}).setdefault(number, set()).add(kind)
    for name, parameters in sorted(takes.items()):
        calls = [call.args for at in source.index.get(name, ()) if (call := source.call(at)) is not None]
        calls += _constructions(source, name)
        for number, told_of in sorted(parameters.items()):
            kind = next(iter(told_of))
            given = [args[number] for args in calls if number < len(args)]
            braced = [first for first, last in given if _braced(source, first) == last - 1]
            if not braced or len(told_of) > 1 or (kind not in kinds and kind not in layouts):
                continue
            if any(kind not in source.texts[first:last] and _is_typed(source, first, last) for first, last in given):
                continue  # an overload for another type, which may be the one that is called
            for open_ in braced:
                if kind in kinds:
                    yield from _written_out(source, bound, kind, kinds[kind], open_, 0)
                else:
                    yield from _of_struct(source, bound, names, kind, open_, 0)


def _constructions(source: CudaSource, name: bytes) -> Iterator[tuple[tuple[int, int], ...]]:
    """What constructors of a class are given: `S s({1}, 2);`, `S s{{1}, 2};`, `S s = {{1}, 2};`, `S{{1}, 2}`."""
    for position in source.index.get(name, ()):
        opened = [open_ for open_, arrays in _lists(source, position) if not arrays]
        if source.is_ident(position + 1) and source.at(position + 2) == b"(" and position + 2 in source.pairs:
            opened.append(position + 2)
        for open_ in opened:
            yield tuple(arguments(source, open_, source.pairs[open_]))


_PARAMETER = re.compile(rb"\((\d+)([A-Za-z_]\w*)")


def _declares(source: CudaSource, position: int, first: int, last: int) -> bool:
    """True for the type of a parameter that is taken by value or constant reference."""
    before = source.texts[first:position]
    behind = [word for word in source.texts[position + 1 : last] if word not in (b"const", b"&")]
    return {b"const", b"::"}.issuperset(before) and (len(behind) <= 1 or behind[1] == b"=") and b"*" not in behind


def _is_typed(source: CudaSource, first: int, last: int) -> bool:
    """True for `int n`, `const T &v`: a parameter and no argument."""
    words = [at for at in range(first, last) if source.at(at) not in (b"const", b"&", b"*", b"&&")]
    return len(words) == 2 and source.is_ident(words[0]) and source.is_ident(words[1])


def _lists(source: CudaSource, position: int) -> Iterator[tuple[int, int]]:
    """Braces that make values of the vector type at a token, with the number of array dimensions around a value."""
    at = position + 1
    if source.at(at) == b"<":
        at = (source.angle_end(at) or at) + 1
    if source.at(at) == b"{" and at in source.pairs:
        yield at, 0
    elif source.at(at) == b")" and source.at(at + 1) == b"{" and source.at(position - 1) == b"(":
        if not source.is_ident(position - 2) and source.at(position - 2) not in (b")", b"]", b">"):
            yield at + 1, 0  # a compound literal, and no function with a parameter that has no name
        return
    while source.is_ident(at):
        at, arrays = at + 1, 0
        while source.at(at) == b"[" and at in source.pairs:
            at, arrays = source.pairs[at] + 1, arrays + 1
        at += source.at(at) == b"="
        if source.at(at) == b"{" and at in source.pairs:
            yield at, arrays
            at = source.pairs[at] + 1
        if source.at(at) != b",":
            return
        at += 1


def _member_initializers(source: CudaSource) -> dict[bytes, list[int]]:
    """Braces behind a member's name in constructors' lists of initializers: `: v{a}, w(b) {`."""
    found: dict[bytes, list[int]] = {}
    for colon in (at for at, text in enumerate(source.texts) if text == b":" and source.at(at - 1) == b")"):
        at, opened = colon + 1, []
        while source.is_ident(at) and source.at(at + 1) in (b"(", b"{") and at + 1 in source.pairs:
            opened.append(at + 1)
            at = source.pairs[at + 1] + 1
            if source.at(at) != b",":
                break
            at += 1
        for open_ in opened if source.at(at) == b"{" else ():
            if source.at(open_) == b"{":
                found.setdefault(source.at(open_ - 1), []).append(open_)
    return found


_BEFORE_TYPE = frozenset({b"static", b"const", b"inline", b"__device__", b"__constant__"})


def _is_constexpr(source: CudaSource, position: int) -> bool:
    """True where `constexpr` stands before the type at a token."""
    at = position - 1
    while source.at(at) in _BEFORE_TYPE:
        at -= 1
    return source.at(at) == b"constexpr"


def _constants(source: CudaSource, name: bytes) -> Iterator[Finding]:
    """The first component that must be a constant, of a vector declared constexpr."""
    for use in source.index.get(name, ()):
        end = source.pairs.get(use + 1, use) if source.at(use + 1) == b"[" else use
        if source.at(end + 1) == b"." and _must_be_constant(source, use):
            yield finding(
                RULE,
                source,
                use,
                f"{name.decode()} is a class with a union in HIP: its components are no constants for the compiler",
                last=end + 2,
                applicability=Applicability.MANUAL,
                fix="keep what the compiler is to know in a constexpr number, or in a struct of your own",
                cause="components of constexpr vectors",
            )
            return


def _must_be_constant(source: CudaSource, use: int) -> bool:
    if source.at(use - 1) in (b"[", b"<", b"case"):
        return True
    first = source.since(use, b";", b"{", b"}")
    return any(between(source.index.get(word, []), first, use) for word in (b"static_assert", b"constexpr"))


def _member_parameter(source: CudaSource, position: int) -> Iterator[Finding]:
    """`template <float float3::*M>`: a pointer to a member of the vector."""
    first, last = position - 1, position + 3
    if source.at(first - 1) not in (b"<", b",") or source.at(position + 1) != b"::" or source.at(last - 1) != b"*":
        return
    if source.is_ident(first) and source.is_ident(last) and source.at(last + 1) in (b",", b">"):
        yield finding(
            RULE,
            source,
            position,
            "a component is a member of a base in HIP, which a template takes a pointer to as auto",
            last=last,
            applicability=Applicability.SAFE,
            edits=[replace_range(source, first, last, b"auto ")],
        )


def _written_out(
    source: CudaSource, bound: Binder, name: bytes, kind: bytes, open_: int, arrays: int
) -> Iterator[Finding]:
    """`name` is how the vector type `kind` is spelled here."""
    edits = _edits(source, bound, open_, arrays, _RANKS[kind])
    if edits == []:
        if not arrays and _may_spread(source, bound, (name, kind), open_):
            yield finding(
                RULE,
                source,
                open_,
                f"{name.decode()} of one value: where that is a number, CUDA sets the other components to 0 and HIP "
                "sets all to it",
                last=source.pairs[open_],
                confidence=Confidence.MEDIUM,
                fix=f"write the missing zeros, or leave out the braces where it is a {name.decode()}",
                cause="vectors of one value",
            )
        return
    yield finding(
        RULE,
        source,
        open_,
        f"{name.decode()} is a class in HIP, which takes a value for each component and spreads a single one over all; "
        + ("the missing zeros are written out" if edits else "this list leaves braces out"),
        last=source.pairs[open_],
        applicability=Applicability.SAFE if edits else Applicability.MANUAL,
        edits=edits or (),
        fix="" if edits else f"write the list with the braces of each {name.decode()}",
    )


def _edits(source: CudaSource, bound: Binder, open_: int, arrays: int, rank: int) -> list[Edit] | None:
    """What a list in braces needs; None where its braces cannot be told."""
    parts = [part for part in arguments(source, open_, source.pairs[open_]) if part[0] < part[1]]
    if not parts:
        return []
    if not arrays:
        return _value(source, bound, parts, rank)
    if any(_is_number(source, *part) for part in parts):
        return _elided(source, parts, arrays, rank)
    found: list[Edit] = []
    for first, last in parts:
        if source.pairs.get(first) == last - 1 and source.at(first) == b"{":
            inner = _edits(source, bound, first, arrays - 1, rank)
            if inner is None:
                return None
            found += inner
    return found


def _value(source: CudaSource, bound: Binder, parts: list[tuple[int, int]], rank: int) -> list[Edit]:
    first, last = parts[0][0], parts[-1][1]
    if source.at(first) == b".":
        given = {source.at(part + 1): source.text(part + 2, end).lstrip(b"= \t") for part, end in parts}
        text = b", ".join(given.get(axis, b"0") for axis in _AXES[:rank])
        return [replace_range(source, first, last, text)]
    if len(parts) >= rank or (len(parts) == 1 and not _is_scalar(source, bound, first, last)):
        return []
    return [insert(source.end(last - 1), b", 0" * (rank - len(parts)))]


def _elided(source: CudaSource, parts: list[tuple[int, int]], arrays: int, rank: int) -> list[Edit] | None:
    """An array's list of numbers: nothing for a single 0, else the braces of each value."""
    values = [source.text(*part) for part in parts]
    whole = parts[0][0], parts[-1][1]
    if len(values) == 1 and not values[0].strip(b"0.fFuUlL"):
        return [replace_range(source, *whole, b"")]
    if arrays > 1 or not all(_is_number(source, *part) for part in parts):
        return None
    values += [b"0"] * (-len(values) % rank)
    groups = (b", ".join(values[at : at + rank]) for at in range(0, len(values), rank))
    return [replace_range(source, *whole, b", ".join(b"{" + group + b"}" for group in groups))]


def _is_number(source: CudaSource, first: int, last: int) -> bool:
    first += source.at(first) in (b"-", b"+")
    return last - first == 1 and source.at(first).lstrip(b".")[:1].isdigit()


_NUMBERS = frozenset(b"char short int long unsigned float double size_t uint8_t int32_t uint32_t uint half".split())


def _is_scalar(source: CudaSource, bound: Binder, first: int, last: int) -> bool:
    """True for a number, a component, and for a variable that is declared as a number."""
    if _is_number(source, first, last):
        return True
    if source.at(last - 2) == b"." and source.at(last - 1) in _AXES and last - first == 3:
        return True
    seen = bound.scopes.visible(first) if last - first == 1 and source.is_ident(first) else None
    return seen is not None and source.at(seen.position - 1) in _NUMBERS


def _may_spread(source: CudaSource, bound: Binder, names: tuple[bytes, bytes], open_: int) -> bool:
    """True for one value in braces that may be a number and compiles: `= {x}` and `return {x}` do not."""
    parts = [part for part in arguments(source, open_, source.pairs[open_]) if part[0] < part[1]]
    if len(parts) != 1 or source.at(open_ - 1) in (b"=", b"return"):
        return False
    first, last = parts[0]
    if source.at(first) in (*names, b"make_" + names[1], b"{", b".") or source.at(last - 1) == source.at(open_ - 1):
        return False  # `: v{other.v}` copies the member
    seen = bound.scopes.visible(first) if last - first == 1 else None
    return seen is None or not {*names} & {*source.texts[max(seen.position - 2, 0) : seen.position]}


def _decomposed(source: CudaSource) -> Iterator[Finding]:
    """The first structured binding of as many names as a vector type may have components; indices have their rule."""
    for position in source.find(b"auto"):
        open_ = position + 1 + (source.at(position + 1) in (b"&", b"&&"))
        close = source.pairs.get(open_, open_)
        if source.at(open_) != b"[" or close - open_ not in (4, 6, 8) or source.at(close + 2) in INDICES:
            continue
        yield finding(
            RULE,
            source,
            position,
            "a structured binding cannot look into HIP's vector classes: rocport_vector.h gives it their components",
            last=close,
            applicability=Applicability.SAFE,
            headers=[HEADER],
        )
        return
