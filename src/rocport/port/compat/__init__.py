"""The module `_rocm_compat.py` a port puts into a Python package: only the parts the package uses.

`template.py.txt` is the whole module as a maintainer would read it. What is generated are the statements the wanted
names need, with the tables of gfx targets filled in from the facts.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import resources

from packaging.version import Version

from rocport.facts.packages import find_package
from rocport.facts.targets import all_targets
from rocport.syntax.python import parse

MODULE = "_rocm_compat"
FILE = MODULE + ".py"
PREDICATES = frozenset({"IS_ROCM", "WAVE64", "FP8_FNUZ"})
"""Names that are False everywhere but on ROCm, and may stand in a condition of a gated edit."""
_MARK = b"Written by rocport with what this package uses"


class UnknownNameError(ValueError):
    """An edit uses a name that the template does not define."""


def names() -> frozenset[str]:
    """Every name an edit may use."""
    return frozenset(name for name in _definitions() if not name.startswith("_"))


def is_generated(data: bytes) -> bool:
    """True for a `_rocm_compat.py` that rocport wrote; anyone else's is left alone."""
    return _MARK in data[:1000]


def names_in(data: bytes) -> frozenset[str]:
    """The names an earlier generated module serves; empty when it is no Python any more."""
    try:
        tree = parse(data)
    except (SyntaxError, ValueError):
        return frozenset()
    return frozenset(name for node in tree.body for name in _defined(node)) & names()


def render(wanted: frozenset[str]) -> bytes:
    """The module for these names. Raises UnknownNameError for a name the template does not define."""
    definitions = _definitions()
    unknown = wanted - names()
    if unknown:
        raise UnknownNameError(f"the compat template defines no {', '.join(sorted(unknown))}")
    text, tree = _template()
    needed: set[str] = set()
    todo = list(wanted)
    while todo:
        name = todo.pop()
        if name in needed:
            continue
        needed.add(name)
        if name in _facts():
            todo += ["_FACTS", "__getattr__", _facts()[name]]
        todo += [other for other in definitions[name] if other not in needed]
    lines = text.splitlines()
    pieces: list[str] = []
    end = 0
    for node in tree.body:
        first, last = _first_line(node), _last_line(lines, node)
        piece = "\n".join(lines[first:last])
        gap = "\n" * max(1, _blank_lines(lines, end, first) + 1)
        end = last
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imported = _imports(node, piece, needed)
            if imported:
                pieces.append(("\n\n" if pieces[-1].endswith("annotations") else gap) + imported)
        elif not _defined(node):
            pieces.append(gap + piece)
        elif needed & _defined(node):
            pieces.append(gap + (_only(piece, needed) if "_FACTS" in _defined(node) else piece))
    module = "".join(pieces).lstrip("\n") + "\n"
    return _filled(module).encode()


def _filled(module: str) -> str:
    """The tables of targets, from the facts; early names of a target count as the target."""
    tables = {"_WAVE64_TARGETS": set[str](), "_FNUZ_TARGETS": set[str]()}
    for target in all_targets():
        here = {target.name, *target.early_names}
        if target.wavefront == 64:
            tables["_WAVE64_TARGETS"] |= here
        if target.fp8 == "fnuz":
            tables["_FNUZ_TARGETS"] |= here
    for name, targets in tables.items():
        listed = ", ".join(f'"{target}"' for target in sorted(targets))
        module = module.replace(f"{name}: frozenset[str] = frozenset()", f"{name} = frozenset({_wrapped(listed)})")
    since = ", ".join(f"{wavefront}: {_bnb_since(wavefront)}" for wavefront in (32, 64))
    return module.replace("_BNB_64_SINCE: dict[int, tuple[int, ...]] = {}", f"_BNB_64_SINCE = {{{since}}}")


def _wrapped(listed: str) -> str:
    """A set literal, on a line of its own where it is long."""
    return f"\n    {{{listed}}}\n" if len(listed) > 80 else f"{{{listed}}}"


def _bnb_since(wavefront: int) -> tuple[int, ...]:
    """First bitsandbytes whose kernels take 4-bit blocks of 64 values on such wavefronts."""
    package = find_package("bitsandbytes")
    assert package is not None, "a package of the facts"
    (since,) = (rule.since for rule in package.blocksizes if rule.wavefront == wavefront and 64 in rule.sizes)
    return Version(since).release


@cache
def _template() -> tuple[str, ast.Module]:
    text = resources.files(__name__).joinpath("template.py.txt").read_text(encoding="utf-8")
    return text, parse(text)


@cache
def _definitions() -> dict[str, frozenset[str]]:
    """Name -> the names of the template its definition uses."""
    _, tree = _template()
    defined = {name: node for node in tree.body for name in _defined(node)}
    return {
        name: frozenset(
            inner.id
            for inner in ast.walk(node)
            if isinstance(inner, ast.Name) and inner.id in defined and name != "_FACTS"
        )
        - {name}
        for name, node in defined.items()
    }


@cache
def _facts() -> dict[str, str]:
    """Fact -> the function that computes it."""
    _, tree = _template()
    table = next(node for node in tree.body if "_FACTS" in _defined(node))
    assert isinstance(table, ast.AnnAssign) and isinstance(table.value, ast.Dict)
    return {
        ast.literal_eval(key): value.id
        for key, value in zip(table.value.keys, table.value.values, strict=True)
        if key is not None and isinstance(value, ast.Name)
    }


def _defined(node: ast.stmt) -> frozenset[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return frozenset({node.name})
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return frozenset({node.target.id})
    if isinstance(node, ast.Assign):
        return frozenset(target.id for target in node.targets if isinstance(target, ast.Name))
    return frozenset()


def _first_line(node: ast.stmt) -> int:
    """The first line of a statement, decorators included."""
    decorators = getattr(node, "decorator_list", [])
    first: int = min([node.lineno, *(item.lineno for item in decorators)])
    return first - 1


def _last_line(lines: list[str], node: ast.stmt) -> int:
    """The line after a statement, with the comment that follows a declaration."""
    last = node.end_lineno or node.lineno
    while isinstance(node, (ast.AnnAssign, ast.Assign)) and last < len(lines) and lines[last].startswith("#"):
        last += 1
    return last


def _blank_lines(lines: list[str], start: int, end: int) -> int:
    return sum(not line.strip() for line in lines[start:end])


def _imports(node: ast.Import | ast.ImportFrom, piece: str, needed: set[str]) -> str:
    """The import with what the chosen statements use; empty when they use none of it."""
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return piece
    _, tree = _template()
    used: set[str] = set()
    for statement in tree.body:
        if needed & _defined(statement):
            for inner in ast.walk(statement):
                if isinstance(inner, ast.Name):
                    used.add(inner.id)
                elif isinstance(inner, ast.Attribute):
                    used.add(ast.unparse(inner))
    if isinstance(node, ast.Import):
        return piece if node.names[0].name in used else ""
    kept = [alias.name for alias in node.names if alias.name in used]
    return f"from {node.module} import {', '.join(kept)}" if kept else ""


def _only(table: str, needed: set[str]) -> str:
    """The table of facts with the wanted rows."""
    rows = []
    for line in table.splitlines():
        key = re.match(r'\s+"(\w+)":', line)
        if key is None or key[1] in needed:
            rows.append(line)
    return "\n".join(rows)
