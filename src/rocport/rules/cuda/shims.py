"""Names that a port takes from one of its own headers, or that HIP spells otherwise: one table a rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rocport.binding.bind import Owner, binder
from rocport.model import Applicability, Context, Finding, Rule
from rocport.rules.cuda.common import finding, replace
from rocport.syntax.cuda import CudaSource


@dataclass(frozen=True)
class Shim:
    """What a name becomes. `header` is a generated header, or `<...>`, or empty."""

    to: bytes
    header: str = ""
    note: str = ""
    """What differs in a corner; a shim with a note is a REVIEW finding."""


def carried(header: str, *names: str, note: str = "") -> dict[bytes, Shim]:
    """Shims of `header` named after the intrinsics without their underscores."""
    return {name.encode(): Shim(b"rocport::" + name.lstrip("_").encode(), header, note) for name in names}


def rename(
    rule: Rule, source: CudaSource, context: Context, table: Mapping[bytes, Shim], any_type: bool = False
) -> Iterator[Finding]:
    """A finding at every use of a name of the table that is CUDA's own.

    A member of that name, and a macro of the project's, are not CUDA's. A function of the project's that the file's
    units compile is an overload beside CUDA's: which one a call means is known to the compiler alone, so the name
    stays, but where the shim takes `any_type` and does for it what CUDA does for its own.
    """
    for name in source.names & table.keys():
        bound = binder(source, context)
        overloads = [
            item for item in bound.definitions(name, "function") if item.live != (False, False) and not item.owner
        ]
        if overloads and not any_type:
            continue
        shim = table[name]
        note = shim.note
        if overloads:
            note = f"the project has an overload of its own ({overloads[0].path or source.path}:{overloads[0].line})"
        for position in source.find(name):
            if source.at(position - 1) in (b".", b"->") or source.qualified(position) or _defines(source, position):
                continue
            if _declares(source, position) or bound.bind(position).owner is not Owner.CUDA:
                continue
            instead = shim.to.decode()
            yield finding(
                rule,
                source,
                position,
                f"{name.decode()} is not in HIP; {instead}" + (f": {note}" if note else " computes the same"),
                applicability=Applicability.REVIEW if note else Applicability.SAFE,
                edits=[replace(source, position, shim.to)],
                headers=[shim.header] if shim.header else [],
            )


def _declares(source: CudaSource, position: int) -> bool:
    """True for the name of a function that is declared or defined here: a type stands before it."""
    open_ = position + 1
    before = source.at(position - 1)
    if source.at(open_) != b"(" or open_ not in source.pairs or before in (b"return", b"else", b"do"):
        return False
    return (source.is_ident(position - 1) or before in (b"*", b"&", b">")) and source.at(
        source.pairs[open_] + 1
    ) == b"{"


def _defines(source: CudaSource, position: int) -> bool:
    directive = source.directive_of(position)
    return (
        directive is not None
        and directive.name in (b"define", b"undef", b"include")
        and position == directive.first + 2
    )
