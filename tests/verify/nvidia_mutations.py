"""Plants changes that reach the NVIDIA path in a ported tree, every one of which the checker must catch.

The changes are found in the text itself, in a fixed order: no chance is involved. A tree is a mapping of paths to
`Entry`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Entry:
    """A file: its bytes and mode, or the place a symbolic link points to."""

    data: bytes
    executable: bool = False
    link: str = ""


Tree = Mapping[str, Entry]


@dataclass(frozen=True)
class Mutation:
    """One planted change. `where` says the place in words; `tree` is the whole tree with it."""

    kind: str
    where: str
    tree: Tree


def tree_of(files: Mapping[str, str | bytes]) -> dict[str, Entry]:
    return {path: Entry(text if isinstance(text, bytes) else text.encode()) for path, text in files.items()}


def mutations(ported: Tree, original: Tree, most: int = 4) -> Iterator[Mutation]:
    """Changes of every kind, at most `most` of a kind in a file. Of generated modules, which are alike, the first."""
    for path in sorted(ported):
        data = ported[path].data
        name = path.rpartition("/")[2]
        makers: list[Callable[[bytes, bytes | None], Iterator[tuple[str, int, bytes]]]] = []
        if path in original and path.endswith(".py") and name != "_rocm_compat.py":
            makers = [_python_gates, _python_plain, _python_names]
        elif name == "_rocm_compat.py":
            first = min(item for item in ported if item.endswith(name))
            makers = [_generated] if path == first else []
        elif name == "CMakeLists.txt" and path in original:
            makers = [_cmake]
        elif name == "Makefile" and path in original:
            makers = [_make]
        elif name == "meson.build" and path in original:
            makers = [_meson]
        elif path in original and name.endswith((".cpp", ".h", ".cu", ".cuh")):
            makers = [_c]
        elif path in original:
            makers = [_text]
        before = original[path].data if path in original else None
        counted: dict[str, int] = {}
        for maker in makers:
            for kind, line, made in maker(data, before):
                if made != data and counted.get(kind, 0) < most:
                    counted[kind] = counted.get(kind, 0) + 1
                    yield Mutation(kind, f"{path}:{line}", {**ported, path: replace(ported[path], data=made)})
    yield from _files(ported, original)


# Python.


class _Source:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.tree = ast.parse(data)
        self.starts = [0]
        for line in data.split(b"\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)

    def start(self, node: ast.AST) -> int:
        return self.starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]

    def end(self, node: ast.AST) -> int:
        return self.starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]

    def text(self, node: ast.AST) -> bytes:
        return self.data[self.start(node) : self.end(node)]

    def splice(self, node: ast.AST, text: bytes) -> bytes:
        return self.data[: self.start(node)] + text + self.data[self.end(node) :]

    def lines(self, first: int, last: int, text: bytes = b"") -> bytes:
        """The module with lines `first` to `last` (1-based) replaced."""
        return self.data[: self.starts[first - 1]] + text + self.data[self.starts[last] :]

    def indent(self, node: ast.stmt) -> bytes:
        return b" " * node.col_offset


_GATE = re.compile(r"\b_IS_ROCM\b|\b_rocm_compat\.")


def _gated(source: _Source, node: ast.AST) -> bool:
    return _GATE.search(source.text(node).decode()) is not None


def _valid(data: bytes) -> bool:
    try:
        compile(data, "<mutation>", "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _same(a: ast.AST, b: ast.AST) -> bool:
    return ast.dump(a) == ast.dump(b)


def _python_gates(data: bytes, before: bytes | None) -> Iterator[tuple[str, int, bytes]]:
    for kind, line, made in _python_gates_unchecked(_Source(data)):
        if _valid(made):
            yield kind, line, made


def _python_gates_unchecked(source: _Source) -> Iterator[tuple[str, int, bytes]]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.IfExp) and _gated(source, node.test) and not _same(node.body, node.orelse):
            body, orelse, test = source.text(node.body), source.text(node.orelse), source.text(node.test)
            line = node.lineno
            yield "gated value: gate taken away", line, source.splice(node, body)
            swapped = orelse + b" if " + test + b" else " + body
            yield "gated value: branches swapped", line, source.splice(node, swapped)
            yield "gated value: gate inverted", line, source.splice(node.test, b"not " + test)
            yield "gated value: gate always true", line, source.splice(node.test, b"True")
            yield "gated value: gate weakened with or", line, source.splice(node.test, test + b" or True")
            yield "gated value: original replaced", line, source.splice(node.orelse, b"None")
            yield "gated value: gate of another name", line, source.splice(node.test, b"_IS_GPU")
            for item in ast.walk(node.orelse):
                if isinstance(item, ast.Constant) and isinstance(item.value, int) and not isinstance(item.value, bool):
                    yield (
                        "gated value: number of the original changed",
                        line,
                        source.splice(item, b"%d" % (item.value + 1)),
                    )
                elif (
                    isinstance(item, ast.Constant) and isinstance(item.value, str) and source.text(item)[-1:] in b"\"'"
                ):
                    text = source.text(item)
                    changed = text[:-1] + b" " + text[-1:]
                    yield "gated value: space in a string of the original", line, source.splice(item, changed)
        elif isinstance(node, ast.If) and _gated(source, node.test):
            yield from _gated_block(source, node)


def _gated_block(source: _Source, node: ast.If) -> Iterator[tuple[str, int, bytes]]:
    test = source.text(node.test)
    if isinstance(node.test, ast.BoolOp):
        gate = next(item for item in node.test.values if _gated(source, item))
        others = [item for item in node.test.values if item is not gate]
        other = source.text(others[0])
        line = node.lineno
        if isinstance(gate, ast.UnaryOp):
            inner = source.text(gate.operand)
            yield "gated condition: inverted", line, source.splice(node.test, inner + b" and " + other)
            yield "gated condition: and became or", line, source.splice(node.test, source.text(gate) + b" or " + other)
            yield "gated condition: original dropped", line, source.splice(node.test, source.text(gate))
            yield "gated condition: original negated", line, source.splice(others[0], b"not (" + other + b")")
        return
    line = node.lineno
    yield "gated block: gate taken away", line, source.splice(node.test, b"True")
    yield "gated block: gate inverted", line, source.splice(node.test, b"not (" + test + b")")
    if not test.startswith(b"not "):
        # `not X` is never None either way.
        yield "gated block: gate compared with None", line, source.splice(node.test, b"(" + test + b") is not None")
    if node.orelse:
        last = node.orelse[-1]
        first_line = node.orelse[0].lineno
        if len(node.orelse) > 1:
            yield (
                "gated block: statement of the original dropped",
                last.lineno,
                source.lines(last.lineno, last.end_lineno or last.lineno),
            )
            a, b = node.orelse[0], node.orelse[1]
            if not _same(a, b) and a.end_lineno == b.lineno - 1:
                both = source.lines(a.lineno, b.end_lineno or b.lineno, _whole(source, b) + _whole(source, a))
                yield "gated block: statements of the original reordered", first_line, both
        yield (
            "gated block: original replaced by pass",
            first_line,
            source.lines(first_line, last.end_lineno or last.lineno, source.indent(last) + b"pass\n"),
        )
        added = source.indent(last) + b"import gc\n"
        yield (
            "gated block: statement added to the original",
            first_line,
            source.lines(first_line, first_line - 1, added),
        )
    body = node.body[-1]
    end = body.end_lineno or body.lineno
    leaked = (
        source.data[: source.starts[end]] + b" " * node.col_offset + b"gc = 1\n" + source.data[source.starts[end] :]
    )
    if not node.orelse:
        yield "gated block: last line out of the block", end, leaked


def _whole(source: _Source, node: ast.stmt) -> bytes:
    return source.data[source.starts[node.lineno - 1] : source.starts[node.end_lineno or node.lineno]]


def _after_head(source: _Source) -> int:
    """The line after the docstring and the `__future__` imports."""
    line = 0
    for node in source.tree.body:
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not future and not text:
            break
        line = node.end_lineno or node.lineno
    return line


def _python_plain(data: bytes, before: bytes | None) -> Iterator[tuple[str, int, bytes]]:
    source = _Source(data)
    for kind, line, made in _python_plain_unchecked(source):
        if _valid(made):
            yield kind, line, made


def _python_plain_unchecked(source: _Source) -> Iterator[tuple[str, int, bytes]]:
    body = source.tree.body
    if not body:
        return
    head = _after_head(source)
    at = source.starts[head]

    def insert(text: bytes) -> bytes:
        return source.data[:at] + text + source.data[at:]

    yield "import added", head + 1, insert(b"import gc\n")
    yield "environment variable set", head + 1, insert(b'import os as _os\n_os.environ["HIP_VISIBLE_DEVICES"] = "0"\n')
    yield "star import added", head + 1, insert(b"from math import *\n")
    yield "warning filter added", head + 1, insert(b'import warnings as _w\n_w.simplefilter("ignore")\n')
    yield "statement before the docstring", 1, b"_X = 1\n" + source.data
    yield "type comment added", head + 1, insert(b"# type: ignore[import]\n")
    yield "encoding line added", 1, b"# -*- coding: latin-1 -*-\n" + source.data
    yield "interpreter line changed", 1, b"#!/usr/bin/env python3.99\n" + source.data
    if head and isinstance(body[0], ast.Expr):
        yield "docstring changed", 1, source.splice(body[0], b'"""Another one."""')
        yield "docstring gated", 1, source.splice(body[0], b"1\n" + source.text(body[0]))
    for node in ast.walk(source.tree):
        if isinstance(node, ast.FunctionDef) and not _gated(source, node) and not _under_gate(source, node):
            first = node.body[0]
            place = source.starts[first.lineno - 1]
            pad = source.indent(first)
            yield "return added", first.lineno, source.data[:place] + pad + b"return None\n" + source.data[place:]
            if node.args.defaults:
                yield "default changed", node.lineno, source.splice(node.args.defaults[0], b"12345")
            elif node.args.args:
                yield (
                    "default added",
                    node.lineno,
                    source.splice(node.args.args[-1], source.text(node.args.args[-1]) + b"=7"),
                )
            if node.decorator_list:
                item = node.decorator_list[0]
                yield "decorator dropped", item.lineno, source.lines(item.lineno, item.end_lineno or item.lineno)
        elif isinstance(node, ast.Constant) and type(node.value) is int and node.lineno > head:
            inside = any(_gated(source, item) for item in _statements_around(source.tree, node))
            if not inside:
                yield "number changed", node.lineno, source.splice(node, b"%d" % (node.value + 1))
        elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Lt):
            yield (
                "comparison changed",
                node.lineno,
                source.splice(node, source.text(node.left) + b" <= " + source.text(node.comparators[0])),
            )
        elif isinstance(node, ast.Attribute) and node.attr == "cuda" and not _under_gate(source, node):
            yield "cuda became hip", node.lineno, source.splice(node, source.text(node.value) + b".hip")
    for a, b in zip(body[head and 1 :], body[head and 2 :], strict=False):
        ours = any(b"_rocm_compat" in source.text(item) or b"_IS_ROCM" in source.text(item) for item in (a, b))
        if not _same(a, b) and not ours and a.end_lineno == b.lineno - 1:
            if isinstance(a, ast.ImportFrom) and a.module == "__future__":
                continue
            swapped = source.lines(a.lineno, b.end_lineno or b.lineno, _whole(source, b) + _whole(source, a))
            yield "statements reordered", a.lineno, swapped
    last = body[-1]
    yield "last statement dropped", last.lineno, source.lines(_top(last), last.end_lineno or last.lineno)
    yield "last statement doubled", last.lineno, source.data + b"\n" + _whole(source, last)


def _top(node: ast.stmt) -> int:
    return min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])


def _statements_around(tree: ast.Module, node: ast.AST) -> list[ast.stmt]:
    return [
        item
        for item in ast.walk(tree)
        if isinstance(item, ast.stmt)
        and item.lineno <= node.lineno <= (item.end_lineno or item.lineno)  # type: ignore[attr-defined]
        and not isinstance(item, ast.FunctionDef | ast.ClassDef)
    ]


def _under_gate(source: _Source, node: ast.AST) -> bool:
    return any(_gated(source, item) for item in _statements_around(source.tree, node))


def _python_names(data: bytes, before: bytes | None) -> Iterator[tuple[str, int, bytes]]:
    """Changes to what the gate means, and what a gated block does to its scope."""
    source = _Source(data)
    if not _GATE.search(data.decode()):
        return
    for kind, line, made in _python_names_unchecked(source, data):
        if _valid(made):
            yield kind, line, made


def _python_names_unchecked(source: _Source, data: bytes) -> Iterator[tuple[str, int, bytes]]:
    gate = b"_rocm_compat.IS_ROCM" if b"import _rocm_compat" in data else b"_IS_ROCM"
    name = gate.split(b".")[0]
    end = len(source.starts) - 1
    yield "predicate bound again", end, data + b"\n" + name + b" = __import__('types').SimpleNamespace(IS_ROCM=True)\n"
    yield "predicate deleted", end, data + b"\ndel " + name + b"\n"
    yield "predicate bound again in a loop", end, data + b"\nfor " + name + b" in ():\n    pass\n"
    yield (
        "predicate set from a function",
        end,
        data + b"\ndef _set():\n    global " + name + b"\n    " + name + b" = 1\n",
    )
    yield "walrus in a gated block's test", end, data + b"\nif (" + name + b"x := 1) and " + gate + b":\n    pass\n"
    if b"_IS_ROCM = " in data:
        binding = re.search(rb"^_IS_ROCM = .*\n", data, re.MULTILINE)
        assert binding is not None
        line = data.count(b"\n", 0, binding.start()) + 1
        for kind, value in (
            ("predicate inverted", b"torch.version.hip is None"),
            ("predicate of another kind", b"torch.version.cuda is None"),
            ("predicate with an effect", b"torch.version.hip is not None or print('x') is None"),
            ("predicate from the environment", b"__import__('os').environ.get('USE_ROCM') == '1'"),
            ("predicate constant", b"True"),
            ("predicate twice", b"torch.version.hip is not None\n_IS_ROCM = _IS_ROCM or True"),
        ):
            yield kind, line, data[: binding.start()] + b"_IS_ROCM = " + value + b"\n" + data[binding.end() :]
        guarded = b"find_spec" in binding.group()
        moved = data[: binding.start()] + data[binding.end() :] + b"\n" + binding.group()
        yield "predicate bound at the end", line, moved
        if not guarded:
            first = binding.group() + data[: binding.start()] + data[binding.end() :]
            yield "predicate before torch is imported", 1, first
    else:
        found = re.search(rb"^.*import _rocm_compat\n", data, re.MULTILINE)
        if found:
            line = data.count(b"\n", 0, found.start()) + 1
            without = data[: found.start()] + data[found.end() :]
            yield "generated module no longer imported", line, without
            if _after_head(source):
                yield "generated module imported before the docstring", 1, found.group() + without
            renamed = found.group().replace(b"import _rocm_compat", b"import _rocm_other as _rocm_compat")
            yield "another module under its name", line, data[: found.start()] + renamed + data[found.end() :]
            guarded = b"try:\n    " + found.group().strip() + b"\nexcept ImportError:\n    _rocm_compat = None\n"
            yield "generated module imported in a try", line, data[: found.start()] + guarded + data[found.end() :]
            more = found.group().rstrip(b"\n") + b", gc\n" if found.group().startswith(b"import") else b""
            if more:
                yield "another import beside it", line, data[: found.start()] + more + data[found.end() :]
    yield "name that is not false off ROCm", end, data + b"\nif " + name + b".IS_CUDA:\n    print()\n"
    for node in source.tree.body:
        if not isinstance(node, ast.FunctionDef) or not node.body:
            continue
        loads = _globals_read(node)
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and len(node.body) > 1:
            text = source.data[source.starts[first.lineno - 1] : source.starts[first.end_lineno or first.lineno]]
            pad = source.indent(first)
            block = pad + b"if " + gate + b":\n" + pad + b"    pass\n"
            yield (
                "gated block before a docstring",
                first.lineno,
                source.lines(first.lineno, first.end_lineno or first.lineno, block + text),
            )
            first = node.body[1]
        pad = source.indent(first)
        place = source.starts[_top(first) - 1]

        def planted(text: bytes, place: int = place, pad: bytes = pad) -> bytes:
            block = pad + b"if " + gate + b":\n" + pad + b"    " + text + b"\n"
            return data[:place] + block + data[place:]

        for loaded in sorted(loads)[:1]:
            used = loaded.encode()
            yield "gated assignment makes a global local", first.lineno, planted(used + b" = None")
            yield "gated import makes a global local", first.lineno, planted(b"import gc as " + used)
            yield "gated del makes a global local", first.lineno, planted(b"del " + used)
            yield "gated loop makes a global local", first.lineno, planted(b"for " + used + b" in (): pass")
            yield "gated walrus makes a global local", first.lineno, planted(b"print(" + used + b" := 1)")
            yield "gated annotation makes a global local", first.lineno, planted(used + b": int")
            yield "gated with makes a global local", first.lineno, planted(b"with open('x') as " + used + b": pass")
            yield "gated def makes a global local", first.lineno, planted(b"def " + used + b"(): pass")
        yield "gated yield makes a generator", first.lineno, planted(b"yield 1")
        yield "gated yield from makes a generator", first.lineno, planted(b"yield from ()")
        own = [item for statement in node.body for item in _own(statement) if isinstance(item, ast.Name)]
        local = next((item.id for item in own if isinstance(item.ctx, ast.Store)), "")
        parameters = {item.arg for item in ast.walk(node.args) if isinstance(item, ast.arg)}
        if local and local not in parameters:
            yield "gated global makes a local global", first.lineno, planted(b"global " + local.encode())
        if node.args.args:
            shadow = source.splice(node.args.args[-1], source.text(node.args.args[-1]).split(b"=")[0])
            if not node.args.defaults and _gated(source, node):
                yield (
                    "predicate shadowed by a parameter",
                    node.lineno,
                    shadow.replace(
                        source.text(node.args.args[-1]), source.text(node.args.args[-1]) + b", " + name + b"=None", 1
                    ),
                )
        if _gated(source, node):
            made = data[:place] + pad + name + b" = None\n" + data[place:]
            yield "predicate shadowed by a local", first.lineno, made


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a statement without those of the scopes inside it."""
    scopes = (ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
    if not isinstance(node, scopes):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from _own(child)


def _globals_read(node: ast.FunctionDef) -> set[str]:
    bound = {item.id for item in ast.walk(node) if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load)}
    bound |= {item.arg for item in ast.walk(node) if isinstance(item, ast.arg)}
    own: set[str] = set()
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            bound.add(statement.name)
        own |= {item.id for item in ast.walk(statement) if isinstance(item, ast.Name)}
    imports = {
        alias.asname or alias.name.split(".")[0]
        for item in ast.walk(node)
        if isinstance(item, ast.Import | ast.ImportFrom)
        for alias in item.names
    }
    return {name for name in own - bound - imports if not name.startswith("_") and name not in dir(__builtins__)}


def _generated(data: bytes, before: bytes | None) -> Iterator[tuple[str, int, bytes]]:
    end = data.count(b"\n") + 1
    for kind, text in (
        ("generated module imports torch", b"import torch\n"),
        ("generated module sets the environment", b'import os\nos.environ["X"] = "1"\n'),
        ("generated module changes a warning filter", b'import warnings\nwarnings.simplefilter("ignore")\n'),
        ("generated module prints", b'print("ROCm")\n'),
        ("generated module changes sys.path", b'import sys\nsys.path.insert(0, ".")\n'),
        ("generated module imports a package", b"import numpy\n"),
        ("generated module imports its package", b"from . import other\n"),
        ("generated module sets an attribute of torch", b"import torch as _t\n_t.float8_e4m3fn = None\n"),
        ("generated module runs a command", b'import os\n_X = os.popen("true").read()\n'),
        ("generated module is no Python", b"def (\n"),
    ):
        yield kind, end, data + b"\n" + text
    found = re.search(rb"def _hip\(.*?:\n", data)
    if found:
        effect = b'    import os\n    os.environ["X"] = "1"\n'
        yield "reading the platform has an effect", 1, data[: found.end()] + effect + data[found.end() :]
        broken = data.replace(b"is not None", b"is None")
        yield "platform is ROCm off ROCm", 1, broken


# Builds and C++.


def _lines(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    """(1-based number, start, line with its end)."""
    place = 0
    for number, line in enumerate(data.splitlines(keepends=True), 1):
        yield number, place, line
        place += len(line)


def _replaced(data: bytes, start: int, line: bytes, new: bytes) -> bytes:
    return data[:start] + new + data[start + len(line) :]


def _cmake(data: bytes, before: bytes | None) -> Iterator[tuple[str, int, bytes]]:
    gated: list[str] = []
    for number, start, line in _lines(data):
        text = line.strip()
        word = re.sub(rb"\s*\(.*", b"(", text.lower())
        pad = line[: len(line) - len(line.lstrip())]
        if word == b"if(" and b"USE_ROCM" in text:
            gated.append("if")
            yield "cmake: gate inverted", number, _replaced(data, start, line, line.replace(b"if(", b"if(NOT ", 1))
            yield "cmake: gate always true", number, _replaced(data, start, line, pad + b"if(TRUE)\n")
            yield (
                "cmake: gate on another variable",
                number,
                _replaced(data, start, line, line.replace(b"USE_ROCM", b"USE_GPU")),
            )
            yield "cmake: gate quoted", number, _replaced(data, start, line, line.replace(b"USE_ROCM", b'"USE_ROCM"'))
        elif word == b"if(":
            gated.append("")
        elif word == b"else(" and gated and gated[-1]:
            gated[-1] = "else"
            yield "cmake: else dropped", number, _replaced(data, start, line, b"")
            yield (
                "cmake: command added to the original",
                number,
                _replaced(data, start, line, line + pad + b"  add_definitions(-DX)\n"),
            )
        elif word == b"endif(":
            gated.pop()
        elif word in (b"else(", b"elseif("):
            pass
        elif text.startswith(b"option(USE_ROCM"):
            yield "cmake: option on by default", number, _replaced(data, start, line, line.replace(b" OFF", b" ON"))
            yield (
                "cmake: option by a variable",
                number,
                _replaced(data, start, line, line.replace(b" OFF", b" ${HIP_FOUND}")),
            )
            yield "cmake: gate set after its option", number, _replaced(data, start, line, line + b"set(USE_ROCM ON)\n")
            yield (
                "cmake: gate found",
                number,
                _replaced(data, start, line, line + b"find_package(HIP)\nset(USE_ROCM ${HIP_FOUND})\n"),
            )
        elif "if" not in gated and text and not text.startswith(b"#") and text.endswith(b")") and b"(" in text:
            added = line.replace(text, text[:-1] + b" EXTRA)")
            yield "cmake: argument added", number, _replaced(data, start, line, added)
            yield "cmake: command dropped", number, _replaced(data, start, line, b"")
            yield (
                "cmake: command before it",
                number,
                _replaced(data, start, line, pad + b"enable_language(HIP)\n" + line),
            )
            yield "cmake: command commented out", number, _replaced(data, start, line, b"# " + line)
            if b'"' in text:
                yield "cmake: space in a string", number, _replaced(data, start, line, line.replace(b'"', b'" ', 1))


def _make(data: bytes, before: bytes | None) -> Iterator[tuple[str, int, bytes]]:
    gated: list[str] = []
    for number, start, line in _lines(data):
        text = line.strip()
        if text.startswith(b"ifeq"):
            gated.append("if" if b"USE_ROCM" in text else "")
            if gated[-1]:
                yield "make: gate inverted", number, _replaced(data, start, line, line.replace(b"ifeq", b"ifneq"))
                yield "make: gate asks for 0", number, _replaced(data, start, line, line.replace(b",1)", b",0)"))
                if b"USE_ROCM ?=" in data:
                    made = _replaced(data, start, line, b"ifdef USE_ROCM\n")
                    yield "make: gate asks whether it is defined", number, made
                yield (
                    "make: gate of another name",
                    number,
                    _replaced(data, start, line, line.replace(b"USE_ROCM", b"USE_GPU")),
                )
        elif text.startswith(b"else") and gated:
            if gated[-1] == "if":
                gated[-1] = "else"
                yield "make: else dropped", number, _replaced(data, start, line, b"")
        elif text.startswith(b"endif"):
            gated.pop()
        elif text.startswith(b"USE_ROCM"):
            for kind, new in (
                ("make: gate on by default", b"USE_ROCM ?= 1\n"),
                ("make: gate set", b"USE_ROCM := 1\n"),
                ("make: gate asked of the shell", b"USE_ROCM ?= $(shell which hipcc)\n"),
                ("make: gate exported", b"export USE_ROCM ?= 0\n"),
            ):
                yield kind, number, _replaced(data, start, line, new)
        elif "if" not in gated and text and not text.startswith(b"#"):
            yield "make: line dropped", number, _replaced(data, start, line, b"")
            yield "make: flag added", number, _replaced(data, start, line, line.rstrip(b"\n") + b" -DX\n")
            yield "make: variable set", number, _replaced(data, start, line, line + b"CXX := hipcc\n")
            if line.startswith(b"\t"):
                yield "make: recipe silenced", number, _replaced(data, start, line, b"\t@" + line[1:])
                yield "make: tab became spaces", number, _replaced(data, start, line, b"        " + line[1:])


def _meson(data: bytes, before: bytes | None) -> Iterator[tuple[str, int, bytes]]:
    for number, start, line in _lines(data):
        if line.startswith(b"if get_option("):
            yield "meson: gate inverted", number, _replaced(data, start, line, line.replace(b"if ", b"if not "))
            yield "meson: gate on another option", number, _replaced(data, start, line, line.replace(b"rocm", b"cuda"))
        elif line.startswith(b"project("):
            yield "meson: language added", number, _replaced(data, start, line, line.replace(b"'cpp'", b"'cpp', 'hip'"))
            yield "meson: dependency added", number, _replaced(data, start, line, line + b"dependency('hip')\n")
        elif line.startswith(b"else"):
            yield "meson: else dropped", number, _replaced(data, start, line, b"")


def _c(data: bytes, before: bytes | None) -> Iterator[tuple[str, int, bytes]]:
    gated: list[str] = []
    for number, start, line in _lines(data):
        text = line.strip()
        if text.startswith((b"#if", b"# if")):
            rocm = any(word in text for word in (b"USE_ROCM", b"__HIP"))
            gated.append("" if not rocm else "live" if text.startswith(b"#ifndef") or b"!" in text else "dead")
            if rocm:
                flipped = (
                    line.replace(b"#ifdef", b"#ifndef") if b"#ifdef" in line else line.replace(b"#ifndef", b"#ifdef")
                )
                if b"defined(" in line:
                    flipped = (
                        line.replace(b"!defined(", b"defined(")
                        if b"!defined(" in line
                        else line.replace(b"defined(", b"!defined(", 1)
                    )
                yield "c: conditional inverted", number, _replaced(data, start, line, flipped)
                yield "c: conditional always true", number, _replaced(data, start, line, b"#if 1\n")
                yield "c: conditional on another macro", number, _replaced(data, start, line, b"#ifdef USE_GPU\n")
                yield "c: conditional dropped", number, _replaced(data, start, line, b"#if 0\n")
        elif text.startswith(b"#else") and gated:
            if gated[-1]:
                gated[-1] = "live" if gated[-1] == "dead" else "dead"
                yield "c: else dropped", number, _replaced(data, start, line, b"")
        elif text.startswith(b"#endif") and gated:
            if gated.pop() == "live":
                yield "c: end of the conditional moved", number, _replaced(data, start, line, b"int moved;\n" + line)
        elif "dead" not in gated and text and not text.startswith((b"//", b"*", b"/*")):
            yield "c: line dropped", number, _replaced(data, start, line, b"")
            if text.startswith(b"#include"):
                yield "c: include added", number, _replaced(data, start, line, line + b"#include <hip/hip_runtime.h>\n")
                yield "c: include replaced", number, _replaced(data, start, line, b"#include <hip/hip_runtime.h>\n")
            elif text.startswith(b"#define") and b"(" in text:
                yield (
                    "c: macro loses its parameters",
                    number,
                    _replaced(data, start, line, line.replace(b"(", b" (", 1)),
                )
            elif b'"' in text:
                yield "c: space in a string", number, _replaced(data, start, line, line.replace(b'"', b'" ', 1))
            elif b"=" in text:
                yield "c: expression changed", number, _replaced(data, start, line, line.replace(b"=", b"= 1 +", 1))
            elif text.endswith(b";"):
                yield "c: line commented out", number, _replaced(data, start, line, b"// " + line)
            if re.search(rb"\b32\b", text):
                yield "c: 32 became 64", number, _replaced(data, start, line, re.sub(rb"\b32\b", b"64", line, count=1))
    code = re.search(rb"^#(?:include|pragma|define) ", data, re.MULTILINE)
    first = code.start() if code else 0
    line = data.count(b"\n", 0, first) + 1
    yield "c: macro defined", line, data[:first] + b"#define USE_ROCM 1\n" + data[first:]
    yield "c: comment that is not closed", line, data[:first] + b"/*\n" + data[first:]
    yield "c: comment that swallows a line", line, data[:first] + b"// comment \\\n" + data[first:]


def _text(data: bytes, before: bytes | None) -> Iterator[tuple[str, int, bytes]]:
    lines = data.splitlines(keepends=True)
    for number, start, line in _lines(data):
        if line.strip() and not line.strip().startswith(b"#"):
            yield "text: line dropped", number, _replaced(data, start, line, b"")
            yield "text: line changed", number, _replaced(data, start, line, line.rstrip(b"\n") + b"x\n")
    if lines:
        yield "text: line added", len(lines), data + b"hip\n"


# Files.


def _files(ported: Tree, original: Tree) -> Iterator[Mutation]:
    shared = sorted(path for path in ported if path in original)
    for path in shared[:4]:
        rest = {key: value for key, value in ported.items() if key != path}
        yield Mutation("file deleted", path, rest)
        yield Mutation("file renamed", path, {**rest, f"{path}.orig": ported[path]})
        yield Mutation("file made executable", path, {**ported, path: replace(ported[path], executable=True)})
        yield Mutation("file replaced by a link", path, {**ported, path: Entry(b"", link="elsewhere")})
    packages = sorted({path.rpartition("/")[0] for path in original if path.endswith("__init__.py")})
    new: dict[str, str] = {
        "conftest.py": "",
        "test_hip.py": "",
        "sitecustomize.py": "",
        "pytest.ini": "[pytest]\n",
        "tox.ini": "",
        "torch.py": "",
        "random.py": "",
        "GNUmakefile": "all:\n",
        ".dockerignore": "*\n",
        "extra.pth": "import os\n",
        "native.so": "",
        "BUILD.bazel": "",
        ".env": "X=1\n",
        "cmake/FindCUDA.cmake": "",
    }
    for package in packages:
        new[f"{package}/conftest.py"] = ""
        new[f"{package}/native.pyd"] = ""
    for path, text in new.items():
        if path not in ported:
            yield Mutation(f"new file: {path.rpartition('/')[2]}", path, {**ported, path: Entry(text.encode())})
