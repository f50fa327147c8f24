"""CMake: commands with `if(USE_ROCM)` evaluated false (https://cmake.org/cmake/help/latest/manual/cmake-language.7.html)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from rocport.verify.nvidia.tokens import LexError, Token

GATES = frozenset(("USE_ROCM", "USE_HIP"))
"""Options that are OFF unless someone asks for ROCm."""
GATE = "if(USE_ROCM)"
_FALSE = frozenset(("", "0", "OFF", "NO", "FALSE", "N", "IGNORE", "NOTFOUND"))


@dataclass(frozen=True)
class Argument:
    """One argument; `quoted` is `"`, `[` for a bracket argument, or empty."""

    text: str
    quoted: str
    line: int

    @property
    def token(self) -> str:
        if self.quoted == "[":
            return f"[[{self.text}]]"
        return f'"{self.text}"' if self.quoted else self.text


@dataclass(frozen=True)
class Command:
    """One call; `name` in lower case, as CMake compares them."""

    name: str
    arguments: tuple[Argument, ...]
    line: int


OF_LINE = "CMAKE_CURRENT_LIST_LINE"
_SAYS = 3
"""Letters of a name that say which names could be meant."""
_SPACE = re.compile(r"[ \t\r\n]+")
_BRACKET = re.compile(r"\[(=*)\[")
_NAME = re.compile(r"[A-Za-z_]\w*")
_UNQUOTED = re.compile(r"(?:\\.|\$\([^()\s\"#]*\)|[^\s()#\"\\]|(?<=[^\s()])\"(?:\\.|[^\"\\])*\")+", re.DOTALL)
_QUOTED = re.compile(r'"((?:\\.|[^"\\])*)"', re.DOTALL)


def commands(data: bytes) -> list[Command]:
    """The commands of a file. Raises LexError for text that is not CMake."""
    text = data.decode("utf-8", errors="surrogateescape").replace("\r\n", "\n").removeprefix("\ufeff")
    found: list[Command] = []
    place = counted = 0
    line = 1
    while True:
        place = _blank(text, place)
        if place >= len(text):
            return found
        line += text.count("\n", counted, place)
        counted = place
        name = _NAME.match(text, place)
        if name is None:
            raise LexError(line, f"{text[place : place + 20]!r} where a command should be")
        place = name.end()
        while place < len(text) and text[place] in " \t":
            place += 1
        if not text.startswith("(", place):
            raise LexError(line, f"`{name.group()}` without brackets")
        arguments, place = _arguments(text, place + 1, line)
        found.append(Command(name.group().lower(), tuple(arguments), line))


def _blank(text: str, place: int) -> int:
    """Past white space and comments."""
    while place < len(text):
        space = _SPACE.match(text, place)
        if space:
            place = space.end()
        elif text[place] == "#":
            bracket = _BRACKET.match(text, place + 1)
            if bracket:
                end = text.find(f"]{bracket.group(1)}]", bracket.end())
                place = len(text) if end == -1 else end + len(bracket.group(1)) + 2
            else:
                end = text.find("\n", place)
                place = len(text) if end == -1 else end
        else:
            break
    return place


def _arguments(text: str, place: int, start: int) -> tuple[list[Argument], int]:
    found: list[Argument] = []
    depth = 0
    line, counted = start, 0
    counted = place
    while True:
        place = _blank(text, place)
        if place >= len(text):
            raise LexError(start, "a command whose bracket is not closed")
        line += text.count("\n", counted, place)
        counted = place
        char = text[place]
        if char == ")":
            if depth == 0:
                return found, place + 1
            depth -= 1
            found.append(Argument(")", "", line))
            place += 1
            continue
        if char == "(":
            depth += 1
            found.append(Argument("(", "", line))
            place += 1
            continue
        bracket = _BRACKET.match(text, place)
        if bracket:
            end = text.find(f"]{bracket.group(1)}]", bracket.end())
            if end == -1:
                raise LexError(line, "a bracket argument without an end")
            found.append(Argument(text[bracket.end() : end], "[", line))
            place = end + len(bracket.group(1)) + 2
            continue
        quoted = _QUOTED.match(text, place)
        if quoted:
            found.append(Argument(quoted.group(1), '"', line))
            place = quoted.end()
            continue
        unquoted = _UNQUOTED.match(text, place)
        if unquoted is None:
            raise LexError(line, f"{text[place : place + 20]!r} where an argument should be")
        found.append(Argument(unquoted.group(), "", line))
        place = unquoted.end()


# Conditionals.


@dataclass
class _Branch:
    name: str
    """`if`, `elseif` or `else`."""
    command: Command
    body: list[Command | _Block]


@dataclass
class _Block:
    branches: list[_Branch] = field(default_factory=list)
    end: Command | None = None


def _tree(items: Sequence[Command]) -> list[Command | _Block]:
    top: list[Command | _Block] = []
    body = top
    stack: list[tuple[_Block, list[Command | _Block]]] = []
    for item in items:
        if item.name == "if":
            block = _Block()
            body.append(block)
            stack.append((block, body))
            block.branches.append(_Branch("if", item, []))
            body = block.branches[-1].body
        elif item.name in ("elseif", "else"):
            if not stack:
                raise LexError(item.line, f"{item.name}() without if()")
            block = stack[-1][0]
            block.branches.append(_Branch(item.name, item, []))
            body = block.branches[-1].body
        elif item.name == "endif":
            if not stack:
                raise LexError(item.line, "endif() without if()")
            block, body = stack.pop()
            block.end = item
        else:
            body.append(item)
    if stack:
        raise LexError(stack[-1][0].branches[0].command.line, "if() without endif()")
    return top


_UNARY = frozenset(("EXISTS", "IS_DIRECTORY", "IS_SYMLINK", "IS_ABSOLUTE", "COMMAND", "POLICY", "TARGET", "TEST"))
_UNARY |= frozenset(("DEFINED", "IS_READABLE", "IS_WRITABLE", "IS_EXECUTABLE"))
_BINARY = frozenset(
    [
        "EQUAL",
        "LESS",
        "LESS_EQUAL",
        "GREATER",
        "GREATER_EQUAL",
        "STREQUAL",
        "STRLESS",
        "STRLESS_EQUAL",
        "STRGREATER",
        "STRGREATER_EQUAL",
        "VERSION_EQUAL",
        "VERSION_LESS",
        "VERSION_LESS_EQUAL",
        "VERSION_GREATER",
        "VERSION_GREATER_EQUAL",
        "MATCHES",
        "IN_LIST",
        "IS_NEWER_THAN",
        "PATH_EQUAL",
    ]
)


class _Condition:
    """`if()` arguments: True, False, or what is left of the condition, fully bracketed."""

    def __init__(self, command: Command, gates: frozenset[str]) -> None:
        self.items = command.arguments
        self.line = command.line
        self.gates = gates
        self.place = 0

    def value(self) -> bool | str:
        found = self._or()
        if self.place != len(self.items):
            raise LexError(self.line, "a condition that cannot be read")
        return found

    def _word(self, ahead: int = 0) -> str:
        place = self.place + ahead
        if place >= len(self.items) or self.items[place].quoted:
            return ""
        return self.items[place].text

    def _or(self) -> bool | str:
        """AND and OR bind alike, from left to right."""
        left = self._not()
        while (word := self._word()) in ("AND", "OR"):
            self.place += 1
            left = _join(word, left, self._not(), word == "OR")
        return left

    def _not(self) -> bool | str:
        if self._word() == "NOT":
            self.place += 1
            value = self._not()
            return (not value) if isinstance(value, bool) else f"(NOT {value})"
        return self._test()

    def _test(self) -> bool | str:
        if self.place >= len(self.items):
            raise LexError(self.line, "a condition that cannot be read")
        if self._word() == "(":
            self.place += 1
            value = self._or()
            if self._word() != ")":
                raise LexError(self.line, "a condition that cannot be read")
            self.place += 1
            return value
        if self._word() in _UNARY and self.place + 1 < len(self.items) and self._word(1) not in ("AND", "OR", ")"):
            form = f"{self._word()} {self.items[self.place + 1].token}"
            self.place += 2
            return form
        if self._word(1) in _BINARY:
            # Without a third one the place is behind the end, which no one who reads on takes.
            form = " ".join(item.token for item in self.items[self.place : self.place + 3])
            self.place += 3
            return form
        item = self.items[self.place]
        if not item.quoted and item.text in self.gates:
            self.place += 1
            return False
        self.place += 1
        return item.token


def _join(word: str, left: bool | str, right: bool | str, stops: bool) -> bool | str:
    for value, other in ((left, right), (right, left)):
        if isinstance(value, bool):
            return stops if value is stops else other
    return f"({left} {word} {right})"


def _evaluate(command: Command, gates: frozenset[str]) -> bool | str:
    try:
        return _Condition(command, gates).value()
    except LexError:
        return " ".join(item.token for item in command.arguments) or "()"


def _fold(items: Sequence[Command | _Block], gates: frozenset[str]) -> Iterator[Command]:
    for item in items:
        if isinstance(item, Command):
            yield item
            continue
        kept: list[tuple[str, _Branch]] = []
        for branch in item.branches:
            value = True if branch.name == "else" else _evaluate(branch.command, gates)
            if value is True:
                kept.append(("", branch))
                break
            if isinstance(value, str):
                kept.append((value, branch))
        if kept and not kept[0][0]:
            yield from _fold(kept[0][1].body, gates)
            continue
        for number, (form, branch) in enumerate(kept):
            name = "else" if not form else "if" if number == 0 else "elseif"
            line = branch.command.line
            yield Command(name, (Argument(form, "", line),) if form else (), line)
            yield from _fold(branch.body, gates)
        if kept and item.end is not None:
            yield Command("endif", (), item.end.line)


def _declares_gate(command: Command) -> bool:
    """`option(USE_ROCM "..." OFF)`: OFF is also what an option without a default is."""
    texts = [item.text for item in command.arguments]
    if command.name != "option" or not texts or texts[0] not in GATES or command.arguments[0].quoted:
        return False
    return len(texts) == 2 or (len(texts) == 3 and texts[2].upper() in _FALSE)


def untrusted(data: bytes, gates: frozenset[str] = GATES) -> dict[str, int]:
    """Gates that the file may switch on, or that mean something else in it -> line."""
    found: dict[str, int] = {}
    for command in _fold(_tree(commands(data)), gates):
        if _declares_gate(command):
            continue
        for gate in gates:
            flag = re.compile(rf"-D\s*{gate}(?:\s*[:=]|\Z)")
            handed = command.name != "message" and any(flag.search(item.text) for item in command.arguments)
            if handed or _could_set(command, gate):
                found.setdefault(gate, command.line)
        for gate in _parsed(command, gates):
            found.setdefault(gate, command.line)
        if command.name in _EVALUATES:
            for item in command.arguments:
                if item.quoted and any(gate in item.text for gate in gates):
                    found |= {gate: command.line for gate in _in_code(item.text, gates) if gate not in found}
    return found


def _could_set(command: Command, gate: str) -> bool:
    """Whether a command names a gate, in quotes or as one of a list, makes its name of pieces, or holds text of CMake
    that does (https://cmake.org/cmake/help/latest/manual/cmake-language.7.html#command-arguments)."""
    if command.name in _ONLY_ASKS:
        return False
    texts = [item.text for item in command.arguments]
    if not {gate, f"CACHE{{{gate}}}"}.isdisjoint(part.partition("=")[0] for text in texts for part in text.split(";")):
        return True
    call = re.compile(rf"\b(?!(?:if|elseif|while|message)\b)\w+\s*\(\s*[\\\"\[=]*{gate}\b")
    if any(call.search(text) for text in texts):
        return True
    if command.name not in _NAMES:
        return False
    whole = [glue.join(texts) for glue in ("", "_")] if not any(gate in text for text in texts) else []
    joined = any(gate in (text.upper() if command.name == "string" else text) for text in whole)
    return joined or any(gate_in_pieces(text, gate) for text in texts)


_ONLY_ASKS = frozenset(("if", "elseif", "while", "endwhile", "endif", "else", "message", "mark_as_advanced"))
_NAMES = frozenset(("set", "option", "unset", "set_property", "list", "string", "file", "foreach", "find_program"))
"""Commands that set a variable whose name they are given."""
_EVALUATES = frozenset(("cmake_language", "install", "file", "variable_watch"))
"""Commands that are handed text of CMake."""


def shown(data: bytes) -> frozenset[int]:
    """Lines that hold nothing but what `message` prints, where no function of the file has its name."""
    try:
        found = commands(data)
    except LexError:
        return frozenset()
    printed: set[int] = set()
    others: set[int] = set()
    for command in found:
        if command.name in ("function", "macro") and [item.text.lower() for item in command.arguments[:1]] == [
            "message"
        ]:
            return frozenset()
        last = max((item.line + item.text.count("\n") for item in command.arguments), default=command.line)
        (printed if command.name == "message" else others).update(range(command.line, last + 1))
    return frozenset(printed - others)


def _parsed(command: Command, gates: frozenset[str]) -> Iterator[str]:
    """Gates that `cmake_parse_arguments(USE "ROCM" ...)` sets: `<prefix>_<keyword>`
    (https://cmake.org/cmake/help/latest/command/cmake_parse_arguments.html)."""
    words = [item.text for item in command.arguments]
    if command.name != "cmake_parse_arguments":
        return
    prefix, *keywords = (words[2:] if words[:1] == ["PARSE_ARGV"] else words) or [""]
    named = {f"{prefix}_{word}" for text in keywords for word in re.split(r"[\s;]+", text)}
    yield from gates & named


def _in_code(text: str, gates: frozenset[str]) -> Iterable[str]:
    try:
        return untrusted(text.replace('\\"', '"').encode(), gates)
    except LexError:
        return [gate for gate in gates if gate in text]


NAME_IN_PIECES = re.compile(
    rb"\b(?:USE_|HIP)\w*\$\{|\}\w*(?:ROCM|HIP)\b|\$\{\w+\}_?(?:ROCM|HIP)"
    rb"|(?i:cmake_parse_arguments)\s*\(\s*(?:PARSE_ARGV\s+\w+\s+)?\"?USE\b|\bUSE_?[\"\s;]|(?i:\buse_(?:rocm|hip)\b)"
)
"""Where the name of a gate could be put together."""


def gate_in_pieces(text: str, gate: str) -> bool:
    """Whether a name that is partly computed (`USE_${backend}`) could be this gate's."""
    if "${" not in text:
        return False
    parts = re.split(r"\$\{[^{}]*\}", text)
    first, *middle, last = parts
    place, end = len(first), len(gate) - len(last)
    if max(map(len, parts)) < _SAYS or place > end or not (gate.startswith(first) and gate.endswith(last)):
        return False
    for part in middle:
        found = gate.find(part, place, end)
        if found == -1:
            return False
        place = found + len(part)
    return True


@dataclass(frozen=True)
class Stream:
    """What is left of a file off ROCm, and the gates it declares: name -> line."""

    tokens: list[Token]
    commands: list[Command]
    declared: dict[str, int]


def stream(data: bytes, gates: frozenset[str] = GATES) -> Stream:
    """The tokens left with the gates false. Declarations of a gate are taken out. Raises LexError."""
    tokens: list[Token] = []
    kept: list[Command] = []
    declared: dict[str, int] = {}
    for command in _fold(_tree(commands(data)), gates):
        if _declares_gate(command) and command.arguments[0].text in gates:
            declared[command.arguments[0].text] = command.line
            continue
        kept.append(command)
        tokens.append(Token(command.name, command.line))
        tokens.append(Token("(", command.line))
        tokens += [Token(item.token, item.line) for item in command.arguments]
        tokens.append(Token(")", command.line))
    return Stream(tokens, kept, declared)


_PROPERTIES = ("get_cmake_property", "get_directory_property", "get_property")
_LISTS_VARIABLES = re.compile(rb"(?i)get_(?:cmake_|directory_)?property")
"""Commands that give the list of all variables (https://cmake.org/cmake/help/latest/prop_dir/VARIABLES.html)."""


def may_see(data: bytes, gate: str) -> bool:
    """Whether `mentions` is to be asked of a text."""
    return gate.encode() in data or _LISTS_VARIABLES.search(data) is not None


def mentions(data: bytes, gate: str) -> list[int]:
    """Lines that see whether a gate is declared or what it holds, other than `if(GATE)`: where declaring it shows."""
    found: list[int] = []
    for command in _fold(_tree(commands(data)), frozenset()):
        words = [item.text for item in command.arguments]
        tested = command.name in ("if", "elseif", "while")
        whole = any(f"{{{gate}}}" in word for word in words)
        asked = tested and (f"DEFINED {gate}" in " ".join(words) or f"DEFINED CACHE{{{gate}}}" in " ".join(words))
        listed = command.name in _PROPERTIES and not {"VARIABLES", "CACHE_VARIABLES"}.isdisjoint(words)
        if whole or asked or listed:
            found.append(command.line)
    return found
