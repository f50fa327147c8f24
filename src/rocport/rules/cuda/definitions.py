"""Arguments and definitions as the rules edit them: argument lists with template commas, functions left out on AMD."""

from __future__ import annotations

from rocport.binding.scopes import Kind, Scope, Scopes
from rocport.model import Edit
from rocport.rules.cuda.common import insert
from rocport.syntax.cuda import CudaSource
from rocport.syntax.declarations import definition_start

PLATFORM = "rocport_platform.h"


def arguments(source: CudaSource, open_: int, close: int) -> list[tuple[int, int]]:
    """Token ranges between two parentheses, split at commas outside brackets and template argument lists."""
    parts: list[tuple[int, int]] = []
    first = position = open_ + 1
    while position < close:
        text = source.texts[position]
        if text in (b"(", b"[", b"{") and position in source.pairs:
            position = source.pairs[position]
        elif text == b"<" and source.is_ident(position - 1):
            end = source.angle_end(position)
            if end is not None and end < close:
                position = end
        elif text == b",":
            parts.append((first, position))
            first = position + 1
        position += 1
    if first < close or parts:
        parts.append((first, close))
    return parts


def macro_parameters(source: CudaSource, position: int) -> tuple[frozenset[bytes], frozenset[bytes]]:
    """Parameters of the macro whose `#define` holds a token: those of one argument, and those of any number of them."""
    directive = source.directive_of(position)
    found = source.macro_parameters(directive) if directive is not None and directive.name == b"define" else None
    if found is None:
        return frozenset(), frozenset()
    one, many = set(), {b"__VA_ARGS__"}
    for first, last in found:
        if last - first == 1 and source.at(first) != b"...":
            one.add(source.at(first))
        elif last - first == 2 and source.at(first + 1) == b"...":
            many.add(source.at(first))
    return frozenset(one), frozenset(many)


def may_be_several(source: CudaSource, first: int, last: int) -> bool:
    """True for an argument that stands for any number of them: `__VA_ARGS__`, GNU's `args` of `args...`, `pack...`."""
    several = {b"...", b"__VA_ARGS__"} | macro_parameters(source, first)[1]
    position = first
    while position < last:
        if source.at(position) in several:
            return True
        position = max(source.pairs.get(position, position), position) + 1
    return False


def returned_type(source: CudaSource, scopes: Scopes, position: int) -> bytes:
    """The word before the name of the function around a token, `float4` of `float4 f() {`; empty for a lambda."""
    function = next((scope for scope in scopes.enclosing(position) if scope.kind is Kind.FUNCTION), None)
    at = function.open - 1 if function is not None else -1
    while source.at(at) in (b"const", b"noexcept"):
        at -= 1
    name = source.pairs.get(at, 0) - 1 if source.at(at) == b")" else -1
    return source.at(name - 1) if source.is_ident(name) else b""


def parameters(source: CudaSource, open_: int, close: int) -> list[tuple[bytes, bytes]]:
    """Type (qualifiers and spaces left out) and name of each parameter; `float3 &` is `float3&`."""
    found = []
    for first, last in arguments(source, open_, close):
        words = [word for word in source.texts[first:last] if word not in (b"const", b"__restrict__", b"volatile")]
        if b"=" in words:
            words = words[: words.index(b"=")]
        name = words.pop() if len(words) > 1 and words[-1][:1].isalpha() | (words[-1][:1] == b"_") else b""
        found.append((b"".join(words), name))
    return found


def class_names(source: CudaSource, scope: Scope) -> set[bytes]:
    """The names of a structure: that of its head, and those of `typedef struct { ... } Wire, *WirePointer;`."""
    if scope.kind is not Kind.CLASS:
        return set()
    end = scope.close + 1
    while source.at(end) not in (b";", b"{", b"}", b""):
        end += 1
    return {scope.name, *(source.at(at) for at in range(scope.close + 1, end) if source.is_ident(at))}


def outermost(source: CudaSource, position: int) -> int:
    """First token of the declaration at the file's level that holds a token."""
    around = (open_ for open_, close in source.pairs.items() if open_ < position < close)
    return definition_start(source, min(around, default=position))


def leave_out_on_hip(source: CudaSource, first: int, last: int, why: bytes, where: bytes = b"") -> list[Edit]:
    """Edits that compile the tokens [first, last] for NVIDIA only; they need `rocport_platform.h`.

    `where` narrows the condition: they are left out on AMD only where it holds.
    """
    newline = source.newline
    start = source.line_start(first)
    ahead = source.data[start : source.starts[first]]
    opening = b"#if !ROCPORT_HIP" + (b" || !" + where if where else b"") + b"  // " + why + newline
    if ahead.strip():
        opening, start = newline + opening, source.starts[first]
    end = source.end(last)
    stop = source.data.find(b"\n", end)
    stop = len(source.data) if stop < 0 else stop
    rest = source.data[end:stop].strip()
    if rest and not rest.startswith((b"//", b"/*")):
        return [insert(start, opening), insert(end, newline + b"#endif" + newline)]
    stop -= source.data[:stop].endswith(b"\r")
    return [insert(start, opening), insert(stop, newline + b"#endif")]
