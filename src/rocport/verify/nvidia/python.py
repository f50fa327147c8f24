"""Python: the ported module, with the platform predicate false, is the original module.

Compared are the syntax trees, and what a block that never runs still changes: which names a function holds locally,
whether it is a generator, what its docstring is, and the source text that a compiler of kernels will read.
"""

from __future__ import annotations

import ast
import io
import re
import symtable
import sys
import tokenize
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocport.verify.nvidia import comments
from rocport.verify.nvidia.model import Difference, Kind
from rocport.verify.nvidia.python_fold import Folded, Folder, Resolve
from rocport.verify.nvidia.python_names import LOOKS, files_read, listed, looking
from rocport.verify.nvidia.python_scopes import COMPREHENSIONS, FUNCTIONS, deeper, identifiers, own_nodes
from rocport.verify.nvidia.tokens import aligned

CODE = "nvidia-python"
_SOURCE_READERS = frozenset(
    [
        "jit",
        "njit",
        "script",
        "kernel",
        "prim_func",
        "vectorize",
        "guvectorize",
        "stencil",
        "cfunc",
        "script_method",
        "autotune",
        "heuristics",
        "script_if_tracing",
        "compile_kernel",
        "macro",
        "jitclass",
        "overload_method",
        "generated_jit",
        "to_static",
        "rawkernel",
        "fuse",
        "boost",
        "CompilationUnit",
    ]
)
"""Decorators that read the source text of what they decorate and compile it: a gate inside is part of the kernel."""
_OWN_LINES = frozenset(["f_lineno", "co_firstlineno", "co_lines", "co_positions", "extract_stack", "getframeinfo"])
_OWN_TEXT = frozenset(
    [
        *("getsource", "getsourcelines", "findsource", "getblock", "get_instructions", "Bytecode", "code_info"),
        *("co_code", "co_consts", "co_names", "co_varnames", "co_lnotab", "co_linetable", "cloudpickle", "dill"),
    ]
)
SOURCE_READ = re.compile(
    rb"\b(?:getsource|getsourcelines|findsource|get_instructions|Bytecode|cloudpickle|dill|marshal\.dumps?)\b|\bdis\.\w|"
    rb"\b(?:linecache|get_source|getsourcefile|__loader__|load\w*\.get_(?:code|data)|pkgutil\.get_data)\b|"
    # Not what stays as it is when a gate is put into the function.
    rb"__code__\b(?!\.co_(?:argcount|posonlyargcount|kwonlyargcount|name|qualname|filename|flags)\b)"
)
HANDS = re.compile(rb"\b(?:jit|njit|script|kernel|vectorize|cfunc|stencil|CompilationUnit|rawkernel|fuse|boost)\b")
"""Words of the calls that compile what is handed to them."""
_MOST = 20
"""Differences listed of one file."""
_TYPE_COMMENT = re.compile(r"#\s*type:")
_COMMENT_READ = re.compile(rb"#\s*(?:type:|%%|cython|distutils|pythran|transonic|nuitka)|#\||#(?:[A-Z]+|\$)\s")


@dataclass(frozen=True)
class Facts:
    """What holds off ROCm for the module that is compared."""

    path: str
    constants: Mapping[str, Mapping[str, Any]]
    """Path of a generated module -> names that are certain off ROCm, and their values."""
    resolve: Resolve
    imports_torch: bool = False
    """Whether reading a name of the generated module imports torch."""
    requires: tuple[int, int] | None = None
    """The lowest Python that the project declares to support."""


@dataclass
class Compared:
    """Outcome for one module."""

    differences: list[Difference]
    ported: Folded | None = None
    original: Folded | None = None
    other_text: frozenset[str] = frozenset()
    """Functions and classes whose text or byte code is another, although they do the same."""
    added: tuple[str, ...] = ()
    """Names that the module has now and had not."""


class _Side:
    """One of the two modules: its tree, folded in place, and what is known of it as it was."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.tree = ast.parse(data)
            compile(data, "<module>", "exec", dont_inherit=True)
            self.table = symtable.symtable(data, "<module>", "exec")  # type: ignore[arg-type]
        with deeper():
            self._look(data)

    def _look(self, data: bytes) -> None:
        self.encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        self.names = identifiers(self.tree)
        self.documentation: dict[ast.AST, str | None] = {}
        self.kinds: dict[ast.AST, tuple[bool, bool, bool]] = {}
        self.source: dict[ast.AST, str] = {}
        self.wrapped = _wrapped(self.tree)
        self.text: dict[ast.AST, str] = {}
        readers = _read_as_source(self.tree)
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS)):
                self.documentation[node] = ast.get_docstring(node, clean=False)
            if isinstance(node, (ast.Module, ast.ClassDef, *FUNCTIONS, ast.Lambda, *COMPREHENSIONS)):
                self.kinds[node] = _kind(node)
            if isinstance(node, (ast.ClassDef, *FUNCTIONS)):
                self.text[node] = _without_decorators(node)
                if node in readers:
                    self.source[node] = self.text[node]
        self.tables: dict[tuple[str, str, int], symtable.SymbolTable] = {}
        todo = [self.table]
        while todo:
            table = todo.pop()
            self.tables[str(table.get_type()), table.get_name(), table.get_lineno()] = table
            todo += table.get_children()

    def table_of(self, node: ast.AST) -> symtable.SymbolTable | None:
        if isinstance(node, FUNCTIONS):
            return self.tables.get(("function", node.name, node.lineno))
        if isinstance(node, ast.ClassDef):
            return self.tables.get(("class", node.name, node.lineno))
        return None


def compare(ported: bytes, original: bytes, facts: Facts) -> Compared:
    """Compare a module with its original. Where one cannot be read by this Python the answer says so."""
    try:
        old = _Side(original)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Compared([_unread(facts.path, error, "original", Kind.UNKNOWN)])
    try:
        new = _Side(ported)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return Compared([_unread(facts.path, error, "port", Kind.DIFFERENCE)])
    try:
        with deeper():
            return _compared(new, old, facts)
    except RecursionError as error:
        return Compared([_unread(facts.path, error, "original", Kind.UNKNOWN)])


def _compared(new: _Side, old: _Side, facts: Facts) -> Compared:
    ported, original = new.data, old.data
    folded_old = Folder(old.tree, facts.constants, facts.resolve, None).fold()
    folded_new = Folder(new.tree, facts.constants, facts.resolve, old.names).fold()
    comparison = _Comparison(new, old, folded_new, facts.path)
    comparison.run()
    found = comparison.found[:_MOST]
    if len(comparison.found) > _MOST:
        left = len(comparison.found) - _MOST
        found.append(_difference(facts.path, 0, 0, f"and {left} more differences in this file"))
    found += list(_names_added(folded_new, old, facts.path))
    found += list(_imports_torch(folded_new, facts))
    found += list(_syntax(ported, original, facts))
    if _OWN_TEXT & old.names or SOURCE_READ.search(original) or any(files_read(old.tree, own=True)):
        message = "the module reads source text or byte code, its own perhaps, which the port has changed"
        step = "see that no result rests on it (a hash of a cache, a kernel made from it)"
        found.append(_difference(facts.path, 1, 1, message, kind=Kind.UNDECIDED, step=step))
    if _OWN_LINES & old.names:
        what = ", ".join(sorted(_OWN_LINES & old.names))
        message = f"the module reads line numbers of its own ({what}); lines below an insertion have moved"
        step = "see that no result rests on them"
        found.append(_difference(facts.path, 1, 1, message, kind=Kind.UNDECIDED, step=step))
    added = tuple(name for _, name in _added(folded_new))
    return Compared(found, folded_new, folded_old, frozenset(comparison.other_text), added)


def _syntax(ported: bytes, original: bytes, facts: Facts) -> Iterator[Difference]:
    """Syntax in the port that an older Python cannot read: the whole module is lost there, gated or not."""
    lowest, before = _lowest(ported), _lowest(original)
    if lowest <= max(before, facts.requires or before):
        return
    words = f"Python 3.{lowest[1]} is needed to read the port, Python 3.{before[1]} was to read the original"
    step = "write the gated code in the older syntax"
    if facts.requires is not None:
        message = f"{words}, and the project supports Python 3.{facts.requires[1]}"
        yield _difference(facts.path, 0, 0, message, step=step)
    else:
        yield _difference(facts.path, 0, 0, words, kind=Kind.UNDECIDED, step=step)


def _lowest(data: bytes) -> tuple[int, int]:
    """The lowest Python, from 3.7, whose grammar takes the text (as far as `ast` knows it)."""
    for minor in range(7, sys.version_info.minor):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(data, feature_version=(3, minor))
        except SyntaxError:
            continue
        return (3, max(minor, _unchecked(data)))
    return (3, sys.version_info.minor)


_NAMED_VALUE = re.compile(r"\{[^{}]*[^=!<>{}]=\s*(?:![rsa])?\s*(?::[^{}]*)?\}")


def _unchecked(data: bytes) -> int:
    """The lowest Python 3 for syntax that `ast` takes whatever version it is asked for."""
    found = 0
    text = data.decode("utf-8", errors="replace")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(data)
    for node in ast.walk(tree):
        newest = isinstance(node, ast.Subscript) and _bare_star(node.slice)
        newest = newest or (isinstance(node, ast.arg) and isinstance(node.annotation, ast.Starred))
        newer = isinstance(node, ast.Return | ast.Yield | ast.AnnAssign) and _bare_star(node.value)
        if isinstance(node, ast.JoinedStr):
            newer = _NAMED_VALUE.search(ast.get_source_segment(text, node) or "") is not None
        found = max(found, 11 if newest else 8 if newer else 0)
    return found


def _bare_star(node: ast.expr | None) -> bool:
    """A tuple without brackets that unpacks something."""
    return (
        isinstance(node, ast.Tuple)
        and any(isinstance(item, ast.Starred) for item in node.elts)
        and (node.lineno, node.col_offset) == (node.elts[0].lineno, node.elts[0].col_offset)
    )


def off_rocm(data: bytes, facts: Facts) -> ast.Module:
    """A module as it runs off ROCm. Raises SyntaxError, ValueError or RecursionError when it cannot be read."""
    tree = ast.parse(data)
    with deeper():
        return Folder(tree, facts.constants, facts.resolve, None).fold().tree


def strings_off_rocm(data: bytes, facts: Facts) -> Iterator[str]:
    """Strings of a module in code that runs off ROCm, bytes too. Raises SyntaxError when it cannot be read."""
    for node in ast.walk(off_rocm(data, facts)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
            yield node.value if isinstance(node.value, str) else node.value.decode("latin-1")


def _unread(path: str, error: Exception, which: str, kind: Kind) -> Difference:
    line = getattr(error, "lineno", None) or 0
    reason = getattr(error, "msg", None) or str(error) or type(error).__name__
    if which == "port":
        return _difference(path, line, 0, f"the ported module is not valid Python ({reason}); the original is")
    step = "run rocport with the newest Python the repository supports, or compare the file by hand"
    message = f"the original is not valid in the Python that runs rocport ({reason})"
    return _difference(path, 0, line, message, kind=kind, step=step)


def _difference(
    path: str,
    line: int,
    original_line: int,
    message: str,
    kind: Kind = Kind.DIFFERENCE,
    step: str = "gate the change on _rocm_compat, or keep the original",
) -> Difference:
    return Difference(kind, CODE, path, line, original_line, message, step)


class _Comparison:
    def __init__(self, new: _Side, old: _Side, folded: Folded, path: str) -> None:
        self.new = new
        self.old = old
        self.folded = folded
        self.path = path
        self.found: list[Difference] = []
        self.other_text: set[str] = set()

    def say(self, new: ast.AST | None, old: ast.AST | None, message: str) -> None:
        line, original_line = getattr(new, "lineno", 0), getattr(old, "lineno", 0)
        self.found.append(_difference(self.path, line, original_line, message))

    def run(self) -> None:
        first, before = self.new.data.split(b"\n", 1)[0], self.old.data.split(b"\n", 1)[0]
        if first != before and (first.startswith(b"#!") or before.startswith(b"#!")):
            self.found.append(_difference(self.path, 1, 1, "the interpreter line (#!) is not the same"))
        if self.new.encoding != self.old.encoding:
            message = f"the source encoding is {self.new.encoding}, was {self.old.encoding}"
            self.found.append(_difference(self.path, 1, 1, message))
        self.nodes(self.new.tree, self.old.tree)
        self._read_comments()

    def nodes(self, new: ast.AST, old: ast.AST) -> None:
        """Compare two nodes of the same place, down to the leaves."""
        if type(new) is not type(old):
            self.say(new, old, f"{_words(new)} stands where {_words(old)} was")
            return
        if isinstance(new, ast.Constant) and isinstance(old, ast.Constant):
            if type(new.value) is not type(old.value) or repr(new.value) != repr(old.value) or new.kind != old.kind:
                self.say(new, old, f"the constant {_words(new)} stands where {_words(old)} was")
            return
        for name in new._fields:
            if name in ("ctx", "type_comment"):
                continue
            value, before = getattr(new, name, None), getattr(old, name, None)
            if isinstance(value, list) and isinstance(before, list):
                if (value and isinstance(value[0], ast.stmt)) or (before and isinstance(before[0], ast.stmt)):
                    self.statements(value, before, new, old)
                else:
                    self.items(value, before, new, old)
            elif isinstance(value, ast.AST) and isinstance(before, ast.AST):
                self.nodes(value, before)
            elif isinstance(value, ast.AST) or isinstance(before, ast.AST) or value != before:
                self.say(new, old, f"{_words(new)} stands where {_words(old)} was")
        self.scope(new, old)

    def items(self, new: Sequence[Any], old: Sequence[Any], parent: ast.AST, before: ast.AST) -> None:
        if len(new) != len(old):
            self.say(parent, before, f"{_words(parent)} stands where {_words(before)} was")
            return
        for item, was in zip(new, old, strict=True):
            if isinstance(item, ast.AST) and isinstance(was, ast.AST):
                self.nodes(item, was)
            elif item != was:
                self.say(parent, before, f"{_words(parent)} stands where {_words(before)} was")

    def statements(self, new: Sequence[ast.stmt], old: Sequence[ast.stmt], parent: ast.AST, before: ast.AST) -> None:
        if len(new) == len(old):
            for item, was in zip(new, old, strict=True):
                self.nodes(item, was)
            return
        dumps, were = [ast.dump(item) for item in new], [ast.dump(item) for item in old]
        for tag, first, last, start, end in aligned(dumps, were):
            if tag == "equal" or (tag == "replace" and last - first == end - start):
                for item, was in zip(new[first:last], old[start:end], strict=True):
                    self.nodes(item, was)
                continue
            place = old[start] if start < len(old) else before
            for item in new[first:last]:
                self.say(item, place, f"added on every platform: {_words(item)}{self._why(item)}")
            spot = new[first] if first < len(new) else parent
            for was in old[start:end]:
                self.say(spot, was, f"missing on NVIDIA: {_words(was)}")

    def _why(self, node: ast.AST) -> str:
        """Why a gate in the statement was not taken for one."""
        for item in ast.walk(node):
            name = item.id if isinstance(item, ast.Name) else ""
            if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name):
                name = f"{item.value.id}.{item.attr}"
            if name in self.folded.distrusted:
                return f" (`{name}` is not taken for the platform predicate: {self.folded.distrusted[name]})"
        return ""

    def scope(self, new: ast.AST, old: ast.AST) -> None:
        """What a block that never runs still changes of the scope it stands in."""
        if new in self.new.documentation and self.new.documentation[new] != self.old.documentation.get(old):
            self.say(new, old, f"the docstring of {_named(new)} is not the same: a gate must not take its place")
        if new in self.new.kinds and self.new.kinds[new] != self.old.kinds.get(old):
            message = f"a gated block makes {_named(new)} a generator, a coroutine or annotated on every platform"
            self.say(new, old, message)
        if self.new.source.get(new) != self.old.source.get(old):
            message = f"{_named(new)} is compiled from its source text: a gate inside is part of the kernel on NVIDIA"
            self.say(new, old, message)
        if isinstance(new, (ast.ClassDef, *FUNCTIONS)) and self.new.text[new] != self.old.text.get(old):
            self.other_text.add(new.name)
            around = [*new.decorator_list, *self.new.wrapped.get(new.name, ())]
            foreign = [item for item in around if not _known_decorator(item)]
            if foreign and new not in self.new.source:
                message = f"`{ast.unparse(foreign[0])[:60]}` may read the text of {_named(new)}, which holds a gate"
                step = "see that it calls the function and does not compile it"
                where, was = new.lineno, getattr(old, "lineno", 0)
                self.found.append(_difference(self.path, where, was, message, Kind.UNDECIDED, step))
        table, before = self.new.table_of(new), self.old.table_of(old)
        if table is None or before is None:
            if isinstance(new, (*FUNCTIONS, ast.ClassDef)):
                self.say(new, old, f"the symbol table of {_named(new)} cannot be found")
            return
        # `super()` in a block that never runs: the class gets a cell, which its metaclass must pass on.
        for name in sorted(_names(new) | {"__class__"}):
            now, was = _place(table, name), _place(before, name)
            if isinstance(new, ast.ClassDef) and (now, was) == ("local", "global"):
                # A class body looks a name up in itself, then among the globals, either way.
                continue
            if now != was:
                message = f"`{name}` is {now} in {_named(new)}, was {was}: a gated block binds it on every platform"
                self.say(new, old, message)

    def _read_comments(self) -> None:
        dead = self.folded.dead
        kept = [
            text for line, text in _comments(self.new.data) if not any(first <= line <= last for first, last in dead)
        ]
        before = [text for _, text in _comments(self.old.data)]
        if kept != before:
            for tag, first, _, start, _ in aligned(kept, before):
                if tag != "equal":
                    what = kept[first] if first < len(kept) else before[start]
                    message = f"a comment that a tool reads is not the same: {what}"
                    self.found.append(_difference(self.path, 0, 0, message))
                    return
        if comments.scripts(self.new.data) != comments.scripts(self.old.data):
            self.found.append(_difference(self.path, 1, 1, "the metadata of the script (`# ///`) is not the same"))


def _place(table: symtable.SymbolTable, name: str) -> str:
    try:
        symbol = table.lookup(name)
    except KeyError:
        if not name.startswith("__"):
            return "global"
        mangled = [item for item in table.get_identifiers() if item.endswith(name) and item.startswith("_")]
        if not mangled:
            return "global"
        symbol = table.lookup(mangled[0])
    if symbol.is_free():
        return "of an outer function"
    return "global" if symbol.is_global() else "local"


def _names(node: ast.AST) -> set[str]:
    """Names used in a scope, or in scopes inside it, of what is left after folding."""
    found: set[str] = set()
    for item in ast.walk(node):
        if isinstance(item, ast.Name):
            found.add(item.id)
        elif isinstance(item, ast.Import | ast.ImportFrom):
            found.update(alias.asname or alias.name.split(".")[0] for alias in item.names)
        elif isinstance(item, (*FUNCTIONS, ast.ClassDef)) and item is not node:
            found.add(item.name)
        elif isinstance(item, ast.Global | ast.Nonlocal):
            found.update(item.names)
        elif isinstance(item, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and item.name:
            found.add(item.name)
    return found - {"*"}


def _kind(node: ast.AST) -> tuple[bool, bool, bool]:
    """(generator, holds an await, has annotations of its own), blocks that never run included."""
    own = list(own_nodes(node))
    yields = any(isinstance(item, ast.Yield | ast.YieldFrom) for item in own)
    if isinstance(node, ast.Module | ast.ClassDef):
        return (False, False, any(isinstance(item, ast.AnnAssign) for item in own))
    asynchronous = isinstance(node, COMPREHENSIONS) and any(isinstance(item, ast.Await) for item in own)
    return (yields, asynchronous, False)


def _read_as_source(tree: ast.Module) -> set[ast.AST]:
    """Functions and classes whose source text some compiler reads: decorated, or handed to one by name."""
    names = handed(tree)
    return {
        node
        for node in ast.walk(tree)
        if isinstance(node, (*FUNCTIONS, ast.ClassDef))
        and (node.name in names or any(_reader(item) for item in node.decorator_list))
    }


def _reader(node: ast.expr) -> bool:
    if isinstance(node, ast.IfExp):
        return _reader(node.body) or _reader(node.orelse)
    while isinstance(node, ast.Call):
        node = node.func
    return _last(node) in _SOURCE_READERS


_CALLS_ONLY = re.compile(
    r"(?:abc|functools|contextlib|typing|typing_extensions|pytest|unittest|mock|click|dataclasses|enum|atexit|app|cli|fixture"
    r"|hypothesis|torch\.(?:no_grad|inference_mode|compile|compiler|library|cuda|amp|autograd|jit\.(?:ignore|unused|export)))"
    r"(?:\.\w+)*\Z|(?:\w+\.)*(?:staticmethod|classmethod|property|cached_property|cache|lru_cache|wraps|abstractmethod"
    r"|contextmanager|dataclass|overload|setter|getter|deleter|no_grad|inference_mode|enable_grad|once_differentiable"
    r"|custom_fwd|custom_bwd|custom_op|autocast|total_ordering|singledispatch|final|override|parametrize|skipif|skip"
    r"|fixture|parameterized|expand|given|patch|deprecated|regist\w+|\w*register\w*|add_\w+|compile|disable|allow_in_graph"
    r"|record|timeit|timed|unique|runtime_checkable|impl|impl_abstract|register_fake|ignore|unused|export)\Z"
    r"|(?:\w+\.)*(?:partial|map|filter|vmap|grad|signature|super|isinstance|issubclass|type|id|hash|repr|str|bool)\Z"
)
"""Decorators, and calls around a function, that are known to call it or pass it on, and not to read its text."""


def _wrapped(tree: ast.Module) -> dict[str, list[ast.expr]]:
    """What a name is handed to where the outcome is kept: `g = compiled(f)` is `f` decorated."""
    found: dict[str, list[ast.expr]] = {}
    for node in ast.walk(tree):
        call = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Name):
            found.setdefault(call.args[0].id, []).append(call.func)
    return found


def _known_decorator(node: ast.expr) -> bool:
    while isinstance(node, ast.Call):
        node = node.func
    return _CALLS_ONLY.match(ast.unparse(node)) is not None


def handed(tree: ast.Module) -> frozenset[str]:
    """Last names of what a module hands to a compiler that reads source text."""
    return frozenset(
        _last(argument.func if isinstance(argument, ast.Call) else argument)
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and _reader(call.func)
        for argument in call.args
    ) - {""}


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _without_decorators(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    parts: list[ast.AST] = list(node.body)
    if not isinstance(node, ast.ClassDef):
        parts.append(node.args)
        if node.returns is not None:
            parts.append(node.returns)
    return "\n".join(ast.dump(part) for part in parts)


def _comments(data: bytes) -> list[tuple[int, str]]:
    """Type comments and others that a tool reads, with their lines."""
    programs = comments.holds_program(data)
    if _COMMENT_READ.search(data) is None and not programs:
        return []
    try:
        tokens = list(tokenize.tokenize(io.BytesIO(data).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return []
    return [
        (token.start[0], token.string)
        for token in tokens
        if token.type == tokenize.COMMENT
        and (programs or _TYPE_COMMENT.match(token.string) or comments.directive(token.string))
    ]


def _named(node: ast.AST) -> str:
    if isinstance(node, ast.Module):
        return "the module"
    if isinstance(node, (*FUNCTIONS, ast.ClassDef)):
        return f"`{node.name}`"
    return "a lambda" if isinstance(node, ast.Lambda) else "a comprehension"


def _words(node: ast.AST) -> str:
    """A node as one short line of source."""
    if isinstance(node, ast.Module):
        return "the module"
    try:
        text = " ".join(ast.unparse(node).split())
    except (ValueError, AttributeError, RecursionError, KeyError):
        text = type(node).__name__
    if isinstance(node, ast.arguments):
        text = f"({text})"
    return f"`{text}`" if len(text) <= 90 else f"`{text[:87]}...`"


def _added(folded: Folded) -> list[tuple[int, str]]:
    """Names the port binds in the module, with their lines."""
    found = [(node.lineno, name) for node in folded.bindings for name in _targets(node)]
    return found + [(node.lineno, alias.asname or alias.name) for node, _ in folded.imports for alias in node.names]


def _names_added(folded: Folded, old: _Side, path: str) -> Iterator[Difference]:
    """A name the port adds to the module must be private, so that `from module import *` brings what it brought."""
    added = _added(folded)
    tree = looking(old.data) if added and LOOKS.search(old.data) else None
    line_listed = listed(tree, [name for _, name in added]) if tree is not None else None
    if line_listed is not None:
        message = f"the module looks through its own names, and now has `{added[0][1]}` too"
        yield _difference(path, added[0][0], line_listed, message, Kind.UNDECIDED, "see that it passes over this name")
    if "__all__" in old.names:
        return
    for line, name in added:
        if not name.startswith("_"):
            message = f"`{name}` is a new public name of the module: `from module import *` brings it along"
            yield _difference(path, line, 0, message, step=f"bind it as `_{name}`")


def _targets(node: ast.Assign) -> list[str]:
    return [target.id for target in node.targets if isinstance(target, ast.Name)]


def _is_torch_import(node: ast.stmt) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name.split(".")[0] == "torch" for alias in node.names)
    return isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "torch"


def _imports_torch(folded: Folded, facts: Facts) -> Iterator[Difference]:
    """Reading the platform imports torch: to be looked at where the module did not import torch before."""
    asked = [*(folded.evaluated if facts.imports_torch else ()), *folded.torch_imports]
    if not asked:
        return
    first = min(node.lineno for node in asked)
    step = "see that importing torch there does no harm: start-up time, environment variables it reads"
    place = next((node for node in folded.tree.body if _is_torch_import(node)), None)
    if place is not None:
        early = [node.lineno for node in folded.at_import if facts.imports_torch and node.lineno < place.lineno]
        between = [node for node in folded.tree.body if early and min(early) <= node.lineno < place.lineno]
        if any("environ" in ast.dump(node) or "putenv" in ast.dump(node) for node in between):
            message = "reading the platform here imports torch before the module has set the environment for it"
            yield _difference(facts.path, min(early), 0, message, step="gate it below the import of torch")
        elif early:
            message = f"reading the platform here imports torch before line {place.lineno} does"
            yield _difference(facts.path, min(early), 0, message, Kind.REVIEW, step)
        return
    message = "reading the platform here imports torch, which this module does not import by itself"
    yield _difference(facts.path, first, 0, message, Kind.REVIEW, step)
