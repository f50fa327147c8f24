"""What one file of the tree declares under names that CUDA has too: macros, functions, types, members.

Most files declare none, and are told so by three expressions over their bytes; only the others are lexed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from rocport.binding.branches import branches
from rocport.binding.scopes import Declared, Scopes, What
from rocport.model import Definition
from rocport.syntax.conditionals import Chain
from rocport.syntax.cuda import CudaSource, Directive

Wanted = frozenset[bytes]
"""The names whose meaning is asked for."""

_NOT_WORDS = bytes(byte if bytes([byte]).isalnum() or byte == 95 else 32 for byte in range(256))
_WORD = re.compile(rb"\w+")
_SPACE = b" \t\r\n"
_BEHIND = frozenset(b"(;={[:,)>]}")
_NO_TYPE = frozenset(b"return else case do throw goto new delete undef ifdef ifndef and or not".split())
_MACRO_PARAMETERS = re.compile(rb"#[ \t]*define[ \t]+\w+\(([^()\n]*)\)")
_GLOBAL = frozenset({What.FUNCTION, What.VARIABLE, What.TYPE, What.MEMBER, What.ENUMERATOR})
_KINDS = {
    What.FUNCTION: "function",
    What.VARIABLE: "variable",
    What.TYPE: "type",
    What.MEMBER: "member",
    What.ENUMERATOR: "enumerator",
}


@lru_cache(maxsize=4096)
def candidates(data: bytes, wanted: Wanted) -> frozenset[bytes]:
    """Names of `wanted` that the bytes of a file seem to declare anywhere: a cheap superset. Asked of a file when the
    tree is indexed, and again when the rules run over it."""
    present = wanted.intersection(data.translate(_NOT_WORDS).split())
    found: set[bytes] = set()
    for word in _WORD.finditer(data) if present else ():
        name = word.group()
        if name in present and name not in found and _seems_declared(data, word.start(), word.end()):
            found.add(name)
    if len(found) < len(present) and b"define" in data:
        for match in _MACRO_PARAMETERS.finditer(data):
            found |= present.intersection(match.group(1).translate(_NOT_WORDS).split())
    return frozenset(found)


def _seems_declared(data: bytes, at: int, end: int) -> bool:
    """True where a type, a comma or a brace stands before a name and what can follow a declarator behind it."""
    before = data[max(0, at - 48) : at]
    if before.rstrip(b" \t").endswith((b"define", b"undef", b"*/")):
        return True
    after = data[end : end + 16].lstrip(_SPACE)[:1]
    return after != b"" and after[0] in _BEHIND and _can_declare(before, after)


def _can_declare(before: bytes, after: bytes) -> bool:
    stripped = before.rstrip(_SPACE)
    last = stripped[-1:]
    if last in (b"*", b"&", b">"):
        return after != b">"
    if last in (b",", b"{", b"["):
        return after in (b"=", b";", b"}", b"]") or (last != b"[" and after == b",")
    if stripped == before or not (last.isalnum() or last == b"_"):
        return False
    word = stripped.translate(_NOT_WORDS).split()[-1]
    return word not in _NO_TYPE and not word.isdigit()


def collect(source: CudaSource, names: Iterable[bytes], scopes: Scopes | None = None) -> tuple[Definition, ...]:
    """The project's own meanings, in one file, of the `candidates` for them, its aliases of CUDA's namespaces, and what
    it brings in by `using`.

    Their path is left empty. `scopes` are the file's, where the caller has them.
    """
    found = tuple(_definitions(source, names, scopes or Scopes(source))) if names else ()
    return found + tuple(_aliases(source.data)) + tuple(_used(source.data))


def _aliases(data: bytes) -> Iterator[Definition]:
    """`namespace c = cub`, `using cub::WarpReduce`, `using namespace cub` (whose alias has no name)."""
    if b"cub" not in data:
        return
    for match in _ALIAS.finditer(data):
        line = data.count(b"\n", 0, match.start()) + 1
        alias, namespace, used, opened = match.groups()
        if alias:
            yield Definition(alias, "alias", line, takes=namespace.replace(b"hipcub", b"cub"))
        elif used:
            yield Definition(used, "alias", line, takes=b"cub::" + used)
        elif opened:
            yield Definition(b"", "alias", line, takes=b"cub")


_ALIAS = re.compile(
    rb"\bnamespace\s+(\w+)\s*=\s*(?:::\s*)?((?:hip)?cub)\s*;|\busing\s+(?:::\s*)?(?:hip)?cub\s*::\s*(\w+)\s*;"
    rb"|\b(using\s+namespace\s+(?:::\s*)?(?:hip)?cub)\s*;"
)


def _used(data: bytes) -> Iterator[Definition]:
    """`using gpu::cudaMemcpy` and `using namespace gpu` (which has no name); of those of the standard none is told."""
    for match in _USING.finditer(data) if b"using" in data else ():
        opened, namespace, name = match.groups()
        if (opened or namespace) != b"std":
            yield Definition(name or b"", "using", data.count(b"\n", 0, match.start()) + 1, takes=opened or namespace)


_USING = re.compile(
    rb"\busing\s+(?:namespace\s+(?:\w+\s*::\s*)*(\w+)|(?:::\s*)?(?:\w+\s*::\s*)*(\w+)\s*::\s*((?:cu|nccl|__|atomic)\w+))\s*;"
)


def _definitions(source: CudaSource, names: Iterable[bytes], scopes: Scopes) -> Iterator[Definition]:
    for name in sorted(names):
        for directive in macros(source, name):
            line = source.line(directive.start)
            states = live(source, directive.start, name)
            body = source.texts[directive.first + 3 : directive.last]
            takes = body[0] if len(body) == 1 else b""
            yield Definition(name, "macro", line, parameters=parameters(source, directive), live=states, takes=takes)
        for declared in scopes.declarations(name):
            if declared.what in _GLOBAL and not _repeats(source, name, declared):
                yield _definition(source, name, declared)


# The structs behind CUDA's handles, whose counterparts HIP declares in the same way, and the handles.
_BEHIND_HANDLES = {
    b"CUstream_st": (b"cudaStream_t", b"CUstream"),
    b"CUevent_st": (b"cudaEvent_t", b"CUevent"),
    b"CUctx_st": (b"CUcontext",),
    b"CUmod_st": (b"CUmodule",),
    b"CUfunc_st": (b"CUfunction",),
    b"CUgraph_st": (b"cudaGraph_t", b"CUgraph"),
    b"CUgraphNode_st": (b"cudaGraphNode_t", b"CUgraphNode"),
    b"CUgraphExec_st": (b"cudaGraphExec_t", b"CUgraphExec"),
    b"CUmemPoolHandle_st": (b"cudaMemPool_t", b"CUmemoryPool"),
}


def _repeats(source: CudaSource, name: bytes, declared: Declared) -> bool:
    """`typedef struct CUstream_st *cudaStream_t;`: CUDA's own declaration, where its headers are not included."""
    at = declared.position
    before = [word for word in source.texts[max(0, at - 4) : at] if word not in (b"struct", b"typedef")]
    behind = [word for word in source.texts[at + 1 : at + 5] if word not in (b"struct", b"=")]
    told = before[-2:] if source.at(at + 1) == b";" else behind[:2] if source.at(at - 1) == b"using" else []
    return len(told) == 2 and b"*" in told and any(name in _BEHIND_HANDLES.get(word, ()) for word in told)


def _definition(source: CudaSource, name: bytes, declared: Declared) -> Definition:
    start = source.starts[declared.position]
    return Definition(
        name,
        _KINDS[declared.what],
        source.line(start),
        owner=declared.owner,
        live=live(source, start, name),
        defined=declared.defined,
        takes=first_type(source, declared.position),
    )


def first_type(source: CudaSource, position: int) -> bytes:
    """Type of the first parameter of the function at a token, without qualifiers; empty where it takes none."""
    close = source.pairs.get(position + 1)
    if source.at(position + 1) != b"(" or close is None:
        return b""
    parts = source.split(position + 1, close)
    if not parts:
        return b""
    first, last = parts[0]
    words = [word for word in source.texts[first:last] if word not in (b"const", b"volatile", b"__restrict__")]
    if len(words) > 1 and (words[-1][:1].isalpha() or words[-1][:1] == b"_"):
        words.pop()
    return b" ".join(words)


def macros(source: CudaSource, name: bytes) -> Iterator[Directive]:
    """The `#define` lines of a name, in order."""
    for position in source.find(name):
        directive = source.directive_of(position)
        if directive is not None and directive.name == b"define" and position == directive.first + 2:
            yield directive


def parameters(source: CudaSource, directive: Directive) -> int | None:
    """Number of parameters of a macro; None where it takes none and no parentheses."""
    found = source.macro_parameters(directive)
    return None if found is None else len(found)


def live(source: CudaSource, offset: int, name: bytes) -> tuple[bool | None, bool | None]:
    """Whether the device and the host pass of the port reach a byte; None where names nobody knows decide.

    An include guard always lets it pass, and so does `#ifndef X` around what defines X: CUDA's functions are no macros.
    """
    view = branches(source, False)
    states: list[bool | None] = [True, True]
    for chain, taken in zip(view.chains, view.taken, strict=True):
        if not chain.start < offset < chain.end:
            continue
        for number, branch in enumerate(chain.branches):
            if not branch.start <= offset < branch.end:
                continue
            if number == 0 and (_is_guard(source, chain) or _asks_for(source, chain, name)):
                continue
            for index, state in enumerate((taken.device[number], taken.host[number])):
                if states[index] is not False:
                    states[index] = state if state is not True else states[index]
    return states[0], states[1]


def _is_guard(source: CudaSource, chain: Chain) -> bool:
    """`#ifndef X` with `#define X` as the next directive."""
    first = chain.branches[0].directive
    if first.name != b"ifndef" or len(chain.branches) > 1:
        return False
    following = next((item for item in source.directives if item.start > first.start), None)
    return (
        following is not None
        and following.name == b"define"
        and source.at(following.first + 2) == source.at(first.first + 2)
    )


def _asks_for(source: CudaSource, chain: Chain, name: bytes) -> bool:
    """`#ifndef name` or `#if !defined(name)`."""
    first = chain.branches[0].directive
    words = [word for word in source.texts[first.first + 1 : first.last] if word not in (b"(", b")")]
    return words in ([b"ifndef", name], [b"if", b"!", b"defined", name])
