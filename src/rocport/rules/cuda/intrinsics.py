"""Names that a port takes from one of its own headers, or that HIP spells otherwise: a rule for each group of facts.

One check over one table, `facts/intrinsics.toml`, which says of each group why it is missing and when the change is
right.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from rocport.binding.bind import Owner, binder
from rocport.facts.intrinsics import Intrinsics, intrinsics
from rocport.model import Applicability, Context, Finding, Rule
from rocport.rules import LoadedRule
from rocport.rules.cuda.common import finding, replace
from rocport.syntax.cuda import CudaSource


def _rule(group: Intrinsics) -> Rule:
    return Rule(
        name=group.name,
        summary=group.summary,
        severity=group.severity,
        applicability=group.applicability,
        phase=2,
        triggers=frozenset(group.names),
        claims=frozenset(group.names),
        examples=group.examples,
        clean=group.clean,
        sources=group.sources,
    )


def check(group: Intrinsics, rule: Rule, source: CudaSource, context: Context) -> Iterator[Finding]:
    """A finding at every use of a name of the group that is CUDA's own.

    A member of that name, and a macro of the project's, are not CUDA's. A function of the project's that the file's
    units compile is an overload beside CUDA's: which one a call means is known to the compiler alone, so the name
    stays, but where the header does for any type what CUDA does for its own. A note is for REVIEW once a file.
    """
    told: set[str] = set()
    # Not source.names: a name in a comment or a string is no token.
    for name in sorted(source.index.keys() & group.names.keys(), key=lambda name: source.index[name][0]):
        bound = binder(source, context)
        overloads = [
            item for item in bound.definitions(name, "function") if item.live != (False, False) and not item.owner
        ]
        if overloads and not group.any_type:
            continue
        carried = group.names[name]
        note = carried.note
        if overloads:
            note = f"the project has an overload of its own ({overloads[0].path or source.path}:{overloads[0].line})"
        for position in source.find(name):
            if source.at(position - 1) in (b".", b"->") or source.qualified(position) or _is_macro(source, position):
                continue
            if _declares(source, position) or bound.bind(position).owner is not Owner.CUDA:
                continue
            instead = f"{carried.to.decode()} computes the same"
            if note or carried.settled:
                instead = f"{carried.to.decode()}: {note}" if note else carried.settled
            quiet = not note or note in told
            yield finding(
                rule,
                source,
                position,
                f"{name.decode()} is not in HIP; {instead}",
                applicability=Applicability.SAFE if quiet else Applicability.REVIEW,
                edits=[replace(source, position, carried.to)],
                headers=[carried.header] if carried.header else [],
                cause="" if quiet else note,
            )
            told.add(note)


def _declares(source: CudaSource, position: int) -> bool:
    """True for the name of a function that is declared or defined here: a type stands before it."""
    open_ = position + 1
    before = source.at(position - 1)
    if source.at(open_) != b"(" or open_ not in source.pairs or before in (b"return", b"else", b"do"):
        return False
    return (source.is_ident(position - 1) or before in (b"*", b"&", b">")) and source.at(
        source.pairs[open_] + 1
    ) == b"{"


def _is_macro(source: CudaSource, position: int) -> bool:
    directive = source.directive_of(position)
    included = directive is not None and directive.name == b"include" and position == directive.first + 2
    return included or source.names_macro(position)


RULES = tuple(
    LoadedRule(rule, partial(check, group, rule), group.why, __name__)
    for group in intrinsics()
    for rule in (_rule(group),)
)
