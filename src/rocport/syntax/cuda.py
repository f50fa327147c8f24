"""A CUDA C++ lexer over bytes, and the structure the rules ask for: calls, launches, directives, device context.

Works on the bytes of a file as they are (CRLF, BOM, latin-1 and invalid bytes included), so every offset it gives can
be edited in place. Comments, strings and raw strings never yield identifiers; macro bodies and `#if` conditions do,
which is why structure is read from tokens here: a parse tree holds macro bodies as one opaque node
(docs/adr/0002-tokens-for-structure.md).
"""

from __future__ import annotations

import bisect
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, chain, compress
from typing import NamedTuple

IDENTIFIER = re.compile(rb"[A-Za-z_][\w$]*")

# A match is what stands before a token (spaces, splices, comments) and the token, so every byte belongs to one match,
# offsets are running sums of lengths, and neither a match object nor a Python step is spent per token. Loops are
# unrolled (plain run, then escape and plain run), which halves the time. The prefix of a string is an identifier of its
# own, but for raw strings. An unterminated comment runs to the end of the file, an unterminated string or character is
# a lone quote: the lexer never fails, it only sees less.
_COMMENT = rb"//[^\\\n]*(?:\\(?:\r?\n|[^\n]|\Z)[^\\\n]*)*|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)"
_SPACE = rb"[ \t\r\n\v\f]*"
_BEFORE = b"(" + _SPACE + rb"(?:(?:\\\r?\n|" + _COMMENT + b")" + _SPACE + b")*)"
_TOKEN = (
    rb"[A-Za-z_][\w$]*|[(),;{}\[\]]"
    rb"|\"[^\"\\\n]*(?:\\(?:\r?\n|[^\n])[^\"\\\n]*)*\""
    rb"|'(?:\\[^\n]|[^'\\\n])+'"
    rb"|\.?\d[\w.]*(?:(?:(?<=[eEpP])[+-]|'(?=\w))[\w.]*)*"
    rb"|<<<|<<=|<=|<<|::|->\*?|\+\+|--|&&|\|\||[=!+\-*/%&|^]=|\#\#|\.\.\.|[\s\S]"
)
_RAW_PREFIX = rb"(?:u8|[uUL])?"
_RAW_OPENING = _RAW_PREFIX + rb"R\"(?P<delim>[^()\\\s\"]{0,16})\("
RAW_STRING = _RAW_OPENING + rb"(?:[\s\S]*?)\)(?P=delim)\""
_TOKENS = re.compile(_BEFORE + b"(" + _TOKEN + b"|)")
_TOKENS_WITH_RAW = re.compile(_BEFORE + b"(" + RAW_STRING + b"|" + _TOKEN + b"|)")
_OPENS_RAW = re.compile(_RAW_OPENING.removeprefix(_RAW_PREFIX))  # begins with letters, and is found as fast as they
_OPENS_RAW_NEXT = re.compile(_BEFORE + b"(" + _RAW_OPENING + b")")
_CLOSES_RAW = re.compile(rb"\)([^()\\\s\"]{0,16})\"")
_COMMENTS = re.compile(_COMMENT)
_NOT_WORDS = bytes(byte if bytes([byte]).isalnum() or byte in b"_$" else 32 for byte in range(256))

IDENT, NUMBER, STRING, CHAR, PUNCT = "ident", "number", "string", "char", "punct"
_IDENT_START = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_")
_DIGIT = frozenset(b"0123456789")

_SPACES = (b"__global__", b"__device__", b"__host__")
WITH_PARAMETERS = b"()"
"""Beside what a macro says of where a function runs: it has parameters."""
_SHAPE = frozenset({WITH_PARAMETERS})
_BOTH, _ON_DEVICE = frozenset({b"__host__", b"__device__"}), frozenset({b"__device__"})
MARKS: Mapping[bytes, frozenset[bytes]] = {
    **dict.fromkeys(
        b"C10_HOST_DEVICE GPU_LAMBDA EIGEN_DEVICE_FUNC CUTLASS_HOST_DEVICE CUTE_HOST_DEVICE KOKKOS_FUNCTION "
        b"KOKKOS_INLINE_FUNCTION KOKKOS_FORCEINLINE_FUNCTION KOKKOS_LAMBDA _CCCL_HOST_DEVICE "
        b"AMREX_GPU_HOST_DEVICE".split(),
        _BOTH,
    ),
    **dict.fromkeys(b"C10_DEVICE CUTLASS_DEVICE CUTE_DEVICE _CCCL_DEVICE AMREX_GPU_DEVICE".split(), _ON_DEVICE),
}
"""Macros of libraries outside of a project's tree that stand for execution spaces, with which they do."""
# Words after which `::name` names something at file scope.
_NOT_SCOPES = frozenset(
    b"return else case do throw goto and or not new delete typename typedef using co_return namespace const volatile "
    b"static inline constexpr extern mutable friend virtual explicit thread_local register public private protected "
    b"struct class union enum sizeof operator void bool char short int long float double signed unsigned auto "
    b"__device__ __host__ __global__ __shared__ __constant__ __managed__ __forceinline__ __noinline__".split()
)

_OPEN = {b"(": b")", b"[": b"]", b"{": b"}"}
_OF_MACROS = frozenset((b"define", b"undef", b"ifdef", b"ifndef", b"elifdef", b"elifndef"))
"""Directives whose first word is a macro's name."""
_CLOSE = {b")": b"(", b"]": b"[", b"}": b"{"}
MARK = re.compile(rb"(?:[\w\s\\*&<>:,]|\"C(?:\+\+)?\"|\[[^\[\](){};]*\]|\((?:[^(){};]|\([^(){};]*\))*\))*")
"""What the body of a macro is made of that begins a declaration or a lambda: words and attributes, no statement."""


class Token(NamedTuple):
    """One token: its kind, its text, and its bytes [start, end)."""

    kind: str
    text: bytes
    start: int
    end: int


def kind_of(text: bytes) -> str:
    """Kind of a token from its text."""
    first = text[0]
    if first in _IDENT_START:
        return STRING if text[-1] == 34 else IDENT
    if first in _DIGIT or (first == 46 and len(text) > 1 and text[1] in _DIGIT):
        return NUMBER
    if first == 34 and len(text) > 1:
        return STRING
    if first == 39 and len(text) > 1:
        return CHAR
    return PUNCT


@dataclass(frozen=True)
class Directive:
    """One preprocessor directive. `start` is the `#`, `end` the end of its last (spliced) line, newline excluded."""

    name: bytes
    start: int
    end: int
    first: int
    last: int
    """Token indices [first, last) of the directive, `#` and name included."""


@dataclass(frozen=True)
class Call:
    """A call or macro use `name(args)`, by token index; an argument is a range [first, last) of tokens."""

    name: int
    open: int
    close: int
    args: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Launch:
    """A kernel launch `kernel<<<config>>>(args)`, by token index."""

    kernel: int
    """First token of the kernel expression."""
    open: int
    """The `<<<` token, or the `<<` of `<< <`."""
    close: int
    """The last `>` of `>>>`."""
    config: tuple[tuple[int, int], ...]
    args: tuple[tuple[int, int], ...]
    end: int
    """The closing parenthesis of the arguments."""
    opened: int = -1
    """The last token of the opening: `open`, or the `<` of `<< <`."""
    shut: int = -1
    """The first `>` of the closing, wherever the others stand."""


@dataclass(frozen=True)
class Function:
    """A function with a CUDA execution-space specifier; token indices."""

    specifiers: frozenset[bytes]
    name: int
    params: tuple[int, int]
    body: tuple[int, int] | None


def between(places: list[int], first: int, last: int) -> list[int]:
    """The places in [first, last) of a sorted list."""
    return places[bisect.bisect_left(places, first) : bisect.bisect_left(places, last)]


def _pieces_with_raw(data: bytes) -> list[bytes]:
    """What stands before each token, and the token, in turn."""
    last = {found.group(1): found.start() for found in _CLOSES_RAW.finditer(data)}
    if all(found.end() <= last.get(found.group("delim"), -1) for found in _OPENS_RAW.finditer(data)):
        pieces = list(chain.from_iterable(_TOKENS_WITH_RAW.findall(data)))
        del pieces[2::3]
        return pieces
    # The end of one that nothing closes would be looked for from each of them.
    pieces, at = [], 0
    while at < len(data):
        raw = _OPENS_RAW_NEXT.match(data, at)
        closed = raw is not None and raw.end() <= last.get(raw.group("delim"), -1)
        match = (_TOKENS_WITH_RAW if closed else _TOKENS).match(data, at)
        if match is None:
            break
        pieces += (match.group(1), match.group(2))
        at = match.end()
    return pieces


class CudaSource:
    """One C, C++ or CUDA file. Everything is computed on first use and kept."""

    def __init__(
        self,
        path: str,
        data: bytes,
        known: frozenset[bytes] = frozenset(),
        marks: Mapping[bytes, frozenset[bytes]] = MARKS,
    ) -> None:
        """`known` are names that will be asked for: their places are found in one cheap pass over the tokens. `marks`
        are macros of other files that stand for execution spaces, with which they do."""
        self.path = path
        self.data = data
        self.known = known
        self.marks = marks
        self._passes = 0

    @cached_property
    def names(self) -> frozenset[bytes]:
        """Every word, numbers, comments and strings included: a cheap superset to test triggers against."""
        return frozenset(self.data.translate(_NOT_WORDS).split())

    @cached_property
    def _lexed(self) -> tuple[list[bytes], list[int], list[bytes]]:
        if b'R"' in self.data:
            pieces = _pieces_with_raw(self.data)
        else:
            pieces = list(chain.from_iterable(_TOKENS.findall(self.data)))
        offsets = list(accumulate(map(len, pieces), initial=0))
        texts, starts = pieces[1::2], offsets[1::2]
        while texts and not texts[-1]:
            texts.pop()
        del starts[len(texts) :]
        return texts, starts, pieces[0::2]

    @cached_property
    def texts(self) -> list[bytes]:
        """Text of every token outside comments, in order."""
        return self._lexed[0]

    @cached_property
    def starts(self) -> list[int]:
        """Start offset of every token, in order."""
        return self._lexed[1]

    @cached_property
    def comments(self) -> list[tuple[int, int]]:
        """Byte ranges of all comments, in order."""
        found: list[tuple[int, int]] = []
        starts = [*self.starts, len(self.data)]
        for position, before in enumerate(self._lexed[2]):
            if b"/" in before:
                start = starts[position] if position < len(starts) else len(self.data)
                found += [match.span() for match in _COMMENTS.finditer(self.data, start - len(before), start)]
        return found

    def positions(self, text: bytes) -> Iterator[int]:
        """Indices of the tokens that are exactly this text."""
        position = -1
        try:
            while True:
                position = self.texts.index(text, position + 1)
                yield position
        except ValueError:
            return

    def end(self, position: int) -> int:
        """End offset of a token."""
        return self.starts[position] + len(self.texts[position])

    def token(self, position: int) -> Token:
        """The token at an index."""
        text, start = self.texts[position], self.starts[position]
        return Token(kind_of(text), text, start, start + len(text))

    def is_ident(self, position: int) -> bool:
        """True when there is a token at the index and it is an identifier."""
        if not 0 <= position < len(self.texts):
            return False
        text = self.texts[position]
        return text[0] in _IDENT_START and text[-1] != 34  # as kind_of says, which costs twice as much

    def qualified(self, position: int) -> bool:
        """True for the `name` of `ns::name`; False for `::name`, as in `return ::name` or behind a directive."""
        if self.at(position - 1) != b"::" or self.directive_of(position - 2) is not self.directive_of(position):
            return False
        return self.at(position - 2) == b">" or (
            self.is_ident(position - 2) and self.at(position - 2) not in _NOT_SCOPES
        )

    def at(self, position: int) -> bytes:
        """Text of the token at an index; empty outside the file."""
        return self.texts[position] if 0 <= position < len(self.texts) else b""

    def until(self, at: int, *stops: bytes) -> int:
        """The first of these tokens from one on, what brackets hold passed over; the number of tokens if none is."""
        texts, pairs = self.texts, self.pairs
        while at < len(texts) and texts[at] not in stops:
            at = max(at, pairs.get(at, at)) + 1
        return at

    def since(self, at: int, *stops: bytes) -> int:
        """The token behind the last of these before one, in brackets or not; the file's first if none is."""
        near = max(0, at - 32)
        while at > near and self.texts[at - 1] not in stops:
            at -= 1
        if at > near or not at:
            return at
        before = (between(self.index.get(stop, []), 0, at)[-1:] for stop in stops)
        return max((places[0] + 1 for places in before if places), default=0)

    def operator(self, first: int) -> bytes:
        """The operator that begins at a token: `>=`, `>>` and `>>=` are several tokens, as templates close with `>`."""
        text, at = self.at(first), first + 1
        while text in (b">", b">>") and self.at(at) in (b">", b"=") and self.starts[at] == self.end(at - 1):
            text, at = text + self.at(at), at + 1
        return text

    def operator_before(self, position: int) -> bytes:
        """The operator that ends before a token, as `operator` gives it."""
        first = position - 1
        while (
            self.at(first) in (b">", b"=") and self.at(first - 1) == b">" and self.end(first - 1) == self.starts[first]
        ):
            first -= 1
        return self.operator(first)

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0]
        starts += [match.end() for match in re.finditer(rb"\n", self.data)]
        return starts

    def line(self, offset: int) -> int:
        """1-based line of a byte offset."""
        return bisect.bisect_right(self._line_starts, offset)

    def line_span(self, line: int) -> tuple[int, int]:
        """Byte range of a 1-based line, without its newline."""
        start = self._line_starts[line - 1]
        stop = self._line_starts[line] if line < len(self._line_starts) else len(self.data)
        return start, start + len(self.data[start:stop].rstrip(b"\r\n"))

    def line_start(self, position: int) -> int:
        """Start offset of the line on which a token begins."""
        return self._line_starts[self.line(self.starts[position]) - 1]

    @property
    def newline(self) -> bytes:
        """The line ending the file uses (of its first line)."""
        first = self.data.find(b"\n")
        return b"\r\n" if first > 0 and self.data[first - 1 : first] == b"\r" else b"\n"

    @cached_property
    def index(self) -> dict[bytes, list[int]]:
        """Text of a token -> indices of the tokens that are exactly it, in order."""
        index: defaultdict[bytes, list[int]] = defaultdict(list)
        for position, text in enumerate(self.texts):
            index[text].append(position)
        index.default_factory = None
        return index

    @cached_property
    def _found(self) -> dict[bytes, Sequence[int]]:
        """Where the names are that were looked for: those that are known to be asked for at once."""
        return self._look(self.names & self.known)

    def _look(self, wanted: Set[bytes]) -> dict[bytes, Sequence[int]]:
        """One pass for all that is wanted; after two of them, the index of all tokens costs less than others would."""
        self._passes += 1
        places: Mapping[bytes, list[int]] = self.index if self._passes > 2 else {name: [] for name in wanted}
        if self._passes <= 2:
            texts = self.texts
            for position in compress(range(len(texts)), map(wanted.__contains__, texts)):
                places[texts[position]].append(position)
        return {name: places.get(name, ()) for name in wanted}

    def find(self, *names: bytes) -> Iterator[int]:
        """Token indices of the identifiers, in the order of the names, then of the file."""
        if present := self.names.intersection(names):
            found = self._found
            if new := present - found.keys():
                found.update(self._look(new))
            for name in names:
                if name in present:
                    yield from found[name]

    def token_at(self, offset: int) -> int:
        """Index of the first token that starts at or after the offset."""
        return bisect.bisect_left(self.starts, offset)

    def text(self, first: int, last: int) -> bytes:
        """Source bytes of the tokens [first, last), comments and spaces between them included."""
        if first >= last:
            return b""
        return self.data[self.starts[first] : self.end(last - 1)]

    @cached_property
    def directives(self) -> list[Directive]:
        """Preprocessor directives in order."""
        found: list[Directive] = []
        starts = self.starts
        done = 0
        for position in self.positions(b"#"):
            start = starts[position]
            if start < done or not self._first_on_line(start):
                continue
            end = self._directive_end(start)
            last = bisect.bisect_left(starts, end)
            name = self.texts[position + 1] if position + 1 < last else b""
            found.append(Directive(name, start, max(self.end(last - 1), end), position, last))
            done = end
        return found

    def _first_on_line(self, offset: int) -> bool:
        start = self.data.rfind(b"\n", 0, offset) + 1
        before = self.data[start:offset].strip(b" \t\r\v\f")
        if not before:
            return True
        # A byte order mark, or a comment that ends on this line, may stand before the '#'.
        return before == b"\xef\xbb\xbf" or (before.endswith(b"*/") and self._only_comments(start, offset))

    def _only_comments(self, start: int, offset: int) -> bool:
        position = bisect.bisect_left(self.starts, start)
        return position >= len(self.starts) or self.starts[position] >= offset

    def _directive_end(self, start: int) -> int:
        data = self.data
        position = start
        while True:
            newline = data.find(b"\n", position)
            if newline < 0:
                return len(data)
            tail = data[position:newline].rstrip(b"\r")
            if tail.endswith(b"\\"):
                position = newline + 1
                continue
            opened = data.rfind(b"/*", start, newline)
            # Almost always the comment ends on its line; only another one is worth finding all comments for.
            closed = opened < 0 or data.find(b"*/", opened + 2, newline) >= 0
            inside = None if closed else self._comment_over(newline)
            if inside is not None and data[inside[0] : inside[0] + 2] == b"/*":
                position = inside[1]
                continue
            return newline

    def _comment_over(self, offset: int) -> tuple[int, int] | None:
        comments = self.comments
        at = bisect.bisect_right(comments, (offset, len(self.data) + 1)) - 1
        if at >= 0 and comments[at][0] < offset < comments[at][1]:
            return comments[at]
        return None

    @cached_property
    def _directive_starts(self) -> list[int]:
        return [directive.first for directive in self.directives]

    def directive_of(self, position: int) -> Directive | None:
        """The directive that holds the token, or None in ordinary code."""
        at = bisect.bisect_right(self._directive_starts, position) - 1
        if at >= 0 and position < self.directives[at].last:
            return self.directives[at]
        return None

    def names_macro(self, position: int) -> bool:
        """True where the preprocessor is told or asked of a macro of the identifier's name, whatever else it names:
        behind `#define`, `#undef`, `#ifdef` and `#ifndef`, and in `defined(name)`."""
        directive = self.directive_of(position)
        if directive is None:
            return False
        if directive.name in (b"if", b"elif"):
            before = position - 2 if self.at(position - 1) == b"(" else position - 1
            return self.at(before) == b"defined"
        return position == directive.first + 2 and directive.name in _OF_MACROS

    def directive_between(self, first: int, last: int) -> bool:
        """True when a conditional of the preprocessor begins, turns or ends in the tokens [first, last)."""
        at, end = (bisect.bisect_left(self._directive_starts, place) for place in (first, last))
        return any(item.name not in (b"pragma", b"define", b"undef") for item in self.directives[at:end])

    @cached_property
    def pairs(self) -> dict[int, int]:
        """Token index of each bracket -> index of its partner, both ways. Unbalanced brackets have no partner."""
        pairs: dict[int, int] = {}
        stack: list[int] = []
        tokens = self.texts
        brackets = {b"(", b")", b"[", b"]", b"{", b"}"}
        for position in compress(range(len(tokens)), map(brackets.__contains__, tokens)):
            text = tokens[position]
            if text in _OPEN:
                stack.append(position)
            else:
                want = _CLOSE[text]
                for depth in range(len(stack) - 1, max(-1, len(stack) - 40), -1):
                    if tokens[stack[depth]] == want:
                        pairs[stack[depth]] = position
                        pairs[position] = stack[depth]
                        del stack[depth:]
                        break
        return pairs

    @cached_property
    def _around(self) -> list[int]:
        found = [-1]
        for position, text in enumerate(self.texts):
            if text in _OPEN:
                found.append(position)
            else:
                found.append(found[self.pairs.get(position, position) if text in _CLOSE else position])
        return found

    def around(self, position: int) -> int:
        """The bracket that is open at a token; -1 without one."""
        return self._around[position]

    def macro_parameters(self, directive: Directive) -> tuple[tuple[int, int], ...] | None:
        """Token ranges of a `#define`'s parameters; None where the macro takes none and has no parentheses."""
        open_ = directive.first + 3
        if self.at(open_) != b"(" or open_ >= directive.last or self.starts[open_] != self.end(open_ - 1):
            return None
        close = self.pairs.get(open_)
        return None if close is None else self.split(open_, close)

    def split(self, open_: int, close: int) -> tuple[tuple[int, int], ...]:
        """Comma-separated parts between two brackets, as token ranges; template angle brackets are not nested."""
        parts: list[tuple[int, int]] = []
        first = position = open_ + 1
        while position < close:
            text = self.texts[position]
            if text in _OPEN and position in self.pairs and self.pairs[position] < close:
                position = self.pairs[position] + 1
                continue
            if text == b",":
                parts.append((first, position))
                first = position + 1
            position += 1
        if first < close or parts:
            parts.append((first, close))
        return tuple(parts)

    def call(self, name: int) -> Call | None:
        """The call whose callee is the identifier at `name`: `name(...)` or `name<...>(...)`."""
        position = name + 1
        tokens = self.texts
        if position < len(tokens) and tokens[position] == b"<":
            after = self.angle_end(position)
            if after is None:
                return None
            position = after + 1
        if position >= len(tokens) or tokens[position] != b"(" or position not in self.pairs:
            return None
        close = self.pairs[position]
        return Call(name, position, close, self.split(position, close))

    def angle_end(self, open_: int) -> int | None:
        """Index of the `>` that closes the template argument list opened at `open_`; None when it is a comparison."""
        depth = 0
        position = open_
        tokens = self.texts
        limit = min(len(tokens), open_ + 400)
        while position < limit:
            text = tokens[position]
            if text == b"<":
                depth += 1
            elif text == b">":
                depth -= 1
                if depth == 0:
                    return position
            elif text in _OPEN:
                if text == b"{" or position not in self.pairs:
                    return None
                position = self.pairs[position]
            elif text in (b";", b"&&", b"||", b")", b"}", b"<<<"):
                return None
            position += 1
        return None

    @cached_property
    def launches(self) -> list[Launch]:
        """Kernel launches, macro bodies included."""
        found: list[Launch] = []
        tokens = self.texts
        opened = {open_: open_ for open_ in self.positions(b"<<<")}
        opened |= {open_: open_ + 1 for open_ in self.positions(b"<<") if self.at(open_ + 1) == b"<"}
        for open_, last in sorted(opened.items()):
            close = self._launch_close(last)
            if close is None or close + 1 >= len(tokens) or tokens[close + 1] != b"(":
                continue
            end = self.pairs.get(close + 1)
            if end is None:
                continue
            config = self._split_range(last + 1, close - 2)
            kernel = self._kernel_start(open_)
            arguments = self.split(close + 1, end)
            found.append(Launch(kernel, open_, close, config, arguments, end, last, close - 2))
        return found

    def _launch_close(self, opened: int) -> int | None:
        """The last of three `>` before a parenthesis. They need not touch: nvcc takes `>> >` and `> > >`, too."""
        tokens = self.texts
        position = opened + 1
        while position < len(tokens):
            text = tokens[position]
            if text in _OPEN:
                if position not in self.pairs:
                    return None
                position = self.pairs[position]
            elif text in (b";", b"}", b"<<<"):
                return None
            elif text == b">" and tokens[position + 1 : position + 3] == [b">", b">"] and self.at(position + 3) != b">":
                return position + 2
            position += 1
        return None

    def _split_range(self, first: int, last: int) -> tuple[tuple[int, int], ...]:
        return self.split(first - 1, last)

    def _kernel_start(self, open_: int) -> int:
        """First token of `ns::kernel<T, N>` before a `<<<`."""
        tokens = self.texts
        position = open_ - 1
        if position >= 0 and tokens[position] == b">":
            depth = 0
            while position >= 0:
                text = tokens[position]
                depth += (text == b">") - (text == b"<")
                if depth == 0:
                    break
                if text in _CLOSE and position in self.pairs:
                    position = self.pairs[position]
                position -= 1
            position -= 1
        elif position >= 0 and tokens[position] == b")" and position in self.pairs:
            return self.pairs[position]
        while position >= 2 and tokens[position - 1] == b"::" and self.is_ident(position - 2):
            position -= 2
        return max(position, 0)

    @cached_property
    def spaces(self) -> dict[bytes, frozenset[bytes]]:
        """What says where a function runs, with what it says: `__global__`, `__device__` and `__host__`, and the macros
        that stand for them in this file, of other files (`marks`) or of its own (`#define HD __host__ __device__`);
        `WITH_PARAMETERS` beside what one with parameters says (`#define KERNEL(name) __global__ void name`)."""
        spaces = {name: frozenset({name}) for name in _SPACES}
        spaces |= {name: self.marks[name] for name in self.names & self.marks.keys()}
        fresh = spaces.keys() & self.names
        marks: dict[int, bool] = {}
        while fresh:
            found: dict[bytes, frozenset[bytes]] = {}
            for position in sorted(self.find(*fresh)):
                directive = self.directive_of(position)
                name = self.at(directive.first + 2) if directive is not None and directive.name == b"define" else b""
                if directive is None or not name or name in _SPACES:
                    continue
                if directive.first not in marks:  # once, however often it names what says where a function runs
                    marks[directive.first] = self._is_mark(directive)
                if not marks[directive.first]:
                    continue
                said = spaces[self.at(position)] - _SHAPE | (_SHAPE if self._has_parameters(directive) else frozenset())
                found[name] = found.get(name, frozenset()) | said
            fresh = {name for name, said in found.items() if not said <= spaces.get(name, frozenset())}
            for name in fresh:
                spaces[name] = spaces.get(name, frozenset()) | found[name]
        return spaces

    def _has_parameters(self, directive: Directive) -> bool:
        first = directive.first + 3
        return self.at(first) == b"(" and self.starts[first] == self.end(first - 1)

    def _is_mark(self, directive: Directive) -> bool:
        """True for a macro that holds no more than the beginning of a declaration or a lambda."""
        first = directive.first + 3
        if self._has_parameters(directive):
            first = self.pairs.get(first, directive.last) + 1
        return first <= directive.last and MARK.fullmatch(self.text(first, directive.last)) is not None

    @cached_property
    def meant(self) -> frozenset[bytes]:
        """`names`, and what the macros among them say of where functions run."""
        return self.names.union(*(self.spaces[name] for name in self.names & self.spaces.keys()))

    @cached_property
    def functions(self) -> list[Function]:
        """Functions and lambdas with `__global__`, `__device__` or `__host__`, or with a macro that stands for them."""
        found: dict[int, Function] = {}
        tokens = self.texts
        passed: set[int] = set()
        for position in sorted(self.find(*self.spaces)):
            if position in passed or (tokens[position] not in _SPACES and self.names_macro(position)):
                continue
            function = self._function_from(position, passed)
            if function is not None and (previous := found.get(function.name)) is not None:
                merged = previous.specifiers | function.specifiers | self.spaces[tokens[position]] - _SHAPE
                found[function.name] = Function(merged, function.name, function.params, function.body)
            elif function is not None:
                found[function.name] = function
        return list(found.values())

    def _function_from(self, specifier: int, passed: set[int]) -> Function | None:
        """`passed` takes the specifiers on the way, from which the same function would be found."""
        tokens = self.texts
        spaces = self.spaces
        specifiers: set[bytes] = set()
        position = specifier
        directive = self.directive_of(specifier)
        limit = directive.last if directive is not None else len(tokens)
        while position < limit:
            text = tokens[position]
            if text in spaces:
                specifiers |= spaces[text] - _SHAPE
                if position > specifier and self.directive_of(position) is directive:
                    passed.add(position)
                if WITH_PARAMETERS in spaces[text] and self.at(position + 1) == b"(" and position + 1 in self.pairs:
                    open_, position = position + 1, self.pairs[position + 1]
                    name, behind = open_ + self.is_ident(open_ + 1), self.at(position + 1)
                    if behind == b"{":  # `KERNEL(name, int *p) {`
                        return Function(
                            frozenset(specifiers), name, (open_, position), self._body_after(position, limit)
                        )
                    if behind == b"(" and position + 1 in self.pairs:  # `KERNEL(name)(int *p) {`
                        params = position + 1, self.pairs[position + 1]
                        return Function(frozenset(specifiers), name, params, self._body_after(params[1], limit))
            elif text in (b"__launch_bounds__", b"__attribute__", b"alignas", b"__align__", b"decltype"):
                if position + 1 < limit and position + 1 in self.pairs:
                    position = self.pairs[position + 1]
            elif text == b"<":
                end = self.angle_end(position)
                if end is not None:
                    position = end
            elif text == b"(":
                close = self.pairs.get(position)
                if close is None:
                    return None
                return Function(frozenset(specifiers), position - 1, (position, close), self._body_after(close, limit))
            elif text in (b";", b"{", b"}", b"=") and not (text == b"=" and tokens[position - 1] == b"operator"):
                return None
            position += 1
        return None

    def _body_after(self, close: int, limit: int) -> tuple[int, int] | None:
        tokens = self.texts
        position = close + 1
        while position < limit:
            text = tokens[position]
            if text == b"{":
                end = self.pairs.get(position)
                return (position, end) if end is not None else None
            if text == b"(":
                if position not in self.pairs:
                    return None
                position = self.pairs[position]
            elif text in (b";", b"}"):
                return None
            position += 1
        return None

    @cached_property
    def _device_ranges(self) -> list[tuple[int, int]]:
        return sorted(
            function.body
            for function in self.functions
            if function.body is not None and function.specifiers & {b"__global__", b"__device__"}
        )

    def in_device(self, position: int) -> bool:
        """True when the token lies in the body of a `__global__` or `__device__` function."""
        at = bisect.bisect_right(self._device_ranges, (position, len(self.texts))) - 1
        return any(start <= position <= end for start, end in self._device_ranges[max(0, at - 3) : at + 1])

    @cached_property
    def _innermost(self) -> tuple[list[int], list[Function | None]]:
        """The tokens where the innermost function changes, and which one it is from each of them on."""
        bodies: dict[tuple[int, int], Function] = {}
        for function in self.functions:
            if function.body is not None:
                bodies.setdefault(function.body, function)
        starts: list[int] = []
        inside: list[Function | None] = []
        opened: list[tuple[int, Function]] = []

        def close(before: int) -> None:
            while opened and opened[-1][0] < before:
                starts.append(opened.pop()[0] + 1)
                inside.append(opened[-1][1] if opened else None)

        for (first, last), function in sorted(bodies.items(), key=lambda item: item[0]):
            close(first)
            opened.append((last, function))
            starts.append(first)
            inside.append(function)
        close(len(self.texts))
        return starts, inside

    def enclosing(self, position: int) -> Function | None:
        """The innermost function with an execution-space specifier whose body holds the token."""
        starts, inside = self._innermost
        at = bisect.bisect_right(starts, position) - 1
        return inside[at] if at >= 0 else None
