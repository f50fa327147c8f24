"""What a C, C++, CUDA or HIP header declares: names, kinds and parameter lists, read without a compiler.

Vendor headers hide half of their declarations behind version macros (removed functions, other backends, C++ only), so
they are read with every conditional branch at once: a name counts as declared when any configuration declares it.
The parsers of C know one configuration at a time and stop at vendor macros; this one only needs to tell a declarator
from what stands around it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

FUNCTION, TYPE, ENUM, MACRO = "function", "type", "enum", "macro"

_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/)
  | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>\.?\d[\w.']*)
  | (?P<mark>::|->|\.\.\.|<<=?|[-+*/%&|^=!<>]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL)
_SHOUTED = re.compile(r"[A-Z_][A-Z0-9_]*$")
# ruff: noqa: SIM905 - word lists read better as words
_ATTRIBUTES = frozenset(
    "__attribute__ __declspec alignas __align__ __launch_bounds__ noexcept decltype _Pragma throw sizeof "
    "__asm__ asm static_assert _Static_assert requires explicit if for while switch return operator "
    "__nv_is_extended_device_lambda_closure_type CUSPARSE_DEPRECATED CUSOLVER_DEPRECATED".split()
)
_TYPE_KEYWORDS = frozenset({"struct", "union", "class", "enum"})
_NOT_NAMES = frozenset(
    "const volatile unsigned signed int long short char float double void bool struct union class enum static "
    "inline extern typedef template typename namespace public private protected using return if else for while do "
    "constexpr noexcept override final default delete auto register friend virtual mutable restrict".split()
)


@dataclass(frozen=True)
class Declaration:
    """One declared name. `parameters`: the text of each parameter, None where the name takes none by nature."""

    name: str
    kind: str
    header: str
    parameters: tuple[str, ...] | None = None
    defaults: int = 0
    alias: str = ""
    """For a macro that stands for exactly one other identifier: that identifier."""
    value: str = ""
    inline: bool = False
    """Defined in the header (a template too), so that no library exports it and no stub names it."""


@dataclass
class Header:
    """All declarations of one file, in order; a name may occur more than once (overloads, branches)."""

    path: str
    declarations: list[Declaration] = field(default_factory=list)


def read(path: Path, name: str | None = None) -> Header:
    """Read one header. Bytes that are not UTF-8 are read as Latin-1: vendor headers carry stray (c) signs."""
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return parse(text, name or path.name)


def parse(text: str, header: str) -> Header:
    """Parse the text of a header into its declarations."""
    result = Header(header)
    code: list[str] = []
    opened: list[int] = []
    for line in _logical_lines(text):
        stripped = line.lstrip()
        if stripped.startswith("#"):
            declaration = _macro(stripped, header)
            if declaration is not None:
                result.declarations.append(declaration)
            directive = _DIRECTIVE.match(stripped)
            word = directive[1] if directive else ""
            if word in ("if", "ifdef", "ifndef"):
                opened.append(len(code))
            elif word in ("else", "elif") and opened:
                # All branches are read, so that a bracket each of them opens must be closed in all but the last.
                code.append(_closers(code[opened[-1] :]))
                opened[-1] = len(code)
            elif word == "endif" and opened:
                opened.pop()
            code.append("\n")
        else:
            code.append(line)
    result.declarations.extend(_statements(_tokens("".join(code)), header))
    return result


def _closers(lines: list[str]) -> str:
    """Brackets that undo what a branch of a conditional left open (or closed too much)."""
    tokens = _tokens("".join(lines))
    text = ""
    for opener, closer in ("()", "{}"):
        open_ = tokens.count(opener) - tokens.count(closer)
        text += closer * open_ if open_ > 0 else opener * -open_
    return f" {text} " if text else ""


def _logical_lines(text: str) -> Iterator[str]:
    text = text.replace("\r\n", "\n").replace("\\\n", " ")
    text = _COMMENT.sub(lambda m: m[0] if m[0].startswith('"') else " " + "\n" * m[0].count("\n"), text)
    for line in text.split("\n"):
        yield line + "\n"


_DIRECTIVE = re.compile(r"#\s*(\w+)")
_DEFINE = re.compile(r"#\s*define\s+([A-Za-z_]\w*)(\(([^)]*)\))?[ \t]*(.*)", re.DOTALL)


def _macro(line: str, header: str) -> Declaration | None:
    match = _DEFINE.match(line)
    if match is None:
        return None
    name, call, arguments, body = match.groups()
    body = body.strip()
    parameters = None
    if call is not None:
        parameters = tuple(part.strip() for part in arguments.split(",")) if arguments.strip() else ()
    alias = body if re.fullmatch(r"[A-Za-z_]\w*", body) and body not in _NOT_NAMES else ""
    if call is not None:
        target = re.match(r"([A-Za-z_]\w*)\s*\(", body)
        alias = target[1] if target else ""
    return Declaration(name, MACRO, header, parameters, alias=alias, value=body if call is None else "")


def _tokens(code: str) -> list[str]:
    tokens = (m[0] for m in _TOKEN.finditer(code) if m.lastgroup != "skip")
    # CUDA ends device declarations in a macro that is `;` on the device and a body on the host.
    return [";" if token == "__DEF_IF_HOST" else token for token in tokens]


def _close(tokens: list[str], start: int, opener: str, closer: str) -> int:
    """Index of the bracket that closes the one at `start`, or the end."""
    depth = 0
    for index in range(start, len(tokens)):
        if tokens[index] == opener:
            depth += 1
        elif tokens[index] == closer:
            depth -= 1
            if depth == 0:
                return index
    return len(tokens) - 1


def _statements(tokens: list[str], header: str) -> Iterator[Declaration]:
    start = index = 0
    size = len(tokens)
    while index < size:
        token = tokens[index]
        if token == "(":
            index = _close(tokens, index, "(", ")") + 1
        elif token == ";":
            yield from _statement(tokens[start:index], header)
            index += 1
            start = index
        elif token == "}":
            index += 1
            start = index
        elif token == "{":
            head = tokens[start:index]
            if _transparent(head):
                index += 1
                start = index
                continue
            end = _close(tokens, index, "{", "}")
            kind = _body_kind(head)
            if kind == "enum":
                yield from _enumerators(tokens[index + 1 : end], header)
            if kind is not None:
                if "typedef" not in head or head[-1] not in _TYPE_KEYWORDS:
                    yield from _tag(head, header)
                stop = end + 1
                while stop < size and tokens[stop] not in ";{":
                    stop = _close(tokens, stop, "(", ")") + 1 if tokens[stop] == "(" else stop + 1
                if "typedef" in head:
                    yield from _typedef(tokens[end + 1 : stop], header)
                index = stop + 1 if stop < size and tokens[stop] == ";" else end + 1
            else:
                yield from _statement(head, header)
                index = end + 1
            start = index
        else:
            index += 1


def _transparent(head: list[str]) -> bool:
    """`extern "C" {`, `namespace x {` and a brace left over from a conditional branch."""
    if not head:
        return True
    if head[-1].startswith('"') and "extern" in head:
        return True
    return "namespace" in head and "(" not in head and "using" not in head


def _body_kind(head: list[str]) -> str | None:
    """'enum', 'record' or None for a function body or an initialiser."""
    depth = 0
    for token in head:
        if token == "<":
            depth += 1
        elif token == ">":
            depth -= 1
        elif depth == 0 and token in _TYPE_KEYWORDS:
            if token == "enum":
                return "enum"
            outside = _strip_attributes(head)
            return None if "(" in outside else "record"
        elif depth == 0 and token == "=":
            return None
    return None


def _strip_attributes(tokens: list[str]) -> list[str]:
    result: list[str] = []
    index = 0
    while index < len(tokens):
        token = tokens[index]
        follows = index + 1 < len(tokens) and tokens[index + 1] == "("
        if follows and (token in _ATTRIBUTES or _SHOUTED.match(token)):
            index = _close(tokens, index + 1, "(", ")") + 1
        elif token == "[" and index + 1 < len(tokens) and tokens[index + 1] == "[":
            index = _close(tokens, index, "[", "]") + 1
        else:
            result.append(token)
            index += 1
    return result


def _tag(head: list[str], header: str) -> Iterator[Declaration]:
    outside = _strip_attributes(head)
    for index, token in enumerate(outside):
        if token in _TYPE_KEYWORDS and (index == 0 or outside[index - 1] not in ("<", ",")):
            names = []
            for candidate in outside[index + 1 :]:
                if candidate in (":", "<"):
                    break
                if re.match(r"[A-Za-z_]\w*$", candidate) and candidate not in _NOT_NAMES:
                    names.append(candidate)
            if names:
                yield Declaration(names[-1], TYPE, header)
            return


def _enumerators(body: list[str], header: str) -> Iterator[Declaration]:
    index = 0
    expect = True
    while index < len(body):
        token = body[index]
        if token in "([{":
            index = _close(body, index, token, {"(": ")", "[": "]", "{": "}"}[token]) + 1
            continue
        if token == ",":
            expect = True
        elif expect and re.match(r"[A-Za-z_]\w*$", token):
            value = []
            step = index + 1
            while step < len(body) and body[step] != ",":
                value.append(body[step])
                step += 1
            text = " ".join(value[value.index("=") + 1 :]) if "=" in value else ""
            yield Declaration(token, ENUM, header, value=text)
            expect = False
        index += 1


def _typedef(tokens: list[str], header: str) -> Iterator[Declaration]:
    for part in _split(_strip_attributes(tokens)):
        names = [t for t in part if re.match(r"[A-Za-z_]\w*$", t) and t not in _NOT_NAMES]
        if names:
            yield Declaration(names[-1], TYPE, header)


def _split(tokens: list[str]) -> list[list[str]]:
    """Split at top-level commas."""
    parts: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        if token in "([{<":
            depth += 1
        elif token in ")]}>":
            depth -= 1
        if token == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def _statement(tokens: list[str], header: str) -> Iterator[Declaration]:
    if not tokens:
        return
    if tokens[-1].endswith("DEPRECATED"):
        tokens = tokens[:-1]
    if "typedef" in tokens:
        yield from _typedef_statement(tokens, header)
        return
    if tokens[0] == "using":
        if len(tokens) > 2 and tokens[2] == "=":
            yield Declaration(tokens[1], TYPE, header)
        elif "::" in tokens and "namespace" not in tokens:
            yield Declaration(tokens[-1], TYPE, header)
        return
    found = _function(tokens, header)
    if found is not None:
        yield found
        return
    outside = _strip_attributes(tokens)
    if outside and outside[0] in _TYPE_KEYWORDS and "(" not in outside:
        yield from _tag(outside, header)
    elif "=" in outside:
        names = [t for t in outside[: outside.index("=")] if re.match(r"[A-Za-z_]\w*$", t)]
        if len(names) > 1 and names[-1] not in _NOT_NAMES:
            yield Declaration(names[-1], MACRO, header)


def _typedef_statement(tokens: list[str], header: str) -> Iterator[Declaration]:
    outside = _strip_attributes(tokens)
    pointer = [
        outside[i + 1]
        for i in range(len(outside) - 2)
        if outside[i] == "*" and outside[i - 1] == "(" and outside[i + 2] == ")"
    ]
    if pointer:
        yield Declaration(pointer[0], TYPE, header)
        return
    spelled = [t for t in outside if t not in ("typedef",)]
    if spelled and spelled[0] in _TYPE_KEYWORDS and len(spelled) > 1:
        yield Declaration(spelled[1], TYPE, header)
    if "(" in spelled:
        stop = spelled.index("(")
        inner = [t for t in spelled[stop : _close(spelled, stop, "(", ")")] if re.match(r"[A-Za-z_]\w*$", t)]
        before = [t for t in spelled[:stop] if re.match(r"[A-Za-z_]\w*$", t) and t not in _NOT_NAMES]
        for name in (inner[-1:] if spelled[stop + 1] == "*" else before[-1:]) or inner[-1:]:
            yield Declaration(name, TYPE, header)
        return
    for part in _split(spelled):
        trimmed = part[: part.index("[")] if "[" in part else part
        if trimmed and re.match(r"[A-Za-z_]\w*$", trimmed[-1]) and trimmed[-1] not in _NOT_NAMES:
            yield Declaration(trimmed[-1], TYPE, header)


def _function(tokens: list[str], header: str) -> Declaration | None:
    if "=" in tokens and "(" in tokens and tokens.index("=") < tokens.index("("):
        return None
    best: tuple[str, int] | None = None
    index = 0
    while index < len(tokens):
        if tokens[index] == "(":
            name = tokens[index - 1] if index else ""
            end = _close(tokens, index, "(", ")")
            usable = re.match(r"[A-Za-z_]\w*$", name) and name not in _ATTRIBUTES and name not in _NOT_NAMES
            # A shouted name is a vendor's attribute macro, unless nothing else looks like the declarator.
            if usable and (best is None or _SHOUTED.match(best[0])):
                before = tokens[index - 2] if index > 1 else ""
                if index > 1 and (re.match(r"[A-Za-z_]\w*$", before) or before in "*&>])"):
                    best = (name, index)
            index = end + 1
        elif tokens[index] == ":" and best is not None:
            break
        else:
            index += 1
    if best is None:
        return None
    name, start = best
    end = _close(tokens, start, "(", ")")
    parts = _split(tokens[start + 1 : end])
    parameters = tuple(" ".join(part) for part in parts)
    if parameters == ("void",):
        parameters = ()
    defaults = sum("=" in part for part in parts)
    inline = any(t in ("template", "inline", "__inline__", "static") for t in tokens[:start])
    return Declaration(name, FUNCTION, header, parameters, defaults, inline=inline)


def merge(headers: Iterable[Header]) -> dict[str, list[Declaration]]:
    """Declarations of several headers by name."""
    result: dict[str, list[Declaration]] = {}
    for header in headers:
        for declaration in header.declarations:
            result.setdefault(declaration.name, []).append(declaration)
    return result


_STUB_DEF = re.compile(r"^def (\w+)\(")
_STUB_CLASS = re.compile(r"^class (\w+)\(([^)]*)\)")
_STUB_VALUE = re.compile(r"^(\w+): ")
_STUB_HANDLE = re.compile(r"[(,]\s*(?:const\s+)?(\w+_t)\b")
_STUB_MEMBER = re.compile(r"^    (\w+): int")


def read_stub(path: Path) -> Header:
    """Read a Python type stub of the ROCm bindings, which names each C function with its C signature."""
    result = Header(path.name)
    current = ""
    is_enum = False
    in_signature = False
    handles: set[str] = set()
    for line in path.read_text(encoding="utf-8").splitlines():
        if match := _STUB_DEF.match(line):
            current = match[1]
        elif match := _STUB_CLASS.match(line):
            is_enum = "Enum" in match[2] or "IntFlag" in match[2]
            result.declarations.append(Declaration(match[1], TYPE, path.name))
        elif match := _STUB_VALUE.match(line):
            result.declarations.append(Declaration(match[1], MACRO, path.name))
        elif is_enum and (match := _STUB_MEMBER.match(line)):
            result.declarations.append(Declaration(match[1], ENUM, path.name))
        elif "rubric:: C signature" in line:
            in_signature = True
        elif in_signature and current and f"{current}(" in line:
            found = _function(_tokens(line), path.name)
            if found is not None:
                result.declarations.append(found)
                # Handles are opaque in the stub and named only where a function takes one.
                for handle in _STUB_HANDLE.findall(line):
                    if handle not in handles:
                        handles.add(handle)
                        result.declarations.append(Declaration(handle, TYPE, path.name))
            in_signature = False
    return result
