"""Gated edits of one file that is no CUDA source: what is applied, and what cannot be and why."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from rocport.model import Edit, Finding, Span
from rocport.port.edits import choose, edits_of, left_manual, replaced
from rocport.port.folding import misfit
from rocport.port.places import Place, Places, import_offset
from rocport.syntax.gating import is_setup_script
from rocport.syntax.python import parse


@dataclass(frozen=True)
class Gated:
    """The bytes of one file after its gated edits, and the findings as they turned out."""

    data: bytes
    findings: tuple[Finding, ...]
    compat: frozenset[str] = frozenset()
    """Names of the generated module that the file now uses."""
    compat_file: str = ""
    """Path of the generated module; empty when the file imports none."""


def apply_gated(path: str, data: bytes, language: str, findings: Sequence[Finding], places: Places) -> Gated:
    """Apply the edits of the findings to a file.

    An edited Python file must parse, and with every platform predicate False be the original. Findings whose edits
    break that, alone or together, keep no edit and become MANUAL with the reason; so does one whose edits overlap a
    wider finding's.
    """
    chosen, lost = choose(findings)
    refused = {id(finding): f"{other.rule} edits the text around it; look at it there" for finding, other in lost}
    editing = [finding for finding in chosen if finding.edits]
    check = _checked_python if language == "python" else _unchecked
    made = check(path, data, editing, places)
    if isinstance(made, str):
        alone = {id(finding): check(path, data, [finding], places) for finding in editing}
        refused |= {key: reason for key, reason in alone.items() if isinstance(reason, str)}
        editing = [finding for finding in editing if id(finding) not in refused]
        made = check(path, data, editing, places)
        if isinstance(made, str):
            refused |= {id(finding): made for finding in editing}
            editing, made = [], Gated(data, ())
    turned_out = tuple(
        left_manual(finding, refused[id(finding)]) if id(finding) in refused else finding for finding in findings
    )
    return Gated(made.data, turned_out, made.compat, made.compat_file)


def _unchecked(path: str, data: bytes, editing: list[Finding], places: Places) -> Gated | str:
    return Gated(replaced(data, edits_of(editing)), ())


def _checked_python(path: str, data: bytes, editing: list[Finding], places: Places) -> Gated | str:
    """The edited file with its import; the reason why not as text."""
    if not editing:
        return Gated(data, ())
    edited = replaced(data, edits_of(editing))
    wanted = frozenset().union(*(finding.compat for finding in editing))
    if not wanted:
        reason = misfit(data, edited)
        return reason or Gated(edited, ())
    if is_setup_script(path):
        return "this file runs before the package can be imported, so it cannot use the generated module"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = parse(edited)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"the edited text is no Python: {error}"
    found = places.places(path, tree)
    if isinstance(found, str):
        return found
    for place in found:
        if _imports(tree, place):
            return misfit(data, edited) or Gated(edited, (), wanted, place.file)
    for place in found:
        offset = import_offset(edited, tree, place.behind)
        if offset is not None:
            ported = replaced(edited, [Edit(Span(offset, offset), _import_line(edited, offset, place))])
            return misfit(data, ported) or Gated(ported, (), wanted, place.file)
    return "no line is free for the import of the generated module before its first use"


def _imports(tree: ast.Module, place: Place) -> bool:
    return any(
        isinstance(node, (ast.Import, ast.ImportFrom)) and ast.unparse(node) == place.statement for node in tree.body
    )


def _import_line(data: bytes, offset: int, place: Place) -> bytes:
    """The line, with the file's line ending, and a blank line after it where no import follows."""
    newline = b"\r\n" if b"\r\n" in data else b"\n" if b"\n" in data else b"\r" if b"\r" in data else b"\n"
    before = b"" if data[:offset] in (b"", b"\xef\xbb\xbf") or data[:offset].endswith((b"\n", b"\r")) else newline
    follows = data[offset:]
    gap = b"" if follows.startswith((b"import ", b"from ", b"\n", b"\r\n")) or not follows.strip() else newline
    return before + place.statement.encode() + newline + gap
