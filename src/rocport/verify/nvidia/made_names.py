"""Names that are put together: what in the original may make the name of a gate without writing it.

A name is read as what is written of it and what is only known later. What no function makes is one of the words of the
file, so that `$(A)_$(B) := 1` is a gate's where the words USE and ROCM are there; what a function makes (upper case, a
replacement, a command's output) may be anything.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from rocport.verify.nvidia import cmake
from rocport.verify.nvidia.reach_python import last_part, parsed
from rocport.verify.nvidia.tokens import LexError

WORD, ANYTHING = 0, 1
"""What stands for a part of a name: one word of the file, or what a function makes."""
_Parts = Sequence[str | int]
_FEW = 200
"""Parts of a name that are looked at."""

_MAKE_MAKES = r"shell|subst|patsubst|join|addprefix|addsuffix|file|basename|notdir|dir|guile"
_OF_MAKE = re.compile(
    r"[ \t]*(?:(?:export|override|private|define)[ \t]+)*([\w.${}(),:/ %-]*?)[ \t]*(?:[:?+!]{0,3}=|\Z)"
)
_EVALUATED = re.compile(r"\$[({]eval[ \t]+(?:export[ \t]+)?([^=\n:]*?)[ \t]*(?:[:?+]{0,3}=|\Z|[)}])")
_OF_SHELL = re.compile(
    r"(?:^|[\s;&|(`\"'])(?:export|declare|typeset|local|readonly|env|eval|setenv)\s+(?:-\w+\s+)*[\"']?(?:export\s+)?"
    r"((?:\w|\$\w|\$\{[^{}]*\}|\$\([^()]*\)|\"(?=\$))+)\"?="
)
_OPTION_OF_SHELL = re.compile(r"(?:^|[\s\"'])-D((?:\w|\$\w|\$\{[^{}]*\})+)")
_CMAKE_SETS = frozenset(
    ("set", "option", "unset", "cmake_dependent_option", "find_program", "find_path", "find_library")
)
_CMAKE_DEFINES = {"add_compile_definitions": 0, "target_compile_definitions": 1}
"""Commands that take definitions, from this argument on."""
_CMAKE_SHOWS = frozenset(("find", "length", "compare", "md5", "sha1", "sha256", "hash", "timestamp", "uuid", "random"))
_STRING_METHODS = frozenset(
    [
        *("upper", "replace", "join", "format", "translate", "decode", "strip", "swapcase", "removeprefix", "sub"),
        *("lstrip", "rstrip", "removesuffix", "expandtabs", "title", "capitalize", "lower", "chr"),
    ]
)


def of_gates(kind: str, names: Collection[str], content: bytes) -> Iterator[tuple[str, int]]:
    """The names among these that a text may make, and set, with the lines; each once. `kind` as `language` gives it."""
    reader = _READERS.get(kind)
    if reader is None:
        return
    left = set(names)
    seen: set[tuple[str | int, ...]] = set()
    for parts, line, words in reader(content):
        if tuple(parts) in seen:
            continue
        seen.add(tuple(parts))
        for name in sorted(left):
            if len(parts) < _FEW and fits(parts, name, words):
                left.discard(name)
                yield name, line


def fits(parts: _Parts, name: str, words: Collection[str]) -> bool:
    """Whether parts of a name, written or not, can be a name as a whole."""
    if all(isinstance(part, str) for part in parts):
        return False
    places = {0}
    for part in parts:
        if part == ANYTHING:
            places = set(range(min(places), len(name) + 1)) if places else places
        elif isinstance(part, str):
            places = {place + len(part) for place in places if name.startswith(part, place)}
        else:
            ends = {(place, end) for place in places for end in range(place + 1, len(name) + 1)}
            places = {end for place, end in ends if name[place:end] in words}
    return len(name) in places


# CMake.


def _of_cmake(content: bytes) -> Iterator[tuple[_Parts, int, Collection[str]]]:
    if b"$" not in content:
        return
    try:
        found = cmake.commands(content)
    except LexError:
        return
    made = _made_by_cmake(found)
    words = frozenset(
        word
        for command in found
        for item in command.arguments
        for part in re.split(r"\$(?:ENV)?\{[^{}]*\}", item.text)
        for word in part.split(";")
    )
    for command in found:
        texts = [item.text for item in command.arguments]
        named = texts[:1] if command.name in _CMAKE_SETS else []
        if command.name in _CMAKE_DEFINES:
            named += texts[_CMAKE_DEFINES[command.name] :]
        if command.name == "set_property" and texts[:1] == ["CACHE"]:
            named += texts[1:2]
        named += [text[2:].lstrip() for text in texts if text.startswith("-D")]
        if command.name == "cmake_language" and [text.upper() for text in texts[:2]] == ["EVAL", "CODE"]:
            named += texts[2:]
        for text in named:
            name = text.removeprefix("-D").partition("=")[0].partition(":")[0]
            if "$" in name and "$<" not in name:
                yield _parts_of_cmake(name, made), command.line, words


def _parts_of_cmake(name: str, made: Collection[str]) -> _Parts:
    found: list[str | int] = []
    for part in re.split(r"(\$(?:ENV)?\{[^{}]*\})", name):
        reference = re.fullmatch(r"\$(ENV)?\{([^{}]*)\}", part)
        if reference:
            found.append(ANYTHING if reference.group(1) or reference.group(2) in made else WORD)
        elif "$" in part:
            # A name in a name.
            return [ANYTHING]
        elif part:
            found.append(part)
    return found


def _made_by_cmake(found: Sequence[cmake.Command]) -> frozenset[str]:
    """Variables whose value a function makes, and those that are handed it."""
    made: set[str] = set()
    takes: dict[str, list[str]] = {}
    for command in found:
        texts = [item.text for item in command.arguments]
        if command.name in ("function", "macro") and texts:
            takes[texts[0].lower()] = texts[1:]
    for _ in range(3):
        before = len(made)
        for command in found:
            texts = [item.text for item in command.arguments]
            how = texts[0].lower() if texts else ""
            if command.name == "string" and how not in _CMAKE_SHOWS:
                made.update(texts[1:2] if how in ("append", "prepend", "concat") else texts[1:])
            elif command.name == "list" and how in ("transform", "join"):
                made.update([texts[1], texts[-1]] if len(texts) > 1 else ())
            elif command.name == "file" and how in ("read", "strings", "relative_path"):
                made.update(texts[2:3] if how != "relative_path" else texts[1:2])
            elif command.name == "execute_process":
                made.update(after for word, after in pairwise(texts) if word == "OUTPUT_VARIABLE")
            elif any(_holds(text, made) for text in texts[1:]) and command.name in ("set", "foreach"):
                made.update(texts[:1])
            elif command.name in takes:
                given = zip(takes[command.name], texts, strict=False)
                made.update(parameter for parameter, text in given if _holds(text, made))
        if len(made) == before:
            break
    return frozenset(made)


def _holds(text: str, made: Collection[str]) -> bool:
    return "$ENV{" in text or any(name in made for name in re.findall(r"\$\{([^{}]*)\}", text))


# Make and shells.


def _of_make(content: bytes) -> Iterator[tuple[_Parts, int, Collection[str]]]:
    text = content.decode("utf-8", errors="replace")
    if "$" not in text:
        return
    words = frozenset(re.findall(r"\w+", text))
    computed = frozenset(re.findall(rf"(?m)^[ \t]*(\w+)[ \t]*[:?+]{{0,3}}=[^\n]*\$[({{](?:{_MAKE_MAKES})[ \t,]", text))
    computed |= frozenset(re.findall(rf"\$[({{]foreach[ \t]+(\w+),[ \t]*\$[({{](?:{_MAKE_MAKES})[ \t<]", text))
    # What a `define` is called with.
    makes = re.compile(rf"\$[({{](?:{_MAKE_MAKES})[ \t<]")
    called = any(makes.search(line) for line in text.split("\n") if "(call " in line or "{call " in line)

    def part(reference: str) -> int:
        inner = reference.strip("$(){}")
        if re.match(rf"(?:{_MAKE_MAKES})[ \t,]", inner) or inner in computed or "$" in inner:
            return ANYTHING
        return ANYTHING if called and inner.isdigit() else WORD

    for number, line in enumerate(text.split("\n"), 1):
        if "$" not in line or line.startswith("\t") or line.lstrip().startswith("#"):
            continue
        if (
            "=" in line
            and (found := _OF_MAKE.match(line[:_LONG]))
            and "$" in found.group(1)
            and ":" not in found.group(1)
        ):
            yield _split(r"\$[({](?:[^(){}]|\([^()]*\))*[)}]|\$\w", found.group(1), part), number, words
        for evaluated in _EVALUATED.finditer(line):
            if "$" in evaluated.group(1) and not evaluated.group(1).startswith(("$(call", "${call")):
                yield _split(r"\$[({][^(){}]*[)}]?|\$\w", evaluated.group(1), part), number, words


def _split(references: str, name: str, part: Callable[[str], int]) -> _Parts:
    pieces = re.split(f"({references})", name)
    return [part(piece) if piece.startswith("$") else piece for piece in pieces if piece]


def _of_shell(content: bytes) -> Iterator[tuple[_Parts, int, Collection[str]]]:
    text = content.decode("utf-8", errors="replace")
    if "$" not in text or "=" not in text:
        return
    words = frozenset(re.findall(r"[A-Za-z0-9_]+", text))
    made = frozenset(re.findall(r"(?m)\b(\w+)=[\"']?(?:\$\(|`|[^\n=]*\$\{\w+[\^/,#%:])", text))
    made |= frozenset(re.findall(r"\bprintf\s+-v\s*[\"']?(\w+)", text)) | frozenset(re.findall(r"\bread\s+(\w+)", text))

    def part(reference: str) -> int:
        if re.fullmatch(r"\$\{?a[cms]_\w+\}?", reference):
            # Autoconf sets what it is told on its command line.
            return WORD
        if re.fullmatch(r"\$\{?(\w+)\}?", reference):
            return ANYTHING if reference.strip("${}") in made else WORD
        return ANYTHING

    for number, line in enumerate(text.split("\n"), 1):
        if "$" not in line or "=" not in line or line.lstrip().startswith("#"):
            continue
        for found in (*_OF_SHELL.finditer(line[:_LONG]), *_OPTION_OF_SHELL.finditer(line[:_LONG])):
            if "$" in found.group(1):
                yield _split(r"\$\w+|\$\{[^{}]*\}|\$\([^()]*\)", found.group(1).replace('"', ""), part), number, words


_LONG = 2000
"""Characters of a line that are looked at."""


# Python.


def _of_python(content: bytes) -> Iterator[tuple[_Parts, int, Collection[str]]]:
    if not any(word in content for word in (b"environ", b"-D", b"macros", b"putenv", b"monkeypatch")):
        return
    tree = parsed(content)
    if tree is None:
        return
    words: set[str] = set()
    made: set[str] = set()
    keys: list[ast.expr] = []
    handed = {node.id for item in ast.walk(tree) for node in _environments(item) if isinstance(node, ast.Name)}
    for node in ast.walk(tree):
        match node:
            case ast.Constant(str(text)):
                words.add(text)
            case ast.Assign(targets, value) if _is_made(value, ()):
                made.update(target.id for target in targets if isinstance(target, ast.Name))
            case ast.AugAssign(ast.Name(name), ast.Add()):
                made.add(name)
        keys += _keys(node)
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") in handed for target in node.targets):
            keys += _keys_of(node.value)
        for given in _environments(node):
            keys += _keys_of(given)
    for key in keys:
        parts = _parts_of_python(key, made)
        if not (parts and all(part == WORD for part in parts)) or len(parts) > 1:
            yield parts, key.lineno, words


def _keys(node: ast.AST) -> Iterator[ast.expr]:
    """What a node of the tree makes the name of a variable or a macro."""
    match node:
        case ast.Subscript(of, key, ast.Store()) if last_part(of) in ("environ", "env", "environment"):
            yield key
        case ast.Call(func, [key, *_]) if last_part(func) in ("putenv", "setenv"):
            yield key
        case ast.Dict(keys, values) if any(last_part(value) == "environ" for value in values):
            yield from (key for key in keys if key is not None)
        case ast.Assign([target, *_], value) if "macros" in last_part(target):
            yield from (item.elts[0] for item in ast.walk(value) if isinstance(item, ast.Tuple) and item.elts)
        case ast.keyword("define_macros", value):
            yield from (item.elts[0] for item in ast.walk(value) if isinstance(item, ast.Tuple) and item.elts)
        case ast.Call(ast.Attribute(of, "append"), [ast.Tuple([key, *_])]) if "macros" in last_part(of):
            yield key
        case ast.JoinedStr([ast.Constant(str(text)), *rest]) if text.startswith("-D") and rest:
            first = ast.Constant(text.removeprefix("-D"))
            yield ast.copy_location(ast.JoinedStr([first, *rest]), node)
        case ast.BinOp(ast.Constant(str(text)), ast.Mod(), given) if text.startswith("-D"):
            yield ast.copy_location(_filled(text, given.elts if isinstance(given, ast.Tuple) else [given]), node)
        case ast.Call(ast.Attribute(ast.Constant(str(text)), "format"), given) if text.startswith("-D"):
            yield ast.copy_location(_filled(text, given), node)
        case ast.BinOp(ast.Constant(str(text)), ast.Add(), rest) if text.startswith("-D"):
            yield ast.copy_location(ast.BinOp(ast.Constant(text.removeprefix("-D")), ast.Add(), rest), node)


def _filled(text: str, given: Sequence[ast.expr]) -> ast.JoinedStr:
    """`"-DUSE_%s=%d" % (a, b)` as `f"USE_{a}={b}"`; without an argument for it, a gap is made."""
    pieces = re.split(r"%\w|\{\w*\}", text.removeprefix("-D"))
    values: list[ast.expr] = [ast.Constant(pieces[0])]
    for number, piece in enumerate(pieces[1:]):
        known = number < len(given) and not isinstance(given[number], ast.Starred)
        filler = given[number] if known else ast.Call(ast.Name("format", ast.Load()), [], [])
        values += [ast.FormattedValue(filler, -1), ast.Constant(piece)]
    return ast.JoinedStr(values)


def _environments(node: ast.AST) -> Iterator[ast.expr]:
    """What a node hands on as an environment, or as more of one."""
    match node:
        case ast.Call(ast.Attribute(of, "update"), [given, *_]) if last_part(of) in ("environ", "env", "environment"):
            yield given
        case ast.AugAssign(of, ast.BitOr(), given) if last_part(of) in ("environ", "env", "environment"):
            yield given
        case ast.keyword("env", given):
            yield given


def _keys_of(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.DictComp):
        yield node.key
    elif isinstance(node, ast.Dict):
        yield from (key for key in node.keys if key is not None)


def _is_made(node: ast.expr, made: Collection[str]) -> bool:
    if isinstance(node, ast.Call):
        return last_part(node.func) in _STRING_METHODS
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Slice)
    if isinstance(node, ast.Name):
        return node.id in made
    return isinstance(node, ast.JoinedStr | ast.BinOp) and any(
        isinstance(item, ast.Constant) and isinstance(item.value, str) for item in ast.walk(node)
    )


def _parts_of_python(node: ast.expr, made: Collection[str]) -> list[str | int]:
    """What is written of a text up to its `=`, and what is not."""
    found: list[str | int] = []
    rest: list[ast.expr] = [node]
    while rest and len(found) < _FEW:
        item = rest.pop()
        if isinstance(item, ast.JoinedStr):
            rest += item.values[::-1]
        elif isinstance(item, ast.BinOp) and isinstance(item.op, ast.Add):
            rest += [item.right, item.left]
        elif isinstance(item, ast.FormattedValue):
            rest.append(item.value)
        elif isinstance(item, ast.Constant) and isinstance(item.value, str):
            name, equals, _ = item.value.partition("=")
            found += [name] if name else []
            if equals:
                break
        else:
            found.append(ANYTHING if _is_made(item, made) else WORD)
    return found


# Parts of which one says enough by itself.


@lru_cache(maxsize=64)
def in_pieces(names: tuple[str, ...]) -> re.Pattern[bytes]:
    """The start of one of these names, and behind it what is only known later: `-DUSE_${backend}`, `f"USE_{b}"`; or the
    end of one, and that before it: `$(A)_ROCM = 1`."""
    starts = {name[: found.end()] for name in names for found in re.finditer(r"(?<=[A-Za-z])_", name)}
    ends = {name[found.start() :] for name in names for found in re.finditer(r"_(?=[A-Za-z])|(?<=[A-Za-z]_)", name)}
    begun, ended = (
        b"|".join(re.escape(part.encode()) for part in sorted(parts, key=len, reverse=True)) or rb"(?!)"
        for parts in (starts, {end for end in ends if len(end.strip("_")) > 2})
    )
    return re.compile(
        rb"(?<![A-Za-z0-9_$])(?:[-/]D[ \t]*)?(?P<start>"
        + begun
        + rb")(?:\$[{(\w]|%[sd]|\{|#\{|[\"'][ \t]*(?:\+|%|\.\.|~|&))"
        + rb"|(?:\$[({]\w+[)}]|\{\w*\}|%[sd]|(?:\+|\.\.|~|&)[ \t]*[\"'])(?P<end>"
        + ended
        + rb")(?![A-Za-z0-9_])"
    )


_JOINS = re.compile(rb"(?i)join|addprefix|addsuffix|subst|concat|format|replace")


def joined(name: str, content: bytes) -> int:
    """The line that joins the words of a name, or 0: `"_".join(("USE", "ROCM"))`, `string(JOIN _ X USE ROCM)`,
    `$(addprefix USE_,ROCM)`. A longer name that holds all of them is none."""
    words = {word.encode() for word in name.split("_") if word}
    if len(words) < 2 or not all(word in content for word in words) or _JOINS.search(content) is None:
        return 0
    for number, line in enumerate(content.split(b"\n"), 1):
        if _JOINS.search(line) is None or line.lstrip().startswith((b"#", b"//")):
            continue
        parts = [set(re.findall(rb"[A-Za-z0-9]+", item)) for item in re.findall(rb"\w+", line)]
        if words <= set().union(*(part for part in parts if not words <= part)):
            return number
    return 0


_READERS: dict[str, Callable[[bytes], Iterator[tuple[_Parts, int, Collection[str]]]]] = {
    "cmake": _of_cmake,
    "make": _of_make,
    "python": _of_python,
    **dict.fromkeys(("shell", "docker", "yaml", "other"), _of_shell),
}
