"""Scopes of a C++ file read from its tokens: which braces enclose a place, and where a declared name is visible."""

from __future__ import annotations

import bisect
import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property

from rocport.syntax.cuda import CudaSource


class Kind(Enum):
    """What a pair of braces, or a declared name, is."""

    FILE = "file"
    NAMESPACE = "namespace"
    CLASS = "class"
    ENUM = "enum"
    FUNCTION = "function"
    BLOCK = "block"
    INITIALIZER = "initializer"


class What(Enum):
    """What a declaration makes of a name."""

    MACRO_PARAMETER = "macro parameter"
    PARAMETER = "parameter"
    LOCAL = "local"
    MEMBER = "member"
    ENUMERATOR = "enumerator"
    FUNCTION = "function"
    VARIABLE = "variable"
    TYPE = "type"


@dataclass(frozen=True)
class Scope:
    """A pair of braces [open, close] by token index. `name` is that of a class or namespace, else empty."""

    kind: Kind
    open: int
    close: int
    name: bytes = b""


@dataclass(frozen=True)
class Declared:
    """One declaration of a name: its token and the tokens [first, last) that see it.

    `owner` is the class a member belongs to, the namespace of a function or variable; empty at file scope.
    `defined` is True where a function has its body, or anything else its value.
    """

    position: int
    what: What
    first: int
    last: int
    owner: bytes = b""
    defined: bool = False


_CLASS_KEYS = frozenset({b"struct", b"class", b"union"})
_STATEMENTS = frozenset({b"if", b"for", b"while", b"switch", b"catch"})
_NOT_TYPES = frozenset(
    b"return else case do throw goto and or not sizeof co_return co_yield co_await new delete typename in using "
    b"namespace if for while switch default break continue operator defined alignof decltype static_assert".split()
)
_STORAGE = frozenset(
    b"extern static inline constexpr const volatile unsigned signed __device__ __host__ __global__ __forceinline__ "
    b"__shared__ __constant__ typedef thread_local".split()
)
_BUILT_IN = frozenset(
    b"void bool char short int long float double auto unsigned signed size_t const struct class enum T".split()
)
_AFTER_PARAMETERS = frozenset({b"const", b"noexcept", b"override", b"final", b"mutable", b"volatile", b"&", b"&&"})


_ANYTHING = frozenset(What)


def _seen(declared: list[Declared]) -> tuple[list[int], list[Declared | None]]:
    """Tokens at which another declaration is the innermost one from there on, in order, and that declaration. Of two
    that are seen from one token on it is the one declared first."""
    waiting = sorted(declared, key=lambda item: item.first, reverse=True)
    starts = sorted({at for item in declared for at in (item.first, item.last)})
    open_: list[tuple[int, int, Declared]] = []
    innermost: list[Declared | None] = []
    for start in starts:
        while waiting and waiting[-1].first == start:
            item = waiting.pop()
            heapq.heappush(open_, (-item.first, item.position, item))
        while open_ and open_[0][2].last <= start:
            heapq.heappop(open_)
        innermost.append(open_[0][2] if open_ else None)
    return starts, innermost


class Scopes:
    """The braces of one file, and the declarations of the names that are asked for."""

    def __init__(self, source: CudaSource) -> None:
        self.source = source
        self._declared: dict[bytes, list[Declared]] = {}
        self._seen: dict[tuple[bytes, frozenset[What]], tuple[list[int], list[Declared | None]]] = {}
        self._scopes: dict[int, Scope] = {}

    @cached_property
    def _braces(self) -> tuple[list[int], list[int], list[int]]:
        """Openings in order, their closings, and the index of the brace that encloses each (-1: none)."""
        source = self.source
        opens = sorted(at for at in source.positions(b"{") if at in source.pairs)
        closes = [source.pairs[at] for at in opens]
        parents: list[int] = []
        stack: list[int] = []
        for number, at in enumerate(opens):
            while stack and closes[stack[-1]] < at:
                stack.pop()
            parents.append(stack[-1] if stack else -1)
            stack.append(number)
        return opens, closes, parents

    def enclosing(self, position: int) -> Iterator[Scope]:
        """Scopes that hold a token, innermost first; the file itself is not among them."""
        opens, closes, parents = self._braces
        number = bisect.bisect_left(opens, position) - 1
        while number >= 0:
            if opens[number] < position <= closes[number]:
                yield self.scope(opens[number])
            number = parents[number]

    def scope(self, open_: int) -> Scope:
        """What the braces that open at a token are."""
        if open_ not in self._scopes:
            kind, name = self._head(open_)
            self._scopes[open_] = Scope(kind, open_, self.source.pairs[open_], name)
        return self._scopes[open_]

    def _head(self, open_: int) -> tuple[Kind, bytes]:
        source = self.source
        before = source.at(open_ - 1)
        if before in (b"=", b",", b"(", b"return", b"[", b"{") and before != b"{":
            return Kind.INITIALIZER, b""
        if before in (b"else", b"do", b"try", b";", b"{", b"}", b""):
            return Kind.BLOCK, b""
        at, words = open_ - 1, 0
        last_name = b""
        while at >= 0 and words < 200:
            text = source.at(at)
            if text in (b";", b"{", b"}") or source.directive_of(at) is not source.directive_of(open_):
                break
            if text in (b")", b"]") and at in source.pairs:
                inner = source.pairs[at]
                if text == b")" and source.at(inner - 1) in _STATEMENTS:
                    return Kind.BLOCK, b""
                at = inner
                text = source.at(at)
                if text == b"(":
                    last_name = b""
            elif text in _CLASS_KEYS and source.at(at - 1) not in (b"<", b",", b"enum"):
                if self._is_head_of_class(at, open_):
                    return Kind.CLASS, self._class_name(at, open_)
            elif text == b"enum":
                return Kind.ENUM, b""
            elif text == b"namespace":
                return Kind.NAMESPACE, last_name
            elif text == b'"C"' and source.at(at - 1) == b"extern":
                return Kind.NAMESPACE, b""
            elif source.is_ident(at):
                last_name = text
            elif text == b"=":
                return Kind.INITIALIZER, b""
            at -= 1
            words += 1
        if before == b")" or before in _AFTER_PARAMETERS or self._after_parameters(open_, at):
            return Kind.FUNCTION, b""
        return Kind.INITIALIZER, b""

    def _is_head_of_class(self, key: int, open_: int) -> bool:
        """True when nothing between `struct` and `{` makes it a type in a function's head: `struct A f() {`."""
        at = key + 1
        while at < open_:
            text = self.source.at(at)
            if text == b"(" and self.source.at(at - 1) not in (
                b"__align__",
                b"alignas",
                b"__attribute__",
                b"__declspec",
            ):
                return False
            if text in (b"(", b"[") and at in self.source.pairs:
                at = self.source.pairs[at]
            if text == b":" or (text == b"<" and (self.source.angle_end(at) or at) > at):
                return True
            at += 1
        return True

    def _class_name(self, key: int, open_: int) -> bytes:
        name = b""
        at = key + 1
        while at < open_:
            text = self.source.at(at)
            if text in (b":", b"<"):
                break
            if text == b"(" and at in self.source.pairs:
                at = self.source.pairs[at]
            elif self.source.is_ident(at) and text != b"final":
                name = text
            at += 1
        return name

    def _after_parameters(self, open_: int, stop: int) -> bool:
        """True for `f(...) -> T {`, `f(...) const {`, `X::X(...) : a(b), c{d} {`."""
        return any(
            self.source.at(at) == b")" and self.source.at(at + 1) in (b"->", b":", *_AFTER_PARAMETERS)
            for at in range(max(stop, open_ - 200), open_)
        )

    def declarations(self, name: bytes) -> list[Declared]:
        """Every declaration of a name in the file, in order; those in macro bodies are left out."""
        if name not in self._declared:
            found = (self._declaration(at) for at in self.source.find(name))
            self._declared[name] = [declared for declared in found if declared is not None]
        return self._declared[name]

    def visible(self, position: int, what: frozenset[What] = _ANYTHING) -> Declared | None:
        """The innermost declaration, of some kinds, of the name at a token that the token sees: the one whose tokens
        that see it begin last."""
        key = self.source.at(position), what
        if key not in self._seen:
            self._seen[key] = _seen([item for item in self.declarations(key[0]) if item.what in what])
        starts, innermost = self._seen[key]
        number = bisect.bisect_right(starts, position)
        return innermost[number - 1] if number else None

    def _declaration(self, at: int) -> Declared | None:
        source = self.source
        directive = source.directive_of(at)
        if directive is not None:
            return self._macro_parameter(at)
        before, after = source.at(at - 1), source.at(at + 1)
        if before in (b".", b"->", b"::") or after == b"::":
            return None
        if before == b"*" and after == b")" and source.at(at - 2) == b"(" and source.at(at + 2) == b"(":
            # A pointer to a function: `T (*name)(...)`. A call through one is `(*name)(...)` behind no type.
            if source.is_ident(at - 3) or source.at(at - 3) in (b"*", b"&", b">"):
                return self._place(at, at - 2, called=False)
            return None
        if after not in (b"(", b";", b"=", b",", b")", b"[", b"{", b":", b">", b"}", b"]"):
            return None
        if before in (b"{", b","):
            scope = next(self.enclosing(at), None)
            if scope is not None and scope.kind is Kind.ENUM:
                return self._enumerator(at, scope)
        if before in (b"struct", b"class", b"union", b"enum"):
            return self._type(at, next(self.enclosing(at), None)) if after in (b"{", b":", b";") else None
        if before == b"using" and after == b"=":
            return self._type(at, next(self.enclosing(at), None))
        first = at
        while source.at(first - 1) in (b"*", b"&", b"const", b"__restrict__"):
            first -= 1
        if before == b"[" or source.at(first - 1) == b",":
            return self._later_declarator(at, first)
        if not self._behind_type(at) or self._returned_by_pointer(at):
            return None
        return self._place(at, at, called=after == b"(")

    def _returned_by_pointer(self, at: int) -> bool:
        """True for the type in `static int (*name)(char);`: what is declared stands in the parentheses behind it."""
        close = self.source.pairs.get(at + 1, 0)
        return self.source.at(close) == b")" and (
            self.source.at(at + 2) in (b"*", b"&") or self.source.at(close + 1) == b"("
        )

    def _macro_parameter(self, at: int) -> Declared | None:
        source = self.source
        directive = source.directive_of(at)
        if directive is None or directive.name != b"define" or at <= directive.first + 3:
            return None
        open_ = directive.first + 3
        if source.at(open_) != b"(" or source.starts[open_] != source.end(open_ - 1):
            return None
        close = source.pairs.get(open_, open_)
        if not open_ < at < close:
            return None
        return Declared(at, What.MACRO_PARAMETER, at, directive.last)

    def _behind_type(self, at: int) -> bool:
        """True when what stands before the name is a type and, before that, the start of a declaration."""
        source = self.source
        position = at - 1
        marks = 0
        while source.at(position) in (b"*", b"&", b"&&", b"const", b"__restrict__", b"restrict"):
            marks += source.at(position) in (b"*", b"&", b"&&")
            position -= 1
        text = source.at(position)
        if source.directive_of(position) is not None:
            return False
        if text == b">":
            return self._closes_template(position) and self._starts(self._before_type(position)) is not None
        if not source.is_ident(position) or text in _NOT_TYPES:
            return False
        if not marks:
            return source.at(position - 1) not in (b".", b"->")
        # `a * b`: a declaration where it opens a statement or a parameter and the left side can be a type.
        start = self._starts(self._before_type(position))
        if start is None:
            return False
        if start in (b"(", b","):
            return text in _BUILT_IN or text.endswith(b"_t") or source.at(position - 1) in _STORAGE | _CLASS_KEYS
        return True

    def _closes_template(self, close: int) -> bool:
        source = self.source
        return any(
            source.at(at) == b"<" and source.is_ident(at - 1) and source.angle_end(at) == close
            for at in range(close - 1, max(0, close - 80), -1)
        )

    def _before_type(self, last: int) -> int:
        """Index of the token before the type that ends at `last`: `const ns::T<...>`."""
        source = self.source
        at = last
        while at >= 0:
            text = source.at(at)
            if text == b">":
                depth = 0
                while at >= 0:
                    depth += (source.at(at) == b">") - (source.at(at) == b"<")
                    if depth == 0:
                        break
                    at -= 1
            elif not (source.is_ident(at) or text == b"::") or text in _NOT_TYPES:
                return at
            at -= 1
        return at

    def _starts(self, before: int) -> bytes | None:
        """The token that opens a declaration there, or None inside an expression."""
        text = self.source.at(before)
        if text in (b";", b"{", b"}", b"(", b",", b"<", b">", b":", b"]", b""):
            return text
        if self.source.directive_of(before) is not None:
            return b";"
        return None

    def _later_declarator(self, at: int, declarator: int) -> Declared | None:
        """`int a = 1, *name = 2;` and `auto [a, name] = f();`."""
        source = self.source
        position = declarator - 1
        while position >= 0:
            text = source.at(position)
            if text in (b")", b"]", b"}") and position in source.pairs:
                position = source.pairs[position] - 1
                continue
            if text in (b";", b"{", b"}"):
                break
            if text in (b"(", b"<"):
                return None
            if text == b"[":
                words = {source.at(position - 1), source.at(position - 2)}
                return self._place(at, at, called=False) if b"auto" in words else None
            position -= 1
        first = position + 1
        second = source.at(first + 1)
        if source.at(declarator - 1) != b"," or source.at(first) in _NOT_TYPES or not source.is_ident(first):
            return None
        if source.is_ident(first + 1) or second in (b"*", b"&", b"<", b"::"):
            return self._place(at, at, called=False)
        return None

    def _enumerator(self, at: int, scope: Scope) -> Declared:
        if (scoped := self._scoped_enum(scope)) is not None:
            return Declared(at, What.ENUMERATOR, scope.open, scope.close, scoped, True)
        outer = list(self.enclosing(at))[1:]
        if not outer:
            return Declared(at, What.ENUMERATOR, at, len(self.source.texts), defined=True)
        if outer[0].kind is Kind.CLASS:
            return Declared(at, What.ENUMERATOR, outer[0].open, outer[0].close, outer[0].name, True)
        return Declared(at, What.ENUMERATOR, at, outer[0].close, outer[0].name, True)

    def _scoped_enum(self, scope: Scope) -> bytes | None:
        """The name of an `enum class`, whose enumerators nobody sees outside of it without that name."""
        at = scope.open - 1
        while at > 0 and self.source.at(at) not in (b"enum", b";", b"{", b"}"):
            at -= 1
        scoped = self.source.at(at) == b"enum" and self.source.at(at + 1) in (b"class", b"struct")
        return self.source.at(at + 2) if scoped else None

    def _type(self, at: int, scope: Scope | None) -> Declared:
        if scope is not None and scope.kind is Kind.CLASS:
            return Declared(at, What.MEMBER, scope.open, scope.close, scope.name, True)
        last = scope.close if scope is not None else len(self.source.texts)
        owner = scope.name if scope is not None else b""
        return Declared(at, What.TYPE, at, last, owner, self.source.at(at + 1) in (b"{", b":", b"="))

    def _place(self, at: int, inner: int, *, called: bool) -> Declared | None:
        """The declaration at a token, by the brackets around it; `inner` is where its declarator starts."""
        source = self.source
        bracket = self._bracket(inner)
        if bracket is not None:
            return self._parameter(at, bracket)
        scopes = list(self.enclosing(at))
        scope = scopes[0] if scopes else None
        defined = not called or self._has_body(at)
        if scope is None or scope.kind is Kind.NAMESPACE:
            owner = b"::".join(entry.name for entry in reversed(scopes) if entry.name)
            last = scope.close if scope is not None else len(source.texts)
            return Declared(at, What.FUNCTION if called else What.VARIABLE, at, last, owner, defined)
        if scope.kind is Kind.CLASS:
            return Declared(at, What.MEMBER, scope.open, scope.close, scope.name, defined)
        if scope.kind in (Kind.FUNCTION, Kind.BLOCK):
            if called and not self._constructs(at):
                return None
            return Declared(at, What.LOCAL, at, scope.close, defined=True)
        return None

    def _constructs(self, at: int) -> bool:
        """`int name(3);` in a body declares a local; `CHECK name(3);` is a call behind a macro."""
        return self.source.at(at - 1) in _BUILT_IN | _STORAGE and b"extern" not in (self.source.at(at - 2),)

    def _has_body(self, at: int) -> bool:
        source = self.source
        position = source.pairs.get(at + 1, at + 1) + 1
        for _ in range(40):
            text = source.at(position)
            if text == b"{":
                return True
            if text in (b";", b"}", b""):
                return False
            position = source.pairs.get(position, position) + 1 if text in (b"(", b"[") else position + 1
        return False

    def _bracket(self, at: int) -> int | None:
        """The opening `(` or `<` that holds the token within its statement; None outside brackets."""
        source = self.source
        position = at - 1
        depth = 0
        while position >= 0 and at - position < 2000:
            text = source.at(position)
            if text in (b")", b"]", b"}"):
                opening = source.pairs.get(position)
                if opening is None:
                    return None
                if (
                    text == b"}"
                    and source.at(opening - 1) not in (b"=", b"(", b",")
                    and not source.is_ident(opening - 1)
                ):
                    return None
                position = opening - 1
                continue
            if text in (b";", b"{"):
                return None
            if text == b"(":
                return position
            if text == b">":
                depth += 1
            elif text == b"<":
                if depth == 0 and source.at(position - 1) == b"template":
                    return position
                depth = max(0, depth - 1)
            position -= 1
        return None

    def _parameter(self, at: int, bracket: int) -> Declared | None:
        """A parameter: seen in the body of its function; in the statement of a `for`; in what a template head heads."""
        source = self.source
        if source.at(bracket) == b"<":
            end = source.angle_end(bracket)
            return Declared(at, What.PARAMETER, at, self._declaration_end(end if end is not None else at))
        close = source.pairs.get(bracket)
        if close is None:
            return None
        if source.at(bracket - 1) in _STATEMENTS:
            return Declared(at, What.LOCAL, at, self._statement_end(close + 1), defined=True)
        if source.at(at + 1) == b"(":
            return None
        end = self._declaration_end(close)
        return Declared(at, What.PARAMETER, at, end)

    def _declaration_end(self, at: int) -> int:
        """End of the declaration behind a head: its body's closing brace, or its semicolon."""
        source = self.source
        position = at + 1
        while position < len(source.texts):
            text = source.at(position)
            if text == b"{":
                kind = self._head(position)[0]
                close = source.pairs.get(position, position)
                if kind in (Kind.FUNCTION, Kind.CLASS):
                    return close + 1
                position = close + 1
                continue
            if text in (b";", b"}"):
                return position
            position = source.pairs.get(position, position) + 1 if text in (b"(", b"[") else position + 1
        return position

    def _statement_end(self, at: int) -> int:
        source = self.source
        end = source.until(at, b"{", b";", b"}")
        return min((source.pairs.get(end, end) if source.at(end) == b"{" else end) + 1, len(source.texts))
