"""Putting Python code behind a platform test by insertions: without ROCm the syntax tree is the original's.

`X` becomes `(R if ROCM else X)`, a condition `C` becomes `not ROCM and C` or `ROCM or C`, statements go under
`if not ROCM:`. Every edit inserts text and removes none, so edits of nested places can be made together.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Sequence
from functools import cached_property, lru_cache

from rocport.model import Edit, Span
from rocport.syntax.python import PythonSource

SETUP_PREDICATE = "_IS_ROCM"
"""The name that scripts bind which run before the package can be imported."""
COMPAT_MODULE = "_rocm_compat"
COMPAT_PREDICATE = "IS_ROCM"

_SCRIPTS = frozenset({"setup.py", "conanfile.py", "noxfile.py", "conftest.py", "hatch_build.py"})
_JIT = re.compile(r"(?:^|\.)(?:jit|njit|script)(?:\(|$)")
_ATOMS = (ast.Name, ast.Attribute, ast.Call, ast.Compare, ast.Subscript, ast.Constant)


def is_setup_script(path: str) -> bool:
    """True for setup.py and its like, which cannot import from what they build."""
    name = posixpath.basename(path)
    return name in _SCRIPTS or (name.startswith("setup_") and name.endswith(".py"))


class Gate:
    """Edits of one file. `compat` names what the edited text uses of the generated module.

    `fact` is the predicate of that module to ask, where the truth is narrower than "is ROCm"; `uses` are further names
    of it that the edited text holds. A setup script knows neither: there only `IS_ROCM` makes edits. Code that a
    compiler of its own reads (`@triton.jit`, `@torch.jit.script`, `@numba.cuda.jit`) gets none.
    """

    def __init__(self, source: PythonSource, fact: str = COMPAT_PREDICATE, uses: frozenset[str] = frozenset()) -> None:
        self.source = source
        setup = is_setup_script(source.path)
        self.predicate = SETUP_PREDICATE if setup else f"{COMPAT_MODULE}.{fact}"
        self.compat = frozenset() if setup else uses | {fact}
        self._usable = not setup or (fact == COMPAT_PREDICATE and not uses)

    @cached_property
    def newline(self) -> str:
        return "\r\n" if b"\r\n" in self.source.data else "\n"

    def bound(self, edits: Sequence[Edit]) -> tuple[Edit, ...]:
        """The edits, and with them the statement that binds the predicate where the file has to do that itself."""
        if not self._usable:
            return ()
        binds = binding(self.source) if edits and not self.compat else None
        return (*edits, *((binds,) if binds else ()))

    def text(self, node: ast.AST) -> str:
        """The source of a node. Bytes that are no UTF-8 are read as Latin-1."""
        start, end = self.source.span(node)
        return _decode(self.source.data[start:end])

    def choice(self, node: ast.AST, rocm: str) -> tuple[Edit, ...]:
        """`(rocm if ROCM else node)`."""
        return self._around(node, f"({rocm} if {self.predicate} else ", ")")

    def holds(self, node: ast.AST) -> tuple[Edit, ...]:
        """`(ROCM or node)`: true on ROCm."""
        return (
            self._around(node, f"({self.predicate} or ", ")")
            if isinstance(node, _ATOMS)
            else self._around(node, f"({self.predicate} or (", "))")
        )

    def fails(self, node: ast.AST) -> tuple[Edit, ...]:
        """`(not ROCM and node)`: false on ROCm, and not evaluated there."""
        bare = isinstance(self.source.parents.get(node), (ast.If, ast.While)) and isinstance(node, _ATOMS)
        if bare:
            return self._around(node, f"not {self.predicate} and ", "")
        inner = isinstance(node, _ATOMS)
        return self._around(node, f"(not {self.predicate} and " + ("" if inner else "("), ")" if inner else "))")

    def also(self, node: ast.AST, rocm: str) -> tuple[Edit, ...]:
        """`(node or ROCM and rocm)`: on ROCm a second way to be true. Where the value counts and not only its truth,
        `(node or rocm if ROCM else node)`: `or` makes another value of an array or of None."""
        if not isinstance(node, _ATOMS):
            return ()
        if self._asked(node):
            return self._around(node, "(", f" or {self.predicate} and {rocm})")
        return self.choice(node, f"{self.text(node)} or {rocm}")

    def neither(self, node: ast.AST, rocm: str) -> tuple[Edit, ...]:
        """`(node and not (ROCM and rocm))`: on ROCm a second way to be false; see `also`."""
        if not isinstance(node, _ATOMS):
            return ()
        if self._asked(node):
            return self._around(node, "(", f" and not ({self.predicate} and {rocm}))")
        return self.choice(node, f"{self.text(node)} and not ({rocm})")

    def then(self, statement: ast.stmt, rocm: Sequence[str]) -> tuple[Edit, ...]:
        """`if ROCM:` with statements of its own, behind a statement that stands on lines of its own."""
        if self._compiled(statement) or not self._alone(statement):
            return ()
        _, indent = self._line_start(statement)
        end = self._line_end(statement.end_lineno or statement.lineno)
        body = "".join(f"{indent}{self._unit(indent)}{row}{self.newline}" for row in rocm)
        before = "" if self.source.data[:end].endswith((b"\n", b"\r")) else self.newline
        return (_insert(end, f"{before}{indent}if {self.predicate}:{self.newline}{body}"),)

    def off(self, statements: Sequence[ast.stmt]) -> tuple[Edit, ...]:
        """Neighbouring statements of one block under `if not ROCM:`; nothing where one shares its line with another."""
        first, last = statements[0], statements[-1]
        if self._compiled(first) or not all(self._alone(statement) for statement in statements):
            return ()
        at, indent = self._line_start(first)
        edits = [_insert(at, f"{indent}if not {self.predicate}:{self.newline}{self._unit(indent)}")]
        held = self._inside_strings(statements)
        for line in range(first.lineno + 1, (last.end_lineno or last.lineno) + 1):
            start = self.source.starts[line - 1]
            if line not in held and self.source.data[start : self._line_end(line)].strip():
                edits.append(_insert(start, self._unit(indent)))
        return tuple(edits)

    def either(self, statement: ast.stmt, rocm: str) -> tuple[Edit, ...]:
        """`if ROCM:` with one statement of its own, `else:` the original."""
        off = self.off([statement])
        if not off:
            return ()
        at, indent = self._line_start(statement)
        unit = self._unit(indent)
        rows = (f"if {self.predicate}:", f"{unit}{rocm}", "else:")
        head = "".join(f"{indent}{row}{self.newline}" for row in rows)
        return (_insert(at, head + unit), *off[1:])

    def first(self, function: ast.FunctionDef, statement: str) -> tuple[Edit, ...]:
        """`if ROCM:` with one statement, at the top of a function's body, below its docstring."""
        body = function.body
        told = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        if told and len(body) == 1:
            return ()
        top = body[1] if told else body[0]
        if not self._alone(top):
            return ()
        at, indent = self._line_start(top)
        unit = self._unit(indent)
        return (_insert(at, f"{indent}if {self.predicate}:{self.newline}{indent}{unit}{statement}{self.newline}"),)

    def _around(self, node: ast.AST, before: str, after: str) -> tuple[Edit, ...]:
        if self._compiled(node):
            return ()
        start, end = self.source.span(node)
        return (_insert(start, before), *((_insert(end, after),) if after else ()))

    def _asked(self, node: ast.AST) -> bool:
        """True where only the truth of an expression counts: in the condition of a statement, behind `not`."""
        for parent, child in self.source.ancestors(node):
            if isinstance(parent, ast.BoolOp):
                continue
            if isinstance(parent, ast.UnaryOp):
                return isinstance(parent.op, ast.Not)
            if isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.Assert)):
                return parent.test is child
            return isinstance(parent, ast.comprehension) and child in parent.ifs
        return False

    def _compiled(self, node: ast.AST) -> bool:
        """True inside a function that Triton, TorchScript or Numba compiles: a global fact may not stand there."""
        return any(
            isinstance(parent, ast.FunctionDef)
            and isinstance(child, ast.stmt)
            and any(_JIT.search(ast.unparse(item)) for item in parent.decorator_list)
            for parent, child in self.source.ancestors(node)
        )

    def _line_start(self, node: ast.stmt) -> tuple[int, str]:
        line = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
        at = self.source.starts[line - 1]
        text = _decode(self.source.data[at : self._line_end(line)])
        return at, text[: len(text) - len(text.lstrip(" \t"))]

    def _line_end(self, line: int) -> int:
        return self.source.starts[line] if line < len(self.source.starts) else len(self.source.data)

    def _alone(self, statement: ast.stmt) -> bool:
        """True when nothing else stands on the first and last line of a statement, comments aside."""
        start, end = self.source.span(statement)
        before = self.source.data[self.source.starts[self.source.line(start) - 1] : start]
        after = self.source.data[end : self._line_end(statement.end_lineno or statement.lineno)].strip()
        return not before.strip(b" \t\xef\xbb\xbf") and (not after or after.startswith(b"#"))

    def _inside_strings(self, statements: Sequence[ast.stmt]) -> frozenset[int]:
        """Lines that begin inside a string: white space there is part of it."""
        held: set[int] = set()
        for statement in statements:
            for node in ast.walk(statement):
                text = isinstance(node, ast.JoinedStr) or (
                    isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))
                )
                if text:
                    held.update(range(node.lineno + 1, (node.end_lineno or node.lineno) + 1))  # type: ignore[attr-defined]
        return frozenset(held)

    def _unit(self, indent: str) -> str:
        return "\t" if "\t" in indent else "    "


@lru_cache(maxsize=2)
def binding(source: PythonSource) -> Edit | None:
    """The statement that binds `_IS_ROCM` in a setup script; None where it is bound.

    It goes behind the import that brings torch, where the script has one that always runs; elsewhere behind the
    docstring and the imports of `__future__`, with a form that also holds without torch.
    """
    body = source.tree.body
    if any(isinstance(node, ast.Assign) and SETUP_PREDICATE in set(source.words(node.targets[0])) for node in body):
        return None
    behind = 0
    expression = (
        '__import__("importlib.util").util.find_spec("torch") is not None'
        ' and __import__("torch").version.hip is not None'
    )
    for index, node in enumerate(body):
        documentation = index == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if documentation or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            behind = index + 1
        name = _torch_name(node)
        if name:
            behind = index + 1
            expression = f"{name}.version.hip is not None"
            break
    newline = "\r\n" if b"\r\n" in source.data else "\n"
    line = f"{SETUP_PREDICATE} = {expression}"
    if behind:
        # At the end of the line, not at the start of the next: a statement there may get an edit of its own.
        end = (
            source.starts[number]
            if (number := body[behind - 1].end_lineno or 0) < len(source.starts)
            else len(source.data)
        )
        return _insert(len(source.data[:end].rstrip(b"\r\n")), newline + line)
    if not body:
        return _insert(len(source.data), line + newline)
    start = min([body[0].lineno, *(item.lineno for item in getattr(body[0], "decorator_list", ()))])
    return _insert(source.starts[start - 1], line + newline)


def _torch_name(node: ast.stmt) -> str:
    """How torch is called after an import that loads it; empty for any other statement."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            if alias.name.split(".")[0] == "torch" and (alias.asname is None or alias.name == "torch"):
                return alias.asname or "torch"
        loaded = any(alias.name.split(".")[0] == "torch" for alias in node.names)
    else:
        loaded = isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "torch"
    return '__import__("torch")' if loaded else ""


def _insert(at: int, text: str) -> Edit:
    return Edit(Span(at, at), text.encode())


def _decode(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("latin-1")
