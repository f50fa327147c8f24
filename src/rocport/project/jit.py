"""Extensions that a program builds when it runs: the sources and macros of `torch.utils.cpp_extension.load(...)` calls.

Such a call often puts a macro together from what the program knows only then (`f"-D_N_={head_size}"`). What stands in
the file as a constant is taken; a macro whose value does not is named as computed.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from rocport.syntax.python import parse

_FLAGS = frozenset({"extra_cflags", "extra_cuda_cflags"})
_MACRO = re.compile(r"-D\s*([A-Za-z_]\w*)(?:=(.*))?", re.S)
_UNKNOWN = "\0"
_DEEPEST = 8
_LONGEST = 4096
"""Characters of a value; a flag is shorter."""


@dataclass(frozen=True)
class Loaded:
    """One call. `sources` are as spelled, from the folder where the program runs; `*` for what is put together."""

    sources: tuple[str, ...]
    defines: tuple[str, ...]
    computed: tuple[str, ...]
    """Macros whose value is not in the file."""


@dataclass
class _Names:
    assigned: dict[str, list[ast.expr]]
    values: dict[str, str] = field(default_factory=dict)
    """What each name puts into a text: read once."""


def python_loads(text: str) -> list[Loaded]:
    """The calls of a Python file; none for a file that does not parse, or nests deeper than Python follows."""
    try:
        return _loads(parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _loads(tree: ast.Module) -> list[Loaded]:
    assigned: dict[str, list[ast.expr]] = defaultdict(list)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    assigned[target.id].append(node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            assigned[node.target.id].append(node.value)
    names = _Names(assigned)
    return [found for node in ast.walk(tree) if isinstance(node, ast.Call) for found in _loaded(node, names)]


def _loaded(call: ast.Call, names: _Names) -> Iterator[Loaded]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    sources = given.get("sources") or (call.args[1] if len(call.args) > 1 else None)
    if name != "load" or sources is None:
        return
    defines: list[str] = []
    computed: list[str] = []
    for flag in (text for key in sorted(_FLAGS & given.keys()) for text in _texts(given[key], names, _DEEPEST, set())):
        if match := _MACRO.fullmatch(flag.strip()):
            if _UNKNOWN in flag:
                computed.append(match[1])
            else:
                defines.append(flag.strip()[2:].strip())
    spelled = (text.replace(_UNKNOWN, "*").removeprefix("./") for text in _texts(sources, names, _DEEPEST, set()))
    yield Loaded(tuple(spelled), tuple(dict.fromkeys(defines)), tuple(dict.fromkeys(computed)))


def _texts(node: ast.expr, names: _Names, depth: int, seen: set[str]) -> Iterator[str]:
    """The texts in an expression, names followed to what is assigned to them, each once: `flags = [*flags, "-O3"]`."""
    text = _text(node, names, depth)
    if text is not None:
        yield text
    elif depth and isinstance(node, ast.Name):
        if node.id not in seen:
            seen.add(node.id)
            for value in names.assigned.get(node.id, ()):
                yield from _texts(value, names, depth - 1, seen)
    elif depth:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _texts(child, names, depth - 1, seen)


def _text(node: ast.expr, names: _Names, depth: int) -> str | None:
    """An expression that is text, as far as the file tells it; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else _value(part.value, names, depth)
            for part in node.values
            if isinstance(part, ast.Constant | ast.FormattedValue)
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        left = _text(node.left, names, depth)
        if left is None or isinstance(node.op, ast.Mod):
            return None if left is None else left.partition("%")[0] + _UNKNOWN
        return left + _value(node.right, names, depth)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        left = _text(node.func.value, names, depth)
        return None if left is None else left.partition("{")[0] + _UNKNOWN
    return None


def _value(node: ast.expr, names: _Names, depth: int) -> str:
    """What an expression puts into a text: a constant of the file, or unknown."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("str", "int") and len(node.args) == 1:
        return _value(node.args[0], names, depth)
    if isinstance(node, ast.Name) and depth and len(names.assigned.get(node.id, ())) == 1:
        if node.id not in names.values:
            names.values[node.id] = _UNKNOWN
            value = _value(names.assigned[node.id][0], names, depth - 1)
            names.values[node.id] = value if len(value) <= _LONGEST else _UNKNOWN
        return names.values[node.id]
    return _text(node, names, depth) or _UNKNOWN
