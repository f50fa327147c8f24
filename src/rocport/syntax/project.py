"""Names over a whole tree: device functions, macros, includes. One cheap pass before any rule runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from rocport.model import Definition, ProjectIndex
from rocport.syntax.includes import first_on_line, include_names
from rocport.syntax.vectors import SCALARS

_SPECIFIED = re.compile(
    rb"__(global|device)__((?:(?!__(?:global|device)__)[^;{}()]|\([^()]*\))*?)(?<!\w)([A-Za-z_]\w*)\s*\("
)
_MACRO = re.compile(rb"#[ \t]*define[ \t]+([A-Za-z_]\w*)[ \t]+((?:[^\n\\]|\\\r?\n|\\.)+)")
_TORCH = re.compile(rb"#[ \t]*include[ \t]*[<\"](?:torch|ATen|c10)/")
_CUTLASS = re.compile(rb"#[ \t]*include[ \t]*[<\"](?:cute|cutlass)/")
# An expression that begins with letters is looked for as fast as they are; `asm(?<=\basm)` is `\basm`.
_PTX = re.compile(rb"(?m)asm(?<=\basm)[ \t]*(?:__)?(?:volatile)?(?:__)?[ \t]*\((?=[ \t]*(?:[\"R]|\\?\r?$))")
_COMMENTED = re.compile(rb"[ \t]*//")
_WITH_PARAMETERS = re.compile(
    rb"^[ \t]*#[ \t]*define[ \t]+([A-Za-z_]\w*)\([^)]*\)((?:[^\n\\]|\\\r?\n|\\.)+)", re.MULTILINE
)
_ARRAYS = re.compile(rb"\b(?:cudaMalloc(?:3D|Mipmapped)?Array|cudaArray(?:_t|_const_t)?|CUarray|(?:src|dst)Array)\b")
_VOID_FUNCTIONS = re.compile(rb"[vC](?:(?<=\bv)oid\s*(?:const\s*)?\*|(?<=\bC)Udeviceptr\b)\s*([A-Za-z_]\w*)\s*\(")
PTX_CARRY = re.compile(
    rb"\b(?:(?:add|sub|mad)c?(?:\.(?:hi|lo))?\.cc|(?:addc|subc|madc)(?:\.(?:hi|lo))?)\.[usb](?:32|64)\b"
)
"""A PTX instruction that writes or reads the carry."""
_TAKES_BYTES = re.compile(
    rb"\b(?:fwrite|fread|MPI_\w+|sendto|recvfrom|send|recv|shm_open|mmap|[io]?f?stream|stringstream)\b|[.>]write\b"
)
_SIZED = re.compile(rb"sizeof(?<=\bsizeof)\s*\(?\s*(?:struct\s+|\*\s*)?([A-Za-z_]\w*)")
_USED = re.compile(rb"[\s&*]([A-Za-z_]\w*)\s*[;,)=\[{]")
_TYPE_BEFORE = re.compile(rb"\b([A-Za-z_]\w*)(?:\s+|\s*[&*]+\s*)\Z")
_NEAR = 100
"""Bytes before a name in which its type stands."""
_CLASS = re.compile(
    rb"\b(?:struct|class)\s+(?:__align__\(\w+\)\s*|alignas\(\w+\)\s*)?([A-Za-z_]\w*)\s*(?:final\s*)?[:{]"
)
_MADE = re.compile(rb"(?<![~\w:.>])([A-Za-z_]\w*)\s*\(\s*(?:void\s*)?\)\s*(?:noexcept\s*)?(?::\s*\w|\{\s*[^}\s])")
_VECTOR = re.compile(rb"\b(?:%b)[234]\b" % b"|".join(SCALARS))
_VECTOR_ALIAS = re.compile(
    rb"\busing\s+([A-Za-z_]\w*)\s*=\s*(?:::\s*)?(%(kind)s)\s*;|\btypedef\s+(?:::\s*)?(%(kind)s)\s+([A-Za-z_]\w*)\s*;"
    % {b"kind": _VECTOR.pattern}
)
_ALIAS = re.compile(
    rb"\busing\s+([A-Za-z_]\w*)\s*=\s*([A-Za-z_]\w*)\s*;|\btypedef\s+([A-Za-z_]\w*)\s+([A-Za-z_]\w*)\s*;"
)
# A file that asks whether a macro is defined, and does not only take it back, may have it of another file.
_ASKED = re.compile(
    rb"#[ \t]*ifn?def[ \t]+(\w+)\b(?!\s*#[ \t]*undef)"
    rb"|\bdefined[ \t]*\(?[ \t]*(\w+)\b(?!\s*\)?\s*#[ \t]*undef)"
)
# `template <class T> int f(T x);` in one line, without `static`.
_TEMPLATE = re.compile(
    rb"^[ \t]*template[ \t]*<[^\n;{}()]{0,400}>(?:(?!\bstatic\b)[^\n;{}()=]){0,400}?"
    rb"\b(?P<name>[A-Za-z_]\w*)[ \t]*\((?P<parameters>[^\n;{}]{0,400})\)[ \t]*;",
    re.MULTILINE,
)
_ARGUMENTS = re.compile(rb"<[^<>]*>|\([^()]*\)")
_NOT_NAMES = frozenset({b"__launch_bounds__", b"__attribute__", b"__align__", b"alignas", b"decltype", b"if", b"for"})


def mirrored(path: str, folder: str) -> str:
    """Where the HIP translation of a source lies in a tree for both platforms: `csrc/a.cu` -> `hip/csrc/a.hip`.

    CUDA sources become `.hip`, what a HIP compiler knows by name; headers and host sources keep their names.
    """
    stem, dot, suffix = path.rpartition(".")
    return f"{folder}/{stem}.hip" if dot and suffix.lower() in ("cu", "cup") else f"{folder}/{path}"


@dataclass(frozen=True)
class FileNames:
    """What one file adds to the index."""

    device_functions: frozenset[bytes] = frozenset()
    macros: Mapping[bytes, bytes] = field(default_factory=dict)
    included: frozenset[str] = frozenset()
    torch_extension: bool = False
    ptx: bool = False
    definitions: tuple[Definition, ...] = ()
    includes: tuple[str, ...] = ()
    meets: Mapping[bytes, frozenset[str]] = field(default_factory=dict)
    calls: Mapping[bytes, frozenset[bytes]] = field(default_factory=dict)
    carrying: Mapping[bytes, bool] = field(default_factory=dict)
    arrays: bool = False
    void_functions: frozenset[bytes] = frozenset()
    sized: frozenset[bytes] = frozenset()
    constructed: frozenset[bytes] = frozenset()
    templates: frozenset[bytes] = frozenset()
    vectors: frozenset[bytes] = frozenset()
    marks: Mapping[bytes, frozenset[bytes]] = field(default_factory=dict)
    asked: frozenset[bytes] = frozenset()
    """Those of `macros` of which the file asks whether they are defined: `#ifndef OP`, `#define OP "add.u32"`."""
    versions: Mapping[bytes, tuple[tuple[int, bytes], ...]] = field(default_factory=dict)
    """Macros of several bodies, until it is known which of them the port compiles: where each is defined, and it."""


def names_of(data: bytes) -> FileNames:
    """Names one file defines. Comments are not told from code here: the index only ever adds candidates."""
    device: set[bytes] = set()
    if b"__device__" in data:
        for match in _SPECIFIED.finditer(data):
            if match.group(1) == b"device" and match.group(3) not in _NOT_NAMES:
                device.add(match.group(3))
    macros: dict[bytes, bytes] = {}
    versions: dict[bytes, list[tuple[int, bytes]]] = {}
    if b"define" in data:
        for match in _MACRO.finditer(data):
            body = match.group(2).split(b"//")[0].strip()
            if len(body) < 200 and first_on_line(data, match.start()):
                macros[match.group(1)] = body
                versions.setdefault(match.group(1), []).append((match.start(), body))
    included = frozenset(name.rsplit("/", 1)[-1] for name in include_names(data))
    return FileNames(
        frozenset(device),
        macros,
        included,
        _TORCH.search(data) is not None,
        holds_ptx(data) is not None,
        carrying=_carrying(data) if b".cc." in data else {},
        arrays=(b"Array" in data or b"CUarray" in data) and _ARRAYS.search(data) is not None,
        void_functions=frozenset(_VOID_FUNCTIONS.findall(data))
        if b"void" in data or b"CUdeviceptr" in data
        else frozenset(),
        sized=_sized(data) if b"sizeof" in data else frozenset(),
        constructed=_constructed(data) if b"__device__" in data else frozenset(),
        templates=frozenset(template_key(found["name"], found["parameters"]) for found in _TEMPLATE.finditer(data))
        if b"template" in data
        else frozenset(),
        vectors=vectors_of(data) if _VECTOR.search(data) is not None else frozenset(),
        asked=frozenset(name for pair in _ASKED.findall(data) for name in pair if name in macros)
        if macros
        else frozenset(),
        versions={name: tuple(said) for name, said in versions.items() if len({body for _, body in said}) > 1},
    )


def vectors_of(data: bytes, known: Mapping[bytes, bytes] = MappingProxyType({})) -> frozenset[bytes]:
    """Other names of CUDA's vector types, `Acc/float4`, structures that hold one of them, `Row/:c=float4[2],at=int2`,
    and functions that take one, with the place of the parameter, `take/(0float4`, and what else stands there:
    `take/(0int` of an overload. `known` are the other names that other files give them."""
    aliases, structures = vector_names(data, known)
    found = {name + b"/" + kind for name, kind in aliases.items() if known.get(name) != kind}
    for name, members in structures.items():
        told = (b"%s=%s%s" % (own, aliases.get(kind, kind), dimensions) for own, kind, dimensions in members)
        found.add(name + b"/:" + b",".join(told))

    def is_vector(kind: bytes) -> bool:
        return _VECTOR.fullmatch(kind) is not None or kind in aliases or kind in structures

    taken: dict[bytes, set[tuple[int, bytes]]] = {}
    for match in _PARAMETERS.finditer(data):
        for place, part in enumerate(match[2].split(b",")):
            typed = _PARAMETER.fullmatch(part)
            if typed is not None and (is_vector(typed[1]) or (typed[1] != match[1] and _OVERLOADED.match(part))):
                taken.setdefault(match[1], set()).add((place, typed[1]))
    for name, parameters in taken.items():
        vectors = {place for place, kind in parameters if is_vector(kind)}
        found.update(b"%s/(%d%s" % (name, place, kind) for place, kind in parameters if place in vectors)
    return frozenset(found)


Member = tuple[bytes, bytes, bytes]
"""Name, type and dimensions of a structure's member: `(b"c", b"float4", b"[2]")`; no type for what holds no vector."""


def vector_names(
    data: bytes, known: Mapping[bytes, bytes] = MappingProxyType({})
) -> tuple[dict[bytes, bytes], dict[bytes, tuple[Member, ...]]]:
    """Other names of CUDA's vector types with the type, and the structures that hold a vector: their members in order.

    Structures with a base, a constructor or members of their own only are no aggregates, and left out. `known` are the
    other names that other files give them.
    """
    aliases = dict(known)
    for match in _VECTOR_ALIAS.finditer(data):
        new, kind, old_kind, old = match.groups()
        aliases[new or old] = kind or old_kind
    for match in _ALIAS.finditer(data) if known else ():
        if (match[2] or match[3]) in known:
            aliases[match[1] or match[4]] = known[match[2] or match[3]]
    every: dict[bytes, tuple[Member, ...]] = {}
    for match in _STRUCTURE.finditer(_COMMENTS.sub(b"", data)):
        tag, body, behind = match.groups()
        body = _INSIDE.sub(b";", body)
        if _NO_AGGREGATE.search(body) or (tag and re.search(rb"\b%s\s*\(" % tag, body)):
            continue
        members = tuple(_members(body))
        every |= {name: members for name in (tag, behind) if name}
    holding: set[bytes] = set()
    fresh = {
        name for name, members in every.items() if any(_VECTOR.fullmatch(aliases.get(of, of)) for _, of, _ in members)
    }
    while fresh:
        holding |= fresh
        fresh = {
            name for name, members in every.items() if name not in holding and any(of in fresh for _, of, _ in members)
        }
    return aliases, {name: every[name] for name in holding}


def _members(body: bytes) -> Iterator[Member]:
    for declaration in _LABEL.sub(b"", body).split(b";"):
        if b"(*" in declaration:
            yield b"", b"", b""
            continue
        match = _DECLARED.match(declaration)
        if match is None or b"(" in declaration.partition(b"=")[0]:
            continue
        kind = match[1]
        for declarator in match[2].split(b","):
            named = _DECLARATOR.match(declarator)
            if named is not None:
                yield named[2], b"" if named[1].strip() else kind, b"".join(named[3].split())


_COMMENTS = re.compile(rb"//[^\n]*|/\*[^*]*(?:\*(?!/)[^*]*)*(?:\*/|\Z)|^[ \t]*#(?:[^\n\\]|\\\r?\n|\\.)*", re.MULTILINE)
_STRUCTURE = re.compile(
    rb"\bstruct\s+(?:__align__\(\w+\)\s*|alignas\(\w+\)\s*)?([A-Za-z_]\w*)?\s*(?:final\s*)?"
    rb"\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\s*([A-Za-z_]\w*)?"
)
_INSIDE = re.compile(rb"\{[^{}]*\}")
_NO_AGGREGATE = re.compile(rb"\b(?:private|protected|virtual)\b|\b(?:struct|union)\s*(?:\w+\s*)?;")
_LABEL = re.compile(rb"\bpublic\s*:")
_DECLARED = re.compile(
    rb"\s*(?:(?:const|volatile|mutable|unsigned|signed|struct|__align__\(\w+\)|alignas\(\w+\))\s+)*(?:::\s*)?"
    rb"(?!static\b|using\b|typedef\b|friend\b|template\b|return\b|enum\b)([A-Za-z_]\w*)(?:\s*<[^;]*>)?(?=[\s&*])\s*([\w\s*,\[\]=.:+-].*)",
    re.DOTALL,
)
_DECLARATOR = re.compile(rb"((?:\s|\*|const\b|unsigned\b|int\b|long\b)*)([A-Za-z_]\w*)\s*((?:\[[^\[\]]*\]\s*)*)")
_PARAMETERS = re.compile(rb"\b([A-Za-z_]\w*)\s*\(([^(){};]*)\)")
# A declared parameter, and no argument of a call: `int`, `const T &v`.
_OVERLOADED = re.compile(
    rb"\s*(?:const\s+)?(?:::\s*)?(?:(?!return\b|new\b|const\b)[A-Za-z_]\w*(?:\s*&\s*|\s+)[A-Za-z_]\w*\s*(?:=|\Z)"
    rb"|(?:bool|char|short|int|long|unsigned|float|double)\s*&?\s*\Z)"
)
_PARAMETER = re.compile(rb"\s*(?:const\s+)?(?:::\s*)?([A-Za-z_]\w*)\b\s*&?\s*\w*\s*(?:=.*)?", re.DOTALL)


def _constructed(data: bytes) -> frozenset[bytes]:
    """Classes with a constructor without parameters that does something."""
    classes = frozenset(_CLASS.findall(data))
    return classes.intersection(_MADE.findall(data)) if classes else classes


def template_key(name: bytes, parameters: bytes) -> bytes:
    """A function template as the index knows it: its name and how many parameters it takes."""
    flat = _ARGUMENTS.sub(b"", parameters)
    return b"%s/%d" % (name, flat.count(b",") + 1 if flat.strip() else 0)


def holds_ptx(data: bytes) -> bool | None:
    """Whether a file includes CUTLASS (True), or has inline assembly only (False); None where it has neither."""
    if b"cut" in data and _CUTLASS.search(data) is not None:
        return True
    line = done = 0
    for match in _PTX.finditer(data) if b"asm" in data else ():
        line = max(line, data.rfind(b"\n", done, match.start()) + 1)
        done = match.start()
        if _COMMENTED.match(data, line) is None:
            return False
    return None


def _sized(data: bytes) -> frozenset[bytes]:
    """Types whose size a file asks for that also hands bytes to a file or another process; a variable's type, too."""
    asked = frozenset(_SIZED.findall(data)) if _TAKES_BYTES.search(data) is not None else frozenset()
    used = (match.start(1) for match in _USED.finditer(data) if match.group(1) in asked) if asked else ()
    typed = (_TYPE_BEFORE.search(data, max(0, at - _NEAR), at) for at in used)
    return asked.union(match.group(1) for match in typed if match is not None)


def reads_carry(text: bytes) -> bool | None:
    """Whether PTX text reads a carry before it writes one; None where it does neither."""
    match = PTX_CARRY.search(text)
    return None if match is None else match.group(0).partition(b".")[0].endswith(b"c")


def _carrying(data: bytes) -> dict[bytes, bool]:
    """Macros with parameters whose text is PTX with a carry, and those that use them."""
    bodies = {match.group(1): match.group(2) for match in _WITH_PARAMETERS.finditer(data)}
    found = {name: reads for name, body in bodies.items() if (reads := reads_carry(body)) is not None}
    fresh = dict(found)
    while fresh:
        uses = re.compile(rb"\b(?:" + b"|".join(found) + rb")\b")
        fresh = {
            name: found[match.group(0)]
            for name, body in bodies.items()
            if name not in found and (match := uses.search(body)) is not None
        }
        found |= fresh
    return found


def holding_ptx(names: Mapping[str, FileNames]) -> frozenset[str]:
    """Paths of the files that hold PTX or include, by name, a file of the same top folder that does."""
    found = {path for path, item in names.items() if item.ptx}
    fresh = found
    while fresh:
        headers = {(path.partition("/")[0], path.rpartition("/")[2]) for path in fresh}
        fresh = {
            path
            for path, item in names.items()
            if path not in found and any((path.partition("/")[0], name) in headers for name in item.included)
        }
        found |= fresh
    return frozenset(found)


def build_index(
    files: Iterable[str], names: Iterable[FileNames], ptx_sources: frozenset[str] = frozenset()
) -> ProjectIndex:
    """Merge what the files add."""
    device: set[bytes] = set()
    macros: dict[bytes, bytes] = {}
    included: set[str] = set()
    torch_extension = False
    carrying: dict[bytes, bool] = {}
    arrays = False
    void_functions: set[bytes] = set()
    sized: set[bytes] = set()
    constructed: set[bytes] = set()
    for item in names:
        device |= item.device_functions
        macros.update(item.macros)
        included |= item.included
        torch_extension = torch_extension or item.torch_extension
        carrying |= item.carrying
        arrays = arrays or item.arrays
        void_functions |= item.void_functions
        sized |= item.sized
        constructed |= item.constructed
    return ProjectIndex(
        frozenset(device),
        macros,
        frozenset(files),
        frozenset(included),
        torch_extension,
        ptx_sources,
        carrying=carrying,
        arrays=arrays,
        void_functions=frozenset(void_functions),
        sized=frozenset(sized),
        constructed=frozenset(constructed),
    )
