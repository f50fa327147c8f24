"""A header of helpers may name what HIP lacks in one function of many, which most of the programs that include it never
call: `cusolver_utils.h` of NVIDIA's library samples translates a word into `cusolverIRSRefinement_t`, and 39 programs
did not compile for it.

On AMD such a function is declared as deleted: it takes part in overloads as before, and whoever calls it is told so by
the compiler, at the call. A constant or another name for a type is left out there, as is a function whose parameters
are of a type that HIP lacks: nobody can call it. The name that HIP lacks stays a MANUAL finding of `api-identifier`.

REVIEW: code that asks at compile time whether a declaration is there (`if constexpr (requires ...)`) takes its other
way. Constructors, virtual functions, kernels, members of objects, and all that stands in a source file stay as they
are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from rocport.binding import Binder, Owner, binder
from rocport.binding.branches import branches
from rocport.binding.scopes import Kind
from rocport.facts.symbols import load
from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity
from rocport.project.languages import HEADERS, suffix_of
from rocport.rules.cuda.api_identifier import claimed, lacking
from rocport.rules.cuda.common import finding, insert, replace
from rocport.rules.cuda.definitions import PLATFORM, leave_out_on_hip
from rocport.syntax.cuda import CudaSource
from rocport.syntax.declarations import definition_start

RULE = Rule(
    name="header-declaration",
    summary="declaration of a header that HIP cannot have",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.REVIEW,
    phase=2,
    binds=True,
    triggers=frozenset(name for name, symbol in load().identifiers.items() if not symbol.hip),
    examples=(
        Example(
            "#include <cusolverDn.h>\ninline int refines(bool b) {\n  return b ? CUSOLVER_IRS_REFINE_GMRES : 0;\n}\n",
            contains=(
                "inline int refines(bool b) \n#if ROCPORT_HIP  // HIP has no CUSOLVER_IRS_REFINE_GMRES\n= delete;",
            ),
            path="u.h",
        ),
        Example(
            "#include <cusolverDn.h>\ncusolverIRSRefinement_t refinement(int i) { return CUSOLVER_IRS_REFINE_NONE; }\n",
            contains=("#if ROCPORT_HIP\nvoid\n#else\ncusolverIRSRefinement_t\n#endif\n refinement(int i)",),
            path="u.h",
        ),
        Example(
            "#include <cusolverDn.h>\ntemplate <typename T> struct traits;\ntemplate <> struct traits<float> {\n"
            "  static constexpr cusolverPrecType_t kind = CUSOLVER_R_32F;\n  static float zero() { return 0; }\n};\n",
            contains=("#if !ROCPORT_HIP  // HIP has no cusolverPrecType_t, CUSOLVER_R_32F\n  static constexpr",),
            path="u.h",
        ),
        Example(
            "#include <cusolverDn.h>\nvoid use(cusolverIRSRefinement_t r, int n);\nusing kind = cusolverPrecType_t;\n",
            contains=("#if !ROCPORT_HIP  // HIP has no cusolverIRSRefinement_t\nvoid use", "\nusing kind"),
            path="u.h",
        ),
    ),
    clean=(
        "#include <cusolverDn.h>\nint f() { return CUSOLVER_IRS_REFINE_GMRES; }\n",
        "struct S {\n  cusolverIRSRefinement_t how;\n  virtual int g() { return CUSOLVER_IRS_REFINE_GMRES; }\n"
        "  S() { how = CUSOLVER_IRS_REFINE_NONE; }\n};\n",
    ),
    sources=("a deleted function takes part in overload resolution: ISO C++17, 11.4.3 [dcl.fct.def.delete]",),
)

_NOT_DELETED = frozenset(
    b"virtual override final friend operator __global__ typedef using static_assert namespace".split()
)


@cache
def _lacking() -> frozenset[bytes]:
    return RULE.triggers - claimed()


def check(source: CudaSource, context: Context) -> Iterator[Finding]:
    if suffix_of(source.path) not in HEADERS:
        return
    bound = binder(source, context)
    view = branches(source, context.project.torch_extension)
    found: dict[tuple[int, int], list[int]] = {}
    for position in sorted(source.find(*(source.names & _lacking()))):
        if source.directive_of(position) is not None or view.is_dead(source.starts[position]):
            continue
        if source.at(position - 1) == b"case" or bound.bind(position).owner is Owner.PROJECT:
            continue
        span = _declaration(source, bound, position)
        if span is not None:
            found.setdefault(span, []).append(position)
    for (first, last), positions in found.items():
        yield from _left_out(source, bound, first, last, positions)


def _declaration(source: CudaSource, bound: Binder, position: int) -> tuple[int, int] | None:
    """The declaration at the scope of a file, namespace or class that holds a token: its tokens [first, last]."""
    last = position
    for scope in bound.scopes.enclosing(position):
        if scope.kind in (Kind.NAMESPACE, Kind.CLASS):
            break
        if scope.kind is Kind.ENUM:
            return None
        last = scope.close
    first = definition_start(source, source.pairs[last] if source.at(last) == b"}" else last)
    while source.at(last) != b";" and not _is_body(bound, last):
        last += 1
        if last >= len(source.texts) or source.directive_of(last) is not None:
            return None
        last = source.pairs.get(last, last) if source.at(last) in (b"{", b"(", b"[") else last
    depth = 0
    for directive in source.directives:
        if first <= directive.first <= last:
            depth += directive.name.startswith(b"if") - (directive.name == b"endif")
    return (first, last) if depth == 0 else None


def _is_body(bound: Binder, close: int) -> bool:
    open_ = bound.source.pairs.get(close) if bound.source.at(close) == b"}" else None
    return open_ is not None and bound.scopes.scope(open_).kind is Kind.FUNCTION


def _left_out(source: CudaSource, bound: Binder, first: int, last: int, positions: list[int]) -> Iterator[Finding]:
    names = list(dict.fromkeys(source.at(position) for position in positions))
    lacks = b", ".join(names) if len(names) < 4 else b"%b and %d more" % (b", ".join(names[:2]), len(names) - 2)
    call = _parameters(source, first, last)
    if call is None:
        named = _constant(source, bound, first, last)
        edits = leave_out_on_hip(source, first, last, b"HIP has no " + lacks) if named else []
        done = "left out"
    else:
        named, close = call
        takes = any(named < position < close for position in positions)
        edits = (
            leave_out_on_hip(source, first, last, b"HIP has no " + lacks)
            if takes
            else _deleted(source, bound, named, close, last, positions, lacks)
        )
        done = "left out" if takes else "declared as deleted"
    if named and edits and source.at(named) not in names:  # a copy of CUDA's own header declares what nobody else has
        name = source.at(named).decode()
        yield finding(
            RULE,
            source,
            named,
            f"{name} needs {lacks.decode()}, which HIP lacks: on AMD it is {done}, so that what includes this header "
            "and does not use it compiles",
            edits=edits,
            headers=[PLATFORM],
            fix=f"write {name} again with what HIP has, if something uses it",
            cause=lacking(load().identifiers[names[0]]),
        )


def _parameters(source: CudaSource, first: int, last: int) -> tuple[int, int] | None:
    """Name and closing parenthesis of a function that a declaration declares."""
    at = first
    while at < last and source.at(at) not in (b"=", b"{", b";"):
        end = source.angle_end(at) if source.at(at) == b"<" else None
        if source.at(at) == b"(" and source.is_ident(at - 1) and source.at(at - 1) not in _SPECIFIERS:
            return (at - 1, source.pairs[at]) if at in source.pairs else None
        at = (end or source.pairs.get(at, at) if source.at(at) in (b"<", b"(", b"[") else at) + 1
    return None


_SPECIFIERS = (b"__attribute__", b"alignas", b"__align__", b"decltype", b"explicit", b"noexcept", b"__declspec")


def _constant(source: CudaSource, bound: Binder, first: int, last: int) -> int:
    """The name of a constant, or of another name for a type, that a declaration declares; 0 for what else it is."""
    words = [at for at in range(first, last) if source.is_ident(at)]
    if not words or source.at(last) != b";" or any(source.at(at) in (b"struct", b"class", b"enum") for at in words):
        return 0
    if source.at(first) == b"typedef":
        return words[-1]
    if source.at(first) == b"using":
        return first + 1 if source.at(first + 2) == b"=" else 0
    inside = any(scope.kind is Kind.CLASS for scope in bound.scopes.enclosing(first))
    kept = (b"static",) if inside else (b"static", b"constexpr", b"const")
    value = next((at for at in range(first, last) if source.at(at) in (b"=", b"{", b"[")), 0)
    return value - 1 if value and any(source.at(at) in kept for at in range(first, value)) else 0


def _deleted(
    source: CudaSource, bound: Binder, named: int, close: int, last: int, positions: list[int], lacks: bytes
) -> list[Edit]:
    """Edits that delete a function on AMD; none where it cannot be."""
    head = {source.at(at) for at in range(definition_start(source, named), named)}
    scope = next((scope for scope in bound.scopes.enclosing(named) if scope.kind is Kind.CLASS), None)
    after = {source.at(at) for at in range(close + 1, min(close + 4, last))}
    special = scope is not None and scope.name == source.at(named)
    if special or source.at(named - 1) in (b"::", b"~") or (head | after) & _NOT_DELETED or not head:
        return []
    body = source.pairs[last] if source.at(last) == b"}" else last
    newline = source.newline
    edits = []
    for position in positions:
        if position > named:
            continue
        if source.at(position - 1) in (b"<", b",") or source.at(position + 1) in (b"&", b"&&", b">", b","):
            return []
        text = newline.join((b"", b"#if ROCPORT_HIP", b"void", b"#else", source.at(position), b"#endif", b""))
        edits.append(replace(source, position, text))
    opening = newline.join((b"", b"#if ROCPORT_HIP  // HIP has no " + lacks, b"= delete;", b"#else", b""))
    start = source.starts[body]
    return [*edits, insert(start, opening), insert(source.end(last), newline + b"#endif" + newline)]
