"""The repairs: for each a message of clang's, the edit that keeps the meaning, why it does, and an example.

The example does not compile for AMD as it is, and does after the repair: that is its test. A repair returns no change
where the edit is not certain; the error then stays a finding.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rocport.facts.lookup import counterpart
from rocport.facts.standard_headers import header_of
from rocport.model import Applicability, Edit, Span
from rocport.model.verification import Diagnostic, Note
from rocport.repair.site import Change, Site, offset_at, token_at
from rocport.syntax.declarations import behind_template_head, definition_start

Make = Callable[[Site, re.Match[str]], Change | None]


@dataclass(frozen=True)
class Repair:
    """One class of errors and the edit that answers it."""

    name: str
    message: re.Pattern[str]
    """What clang says, from its first word on."""
    reason: str
    """Why the edit keeps the meaning, as a sentence."""
    make: Make
    example: str
    applicability: Applicability = Applicability.SAFE


def as_the_compiler_writes_it(site: Site, match: re.Match[str]) -> Change | None:
    """The fix-its of the error: with them clang goes on reading, so they are what it understood."""
    text = site.text
    fixits = [fixit for fixit in site.error.fixits if fixit.path == site.error.path]
    if text is None or not fixits or len(fixits) != len(site.error.fixits):
        return None
    edits = []
    for fixit in fixits:
        first, last = offset_at(text, fixit.line, fixit.column), offset_at(text, fixit.end_line, fixit.end_column)
        if not 0 <= first <= last <= len(text.data):
            return None
        edits.append(Edit(Span(first, last), fixit.text.encode("utf-8", "surrogateescape")))
    return Change(site.error.path, tuple(edits))


def _standard_header(site: Site, match: re.Match[str]) -> Change | None:
    std, name, text = match["std"] or match["undefined"], match["name"], site.text
    if name == "std" and text is not None and (at := token_at(text, site.error.line, site.error.column)) is not None:
        std = text.at(at + 2).decode(errors="replace")
    return _include(site, header_of(std, "std") if std else header_of(name, "global"))


def _rocm_header(site: Site, match: re.Match[str]) -> Change | None:
    return _include(site, header_of(match["name"], "rocm"))


def _include(site: Site, header: str | None) -> Change | None:
    if header is None or site.text is None:
        return None
    return Change(site.error.path, headers=frozenset({f"<{header}>"}))


def _hip_name(site: Site, match: re.Match[str]) -> Change | None:
    """HIP's name in the place of CUDA's, where it takes the place of it in every use."""
    row, text = counterpart("symbol", match["name"]), site.text
    position = token_at(text, site.error.line, site.error.column) if text is not None else None
    if text is None or position is None or row is None or not row.hip or row.note:
        return None
    span = Span(text.starts[position], text.end(position))
    return Change(site.error.path, (Edit(span, row.hip.encode()),)) if text.is_ident(position) else None


def _pointer_argument(site: Site, match: re.Match[str]) -> Change | None:
    """A cast of the argument of a function of HIP's, which the compiler names by its number in a note."""
    text = site.text
    position = token_at(text, site.error.line, site.error.column) if text is not None else None
    if text is None or position is None or not text.texts[position].startswith(b"hip"):
        return None
    call = text.call(position)
    found = [found for note in site.error.notes if (found := _NO_CONVERSION.search(note.message))]
    if call is None or not found:
        return None
    number = int(found[0]["number"]) - 1
    if not all(int(one["number"]) - 1 == number for one in found) or number >= len(call.args):
        return None
    first, last = call.args[number]
    cast = f"({found[0]['to']})(".encode()
    return Change(site.error.path, _around(text.starts[first], text.end(last - 1), cast, b")"))


_NO_CONVERSION = re.compile(
    r"no known conversion from '[^']*(?:\*|\))'(?: \(aka '[^']*'\))? to '(?P<to>(?:const )?void \*{1,2})'"
    r" for (?P<number>\d)(?:st|nd|rd|th) argument"
)


def _around(start: int, end: int, before: bytes, after: bytes) -> tuple[Edit, ...]:
    return Edit(Span(start, start), before), Edit(Span(end, end), after)


def _elided_braces(site: Site, match: re.Match[str]) -> Change | None:
    """The type around each vector of a flat list: `{1, 2, 3, 4}` of two `int2` is `{int2(1, 2), int2(3, 4)}`."""
    text = site.text
    position = token_at(text, site.error.line, site.error.column) if text is not None else None
    if text is None or position is None:
        return None
    open_ = position
    while open_ > 0 and text.texts[open_] not in (b"{", b";", b"}", b"("):
        open_ -= 1
    close = text.pairs.get(open_)
    size = int(match["size"])
    if text.texts[open_] != b"{" or close is None or size == 1:
        return None
    values = [part for part in text.split(open_, close) if part[0] < part[1]]
    nested = any(text.texts[at] in (b"{", b"#") for at in range(open_ + 1, close))
    if nested or len(values) % size:
        return None
    edits: list[Edit] = []
    for at in range(0, len(values), size):
        start, end = text.starts[values[at][0]], text.end(values[at + size - 1][1] - 1)
        edits += _around(start, end, match["type"].encode() + b"(", b")")
    return Change(site.error.path, tuple(edits))


def _for_the_device(site: Site, match: re.Match[str]) -> Change | None:
    """`__host__ __device__` in front of a function of the tree that is called on the device."""
    declared = [note for note in site.error.notes if note.path and _DECLARED.match(note.message)]
    if len({(note.path, note.line) for note in declared}) != 1:
        return None
    return _with_spaces(site, declared[0], "__host__ __device__")


def _as_declared(site: Site, match: re.Match[str]) -> Change | None:
    """The spaces of a function's declaration in front of its definition."""
    return _with_spaces(site, site.error, match["spaces"])


def _with_spaces(site: Site, place: Note | Diagnostic, spaces: str) -> Change | None:
    """`__device__` and the like in front of the function whose name stands at a place."""
    text = site.read(place.path)
    name = token_at(text, place.line, place.column) if text is not None else None
    if text is None or name is None or not text.is_ident(name) or text.directive_of(name) is not None:
        return None
    start = behind_template_head(text, definition_start(text, name))
    if {b"friend", b"virtual", b"__host__", b"~"} & set(text.texts[start : name + 1]):
        return None
    at = text.starts[start]
    return Change(place.path, (Edit(Span(at, at), f"{spaces} ".encode()),))


_DECLARED = re.compile(r"'[^']+' declared here|candidate function(?: template)? not viable: call to __host__ function")


def _before_the_macro(site: Site, match: re.Match[str]) -> Change | None:
    """HIP's header ahead of everything else in the unit: a macro of the project's stands before it now."""
    of_macro = any(note.path and note.message.startswith("expanded from macro") for note in site.error.notes)
    if not of_macro or not site.error.included or site.read(site.unit) is None:
        return None
    return Change(site.unit, ahead=site.error.included)


def _keyword(word: bytes) -> Make:
    """The word in front of the name that the error points at."""

    def make(site: Site, match: re.Match[str]) -> Change | None:
        text = site.text
        if text is None or not site.error.column:
            return None
        at = offset_at(text, site.error.line, site.error.column)
        return Change(site.error.path, (Edit(Span(at, at), word),))

    return make


def _bytes_of_void(site: Site, match: re.Match[str]) -> Change | None:
    """`(char *)` in front of what stands left of the operator."""
    text = site.text
    operator = token_at(text, site.error.line, site.error.column) if text is not None else None
    if text is None or operator is None or text.texts[operator] not in (b"+", b"-"):
        return None
    first = operator - 1
    while text.at(first - 1) in (b".", b"->", b"::"):
        first -= 2
    if not text.is_ident(first) or text.at(first - 1) not in (b"(", b",", b"=", b"return", b"{", b"?", b":"):
        return None
    at = text.starts[first]
    return Change(site.error.path, (Edit(Span(at, at), b"(char *)"),))


def _without_static(site: Site, match: re.Match[str]) -> Change | None:
    """The definition whose name the error points at, without its `static`."""
    text = site.text
    name = token_at(text, site.error.line, site.error.column) if text is not None else None
    if text is None or name is None or text.directive_of(name) is not None:
        return None
    words = [at for at in range(definition_start(text, name), name) if text.texts[at] == b"static"]
    if len(words) != 1:
        return None
    start, end = text.starts[words[0]], text.starts[words[0] + 1]
    return Change(site.error.path, (Edit(Span(start, end), b""),))


REPAIRS = (
    Repair(
        "dependent-typename",
        re.compile(r"missing 'typename' prior to dependent type name"),
        "nvcc reads the name as the type that it is; C++ asks for `typename`",
        _keyword(b"typename "),
        "template <class T> struct A { typedef T type; };\n"
        "template <class T> __device__ int f(T x) { A<T>::type y = x; return (int)y; }\n"
        "__global__ void k(int *p) { *p = f(3); }\n",
    ),
    Repair(
        "dependent-template",
        re.compile(r"use 'template' keyword to treat|missing 'template' keyword prior to dependent template name"),
        "nvcc reads the name as the template that it is; C++ asks for `template`",
        _keyword(b"template "),
        "struct A { template <int N> __device__ int get() { return N; } };\n"
        "template <class T> __device__ int f(T x) { return x.get<3>(); }\n"
        "__global__ void k(int *p) { A a; *p = f(a); }\n",
    ),
    Repair(
        "narrowing-cast",
        re.compile(r"(?:non-constant-expression|constant expression evaluates to .*|type '.*') cannot be narrowed"),
        "the cast is the conversion that nvcc makes there, with a warning",
        as_the_compiler_writes_it,
        "struct Size { unsigned x, y; };\n"
        "void g(Size);\n"
        "void f(int n) { Size s{n, 2}; g(s); }\n"
        "__global__ void k() {}\n",
    ),
    Repair(
        "literal-suffix",
        re.compile(r"invalid suffix on literal; C\+\+11 requires a space"),
        "with the space the macro is what it was before C++11, as nvcc's host compiler takes it",
        as_the_compiler_writes_it,
        '#define WIDE "lu"\n#include <cstdio>\nvoid f(unsigned long n) { printf("%"WIDE"\\n", n); }\n'
        "__global__ void k() {}\n",
    ),
    Repair(
        "struct-tag",
        re.compile(r"must use '(?:struct|class|enum|union)' tag to refer to"),
        "the name is a type and a function or variable; the tag says which, as nvcc takes it",
        as_the_compiler_writes_it,
        "struct stat_t { int n; };\nint stat_t(struct stat_t *);\nint f(stat_t *p);\n__global__ void k() {}\n",
    ),
    Repair(
        "const-default",
        re.compile(r"default initialization of an object of const type"),
        "a class whose members all have their initializers is the same by `{}`",
        as_the_compiler_writes_it,
        "struct A { int x; };\nstruct B { A a; };\n__device__ int f() { const B b; return b.a.x; }\n"
        "__global__ void k(int *p) { *p = f(); }\n",
        Applicability.REVIEW,
    ),
    Repair(
        "standard-include",
        re.compile(
            r"(?:no (?:member|template|type) named '(?P<std>\w+)' in namespace 'std'|implicit instantiation of "
            r"undefined template 'std::(?P<undefined>\w+)<|(?:use of undeclared identifier|unknown type name|"
            r"call to undeclared (?:library )?function) '(?P<name>\w+)')"
        ),
        "CUDA's headers bring this one of the standard library, HIP's do not",
        _standard_header,
        "int f(int *p) { std::sort(p, p + 3); return FLT_MAX > 1; }\n__global__ void k() {}\n",
    ),
    Repair(
        "rocm-include",
        re.compile(
            r"(?:use of undeclared identifier|unknown type name) '(?P<name>(?:hip|roc|HIP|ROC|_*half|half)\w*)'"
        ),
        "the header of the library that declares the name",
        _rocm_header,
        "#include <hip/hip_runtime.h>\nhipblasHandle_t *f();\n__global__ void k() {}\n",
    ),
    Repair(
        "cuda-name",
        re.compile(r"(?:use of undeclared identifier|unknown type name) '(?P<name>(?:cu|CU|nv)\w+)'"),
        "a name of CUDA's that the project declares, too, and not for every file that uses it",
        _hip_name,
        "#include <hip/hip_runtime.h>\ncudaStream_t f();\n__global__ void k() {}\n",
    ),
    Repair(
        "pointer-argument",
        re.compile(r"no matching function for call to 'hip\w+'"),
        "CUDA has an overload of the function for any pointer; HIP takes a `void` one",
        _pointer_argument,
        "#include <hip/hip_runtime.h>\nvoid f(float *h) { float *d; hipHostGetDevicePointer(&d, h, 0); }\n"
        "__global__ void k() {}\n",
    ),
    Repair(
        "void-arithmetic",
        re.compile(r"arithmetic on a pointer to void"),
        "nvcc counts in bytes there, as on a `char *`: an address of the driver's is a number for CUDA",
        _bytes_of_void,
        "void g(void *);\nstruct A { void *base; void f(int n) { g(base + n); } };\n__global__ void k() {}\n",
    ),
    Repair(
        "elided-braces",
        re.compile(
            r"no viable conversion from '[\w ]+' to '(?:const )?(?P<type>[a-z]+(?P<size>[1-4]))' "
            r"\(aka '(?:const )?HIP_vector_type<"
        ),
        "the list fills the vectors in this order; HIP's are classes, whose braces cannot be left out",
        _elided_braces,
        "__device__ int f(int n) { const int2 a[2] = {1, 2, 3, 4}; return a[n].x; }\n"
        "__global__ void k(int *p) { *p = f(*p); }\n",
    ),
    Repair(
        "host-function",
        re.compile(r"reference to __host__ function '[^']+' in __(?:host__ __)?device__ function"),
        "nvcc warns of the call and goes on; the function does the same on the device",
        _for_the_device,
        "inline int half_of(int n) { return n / 2; }\n"
        "__host__ __device__ int f(int n) { return half_of(n); }\n"
        "__global__ void k(int *p) { *p = f(*p); }\n",
        Applicability.REVIEW,
    ),
    Repair(
        "definition-space",
        re.compile(r"__host__ function '[^']+' cannot overload (?P<spaces>__(?:host__ __)?device__) function"),
        "nvcc takes the spaces of the declaration for the definition, too",
        _as_declared,
        "template <class T> struct A { __host__ __device__ T f(T x); __host__ __device__ T operator+(T x); };\n"
        "template <class T> T A<T>::f(T x) { return x; }\n"
        "template <class T> inline T A<T>::operator+(T x) { return x; }\n"
        "__global__ void k(int *p) { A<int> a; *p = a.f(3) + (a + 3); }\n",
    ),
    Repair(
        "static-definition",
        re.compile(r"static declaration of '[^']+' follows non-static declaration"),
        "for nvcc the first declaration says how a template is linked, and `static` behind it says nothing",
        _without_static,
        "template <class T> int f(T);\n"
        "template <class T> static int f(T x) { return x > 0; }\n"
        "template int f<int>(int);\n__global__ void k() {}\n",
    ),
    Repair(
        "header-after-macro",
        re.compile(r"."),
        "nvcc's headers are read before the project's macros; HIP's is included first in the unit, too",
        _before_the_macro,
        "#define min(a, b) ((a) < (b) ? (a) : (b))\n#include <hip/hip_bf16.h>\n__global__ void k() {}\n",
    ),
)
