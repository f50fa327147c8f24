"""C, C++ and CUDA: preprocessing tokens with the ROCm conditionals evaluated false.

A lexer of its own (translation phases 1 to 3 of the C++ standard: splices, comments, raw strings), and the conditionals
as a tree. A condition that rests on something else stays as tokens; one that rests on both is simplified.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress

from rocport.verify.nvidia.tokens import LexError, Token

GATE = "USE_ROCM or __HIP_PLATFORM_AMD__"
_MACROS = re.compile(
    r"(?:USE_ROCM|__HIP_PLATFORM_(?:AMD|HCC)__|__HIPCC__|__HIP__|__HIP_DEVICE_COMPILE__|__HIPCC_RTC__|TORCH_HIP_VERSION"
    r"|HIP_VERSION(?:_[A-Z]+)?|ROCM_VERSION(?:_[A-Z]+)?|__AMDGCN__|__AMDGPU__|__AMD__|__HCC__|__gfx\w+__|__GFX\w+__"
    r"|__AMDGCN_\w+|__HIP_ARCH_\w+)\Z"
)
"""Macros that only a HIP compiler for AMD GPUs, or a ROCm build of PyTorch, defines."""


def is_rocm_macro(name: str) -> bool:
    return _MACROS.match(name) is not None


@dataclass
class _Line:
    """Tokens of a line: of a directive (`name` is its name), of text (`name` is empty), or a comment (`//`)."""

    name: str
    tokens: list[Token]
    line: int


_TOKEN = re.compile(
    r"(?P<string>(?:u8|[uUL])?\"(?:[^\"\\\n]|\\.)*\"?)"
    r"|(?P<char>(?:u8|[uUL])?'(?:[^'\\\n]|\\.)*'?)"
    r"|(?P<number>\.?[0-9](?:[eEpP][+-]|'[0-9A-Za-z_]|[0-9A-Za-z_.])*)"
    r"|(?P<word>[^\W\d][\w$]*)"
    r"|(?P<operator><=>|->\*|\.\.\.|<<=|>>=|::|->|\.\*|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%^&|]=|\#\#|.)",
    re.DOTALL,
)
_COMMENT = "//"
_RAW = re.compile(r"(?:u8|[uUL])?R\"")
_SPLICE = re.compile(r"\\[ \t\f\v]*\n")
_HEADER = re.compile(r"<[^>\n]*>")


class _Lexer:
    def __init__(self, text: str) -> None:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.text = text.removeprefix("\ufeff")

    def lines(self) -> list[_Line]:
        """Logical lines; the comments of a line stand behind it. Raises LexError for a comment or raw string without an
        end."""
        lines: list[_Line] = []
        comments: list[_Line] = []
        tokens: list[Token] = []
        number = 1
        place = 0
        spaced = True
        text = self.text
        length = len(text)
        start_line = 1
        while place < length:
            char = text[place]
            if char == "\n":
                if tokens:
                    lines.append(self._line(tokens, start_line))
                    tokens = []
                lines += comments
                comments = []
                place += 1
                number += 1
                spaced = True
                continue
            if char in " \t\f\v":
                place += 1
                spaced = True
                continue
            if char == "\\":
                splice = _SPLICE.match(text, place)
                if splice:
                    place = splice.end()
                    number += 1
                    continue
            if text.startswith("//", place):
                start = place
                place, crossed = self._line_comment(place)
                comments.append(self._comment(start, place, number))
                number += crossed
                spaced = True
                continue
            if text.startswith("/*", place):
                end = text.find("*/", place + 2)
                if end == -1:
                    raise LexError(number, "a comment without an end")
                comments.append(self._comment(place, end + 2, number))
                number += text.count("\n", place, end)
                place = end + 2
                spaced = True
                continue
            if not tokens:
                start_line = number
                if text.startswith("%:", place):
                    tokens.append(Token("#", number, spaced))
                    place += 2
                    spaced = False
                    continue
            if char in "RuUL":
                raw = _RAW.match(text, place)
                if raw:
                    piece, place = self._raw(place, raw.end(), number)
                    tokens.append(Token(piece, number, spaced))
                    number += piece.count("\n")
                    spaced = False
                    continue
            if char == "<" and self._in_include(tokens):
                header = _HEADER.match(text, place)
                if header:
                    tokens.append(Token(header.group(), number, spaced))
                    place = header.end()
                    spaced = False
                    continue
            piece, place, crossed = self._token(place)
            tokens.append(Token(piece, number, spaced))
            number += crossed
            spaced = False
        if tokens:
            lines.append(self._line(tokens, start_line))
        return lines + comments

    def _comment(self, start: int, end: int, line: int) -> _Line:
        return _Line(_COMMENT, [Token(self.text[start:end], line)], line)

    def _line_comment(self, place: int) -> tuple[int, int]:
        """Past a `//` comment: it goes on after a backslash at the end of a line."""
        crossed = 0
        while True:
            end = self.text.find("\n", place)
            if end == -1:
                return len(self.text), crossed
            if not self.text[place:end].rstrip(" \t\f\v").endswith("\\"):
                return end, crossed
            crossed += 1
            place = end + 1

    def _raw(self, place: int, after: int, number: int) -> tuple[str, int]:
        opening = self.text.find("(", after)
        delimiter = self.text[after:opening] if opening >= 0 else ""
        if opening == -1 or len(delimiter) > 16 or re.search(r"[\s()\\\"]", delimiter):
            raise LexError(number, "a raw string whose delimiter is not one")
        end = self.text.find(f'){delimiter}"', opening)
        if end == -1:
            raise LexError(number, "a raw string without an end")
        stop = end + len(delimiter) + 2
        return self.text[place:stop], stop

    def _token(self, place: int) -> tuple[str, int, int]:
        """A token, where it ends, and the splices inside it."""
        found = _TOKEN.match(self.text, place)
        assert found is not None
        end = found.end()
        if _SPLICE.match(self.text, end) is None and not (
            found.lastgroup in ("string", "char") and "\\\n" in found.group()
        ):
            return found.group(), end, 0
        # A token that goes on after a splice: lex the joined text, then count how much of it was read.
        window, ends = self._joined(place)
        found = _TOKEN.match(window)
        assert found is not None
        length = len(found.group())
        return found.group(), ends[length - 1][0], ends[length - 1][1]

    def _joined(self, place: int) -> tuple[str, list[tuple[int, int]]]:
        """The logical line from `place` with its splices taken out, and for each character where it ends."""
        chars: list[str] = []
        ends: list[tuple[int, int]] = []
        crossed = 0
        while place < len(self.text) and self.text[place] != "\n":
            splice = _SPLICE.match(self.text, place) if self.text[place] == "\\" else None
            if splice:
                place = splice.end()
                crossed += 1
                continue
            chars.append(self.text[place])
            place += 1
            ends.append((place, crossed))
        return "".join(chars), ends

    @staticmethod
    def _in_include(tokens: Sequence[Token]) -> bool:
        if len(tokens) < 2:
            return False
        before, last = tokens[-2].text, tokens[-1].text
        if len(tokens) == 2 and before == "#" and last in ("include", "include_next", "import"):
            return True
        return last == "(" and before in ("__has_include", "__has_include_next")

    @staticmethod
    def _line(tokens: list[Token], line: int) -> _Line:
        if tokens[0].text == "#":
            name = tokens[1].text if len(tokens) > 1 else ""
            return _Line(f"#{name}", tokens[2:], line)
        return _Line("", tokens, line)


# Conditionals.


@dataclass
class _Branch:
    """`#if` and the like with its body; `condition` is the tokens after the name."""

    name: str
    condition: list[Token]
    line: int
    body: list[_Line | _Group]


@dataclass
class _Group:
    """A whole conditional, `#if` to `#endif`."""

    branches: list[_Branch] = field(default_factory=list)
    end: int = 0


_IFS = ("#if", "#ifdef", "#ifndef")
_ELSES = ("#elif", "#elifdef", "#elifndef", "#else")


def _tree(lines: Sequence[_Line]) -> list[_Line | _Group]:
    top: list[_Line | _Group] = []
    open_groups: list[tuple[_Group, list[_Line | _Group]]] = []
    body = top
    for line in lines:
        if line.name in _IFS:
            group = _Group()
            body.append(group)
            open_groups.append((group, body))
            group.branches.append(_Branch(line.name, line.tokens, line.line, []))
            body = group.branches[-1].body
        elif line.name in _ELSES:
            if not open_groups:
                raise LexError(line.line, f"{line.name} without #if")
            group = open_groups[-1][0]
            if group.branches[-1].name == "#else":
                raise LexError(line.line, f"{line.name} after #else")
            group.branches.append(_Branch(line.name, line.tokens, line.line, []))
            body = group.branches[-1].body
        elif line.name == "#endif":
            if not open_groups:
                raise LexError(line.line, "#endif without #if")
            group, body = open_groups.pop()
            group.end = line.line
        else:
            body.append(line)
    if open_groups:
        raise LexError(open_groups[-1][0].branches[0].line, "#if without #endif")
    return top


# Conditions: a value that is certain off ROCm, or what is left as nested tuples.


@dataclass(frozen=True)
class _Certain:
    value: int
    platform: bool


@dataclass(frozen=True)
class _Open:
    form: str
    """The condition, fully bracketed: the same for `#ifdef X` and `#if defined(X)`."""
    logical: bool = False
    """Whether only the truth of the value is that of the form."""


_Value = _Certain | _Open


def _number(value: int, platform: bool, form: str) -> _Value:
    """A value of `intmax_t`, the only type of a condition whose arithmetic is done here: another one has no sign, or
    is an overflow, and stays as its form."""
    return _Certain(value, platform) if -(1 << 63) <= value < 1 << 63 else _Open(form)


_LEVELS: tuple[tuple[str, ...], ...] = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)


class _Condition:
    def __init__(self, tokens: Sequence[Token], distrusted: frozenset[str]) -> None:
        self.tokens = [token.text for token in tokens]
        self.line = tokens[0].line if tokens else 0
        self.place = 0
        self.distrusted = distrusted

    def value(self) -> _Value:
        found = self._ternary()
        if self.place != len(self.tokens):
            raise LexError(self.line, "a condition that cannot be read")
        return found

    def _next(self) -> str:
        return self.tokens[self.place] if self.place < len(self.tokens) else ""

    def _take(self, text: str = "") -> str:
        token = self._next()
        if not token or (text and token != text):
            raise LexError(self.line, "a condition that cannot be read")
        self.place += 1
        return token

    def _ternary(self) -> _Value:
        test = self._binary(0)
        if self._next() != "?":
            return test
        self._take()
        yes = self._ternary()
        self._take(":")
        no = self._ternary()
        if isinstance(test, _Certain) and test.platform:
            kept, left_out = (yes, no) if test.value else (no, yes)
            # Both give the type: an arm that is not taken may take the sign from the other one.
            if isinstance(left_out, _Certain):
                return kept
            if isinstance(kept, _Open):
                return _Open(kept.form, True)
        return _Open(f"({_truth(test)}?{_form(yes)}:{_form(no)})")

    def _binary(self, level: int) -> _Value:
        if level == len(_LEVELS):
            return self._unary()
        left = self._binary(level + 1)
        while self._next() in _LEVELS[level]:
            operator = self._take()
            left = _combine(operator, left, self._binary(level + 1))
        return left

    def _unary(self) -> _Value:
        if self._next() in ("!", "-", "+", "~"):
            operator = self._take()
            value = self._unary()
            if isinstance(value, _Certain):
                made = {"!": int(not value.value), "-": -value.value, "+": value.value, "~": ~value.value}[operator]
                return _number(made, value.platform, f"({operator}{value.value})")
            return _Open(f"({operator}{value.form if operator == '!' else _form(value)})")
        return self._primary()

    def _primary(self) -> _Value:
        token = self._take()
        if token == "(":
            value = self._ternary()
            self._take(")")
            return value
        if token == "defined":
            bracket = self._next() == "("
            if bracket:
                self._take()
            name = self._take()
            if bracket:
                self._take(")")
            return _Certain(0, True) if self._rocm(name) else _Open(f"defined({name})")
        if re.match(r"[^\W\d]", token):
            if self._next() == "(":
                return self._call(token)
            return _Certain(0, True) if self._rocm(token) else _Open(token)
        number = re.fullmatch(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9']+)[uUlLzZ]*", token)
        if number and re.search(r"[uU]", token[number.end(1) :]):
            # Arithmetic without a sign, where `0 - 1` is more than 0.
            return _Open(token)
        if number:
            digits = number.group(1).replace("'", "")
            octal = len(digits) > 1 and digits.isdigit() and digits[0] == "0"
            try:
                return _number(int(digits, 8 if octal else 0), False, token)
            except ValueError:
                raise LexError(self.line, "a condition with a number that is none") from None
        if token.startswith("'"):
            return _Open(token)
        raise LexError(self.line, "a condition that cannot be read")

    def _call(self, name: str) -> _Value:
        depth = 0
        text = name
        while True:
            token = self._take()
            text += f" {token}"
            depth += (token == "(") - (token == ")")
            if depth == 0:
                return _Open(text)

    def _rocm(self, name: str) -> bool:
        return is_rocm_macro(name) and name not in self.distrusted


def _truth(value: _Value) -> str:
    """A form where only the truth of the value is asked."""
    return str(value.value) if isinstance(value, _Certain) else value.form


def _form(value: _Value) -> str:
    return f"(!(!{value.form}))" if isinstance(value, _Open) and value.logical else _truth(value)


def _combine(operator: str, left: _Value, right: _Value) -> _Value:
    if isinstance(left, _Certain) and isinstance(right, _Certain):
        return _calculate(operator, left, right)
    if operator in ("&&", "||"):
        stops = operator == "||"
        for value, other in ((left, right), (right, left)):
            if isinstance(value, _Certain) and value.platform and isinstance(other, _Open):
                return _Certain(int(stops), True) if bool(value.value) is stops else _Open(other.form, True)
        return _Open(f"({_truth(left)}{operator}{_truth(right)})")
    return _Open(f"({_form(left)}{operator}{_form(right)})")


def _calculate(operator: str, left: _Certain, right: _Certain) -> _Value:
    a, b = left.value, right.value
    platform = left.platform or right.platform
    if operator in ("/", "%"):
        if b == 0:
            return _Open(f"({a}{operator}{b})")
        sign = -1 if (a < 0) != (b < 0) else 1
        quotient = sign * (abs(a) // abs(b))
        return _number(quotient if operator == "/" else a - b * quotient, platform, f"({a}{operator}{b})")
    if operator in ("<<", ">>") and not 0 <= b < 64:
        return _Open(f"({a}{operator}{b})")
    table = {
        "||": lambda: int(bool(a or b)),
        "&&": lambda: int(bool(a and b)),
        "|": lambda: a | b,
        "^": lambda: a ^ b,
        "&": lambda: a & b,
        "==": lambda: int(a == b),
        "!=": lambda: int(a != b),
        "<": lambda: int(a < b),
        ">": lambda: int(a > b),
        "<=": lambda: int(a <= b),
        ">=": lambda: int(a >= b),
        "<<": lambda: a << b,
        ">>": lambda: a >> b,
        "+": lambda: a + b,
        "-": lambda: a - b,
        "*": lambda: a * b,
    }
    return _number(table[operator](), platform, f"({a}{operator}{b})")


def _evaluate(branch: _Branch, distrusted: frozenset[str]) -> _Value:
    """The value of a branch's condition. One that cannot be read is itself: its tokens."""
    name = branch.name.removeprefix("#el") if branch.name.startswith("#el") else branch.name.removeprefix("#")
    if name in ("ifdef", "ifndef"):
        if len(branch.condition) != 1:
            raise LexError(branch.line, f"{branch.name} with something other than one name")
        macro = branch.condition[0].text
        rocm = is_rocm_macro(macro) and macro not in distrusted
        negative = name == "ifndef"
        if rocm:
            return _Certain(int(negative), True)
        return _Open(f"(!defined({macro}))" if negative else f"defined({macro})")
    if not branch.condition:
        raise LexError(branch.line, f"{branch.name} without a condition")
    if any(token.text == "__COUNTER__" for token in branch.condition):
        # It counts wherever it stands, also behind a `&&` that is false.
        return _Open(" ".join(token.text for token in branch.condition))
    try:
        value = _Condition(branch.condition, distrusted).value()
    except LexError:
        return _Open(" ".join(token.text for token in branch.condition))
    if isinstance(value, _Certain) and not value.platform:
        return _Open(" ".join(token.text for token in branch.condition))
    return value


def _fold(items: Sequence[_Line | _Group], distrusted: frozenset[str]) -> Iterator[Token]:
    for item in items:
        if isinstance(item, _Group):
            yield from _fold_group(item, distrusted)
            continue
        if item.name and item.name != _COMMENT:
            yield Token(item.name, item.line, True)
            tokens = list(item.tokens)
            yield from tokens
            # The end of a directive is where its line ends.
            yield Token("\n", tokens[-1].line if tokens else item.line, True)
        else:
            yield from item.tokens


def _fold_group(group: _Group, distrusted: frozenset[str]) -> Iterator[Token]:
    kept: list[tuple[str, _Branch]] = []
    for branch in group.branches:
        if branch.name == "#else":
            kept.append(("", branch))
            break
        value = _evaluate(branch, distrusted)
        if isinstance(value, _Open):
            kept.append((value.form, branch))
        elif value.value:
            kept.append(("", branch))
            break
    if kept and not kept[0][0]:
        yield from _fold(kept[0][1].body, distrusted)
        return
    for number, (form, branch) in enumerate(kept):
        name = "#else" if not form else "#if" if number == 0 else "#elif"
        yield Token(f"{name} {form}".rstrip(), branch.line, True)
        yield from _fold(branch.body, distrusted)
    if kept:
        yield Token("#endif", group.end, True)


def tokens(data: bytes, distrusted: frozenset[str] = frozenset()) -> list[Token]:
    """The tokens that are left off ROCm. `distrusted` macros are not taken to be ROCm's.

    Raises LexError when the conditionals do not fit together.
    """
    return [token for token in _left(data, distrusted) if not _is_comment(token)]


def comments(data: bytes, distrusted: frozenset[str] = frozenset()) -> list[str]:
    """The comments that are left off ROCm, with their marks. Raises LexError as `tokens` does."""
    return [token.text for token in _left(data, distrusted) if _is_comment(token)]


def _left(data: bytes, distrusted: frozenset[str]) -> Iterator[Token]:
    return _fold(_tree(_Lexer(_decode(data)).lines()), distrusted)


def _is_comment(token: Token) -> bool:
    return token.text.startswith((_COMMENT, "/*"))


def _decode(data: bytes) -> str:
    """Bytes that are not UTF-8 keep what they are."""
    return data.decode("utf-8", errors="surrogateescape")


def _encode(text: str) -> bytes:
    return text.encode("utf-8", errors="surrogateescape")


def defined(stream: Sequence[Token]) -> frozenset[str]:
    """ROCm's macros that the tokens define or undefine on every platform."""
    return frozenset(
        stream[place + 1].text
        for place, token in enumerate(stream[:-1])
        if token.text in ("#define", "#undef") and is_rocm_macro(stream[place + 1].text)
    )


def includes(stream: Sequence[Token]) -> Iterator[tuple[str, bool, int]]:
    """What the tokens include, or ask for with `__has_include`: (name, whether quoted, line)."""
    for place, token in enumerate(stream[:-1]):
        if token.text in ("#include", "#include_next", "#import"):
            name = stream[place + 1].text
            if name[:1] in '<"':
                yield name[1:-1], name[0] == '"', token.line
        elif token.text.startswith(("#if", "#elif")) and "__has_include" in token.text:
            for found in re.finditer(r"__has_include(?:_next)? \( ([<\"])([^>\"]*)[>\"]", token.text):
                yield found.group(2), found.group(1) == '"', token.line


LINES = frozenset(
    ("__LINE__", "__builtin_LINE", "source_location", "__builtin_source_location", "stacktrace", "basic_stacktrace")
)
_REPORTS = frozenset(("__FILE__", "__func__", "__FUNCTION__", "__PRETTY_FUNCTION__"))
"""What stands beside a line number that only says where something happened."""


def line_macros(texts: Iterable[bytes]) -> frozenset[str]:
    """Macros that texts define to something made of a line number, other than a report of the place: by way of another
    one too, in whatever text. Texts that cannot be read as C define none."""
    users: dict[str, set[str]] = {}
    unread = list(texts)
    found: set[str] = set()
    more = set(LINES)
    while more:
        mention = re.compile(b"|".join(re.escape(_encode(name)) for name in sorted(more)))
        mentioned = [mention.search(text) is not None for text in unread]
        for text in compress(unread, mentioned):
            for name, body in _definitions(text):
                for word in body:
                    users.setdefault(word, set()).add(name)
        unread = [text for text, read in zip(unread, mentioned, strict=True) if not read]
        waiting, more = [*LINES, *found], set()
        while waiting:
            new = users.pop(waiting.pop(), set()) - found
            found |= new
            more |= new
            waiting += new
    return frozenset(found)


def _definitions(text: bytes) -> Iterator[tuple[str, set[str]]]:
    """Macros that a text defines, and the words of each, but for reports of the place."""
    try:
        stream = tokens(text)
    except LexError:
        return
    for place, token in enumerate(stream):
        if token.text == "#define":
            end = next(at for at in range(place, len(stream)) if stream[at].text == "\n")
            body = {item.text for item in stream[place + 2 : end]}
            if not body & _REPORTS:
                yield stream[place + 1].text, body


def moved(new: Sequence[Token], old: Sequence[Token], macros: frozenset[str]) -> tuple[int, int, bool] | None:
    """A line number that the text reads and that is no longer what it was: (line, original line, whether it may be more
    than a report of the place). The streams hold the same tokens."""
    found: tuple[int, int, bool] | None = None
    for place, (token, was) in enumerate(zip(new, old, strict=True)):
        if token.line == was.line or (token.text not in LINES and token.text not in macros):
            continue
        near = {item.text for item in old[max(0, place - 8) : place + 8]}
        defines = place and old[place - 1].text == "#define"
        if (token.text in macros and not defines) or (
            token.text in LINES and not near & _REPORTS and not _in_define(old, place)
        ):
            return token.line, was.line, True
        found = found or (token.line, was.line, False)
    return found


def _in_define(stream: Sequence[Token], place: int) -> bool:
    while place >= 0 and stream[place].text != "\n":
        if stream[place].text == "#define":
            return True
        place -= 1
    return False
