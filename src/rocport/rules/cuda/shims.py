"""Names that a port takes from one of its own headers, or that HIP spells otherwise: one table a rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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


def rename(rule: Rule, source: CudaSource, context: Context, table: Mapping[bytes, Shim]) -> Iterator[Finding]:
    """A finding at every use of a name of the table that is CUDA's own.

    A member of that name, and a name that the project defines itself (as a macro or a device function), are not CUDA's.
    """
    project = context.project
    for name in source.names & table.keys():
        if name in project.macros or name in project.device_functions:
            continue
        shim = table[name]
        for position in source.find(name):
            if source.at(position - 1) in (b".", b"->") or _qualified(source, position) or _defines(source, position):
                continue
            instead = shim.to.decode()
            yield finding(
                rule,
                source,
                position,
                f"{name.decode()} is not in HIP; {instead}" + (f": {shim.note}" if shim.note else " computes the same"),
                applicability=Applicability.REVIEW if shim.note else Applicability.SAFE,
                edits=[replace(source, position, shim.to)],
                headers=[shim.header] if shim.header else [],
            )


def _qualified(source: CudaSource, position: int) -> bool:
    return source.at(position - 1) == b"::" and source.is_ident(position - 2)


def _defines(source: CudaSource, position: int) -> bool:
    directive = source.directive_of(position)
    return (
        directive is not None
        and directive.name in (b"define", b"undef", b"include")
        and position == directive.first + 2
    )
