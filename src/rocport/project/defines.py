"""The macros that build files define: -D flags and lists of macros in Python builds and CMake, read, not run.

A variable of CMake's is taken with the one value that the file gives it; that of the GPUs to build for stands as
`GPU_TARGETS`. What a condition decides is taken where the condition is about the GPU (`if CUDA_HOME is not None:`,
`if(USE_CUDA)`), which a build for one answers with yes, and left out otherwise. A value that is put together is left
out, too.
"""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from rocport.project.cmake import VARIABLE, CMakeCommand, commands
from rocport.project.languages import language_of
from rocport.project.make import assignments, gpu_recipes
from rocport.project.named import patterns
from rocport.syntax.amd import names_amd
from rocport.syntax.python import parse

_FLAG = re.compile(r"-D\s*([A-Za-z_]\w*(?:=.*)?)|(-U\s*[A-Za-z_]\w*)", re.S)
_GPU = re.compile(r"cuda|hip\b|(?<![a-z])hip|rocm|gpu|\bnvcc\b|linux|posix", re.I)
_CUDA = re.compile(r"cuda|nvidia", re.I)
_AGAINST = re.compile(r"\bNOT\b|Windows|win32|\bnt\b|MSVC", re.I)
_OTHERWISE = re.compile(
    r"Windows|win32|\bnt\b|MSVC|darwin|(?:^|_|\b)(?:no|not|skip|disable|without)_?(?:cuda|gpu|hip)|(?:cpu|CPU)_ONLY",
    re.I,
)
# Whether a header lies there, which an older release of its library had, say: nobody's GPU decides that.
_HEADER_LIES = re.compile(r"\b(?:exists|isfile|is_file)\b.*\.(?:h|hpp|cuh)\b", re.S)
_DEFINE_FLAG = re.compile(r"(?<!\S)([\"']?)-D\s*([A-Za-z_]\w*(?:=[\w.+-]+)?)\1(?=\s|$)")
_CONFIGURED = re.compile(r"^[ \t]*#[ \t]*cmakedefine(?:01)?[ \t]+(\w+)", re.M)
_HIP_LIST = "COMMON_HIPCC_FLAGS"
OF_EXTENSIONS = ("__HIP_NO_HALF_OPERATORS__", "__HIP_NO_HALF_CONVERSIONS__")
"""What PyTorch's build defines for an extension's HIP sources, and no other build."""
_BUILDS = re.compile(r"setup\s*\(|cpp_extension|CUDAExtension")
_CMAKE_DEFINES = frozenset({"add_definitions", "add_compile_definitions", "target_compile_definitions"})
_CMAKE_OPTIONS = frozenset({"add_compile_options", "target_compile_options"})
# `set(CMAKE_CXX_FLAGS "-DX")`, `string(APPEND CMAKE_HIP_FLAGS " -DX")`; a build type for debugging is not ours.
_CMAKE_FLAGS = re.compile(r"(?:APPEND )?\w*_FLAGS(?!\w*DEBUG)\w*\Z")
# `list(APPEND CORE_COMPILE_DEFS WITH_CUDA)`, which a command of the build gives its compiler.
_CMAKE_LIST = re.compile(r"APPEND \w*_DEF(?:S|INES|INITIONS)\Z")
_CMAKE_KEYWORDS = frozenset({"PUBLIC", "PRIVATE", "INTERFACE"})
_CMAKE_MACRO = re.compile(r"(?:-D)?([A-Za-z_]\w*(?:=(?:[\w.+\"\\-]|\$\{CMAKE_HIP_ARCHITECTURES\})*)?)\Z")
_CMAKE_TEXT = re.compile(r"(?:-D)?[A-Za-z_]\w*=\\?\"[^\"]*\"\Z")
_CMAKE_COMPUTED = re.compile(r"(?:-D)?([A-Za-z_]\w*)=\$\{(\w+)\}\Z")
_TRUE = frozenset({"ON", "TRUE", "YES", "Y", "1"})
_OPENCL = re.compile(r"opencl", re.I)
_OF_ANY_GPU = re.compile(r"(?!.*(?:cuda|hip|rocm))\w*gpu\w*", re.I)
_PLATFORMS = {"UNIX": True, "LINUX": True} | dict.fromkeys(
    ("MSVC", "WIN32", "MINGW", "CYGWIN", "APPLE", "ANDROID"), False
)
GPU_TARGETS = "${CMAKE_HIP_ARCHITECTURES}"
"""In a macro's value: the GPU that a unit is compiled for."""
_GPU_VARIABLES = frozenset({"CMAKE_HIP_ARCHITECTURES", "GPU_TARGETS", "AMDGPU_TARGETS"})
# What a test for a feature sets: a number in its place would say that it is there.
_SWITCH = re.compile(r"(?:HAVE|USE|ENABLE|WITH|HAS|NO|DISABLE)_|_(?:ENABLED|FOUND|SUPPORT)\Z")


@dataclass(frozen=True)
class Macros:
    """What a build file says of macros in a build for a GPU."""

    defines: tuple[str, ...] = ()
    """`NAME` or `NAME=VALUE`: of a flag `-DNAME`, of a pair in a list of macros, of a command of CMake's."""
    undefines: tuple[str, ...] = ()
    """`NAME` of a flag `-UNAME`, and what is taken out of PyTorch's list: what torch defines and the build does not
    want, `__HIP_NO_HALF_OPERATORS__`."""
    computed: tuple[str, ...] = ()
    """Those of which a CMake file says a variable's value that it does not give: `SIZE=${SIZE}`."""


def macros_of(path: str, text: str) -> Macros:
    """The macros of a build file; none of one that is neither Python nor CMake nor a Makefile."""
    language = language_of(path)
    if language == "python":
        return _of_python(text)
    if language == "cmake":
        with contextlib.suppress(RecursionError):  # a thousand conditions in one another are nobody's build
            return _of_cmake(text)
        return Macros()
    return Macros(_of_makefile(text)) if language == "make" else Macros()


def _of_python(text: str) -> Macros:
    found = _macros(text)
    undefined = [macro[2:].strip() for macro in found if macro.startswith("-U")]
    if _HIP_LIST in text and "__HIP_NO_HALF_" in text:
        with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            taken = set(_taken_out(parse(text)))
            undefined += [name for name in OF_EXTENSIONS if any(word in f"-D{name}=1" for word in taken)]
    return Macros(tuple(macro for macro in found if not macro.startswith("-U")), tuple(dict.fromkeys(undefined)))


def _taken_out(tree: ast.Module) -> Iterator[str]:
    """Flags, or pieces of them, that a build takes out of PyTorch's list: by `remove`, or by a filter of the list."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "remove":
            if ast.unparse(node.func.value).endswith(_HIP_LIST):
                # One that a loop names is among the flags that the file writes.
                known = any(isinstance(item, ast.Constant) for item in node.args)
                yield from (word for word in _strings(node if known else tree) if word.startswith("-D"))
        elif isinstance(node, ast.Assign) and any(_HIP_LIST in ast.unparse(target) for target in node.targets):
            for test in ast.walk(node.value):
                without = isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotIn | ast.NotEq)
                if without or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)):
                    yield from _strings(test)


def _strings(tree: ast.AST) -> Iterator[str]:
    """The literals in it that name one of the two macros, or what both begin with."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "__HIP_NO_HALF_" in node.value:
            yield node.value


def _macros(text: str, every: bool = False) -> list[str]:
    try:
        return list(dict.fromkeys(_of_statements(parse(text).body, every)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _of_statements(body: list[ast.stmt], every: bool = False) -> Iterator[str]:
    """`every`: both arms of a condition that nothing can be told of."""
    for statement in body:
        if isinstance(statement, ast.If):
            answer = _answer(statement.test)
            if answer is True or (answer is None and every):
                yield from _of_statements(statement.body, every)
            if answer is False or (answer is None and every):
                yield from _of_statements(statement.orelse, every)
            continue
        nested = [value for _, value in ast.iter_fields(statement) if isinstance(value, list)]
        bodies = [value for value in nested if value and isinstance(value[0], ast.stmt)]
        if bodies:
            for inner in bodies:
                yield from _of_statements(inner, every)
            continue
        yield from _of_expression(statement)


def _of_expression(statement: ast.stmt) -> Iterator[str]:
    macros = "macro" in ast.unparse(statement).lower()
    for node in _whole(statement):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if match := _FLAG.fullmatch(node.value.strip()):
                yield match[1] or match[2]
        elif macros and isinstance(node, ast.Tuple) and len(node.elts) == 2:
            name, value = node.elts
            if not (isinstance(name, ast.Constant) and isinstance(value, ast.Constant) and isinstance(name.value, str)):
                continue
            if re.fullmatch(r"[A-Za-z_]\w*", name.value):
                yield name.value if value.value is None else f"{name.value}={value.value!s}"


def _whole(node: ast.AST) -> Iterator[ast.AST]:
    """A node and what is in it, without the pieces of text that is put together, and without the other arm of `a if b
    else c` where the condition is about the GPU."""
    yield node
    if isinstance(node, ast.IfExp) and (answer := _answer(node.test)) is not None:
        yield from _whole(node.body if answer else node.orelse)
        return
    if isinstance(node, ast.JoinedStr) or (isinstance(node, ast.BinOp) and _is_text(node.left)):
        return
    if isinstance(node, ast.Attribute) and _is_text(node.value):
        return
    for child in ast.iter_child_nodes(node):
        yield from _whole(child)


def _is_text(node: ast.expr) -> bool:
    """A literal, or text that begins with one."""
    if isinstance(node, ast.BinOp):
        return _is_text(node.left)
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _answer(test: ast.expr) -> bool | None:
    """What a build for a GPU on Linux answers to a condition of a Python build; None where that cannot be told."""
    if isinstance(test, ast.BoolOp):
        answers = [_answer(value) for value in test.values]
        decided, other = (False, True) if isinstance(test.op, ast.And) else (True, False)
        return decided if decided in answers else other if other in answers else None
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = _answer(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Is | ast.IsNot | ast.NotEq | ast.NotIn):
        inner = _answer(test.left) if isinstance(test.ops[0], ast.Is | ast.IsNot) else _said(ast.unparse(test))
        return None if inner is None else inner is isinstance(test.ops[0], ast.IsNot)
    return _said(ast.unparse(test))


def _said(text: str) -> bool | None:
    if _HEADER_LIES.search(text):
        return None
    if _OTHERWISE.search(text):
        return False
    return True if _GPU.search(text) else None


def _decides(test: str) -> bool:
    """True for a condition of CMake that a build for a GPU answers with yes."""
    return _GPU.search(test) is not None and _AGAINST.search(test) is None


def _of_cmake(text: str) -> Macros:
    items = commands(text.encode())
    values = _of_project(items) | _values(items)
    words = [_with_values(word, values) for word in _of_commands(items, _switches(items))]
    # Whatever a text says, it compiles alike.
    words = [VARIABLE.sub("", word) if _CMAKE_TEXT.match(word) else word for word in words]
    defines = (match[1].replace('\\"', '"') for word in words if (match := _CMAKE_MACRO.match(word)))
    unknown = (match for word in words if (match := _CMAKE_COMPUTED.match(word)) and match[2] not in _GPU_VARIABLES)
    computed = (match[1] for match in unknown if _SWITCH.search(match[1]) is None)
    return Macros(tuple(dict.fromkeys(defines)), computed=tuple(dict.fromkeys(computed)))


def _of_project(items: Sequence[CMakeCommand]) -> dict[str, str]:
    """Variables that the file's `project` sets, where it has one: its name and its version."""
    found = [item.words for item in items if item.name == "project"]
    if len(found) != 1 or not found[0]:
        return {}
    words = found[0]
    version = words[words.index("VERSION") + 1] if "VERSION" in words[:-1] else ""
    parts = dict(zip(("MAJOR", "MINOR", "PATCH", "TWEAK"), version.split("."), strict=False))
    told = {"NAME": words[0], "VERSION": version, **{f"VERSION_{part}": value for part, value in parts.items()}}
    return {f"PROJECT_{key}": value for key, value in told.items() if value and "$" not in value}


def _values(items: Sequence[CMakeCommand]) -> dict[str, str]:
    """Variables that the file sets to one value only, a cached one included."""
    found: dict[str, set[str]] = {}
    for item in items:
        if item.name == "set" and len(item.words) > 1:
            more = item.words[2:]
            found.setdefault(item.words[0], set()).add(item.words[1] if not more or more[0] == "CACHE" else "")
    once = {name: values.pop() for name, values in found.items() if len(values) == 1}
    return {name: value for name, value in once.items() if re.fullmatch(r"[\w.+-]+", value)}


def _with_values(word: str, values: dict[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        return GPU_TARGETS if match[1] in _GPU_VARIABLES else values.get(match[1], match[0])

    return VARIABLE.sub(value, word)


def _switches(items: Sequence[CMakeCommand]) -> dict[str, bool]:
    """What conditions answer that are one name: an option by its default; one about a `gpu` whose branch asks for
    OpenCL, which is no build for AMD's, no."""
    answers = {
        item.words[0]: item.words[2].upper() in _TRUE
        for item in items
        if item.name == "option" and len(item.words) > 2 and not _GPU.search(item.words[0])
    }
    asked: list[str] = []
    for item in items:
        if item.name == "if":
            asked.append(item.arguments.strip())
        elif item.name == "endif" and asked:
            asked.pop()
        elif _OPENCL.search(f"{item.name} {item.arguments}"):
            answers |= {name: False for name in asked if _OF_ANY_GPU.fullmatch(name)}
    return answers


def _of_commands(items: Sequence[CMakeCommand], switches: dict[str, bool]) -> Iterator[str]:
    """The words of the commands that define macros, where a build for AMD GPUs comes by."""
    at = 0
    while at < len(items):
        item = items[at]
        if item.name == "if":
            branches, end = _branches(items, at)
            yield from _of_commands(_taken(branches, switches), switches)
            at = end
        else:
            yield from _defined_by(item)
        at += 1


def _defined_by(item: CMakeCommand) -> Iterator[str]:
    """The words of one command that define macros."""
    if item.name in _CMAKE_DEFINES:
        words = item.words[1 if item.name == "target_compile_definitions" else 0 :]
        yield from (word for word in words if word not in _CMAKE_KEYWORDS)
    elif item.name == "list" and _CMAKE_LIST.match(" ".join(item.words[:2])):
        yield from item.words[2:]
    elif item.name == "set_target_properties" and "COMPILE_DEFINITIONS" in item.words[:-1]:
        yield from item.words[item.words.index("COMPILE_DEFINITIONS") + 1].split(";")
    elif item.name in _CMAKE_OPTIONS or (
        item.name in ("set", "string", "list") and _CMAKE_FLAGS.match(" ".join(item.words[: 1 + (item.name != "set")]))
    ):
        flags = (flag for word in item.words for flag in re.split(r"[\s;]+", word))
        yield from (flag for flag in flags if flag.startswith("-D"))


def _branches(items: Sequence[CMakeCommand], start: int) -> tuple[list[tuple[str | None, list[CMakeCommand]]], int]:
    """The branches of the `if` at `start` as (condition, commands), None for `else`; the index of its `endif`."""
    found: list[tuple[str | None, list[CMakeCommand]]] = [(items[start].arguments, [])]
    depth = 0
    for at in range(start + 1, len(items)):
        item = items[at]
        if depth == 0 and item.name == "endif":
            return found, at
        if depth == 0 and item.name in ("elseif", "else"):
            found.append((item.arguments if item.name == "elseif" else None, []))
            continue
        depth += (item.name == "if") - (item.name == "endif")
        found[-1][1].append(item)
    return found, len(items)


@dataclass
class _Chain:
    """The branches of an `if`: where each begins, its condition (empty: `else`), whether it names sources."""

    starts: list[int] = field(default_factory=list)
    conditions: list[str] = field(default_factory=list)
    names: list[bool] = field(default_factory=list)

    def branch(self, at: int, condition: str) -> None:
        self.starts.append(at)
        self.conditions.append(condition)
        self.names.append(False)

    def beside_amd(self, end: int) -> Iterator[tuple[int, int]]:
        """The branches for CUDA, where one for AMD names sources of its own."""
        asked = [_decides(condition) for condition in self.conditions]
        of_amd = [here and names_amd(text) for here, text in zip(asked, self.conditions, strict=True)]
        if any(amd and named for amd, named in zip(of_amd, self.names, strict=True)):
            for number, (start, stop) in enumerate(pairwise([*self.starts, end])):
                if asked[number] and not of_amd[number] and _CUDA.search(self.conditions[number]):
                    yield start, stop


def beside_amd(items: Sequence[CMakeCommand]) -> Iterator[CMakeCommand]:
    """The commands of branches for CUDA beside one for AMD that names sources of its own: `if(CUDA_FOUND) ...
    elseif(HIP_FOUND) file(GLOB SRC hip/*.cpp)`. A build for AMD never comes by."""
    opened: list[_Chain] = []
    ends = [0] * (len(items) + 1)
    for at, item in enumerate(items):
        if item.name == "if":
            opened.append(_Chain())
            opened[-1].branch(at, item.arguments)
        elif opened and item.name in ("elseif", "else"):
            opened[-1].branch(at, item.arguments if item.name == "elseif" else "")
        elif opened and item.name == "endif":
            chain = opened.pop()
            for start, stop in chain.beside_amd(at):
                ends[start] = max(ends[start], stop)
            if opened:
                opened[-1].names[-1] |= any(chain.names)
        elif opened and patterns(item.arguments):
            opened[-1].names[-1] = True
    end = 0
    for at, item in enumerate(items):
        if at < end:
            yield item
        end = max(end, ends[at])


def _taken(branches: Sequence[tuple[str | None, list[CMakeCommand]]], switches: dict[str, bool]) -> list[CMakeCommand]:
    """AMD's branch where one is: by its condition, or the `else` of a condition for CUDA that holds AMD's words."""
    for condition, body in branches:
        if condition is not None and names_amd(condition) and _decides(condition):
            return body
    last, otherwise = branches[-1]
    if last is None and any(names_amd(item.arguments) for item in otherwise):
        return otherwise
    for condition, body in branches:
        known = None if condition is None else _by_switch(condition, switches)
        answer = known if known is not None else condition is None or _decides(condition) or _on_linux(condition)
        if answer is not False:
            return body if answer else []
    return []


def _by_switch(condition: str, switches: dict[str, bool]) -> bool | None:
    words = condition.split()
    said = switches.get(words[-1]) if words else None
    return None if said is None or words[:-1] not in ([], ["NOT"]) else said is (len(words) == 1)


def _on_linux(condition: str) -> bool | None:
    """What Linux answers to `MSVC`, `NOT WIN32`, `APPLE OR WIN32`; None where the condition asks for more than that."""
    either = " OR " in condition
    answers = [_of_platform(part.split()) for part in condition.split(" OR " if either else " AND ")]
    if either in answers:
        return either
    return None if None in answers else not either


def _of_platform(words: Sequence[str]) -> bool | None:
    said = _PLATFORMS.get(words[-1]) if words else None
    return {(): said, ("NOT",): not said}.get(tuple(words[:-1])) if said is not None else None


def _of_makefile(text: str) -> tuple[str, ...]:
    """-D flags of variable assignments that a build for AMD makes, and those that all its recipes for GPU sources say;
    a flag that uses a variable is left out."""
    assigned = [found[2] for line in assignments(text) for found in _DEFINE_FLAG.finditer(line)]
    recipes = [[found[2] for found in _DEFINE_FLAG.finditer(line)] for line in gpu_recipes(text)]
    shared = [flag for flag in recipes[0] if all(flag in others for others in recipes)] if recipes else []
    return tuple(dict.fromkeys([*assigned, *shared]))


def defines_without_cuda(path: str, text: str) -> Sequence[str]:
    """Those that a port's build has, too: where CMake asks whether CUDA was found, the port asks for ROCm as well."""
    if path.endswith(".py"):
        return _macros(text, every=True) if _BUILDS.search(text) else ()
    if path.endswith(".in") and language_of(path) != "make":  # config.h.in, from the options of whoever runs CMake
        return _CONFIGURED.findall(text)
    return macros_of(path, text).defines
