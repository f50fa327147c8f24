"""Makefiles: logical lines with the conditionals on USE_ROCM evaluated as they are where nobody sets it.

Source: https://www.gnu.org/software/make/manual/html_node/Conditional-Syntax.html
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rocport.verify.nvidia.tokens import LexError, Token

GATES = frozenset(("USE_ROCM", "USE_HIP"))
GATE = "ifeq ($(USE_ROCM),1)"
_OFF = frozenset(("", "0", "OFF", "off", "no", "false", "FALSE", "NO"))
_ASSIGNED = re.compile(r"(?:(?:export|override|private)\s+)*(\w+)\s*(\?=|:{0,3}=|\+=|!=)\s*(.*)\Z", re.DOTALL)
_DEFINE = re.compile(r"\s*(?:(?:override|export)\s+)*define\b(?!\s*[:+?]?=)")
_INCLUDE = re.compile(r" *(?:-|s)?include\s+(.*)", re.DOTALL)
_CONDITIONAL = re.compile(r" *(ifeq|ifneq|ifdef|ifndef|else|endif)\b(.*)\Z", re.DOTALL)


@dataclass(frozen=True)
class Line:
    """A logical line; `\\` at the end of its parts stays in the text."""

    text: str
    line: int


def lines(data: bytes) -> list[Line]:
    """Logical lines without blank ones and those that are only a comment, except inside `define`."""
    text = data.decode("utf-8", errors="surrogateescape").replace("\r\n", "\n").removeprefix("\ufeff")
    found: list[Line] = []
    parts: list[str] = []
    start = 0
    defining = 0
    for number, raw in enumerate(text.split("\n"), 1):
        if not parts:
            start = number
        parts.append(raw)
        if (len(raw) - len(raw.rstrip("\\"))) % 2:
            continue
        whole = "\n".join(parts)
        parts = []
        stripped = whole.strip()
        if _DEFINE.match(stripped):
            defining += 1
        elif stripped == "endef":
            defining = max(0, defining - 1)
        if defining or (stripped and not (stripped.startswith("#") and not whole.startswith("\t"))):
            found.append(Line(whole, start))
    if parts:
        found.append(Line("\n".join(parts), start))
    return found


@dataclass
class _Branch:
    condition: str
    line: Line
    body: list[Line | _Block]


@dataclass
class _Block:
    branches: list[_Branch] = field(default_factory=list)
    end: Line | None = None


def _tree(items: Sequence[Line]) -> list[Line | _Block]:
    top: list[Line | _Block] = []
    body = top
    stack: list[tuple[_Block, list[Line | _Block]]] = []
    defining = 0
    for item in items:
        if _DEFINE.match(item.text):
            defining += 1
        elif item.text.strip() == "endef":
            defining = max(0, defining - 1)
        # Inside `define` a conditional is text: it is read where the variable is evaluated, or never.
        found = None if defining or item.text.startswith("\t") else _CONDITIONAL.match(item.text)
        word = found.group(1) if found else ""
        if not found or re.match(r"\s*[:+?!]?=", found.group(2)):
            body.append(item)
        elif word.startswith("if"):
            block = _Block()
            body.append(block)
            stack.append((block, body))
            block.branches.append(_Branch(item.text.strip(), item, []))
            body = block.branches[-1].body
        elif not stack:
            raise LexError(item.line, f"{word} without ifeq")
        elif word == "else":
            block = stack[-1][0]
            block.branches.append(_Branch(_uncommented(found.group(2)), item, []))
            body = block.branches[-1].body
        else:
            block, body = stack.pop()
            block.end = item
    if stack:
        raise LexError(stack[-1][0].branches[0].line.line, "a conditional without endif")
    return top


def _uncommented(text: str) -> str:
    return text.partition("#")[0].strip()


def _evaluate(condition: str, values: dict[str, str]) -> bool | None:
    """Whether a condition holds with the gates as they are; None when it rests on something else."""
    word, _, rest = _uncommented(condition).partition(" ")
    if word not in ("ifeq", "ifneq", "ifdef", "ifndef"):
        found = re.match(r"(ifeq|ifneq)(\(.*)", word + " " + rest)
        if not found:
            return None
        word, rest = found.group(1), found.group(2)
    rest = rest.strip()
    if word in ("ifdef", "ifndef"):
        if rest not in values:
            return None
        return (values[rest] != "") is (word == "ifdef")
    sides = _sides(rest)
    if sides is None:
        return None
    if not any(_gates_in(side, values) for side in sides):
        return None
    # A gate that the file leaves empty may be 0 in the environment: off too.
    answers: set[bool] = set()
    for off in ("", "0"):
        tried = {name: value or off for name, value in values.items()}
        known = [_expand(side, tried) for side in sides]
        if known[0] is None or known[1] is None:
            return None
        answers.add((known[0] == known[1]) is (word == "ifeq"))
    return answers.pop() if len(answers) == 1 else None


def _sides(text: str) -> tuple[str, str] | None:
    if text.startswith("("):
        depth = 0
        for place, char in enumerate(text):
            depth += (char == "(") - (char == ")")
            if char == "," and depth == 1:
                return (text[1:place].strip(), text[place + 1 : -1].strip()) if text.endswith(")") else None
        return None
    found = re.fullmatch(r"(['\"])(.*?)\1\s+(['\"])(.*?)\3", text)
    return (found.group(2), found.group(4)) if found else None


def _gates_in(text: str, values: dict[str, str]) -> bool:
    return any(f"$({name})" in text or f"${{{name}}}" in text for name in values)


def _expand(text: str, values: dict[str, str]) -> str | None:
    for name, value in values.items():
        text = text.replace(f"$({name})", value).replace(f"${{{name}}}", value)
    text = re.sub(r"\$\(strip ([^$()]*)\)", lambda found: found.group(1).strip(), text)
    return None if "$" in text else text.strip()


def _fold(items: Sequence[Line | _Block], values: dict[str, str]) -> Iterator[Line]:
    for item in items:
        if isinstance(item, Line):
            yield item
            continue
        kept: list[tuple[str, _Branch]] = []
        for branch in item.branches:
            value = True if not branch.condition else _evaluate(branch.condition, values)
            if value is True:
                kept.append(("", branch))
                break
            if value is None:
                kept.append((branch.condition, branch))
        if kept and not kept[0][0]:
            yield from _fold(kept[0][1].body, values)
            continue
        for number, (condition, branch) in enumerate(kept):
            text = condition if number == 0 else f"else {condition}".rstrip()
            yield Line(text, branch.line.line)
            yield from _fold(branch.body, values)
        if kept and item.end is not None:
            yield Line("endif", item.end.line)


def _declares_gate(line: Line) -> tuple[str, str] | None:
    """(gate, value) of `USE_ROCM ?= 0`."""
    if line.text.startswith("\t"):
        return None
    found = _ASSIGNED.match(_uncommented(line.text))
    exported = _uncommented(line.text).startswith(("export", "override"))
    if not found or exported or found.group(1) not in GATES or found.group(2) != "?=":
        return None
    value = found.group(3).strip()
    return (found.group(1), value) if value in _OFF else None


@dataclass(frozen=True)
class Stream:
    """What is left of a Makefile off ROCm, and the gates it declares: name -> line."""

    tokens: list[Token]
    lines: list[Line]
    declared: dict[str, int]


def stream(data: bytes) -> Stream:
    """The lines left where nobody asks for ROCm. Declarations of a gate are taken out. Raises LexError."""
    items = lines(data)
    values = dict.fromkeys(GATES, "")
    declared: dict[str, int] = {}
    rest: list[Line] = []
    for item in items:
        gate = _declares_gate(item)
        if gate is not None and gate[0] not in declared:
            values[gate[0]] = gate[1]
            declared[gate[0]] = item.line
        else:
            rest.append(item)
    # A gate that is set in another way is not known.
    for item in rest:
        found = None if item.text.startswith("\t") else _ASSIGNED.match(item.text.strip())
        if found:
            values.pop(found.group(1), None)
    kept = list(_fold(_tree(rest), values))
    return Stream(list(_canonical(kept)), kept, declared)


def _canonical(kept: Sequence[Line]) -> Iterator[Token]:
    """Spaces before a line count in recipes, and in what a `define` holds."""
    defining = 0
    for line in kept:
        stripped = line.text.strip()
        opens, ends = _DEFINE.match(stripped) is not None, stripped == "endef"
        inside = defining > ends
        defining = max(0, defining + opens - ends)
        yield Token(line.text if inside or line.text.startswith("\t") else line.text.lstrip(" "), line.line)


_SAME_FOR_OFF = re.compile(r"\s*(?:else\s+)?ifn?eq\b")


def asks_whether_set(data: bytes) -> frozenset[str]:
    """Names that a conditional only asks for being set: to it `0` is as good as `1`."""
    found = (re.match(r"(?:else\s+)?ifn?def\s+(\w+)", item.text.strip()) for item in lines(data))
    return frozenset(item.group(1) for item in found if item)


def sets(text: str, name: str, off_too: bool) -> bool:
    """Whether a line of a makefile may set a variable. `off_too`: whether a value that is off counts as well."""
    if text.startswith("\t"):
        return re.search(rf"(?<![\w-]){name}=", text) is not None
    code = _uncommented(text)
    # What reads it, and what only hands it on.
    code = re.sub(rf"\$[({{]{name}[)}}:]", "", code)
    if name not in code or _CONDITIONAL.match(text) or re.match(r"(?:unexport|export|undefine)\b[^=]*\Z", code):
        return False
    found = _ASSIGNED.match(code)
    return not found or found.group(1) != name or off_too or found.group(3).strip() not in _OFF


def sees_declared(data: bytes, gate: str) -> int:
    """The line that would see a gate declared as 0, or 0: anything that names it, but a comparison with a value that is
    on; a name that is computed and could be it; a look through all names."""
    mention = re.compile(rf"(?<![\w-]){gate}(?!\w)")
    computed = re.compile(_computed(gate))
    for item in lines(data):
        text = _uncommented(item.text)
        if mention.search(text):
            if _SAME_FOR_OFF.match(text) and _evaluate(text.strip(), {gate: ""}) is not None:
                continue
            return item.line
        if "$(.VARIABLES)" in text or "${.VARIABLES}" in text or computed.search(text):
            return item.line
    return 0


def _computed(gate: str) -> str:
    """An expression for a reference whose name is computed and could be the gate: `$(USE_$(B))`, `$(origin $(V))`."""
    inner = r"\$[({][^()${}]*[)}]"
    heads = "|".join(re.escape(gate[:size]) for size in range(3, len(gate)))
    return rf"\$[({{](?:(?:{heads}){inner}|(?:origin|flavor|value)\s+\w*{inner})"


def included(data: bytes) -> frozenset[str]:
    """Last parts of the paths on `include` lines."""
    words = [word for item in lines(data) if (found := _INCLUDE.match(item.text)) for word in found.group(1).split()]
    return frozenset(re.split(r"[/)}]", word)[-1] for word in words)


def exports_all(data: bytes) -> int:
    """The line that exports every variable to the commands, or 0: there a new variable is seen by all of them."""
    for item in lines(data):
        if _uncommented(item.text) == "export" or item.text.startswith(".EXPORT_ALL_VARIABLES"):
            return item.line
    return 0
