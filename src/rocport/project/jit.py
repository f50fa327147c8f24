"""Extensions that a program builds when it runs: the sources and macros of `torch.utils.cpp_extension.load(...)` calls.

Such a call often puts a macro together from what the program knows only then (`f"-D_N_={head_size}"`). What stands in
the file as a constant is taken; a macro whose value does not is named as computed.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from rocport.syntax.python import parse

_FLAGS = frozenset({"extra_cflags", "extra_cuda_cflags"})
_MACRO = re.compile(r"-D\s*([A-Za-z_]\w*)(?:=(.*))?", re.S)
_UNKNOWN = "\0"
_DEEPEST = 8


@dataclass(frozen=True)
class Loaded:
    """One call. `sources` are as spelled, from the folder where the program runs; `*` for what is put together."""

    sources: tuple[str, ...]
    defines: tuple[str, ...]
    computed: tuple[str, ...]
    """Macros whose value is not in the file."""


def python_loads(text: str) -> list[Loaded]:
    """The calls of a Python file; none for a file that does not parse."""
    try:
        tree = parse(text)
    except (SyntaxError, ValueError):
        return []
    assigned: dict[str, list[ast.expr]] = defaultdict(list)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    assigned[target.id].append(node.value)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            assigned[node.target.id].append(node.value)
    return [found for node in ast.walk(tree) if isinstance(node, ast.Call) for found in _loaded(node, assigned)]


def _loaded(call: ast.Call, assigned: dict[str, list[ast.expr]]) -> Iterator[Loaded]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    given = {keyword.arg: keyword.value for keyword in call.keywords}
    sources = given.get("sources") or (call.args[1] if len(call.args) > 1 else None)
    if name != "load" or sources is None:
        return
    defines: list[str] = []
    computed: list[str] = []
    for flag in (text for key in sorted(_FLAGS & given.keys()) for text in _texts(given[key], assigned, _DEEPEST)):
        if match := _MACRO.fullmatch(flag.strip()):
            if _UNKNOWN in flag:
                computed.append(match[1])
            else:
                defines.append(flag.strip()[2:].strip())
    spelled = (text.replace(_UNKNOWN, "*").removeprefix("./") for text in _texts(sources, assigned, _DEEPEST))
    yield Loaded(tuple(spelled), tuple(dict.fromkeys(defines)), tuple(dict.fromkeys(computed)))


def _texts(node: ast.expr, assigned: dict[str, list[ast.expr]], depth: int) -> Iterator[str]:
    """The texts in an expression, names followed to what is assigned to them."""
    text = _text(node, assigned, depth)
    if text is not None:
        yield text
    elif depth and isinstance(node, ast.Name):
        for value in assigned.get(node.id, ()):
            yield from _texts(value, assigned, depth - 1)
    elif depth:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                yield from _texts(child, assigned, depth - 1)


def _text(node: ast.expr, assigned: dict[str, list[ast.expr]], depth: int) -> str | None:
    """An expression that is text, as far as the file tells it; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else _value(part.value, assigned, depth)
            for part in node.values
            if isinstance(part, ast.Constant | ast.FormattedValue)
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        left = _text(node.left, assigned, depth)
        if left is None or isinstance(node.op, ast.Mod):
            return None if left is None else left.partition("%")[0] + _UNKNOWN
        return left + _value(node.right, assigned, depth)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        left = _text(node.func.value, assigned, depth)
        return None if left is None else left.partition("{")[0] + _UNKNOWN
    return None


def _value(node: ast.expr, assigned: dict[str, list[ast.expr]], depth: int) -> str:
    """What an expression puts into a text: a constant of the file, or unknown."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("str", "int") and len(node.args) == 1:
        return _value(node.args[0], assigned, depth)
    if isinstance(node, ast.Name) and depth and len(assigned.get(node.id, ())) == 1:
        return _value(assigned[node.id][0], assigned, depth - 1)
    return _text(node, assigned, depth) or _UNKNOWN
