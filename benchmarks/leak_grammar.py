# ruff: noqa: E501
"""The grammar of benchmarks/leaks.py: kinds of leaks, their spellings, and where in a tree they are planted.

A leak is a change of a port that reaches the NVIDIA path. `both` is written to the original and to the port, `port` to the
port only. In spellings `@D@` is a folder of the tree, `@E@` an ending of its sources, `@N@` the new file, `@M@` a macro of
a gate.
"""

from __future__ import annotations

import hashlib
import importlib.util
import itertools
import marshal
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocport.facts._toml import read_toml

STAMP = 1_700_000_000
"""Modification time, in seconds, of every file that a leak writes."""

LIST = Path(__file__).with_name("leak_kinds.toml")
ENDINGS = (".cu", ".cpp", ".cuh", ".h", ".cc", ".py")


@dataclass(frozen=True)
class Link:
    """A symbolic link in place of a file's content."""

    target: str


Content = bytes | Link | None
"""What a path of a tree becomes; None: it is removed."""


@dataclass(frozen=True)
class Leak:
    """`modes` are permission bits that paths of the port get besides."""

    kind: str
    spelling: str
    unusual: bool
    port: Mapping[str, Content]
    both: Mapping[str, bytes | Link] = field(default_factory=dict)
    modes: Mapping[str, int] = field(default_factory=dict)
    lot: int = 1
    """As in leak_kinds.toml."""

    @property
    def looked_at(self) -> bool:
        """Of a kind that was in the grammar before the rule for halves (leaks.toml)."""
        return not self.unusual or self.kind.startswith(_LOOKED_AT)

    @property
    def aside(self) -> bool:
        return odd(self.kind) and not self.looked_at


def odd(name: str) -> bool:
    """The rule for halves of leaks.toml."""
    return hashlib.sha256(name.encode()).digest()[-1] % 2 == 1


_LOOKED_AT = (
    *("listed by Bazel", "listed by Buck", "listed by GN", "listed by Cargo", "listed by qmake", "listed by premake"),
    *("listed by npm", "listed by just", "listed by find", "listed by a shell loop", "listed by directory_iterator"),
    *("listed by opendir", "listed by make wildcard", "listed by CMake GLOB", "read by its name: before"),
    *(
        "gate set: -D in setup.py",
        "gate set: #cmakedefine01",
        "gate set: preset",
        "gate set: ENV",
        "predicate: environ",
    ),
    *("predicate: platform", "predicate: which", "predicate: date", "predicate: counter"),
)

# Ordinary: a line of a file that both trees have, or a gate of the port.

EDITS: dict[str, tuple[tuple[str, str, str], ...]] = {
    ".py": (
        ("constant", "= 1", "= 2"),
        ("constant", "= 0", "= 0.0"),
        ("constant", "= True", "= False"),
        ("constant", "range(", "range(1 + "),
        ("operator", " + ", " - "),
        ("operator", " * ", " ** "),
        ("operator", " == ", " != "),
        ("operator", " < ", " <= "),
        ("operator", " and ", " or "),
        ("operator", " is None", " is not None"),
        ("name", "self.", "self.rocm_"),
        ("default", "=None", "=0"),
        ("default", "=False", "=True"),
        ("default", "):\n", ", rocm=None):\n"),
        ("string", "'cuda'", "'hip'"),
        ("string", '"cuda"', '"hip"'),
        ("string", "'", "' "),
        ("import", "import torch\n", "import torch\nimport os.path\n"),
        ("import", "from ", "from rocm."),
        ("statement", "return ", "return not "),
        ("statement", "    return ", "    print()\n    return "),
        ("statement", "    def ", "    @staticmethod\n    def "),
        ("gate", "IS_ROCM", "IS_CUDA"),
        ("gate", "if _rocm_compat.IS_ROCM", "if not _rocm_compat.IS_ROCM"),
        ("gate", " if _rocm_compat.IS_ROCM else ", " if True else "),
        ("gate", "torch.version.hip is not None", "torch.version.hip is None"),
        ("gate", "torch.version.hip", "torch.version.cuda"),
    ),
    "c": (
        ("type", "sizeof(float)", "sizeof(double)"),
        ("type", "sizeof(int)", "sizeof(long)"),
        ("type", "sizeof(", "sizeof(const "),
        ("type", "unsigned int ", "unsigned long "),
        ("type", "int ", "long "),
        ("type", "int64_t", "int32_t"),
        ("type", "float ", "double "),
        ("type", "float*", "const float*"),
        ("type", "const ", ""),
        ("type", "static ", ""),
        ("type", "char ", "signed char "),
        ("constant", " 32", " 64"),
        ("constant", "0.f", "0.0"),
        ("constant", "1.0f", "1.0"),
        ("constant", "<<<", "<<< 1 + "),
        ("constant", "[0]", "[1]"),
        ("constant", "0x", "0x1"),
        ("operator", " < ", " <= "),
        ("operator", " + ", " - "),
        ("operator", " += ", " -= "),
        ("operator", " && ", " || "),
        ("operator", "++", "--"),
        ("operator", "!", ""),
        ("operator", ">>", ">"),
        ("statement", "__syncthreads();", ";"),
        ("statement", "return", 'asm volatile(""); return'),
        ("statement", "{\n", "{\n  ;\n"),
        ("statement", "break;", "continue;"),
        ("attribute", "__global__ ", "__global__ __launch_bounds__(64) "),
        ("attribute", "__device__ ", "__device__ __noinline__ "),
        ("attribute", "inline ", "static inline "),
        ("include", "#include ", "#include <hip/hip_runtime.h>\n#include "),
        ("include", "#include <", "#include_next <"),
        ("macro", "#define ", "#undef X\n#define "),
        ("macro", "#pragma ", "#pragma GCC "),
        ("name", "cuda", "hip"),
        ("comment", ";\n", "; // \\\n"),
        ("gate", "#ifdef USE_ROCM", "#ifndef USE_ROCM"),
        ("gate", "#ifdef USE_ROCM", "#if 1"),
        ("gate", "#if defined(USE_ROCM)", "#if defined(USE_ROCM) || 1"),
        ("gate", "#if defined(USE_ROCM)", "#if defined(__CUDACC__)"),
    ),
    "build": (
        ("flag", "-O3", "-O2"),
        ("flag", "nvcc", "hipcc"),
        ("flag", "CUDA", "HIP"),
        ("flag", "${", "x${"),
        ("flag", "$(", "x$("),
        ("command", "project(", "enable_testing()\nproject("),
        ("command", "PRIVATE", "PUBLIC"),
        ("command", ")\n", " EXTRA)\n"),
        ("command", "\n\t", "\n\t@"),
        ("command", "=", "= -DX "),
        ("command", ":=", "="),
        ("gate", "if(USE_ROCM)", "if(NOT USE_ROCM)"),
        ("gate", "option(USE_ROCM", "set(USE_ROCM ON)\noption(USE_ROCM"),
        ("gate", "USE_ROCM ?= 0", "USE_ROCM ?= 1"),
        ("gate", "ifeq ($(USE_ROCM),1)", "ifneq ($(USE_ROCM),1)"),
    ),
    ".sh": (("command", "python", "python3.9"), ("command", "\n", "\nset -x\n"), ("flag", " -", " --x -")),
    ".toml": (("value", '= "', '= "x'), ("value", "= [", '= ["amdsmi", '), ("value", "true", "false")),
    ".cfg": (("value", "= ", "= x"), ("value", "\n", "\n  rocm\n")),
    ".txt": (("value", "torch", "torch-rocm"), ("value", "==", ">=")),
    ".json": (("value", ": ", ': 1, "x": '), ("value", "true", "false")),
    ".yml": (("value", ": ", ": x"), ("value", "- ", "- x\n      - ")),
}
_C = (".cu", ".cpp", ".cuh", ".h", ".cc", ".c", ".hpp", ".cxx", ".inl", ".hh")
_COMMENTS = (b"#", b"//", b"*", b"/*", b'"')
_CODE_AFTER_HASH = (b"#include", b"#define", b"#pragma", b"#ifdef", b"#if ")


def _plain(text: bytes) -> bytes:
    """C without comments and white space: what stays the same there is no leak."""
    pattern = rb"/\*.*?\*/|//(?:\\\n|[^\n])*|(\"(?:\\.|[^\"\\\n])*\")"
    return re.sub(rb"\s+", b"", re.sub(pattern, lambda found: found.group(1) or b"", text, flags=re.DOTALL))


_OPENS = re.compile(rb"\s*(?:#\s*if|if\s*\(|if(?:n?eq|n?def)\b)")
_CLOSES = re.compile(rb"\s*(?:#\s*endif|endif\b)")
_ROCM = re.compile(rb"(?i)rocm|hip|amd")


def _below_rocm(text: bytes, python: bool) -> frozenset[bytes]:
    """Lines of the original below a condition that names ROCm: a change there need not reach NVIDIA."""
    found: set[bytes] = set()
    above: list[tuple[int, bool]] = []
    for line in text.splitlines(keepends=True):
        indent = len(line) - len(line.lstrip())
        if python and line.strip():
            while above and above[-1][0] >= indent:
                above.pop()
        elif not python and _CLOSES.match(line) and above:
            above.pop()
        if any(asks for _, asks in above):
            found.add(line)
        opens = line.rstrip().endswith(b":") if python else _OPENS.match(line) is not None
        if opens and line.strip():
            above.append((indent, _ROCM.search(line) is not None))
    return frozenset(found)


def ordinary(original: Path, port: Path) -> Iterator[Leak]:
    for place in sorted(port.rglob("*")):
        path = place.relative_to(port).as_posix()
        before = original / path
        if not place.is_file() or place.is_symlink() or not before.is_file() or place.stat().st_size > 200_000:
            continue
        data, text = place.read_bytes(), before.read_bytes()
        if place.suffix in _C:
            rules = EDITS["c"]
        elif place.name in ("CMakeLists.txt", "Makefile") or place.suffix in (".cmake", ".mk"):
            rules = EDITS["build"]
        else:
            rules = EDITS.get(place.suffix, ())
        changed = "changed " if data != text else ""
        below = _below_rocm(text, place.suffix == ".py")
        for kind, old, new in rules:
            for line in data.splitlines(keepends=True):
                plain = line.strip()
                if plain.startswith(_COMMENTS) and not plain.startswith(_CODE_AFTER_HASH):
                    continue
                if (
                    line in below
                    or old.encode() not in line
                    or data.count(line) != 1
                    or any(word in line for word in (b"//", b'"""'))
                ):
                    continue
                if place.suffix not in _C and b"#" in line:
                    # The rest may be a comment.
                    continue
                # A line that both have, which reaches NVIDIA; of a gate one that the port added.
                if (line in text) is (kind == "gate") or (kind == "gate" and not changed):
                    continue
                planted = data.replace(line, line.replace(old.encode(), new.encode(), 1))
                if place.suffix in _C and _plain(planted) == _plain(data):
                    continue
                name = f"{changed}{place.suffix or place.name} {kind}"
                yield Leak(name, f"{old!r} -> {new!r}", False, {path: planted})
                break
        yield Leak("file", f"removed {place.suffix}", False, {path: None})
        yield Leak("file", f"emptied {place.suffix}", False, {path: b""} if text.strip() else {path: None})
        yield Leak(
            "file", f"doubled {place.suffix}", False, {path: data + b"\n" + data} if data.strip() else {path: None}
        )
        yield Leak("mode", f"mode {place.suffix}", False, {path: data}, modes={path: place.stat().st_mode ^ 0o100})


_DEEP = (
    "**",
    "walk",
    "Walk",
    "find ",
    "-r",
    "-R",
    "recursive",
    "RECURSE",
    "copytree",
    "ftw",
    "fts_",
    "ls-files",
    "Find",
    "tree",
)

MACROS = ("USE_ROCM", "HIP_VERSION", "__HIP_PLATFORM_AMD__", "__HIPCC__", "ROCM_VERSION")

_MODULE = """\
import functools
import importlib
import importlib.util
import os
import pathlib
import platform
import shutil
import sys

CALLS = []
COUNT = [1]
TABLE = {}


def hip():
    if importlib.util.find_spec("torch") is None:
        return False
    return bool(getattr(importlib.import_module("torch").version, "hip", None))


"""
_FORMS = (
    'def __getattr__(name):\n    if name == "IS_ROCM":\n        return @\n    raise AttributeError(name)\n',
    'def _ask():\n    return @\n\n\ndef __getattr__(name):\n    if name == "IS_ROCM":\n        return _ask()\n    raise AttributeError(name)\n',
    'def __getattr__(name):\n    if name != "IS_ROCM":\n        raise AttributeError(name)\n    if @:\n        return True\n    return hip()\n',
)


def _corner(kind: str, spelling: str, old: dict[str, str], new: dict[str, str]) -> Leak:
    both = {path: text.encode() for path, text in old.items()}
    return Leak(kind, spelling, True, {path: text.encode() for path, text in new.items()}, both)


# Unusual: corners of languages. Kind -> (path, text of the original, text of the port), with other files of both trees.

_Corner = tuple[str, str, str, dict[str, str]]
_LOOP = "if(L_A)\n  l_old()\nendif()\n"


def _cmake_corners() -> Iterator[tuple[str, _Corner]]:
    for kind, old, new in (
        ("AND OR", _LOOP, "if(L_A OR L_B AND USE_ROCM)\n  l_old()\nendif()\n"),
        ("AND OR", _LOOP, "if(NOT USE_ROCM OR L_A AND L_C)\n  l_old()\nendif()\n"),
        ("AND OR", "while(L_A)\n  l_old()\nendwhile()\n", "while(L_A OR USE_ROCM AND L_B)\n  l_old()\nendwhile()\n"),
        ("AND OR", _LOOP, "if(L_A OR (L_B) AND (USE_ROCM))\n  l_old()\nendif()\n"),
        (
            "asks for the option",
            "l_old()\n",
            'option(USE_ROCM "" OFF)\nif(DEFINED USE_ROCM)\n  l_new()\nendif()\nl_old()\n',
        ),
        (
            "asks for the option",
            "l_old()\n",
            'option(USE_ROCM "" OFF)\nif(USE_ROCM STREQUAL "OFF")\n  l_new()\nendif()\nl_old()\n',
        ),
        (
            "asks for the option",
            "l_old()\n",
            'option(USE_ROCM "" OFF)\nif("${USE_ROCM}" STREQUAL "OFF")\n  l_new()\nendif()\nl_old()\n',
        ),
        (
            "asks for the option",
            "l_old()\n",
            'option(USE_ROCM "" OFF)\nif(USE_ROCM MATCHES "O")\n  l_new()\nendif()\nl_old()\n',
        ),
        ("asks for the option", "l_old()\n", "if(NOT DEFINED USE_ROCM)\n  l_new()\nendif()\nl_old()\n"),
        (
            "asks for the option",
            "l_old()\n",
            'option(USE_ROCM "" OFF)\nif(DEFINED CACHE{USE_ROCM})\n  l_new()\nendif()\nl_old()\n',
        ),
        (
            "default of the option",
            "l_old()\n",
            'option(USE_ROCM "" ${L_X})\nif(USE_ROCM)\n  l_new()\nendif()\nl_old()\n',
        ),
        (
            "default of the option",
            "l_old()\n",
            'option(USE_ROCM "" $ENV{L_X})\nif(USE_ROCM)\n  l_new()\nendif()\nl_old()\n',
        ),
        (
            "default of the option",
            "l_old()\n",
            'set(USE_ROCM 1 CACHE BOOL "")\nif(USE_ROCM)\n  l_new()\nendif()\nl_old()\n',
        ),
        ("default of the option", "l_old()\n", 'option(USE_ROCM "" YES)\nif(USE_ROCM)\n  l_new()\nendif()\nl_old()\n'),
        (
            "set by another command",
            "find_program(USE_ROCM hipcc)\n",
            "find_program(USE_ROCM hipcc)\nif(USE_ROCM)\n  l_new()\nendif()\n",
        ),
        (
            "set by another command",
            "set(L_B USE_ROCM)\nset(${L_B} ON)\n",
            "set(L_B USE_ROCM)\nset(${L_B} ON)\nif(USE_ROCM)\n  l_new()\nendif()\n",
        ),
        ("set by another command", "set(USE_${L_B} ON)\n", "set(USE_${L_B} ON)\nif(USE_ROCM)\n  l_new()\nendif()\n"),
        (
            "set by another command",
            "foreach(USE_ROCM 0 1)\n  l_old()\nendforeach()\n",
            "foreach(USE_ROCM 0 1)\n  l_old()\n  if(USE_ROCM)\n    l_new()\n  endif()\nendforeach()\n",
        ),
        (
            "set by another command",
            "function(f USE_ROCM)\n  l_old()\nendfunction()\nf(ON)\n",
            "function(f USE_ROCM)\n  l_old()\n  if(USE_ROCM)\n    l_new()\n  endif()\nendfunction()\nf(ON)\n",
        ),
        (
            "set by another command",
            "execute_process(COMMAND x OUTPUT_VARIABLE USE_ROCM)\n",
            "execute_process(COMMAND x OUTPUT_VARIABLE USE_ROCM)\nif(USE_ROCM)\n  l_new()\nendif()\n",
        ),
        (
            "set by another command",
            "string(TOUPPER on USE_ROCM)\n",
            "string(TOUPPER on USE_ROCM)\nif(USE_ROCM)\n  l_new()\nendif()\n",
        ),
        (
            "set by another command",
            "list(APPEND USE_ROCM ON)\n",
            "list(APPEND USE_ROCM ON)\nif(USE_ROCM)\n  l_new()\nendif()\n",
        ),
        (
            "set by another command",
            'cmake_parse_arguments(L "USE_ROCM" "" "" ${ARGN})\nset(USE_ROCM ${L_USE_ROCM})\n',
            'cmake_parse_arguments(L "USE_ROCM" "" "" ${ARGN})\nset(USE_ROCM ${L_USE_ROCM})\nif(USE_ROCM)\n  l_new()\nendif()\n',
        ),
        ("a text", "message([[\nl\n]])\n", "message([[\nif(USE_ROCM)\nl\n]])\n"),
        ("a text", 'message("l")\n', 'message("l\nif(USE_ROCM)\nendif()\n")\n'),
        ("a text", "#[[ l ]] l_old()\n", "#[[ l ]] l_old(#[[ if(USE_ROCM) ]] x)\n"),
        ("a text", "l_old(a b)\n", 'l_old("a b")\n'),
        ("after a gate", "l_old()\n", "if(USE_ROCM)\n  l_new()\nelse()\n  l_new2()\nendif()\nl_old()\n"),
        ("after a gate", "l_old()\n", "if(NOT USE_ROCM AND L_A)\n  l_new()\nendif()\nl_old()\n"),
        ("after a gate", "l_old()\n", "if(USE_ROCM)\n  l_new()\nelseif(L_A)\n  l_new2()\nendif()\nl_old()\n"),
        ("after a gate", "l_old()\n", "if(NOT USE_ROCM)\n  return()\nendif()\nl_old()\n"),
        ("after a gate", "l_old()\n", "if(USE_ROCM)\n  return()\nendif()\nfind_package(hip QUIET)\nl_old()\n"),
    ):
        yield f"CMake: {kind}", ("l/CMakeLists.txt", old, new, {})


def _make_corners() -> Iterator[tuple[str, _Corner]]:
    old = "all: a\n\tnvcc a.cu\n"
    for kind, text, new, others in (
        ("define", "define R\nnvcc\nendef\n", "define R\nifdef USE_ROCM\nhipcc\nelse\nnvcc\nendif\nendef\n", {}),
        ("define", "define R\nnvcc\nendef\n", "define R\nnvcc\nifeq ($(USE_ROCM),1)\nendif\nendef\n", {}),
        ("define", "define R =\nnvcc\nendef\n", "define R =\nifeq ($(USE_ROCM),1)\nhipcc\nendif\nnvcc\nendef\n", {}),
        ("define", "override define R\nnvcc\nendef\n", "override define R\nifdef USE_ROCM\nendif\nnvcc\nendef\n", {}),
        ("origin", f"X := $(origin USE_ROCM)\n{old}", f"USE_ROCM ?= 0\nX := $(origin USE_ROCM)\n{old}", {}),
        ("origin", f"X := $(flavor USE_ROCM)\n{old}", f"USE_ROCM ?= 0\nX := $(flavor USE_ROCM)\n{old}", {}),
        (
            "origin",
            f"X := $(filter USE_%,$(.VARIABLES))\n{old}",
            f"USE_ROCM ?= 0\nX := $(filter USE_%,$(.VARIABLES))\n{old}",
            {},
        ),
        (
            "origin",
            f"V = USE_ROCM\nX := $(origin $(V))\n{old}",
            f"USE_ROCM ?= 0\nV = USE_ROCM\nX := $(origin $(V))\n{old}",
            {},
        ),
        (
            "included",
            f"include rules.mk\n{old}",
            f"USE_ROCM ?= 0\ninclude rules.mk\n{old}",
            {"l/rules.mk": "ifdef USE_ROCM\nX = 1\nendif\n"},
        ),
        (
            "included",
            f"include config.inc\n{old}",
            f"USE_ROCM ?= 0\ninclude config.inc\n{old}",
            {"l/config.inc": "ifdef USE_ROCM\nX = 1\nendif\n"},
        ),
        (
            "included",
            f"include common.make\n{old}",
            f"USE_ROCM ?= 0\ninclude common.make\n{old}",
            {"l/common.make": "ifndef USE_ROCM\nX = 1\nendif\n"},
        ),
        (
            "included",
            f"include Makefile.common\n{old}",
            f"USE_ROCM ?= 0\ninclude Makefile.common\n{old}",
            {"l/Makefile.common": "X = $(if $(USE_ROCM),1,2)\n"},
        ),
        (
            "asks whether it is set",
            f"X = $(if $(USE_ROCM),a,b)\n{old}",
            f"USE_ROCM ?= 0\nX = $(if $(USE_ROCM),a,b)\n{old}",
            {},
        ),
        (
            "asks whether it is set",
            f"X = $(or $(USE_ROCM),b)\n{old}",
            f"USE_ROCM ?= 0\nX = $(or $(USE_ROCM),b)\n{old}",
            {},
        ),
        ("asks whether it is set", f"X = a$(USE_ROCM)\n{old}", f"USE_ROCM ?= 0\nX = a$(USE_ROCM)\n{old}", {}),
        ("asks whether it is set", f"export\n{old}", f"export\nUSE_ROCM ?= 0\n{old}", {}),
        (
            "asks whether it is set",
            f".EXPORT_ALL_VARIABLES:\n{old}",
            f".EXPORT_ALL_VARIABLES:\nUSE_ROCM ?= 0\n{old}",
            {},
        ),
        ("gate", old, f"USE_ROCM ?= 0\nifdef USE_ROCM\nX = 1\nendif\n{old}", {}),
        ("gate", old, f"ifeq ($(USE_ROCM),)\nX = 1\nendif\n{old}", {}),
        ("gate", old, f"ifneq ($(USE_ROCM),0)\nX = 1\nendif\n{old}", {}),
        ("gate", old, f"USE_ROCM := $(shell which hipcc)\nifneq ($(USE_ROCM),)\nX = 1\nendif\n{old}", {}),
        ("gate", old, f"ifneq (,$(findstring hip,$(HIPCC)))\nX = 1\nendif\n{old}", {}),
        ("gate", old, f"ifeq ($(USE_ROCM),1)\nX = 1\nelse\nX = 2\nendif\n{old}", {}),
        ("gate", old, f"X = $(if $(filter 1,$(USE_ROCM)),hipcc,nvcc)\n{old}", {}),
        ("recipe", old, "all: a\n\tifeq ($(USE_ROCM),1)\n\tendif\n\tnvcc a.cu\n", {}),
        ("recipe", old, "all: a\nifeq ($(USE_ROCM),1)\n\thipcc a.cu\nelse\n\tnvcc  a.cu\nendif\n", {}),
        ("recipe", old, "ifeq ($(USE_ROCM),1)\nendif\nfirst: x\nall: a\n\tnvcc a.cu\n", {}),
    ):
        yield f"Make: {kind}", ("l/Makefile", text, new, others)


def _c_corners() -> Iterator[tuple[str, _Corner]]:
    gated = "#ifdef USE_ROCM\nint l_new;\n#endif\n"
    shown = "#define S(x) #x\nconst char* s = S(a-b);\n"
    for kind, old, new, others in (
        ("stringized", shown, shown.replace("a-b", "a - b"), {}),
        ("stringized", "#define S(x) #x\nauto s = S(f(a,b));\n", "#define S(x) #x\nauto s = S(f(a, b));\n", {}),
        ("stringized", '#define K R"(a\nb)"\n', '#define K R"(a\n b)"\n', {}),
        (
            "stringized",
            'auto k = R"(\n__global__ void f() {}\n)";\n',
            'auto k = R"(\n#ifdef USE_ROCM\n#endif\n__global__ void f() {}\n)";\n',
            {},
        ),
        ("stringized", 'const char* k = "a"\n "b";\n', 'const char* k = "a "\n "b";\n', {}),
        ("stringized", "#define F(x) x\nint a = F (1);\n", "#define F (x) x\nint a = F (1);\n", {}),
        ("__LINE__", "int l = 0;\nint seed = __LINE__;\n", f"int l = 0;\n{gated}int seed = __LINE__;\n", {}),
        ("__LINE__", "int l;\nstatic int table[__LINE__];\n", f"int l;\n{gated}static int table[__LINE__];\n", {}),
        (
            "__LINE__",
            "#define SEED (__LINE__ * 7)\nint l;\nint s = SEED;\n",
            f"#define SEED (__LINE__ * 7)\nint l;\n{gated}int s = SEED;\n",
            {},
        ),
        (
            "__LINE__",
            '#include "l_seed.h"\nint s = L_SEED;\n',
            f'#include "l_seed.h"\n{gated}int s = L_SEED;\n',
            {"l/l_seed.h": "#define L_SEED (__LINE__ % 97)\n"},
        ),
        (
            "__LINE__",
            "#define CAT2(a, b) a##b\n#define CAT(a, b) CAT2(a, b)\nint CAT(v, __LINE__);\nint x = v3;\n",
            f"#define CAT2(a, b) a##b\n{gated}#define CAT(a, b) CAT2(a, b)\nint CAT(v, __LINE__);\nint x = v3;\n",
            {},
        ),
        (
            "__LINE__",
            "int a = std::source_location::current().line();\n",
            f"{gated}int a = std::source_location::current().line();\n",
            {},
        ),
        ("__LINE__", "int a = __builtin_LINE();\n", f"{gated}int a = __builtin_LINE();\n", {}),
        ("condition", "int l;\n", "#if !defined(USE_ROCM) || defined(L)\nint l_new;\n#endif\nint l;\n", {}),
        ("condition", "int l;\n", "#if defined(USE_ROCM) == 0\nint l_new;\n#endif\nint l;\n", {}),
        ("condition", "int l;\n", "#if USE_ROCM + 1\nint l_new;\n#endif\nint l;\n", {}),
        ("condition", "int l;\n", "#if USE_ROCM <= 0\nint l_new;\n#endif\nint l;\n", {}),
        (
            "condition",
            "int l;\n",
            "#ifdef USE_ROCM\nint a;\n#elif defined(__CUDACC__)\nint l_new;\n#endif\nint l;\n",
            {},
        ),
        ("condition", "int l;\n", "#if __has_include(<hip/hip_runtime.h>)\nint l_new;\n#endif\nint l;\n", {}),
        ("condition", "int l;\n", "#if defined(__clang__)\nint l_new;\n#endif\nint l;\n", {}),
        ("condition", "int l;\n", "#if HIP_VERSION < 60000000\nint l_new;\n#endif\nint l;\n", {}),
        ("condition", "int l;\n", "#if HIP_VERSION / 100 == CUDA_VERSION\nint l_new;\n#endif\nint l;\n", {}),
        ("condition", "int l;\n", "#if defined(__HIP_PLATFORM_NVIDIA__)\nint l_new;\n#endif\nint l;\n", {}),
        ("condition", "int l;\n", "#ifndef __HIP_DEVICE_COMPILE__\nint l_new;\n#endif\nint l;\n", {}),
        ("condition", "int l;\n", "#if USE_ROCM ? 0 : 1\nint l_new;\n#endif\nint l;\n", {}),
        ("condition", "int l;\n", "#if ~USE_ROCM\nint l_new;\n#endif\nint l;\n", {}),
        ("directive", "int l;\n", "#ifdef USE_ROCM\n#endif\n#pragma once\nint l;\n", {}),
        ("directive", "int l;\n", '#line 1 "x.cu"\nint l;\n', {}),
        ("directive", "int l;\n", "#define USE_ROCM 1\n#ifdef USE_ROCM\nint a;\n#endif\nint l;\n", {}),
        (
            "directive",
            "int l;\n",
            '#include "l_x.h"\n#ifdef USE_ROCM\nint a;\n#endif\nint l;\n',
            {"l/l_x.h": "#define USE_ROCM\n"},
        ),
        ("directive", "#define V 1\nint l = V;\n", "#define V 1\n#undef V\n#define V 2\nint l = V;\n", {}),
        ("directive", "#if 0\nint l_new;\n#endif\nint l;\n", "#if 0\n#endif\nint l_new;\n#if 0\n#endif\nint l;\n", {}),
        ("directive", "int l; // a \\\nint b;\n", "int l; // a \\ \nint b;\n// x\nint b;\n", {}),
        ("lexing", "int l = 1'000;\n", "int l = 1'0'00 ? 1'000 : 2;\n", {}),
        ("lexing", 'auto s = u8"a";\n', 'auto s = "a";\n', {}),
        ("lexing", "char c = 'a';\n", "char c = L'a';\n", {}),
        ("lexing", "int a = x+ ++y;\n", "int a = x++ +y;\n", {}),
        ("lexing", "int a = 10u;\n", "int a = 10ul;\n", {}),
        ("lexing", "float a = 1e-3f;\n", "float a = 1e-3;\n", {}),
        ("lexing", "int a ??(1??);\n", "int a ??(2??);\n", {}),
    ):
        for name in ("l/l_k.cu", "l/l_k.h"):
            yield f"C: {kind}", (name, old, new, others)


def _computed_includes() -> Iterator[Leak]:
    for directive, new in (
        ("#define H <l_x.h>\n#include H\n", "l/l_x.h"),
        ("#define Q(x) #x\n#define H(x) Q(x.h)\n#include H(l_y)\n", "l/l_y.h"),
        ("#include L_CONFIG\n", "l/l_rocm_config.h"),
        ("#include_next L_CONFIG\n", "l/l_rocm_next.hpp"),
        ("#if __has_include(L_CONFIG)\nint a;\n#endif\n", "l/l_rocm_has.h"),
        ("#import L_CONFIG\n", "l/l_rocm_import.h"),
        ("#inc\\\nlude L_CONFIG\n", "l/l_rocm_splice.h"),
        ("/* x */ #include L_CONFIG\n", "l/l_rocm_comment.h"),
        ("%:include L_CONFIG\n", "l/l_rocm_digraph.h"),
    ):
        both = {"l/l_main.cu": directive.encode(), "l/l_old.h": b"\n"}
        yield Leak("computed include", directive, True, {new: b"#define L 1\n"}, both)


def _shadows(folders: list[str]) -> Iterator[Leak]:
    names = (
        *(
            "math.h",
            "vector",
            "cuda_runtime.h",
            "cuda_fp16.h",
            "mma.h",
            "cstdint",
            "omp.h",
            "stdint.h",
            "nccl.h",
            "cudnn.h",
        ),
        *(
            "thrust/sort.h",
            "cub/cub.cuh",
            "torch/extension.h",
            "ATen/ATen.h",
            "c10/cuda/CUDAStream.h",
            "pybind11/numpy.h",
        ),
        *(
            "Python.h",
            "cooperative_groups.h",
            "nv/target",
            "cuda/std/array",
            "sys/types.h",
            "bits/stdc++.h",
            "Eigen/Dense",
        ),
        *(
            "cutlass/cutlass.h",
            "glm/glm.hpp",
            "opencv2/core.hpp",
            "gtest/gtest.h",
            "nlohmann/json.hpp",
            "zlib.h",
            "half.hpp",
        ),
        *("linux/limits.h", "asm/types.h", "xmmintrin.h", "immintrin.h", "float.h", "device_atomic_functions.h"),
    )
    for folder in folders[:2]:
        for name in names:
            top = name.partition("/")[0] if "/" in name else ""
            kept = {f"{folder}/{top}/l_old.h": b"\n"} if top else {f"{folder}/l_old.h": b"\n"}
            text = f"#include <{name}>\n".encode()
            yield Leak(
                "header before the system's: included",
                name,
                True,
                {f"{folder}/{name}": b"\n"},
                kept | {f"{folder}/l_use.cu": text},
            )
            yield Leak("header before the system's: not included here", name, True, {f"{folder}/{name}": b"\n"}, kept)


def _other_languages() -> Iterator[tuple[str, _Corner]]:
    for kind, path, old, new in (
        ("assembler", "l/l_k.s", "add r1, r2 # // old\n", "add r1, r2 # // new\n.byte 1 // x\n"),
        ("assembler", "l/l_k.s", "// a\nnop\n", "// b\nnop\n"),
        ("assembler", "l/l_k.S", "nop // x\n", "nop // y\n"),
        ("assembler", "l/l_k.asm", "nop ; '\n", "nop ; '\nnop\n"),
        ("assembler", "l/l_k.ptx", ".version 8.0\n", ".version 8.1\n"),
        ("assembler", "l/l_k.sass", "NOP;\n", "NOP; NOP;\n"),
        ("MATLAB", "l/l_k.m", "x = 'a // b';\n", "x = 'a // c';\n"),
        ("MATLAB", "l/l_k.m", "y = x';  // 2\n", "y = x';  // 3\n"),
        ("MATLAB", "l/l_k.m", "#ifdef USE_ROCM\n#endif\nx = 1\n", "#ifdef USE_ROCM\ny = 2\n#endif\nx = 1\n"),
        ("Fortran", "l/l_k.inc", "      x = 1 // y\n", "      x = 1 // z\n"),
        ("Fortran", "l/l_k.f90", "print *, 'a' // 'b'\n", "print *, 'a' // 'c'\n"),
        ("Fortran", "l/l_k.F", "      x = 1\n", "#ifdef USE_ROCM\n      y = 2\n#endif\n      x = 1\n"),
        ("Fortran", "l/l_k.inc", "c a\n      x = 1\n", "c a\n#ifdef USE_ROCM\n#endif\n      x = 1\n"),
        ("Fortran", "l/l_k.cuf", "x = 1\n", "x = 2\n"),
        ("Cython", "l/l_k.pyx", "cdef int x = 1\n", "IF ROCM:\n    pass\ncdef int x = 1\n"),
        ("Cython", "l/l_k.pxi", "x = 1\n", "x = 2\n"),
        ("SWIG", "l/l_k.i", "%include x.h\n", "#ifdef USE_ROCM\n#endif\n%include x.h\n"),
        ("SWIG", "l/l_k.i", "%{\nint x;\n%}\n", "%{\nint  x;\n%}\n"),
        ("templates", "l/l_k.cu.in", "int x = @X@;\n", "int x = @Y@;\n"),
        ("templates", "l/l_k.cu.jinja", "{{ a }}\n", "{% if rocm %}{% endif %}{{ a }}\n"),
        ("templates", "l/l_k.h.in", "#cmakedefine A\n", "#ifdef USE_ROCM\n#endif\n#cmakedefine A\n"),
        ("templates", "l/l_k.cpp.mako", "${a}\n", "${a}  \n"),
        ("OpenCL", "l/l_k.cl", "int x;\n", "int y;\n"),
        ("linker", "l/l_k.ld", "/* a */\n", "/* b */\n"),
        ("linker", "l/l_k.map", "{ global: a; };\n", "{ global: a; b; };\n"),
        ("linker", "l/l_k.def", "EXPORTS a\n", "EXPORTS b\n"),
        ("linker", "l/l_k.rsp", "-O3\n", "-O2\n"),
        ("linker", "l/l_k.version", "1\n", "2\n"),
    ):
        yield f"other language: {kind}", (path, old, new, {})


_GATED = "import torch\n@if torch.version.hip:\n    #\n"


def _python_corners() -> Iterator[tuple[str, _Corner]]:
    syntax = (
        ("match torch:\n        case _:\n            pass", 10),
        ("try:\n        pass\n    except* OSError:\n        pass", 11),
        ("if (n := 1):\n        pass", 8),
        ("def f(a, /):\n        pass", 8),
        ("with (open(a) as b, open(c) as d):\n        pass", 9),
        ("x = a[*b]", 11),
        ("x = f'{torch=}'", 8),
        ("def f():\n        return 1, *a", 8),
        ("@a.b[0].c\n    def f(): pass", 9),
        ("def f(*args: *a): pass", 11),
        ("x: tuple = 1, *a", 8),
    )
    for declared in (
        {"l/pyproject.toml": "[project]\nname = 'l'\nrequires-python = '>=3.7'\n"},
        {"l/setup.py": "setup(python_requires='>=3.7')\n"},
        {"l/setup.cfg": "[options]\npython_requires = >=3.7\n"},
    ):
        for text, _ in syntax:
            yield (
                "Python: new syntax",
                ("l/l_a.py", "import torch\n", _GATED.replace("@", "").replace("#", text), declared),
            )
    reads = (
        ("inspect", "import inspect\nK = inspect.getsource(torch)\n"),
        ("inspect", "from inspect import getsourcelines as g\nK = g(torch)\n"),
        ("inspect", "import inspect as i\nK = i.getfile(torch), open(i.getfile(i.currentframe())).read()\n"),
        ("own file", "K = open(__file__).read()\n"),
        ("own file", "from pathlib import Path\nK = Path(__file__).read_bytes()\n"),
        ("own file", "import hashlib\nwith open(__file__, 'rb') as f:\n    K = hashlib.md5(f.read())\n"),
        ("own file", "import linecache\nK = linecache.getlines(__file__)\n"),
        ("own file", "import tokenize\nwith tokenize.open(__file__) as f:\n    K = f.read()\n"),
        ("own file", "import pkgutil\nK = pkgutil.get_data('l', 'l_a.py')\n"),
        ("own file", "import os\nK = os.path.getsize(__file__)\n"),
        ("own file", "import ast, inspect, sys\nK = ast.parse(inspect.getsource(sys.modules[__name__]))\n"),
        ("own file", "import hashlib, filecmp\nK = hashlib.file_digest(open(__file__, 'rb'), 'md5')\n"),
        ("line numbers", "import sys\nK = sys._getframe().f_lineno\n"),
        ("line numbers", "import inspect\nK = inspect.currentframe().f_lineno % 7\n"),
        ("line numbers", "import traceback\nK = traceback.extract_stack()[-1].lineno\n"),
        ("line numbers", "def f(): pass\nK = f.__code__.co_firstlineno\n"),
    )
    for kind, text in reads:
        yield (
            f"Python: reads {kind}",
            ("l/l_a.py", f"import torch\n{text}", f"import torch\nif torch.version.hip:\n    print(1)\n{text}", {}),
        )
    body = "def f(x):\n    return x\n"
    gated = "def f(x):\n    if torch.version.hip:\n        return 2\n    return x\n"
    for text in (
        "{}K = hash(f.__code__)\n",
        "{}K = f.__code__.co_code\n",
        "import dis\n{}K = list(dis.get_instructions(f))\n",
        "import marshal\n{}K = marshal.dumps(f.__code__)\n",
        "import cloudpickle\n{}K = cloudpickle.dumps(f)\n",
        "import dill\n{}K = dill.source.getsource(f)\n",
        "{}K = len(f.__code__.co_consts)\n",
    ):
        yield (
            "Python: reads byte code",
            ("l/l_a.py", "import torch\n" + text.format(body), "import torch\n" + text.format(gated), {}),
        )
    for kind, text in (
        ("TorchScript", "{}K = torch.jit.script(f)\n"),
        ("TorchScript", "@torch.jit.script\n{}"),
        ("TorchScript", "{}from torch.jit import script as s\nK = s(f)\n"),
        ("TorchScript", "from torch import jit\n@jit.script\n{}"),
        ("TorchScript", "@torch.jit.script_if_tracing\n{}"),
        (
            "TorchScript",
            "@torch.jit.interface\nclass C:\n    pass\n{}K = torch.jit.CompilationUnit(inspect.getsource(f))\n",
        ),
        ("Triton", "import triton\n@triton.jit\n{}"),
        ("Triton", "from triton import jit as kernel_of\n@kernel_of\n{}"),
        ("Triton", "import triton\n@triton.autotune(configs=[], key=[])\n@triton.jit\n{}"),
        ("Triton", "import triton\n{}K = triton.jit(f)\n"),
        ("Triton", "import triton\n@triton.jit(do_not_specialize=['x'])\n{}"),
        ("numba", "import numba\n@numba.njit\n{}"),
        ("numba", "from numba import cuda\n@cuda.jit\n{}"),
        ("numba", "from numba import cuda\n{}K = cuda.jit('void(int32)')(f)\n"),
        ("numba", "import numba\n@numba.vectorize(['int32(int32)'])\n{}"),
        ("numba", "import numba\n{}K = numba.cfunc('int32(int32)')(f)\n"),
        ("other compilers", "from cupyx import jit\n@jit.rawkernel()\n{}"),
        ("other compilers", "import cupy\n@cupy.fuse()\n{}"),
        ("other compilers", "import taichi as ti\n@ti.kernel\n{}"),
        ("other compilers", "import warp as wp\n@wp.kernel\n{}"),
        ("other compilers", "import tilelang\n@tilelang.jit\n{}"),
        ("other compilers", "import cutlass.cute as cute\n@cute.kernel\n{}"),
        ("other compilers", "import pycuda\n@pycuda.elementwise\n{}import inspect\nK = inspect.getsource(f)\n"),
        ("other compilers", "import helion\n@helion.kernel()\n{}"),
        ("other compilers", "import pythran\nimport transonic\n@transonic.boost\n{}"),
    ):
        yield (
            f"Python: compiled by {kind}",
            ("l/l_a.py", "import torch\n" + text.format(body), "import torch\n" + text.format(gated), {}),
        )
    for text in (
        "import l_a\nK = l_a.f.__code__.co_code\n",
        "import inspect\nfrom l_a import f\nK = inspect.getsource(f)\n",
        "import torch, l_a\nK = torch.jit.script(l_a.f)\n",
        "import numba\nfrom l_a import f\nK = numba.njit(f)\n",
        "import triton\nfrom l_a import f as g\nK = triton.jit(g)\n",
        "from pathlib import Path\nK = Path('l_a.py').read_text()\n",
        "K = open('l_a.py').read()\n",
        "import hashlib, glob\nK = [hashlib.md5(open(p, 'rb').read()) for p in glob.glob('*.py')]\n",
        "import ast\nwith open('l_a.py') as f:\n    K = ast.parse(f.read())\n",
        "import l_a, cloudpickle\nK = cloudpickle.dumps(l_a.f)\n",
    ):
        yield (
            "Python: read by another module",
            ("l/l_a.py", f"import torch\n{body}", f"import torch\n{gated}", {"l/l_b.py": text}),
        )
    for kind, old, new in (
        (
            "scope",
            "import torch\ndef f():\n    return torch\n",
            "import torch\ndef f():\n    if torch.version.hip:\n        torch = 1\n    return torch\n",
        ),
        (
            "scope",
            "import torch\ndef f():\n    return 1\n",
            "import torch\ndef f():\n    if torch.version.hip:\n        yield 1\n    return 1\n",
        ),
        (
            "scope",
            "import torch\ndef f():\n    return os\n",
            "import torch\ndef f():\n    if torch.version.hip:\n        import os\n    return os\n",
        ),
        (
            "scope",
            "import torch\nclass A:\n    x = y\n",
            "import torch\nclass A:\n    if torch.version.hip:\n        __slots__ = ()\n    x = y\n    z = 1\n",
        ),
        (
            "scope",
            'import torch\ndef f():\n    "doc"\n',
            'import torch\ndef f():\n    if torch.version.hip:\n        pass\n    "doc"\n',
        ),
        ("scope", "import torch\nx = 1\n", "import torch\nif torch.version.hip:\n    y: int = 1\nx = 1\n"),
        ("predicate", "import torch\nx = 1\n", "import torch\nif not torch.version.hip:\n    x = 2\nx = 1\n"),
        (
            "predicate",
            "import torch\nx = 1\n",
            "import torch\nif torch.version.hip or torch.cuda.is_available():\n    y = 2\nx = 1\n",
        ),
        ("predicate", "import torch\nx = 1\n", "import torch\nif torch.version.cuda:\n    y = 2\nx = 1\n"),
        (
            "predicate",
            "import torch\nx = 1\n",
            "import torch\nif torch.version.hip == torch.version.xpu:\n    y = 2\nx = 1\n",
        ),
        ("predicate", "import torch\nx = 1\n", "import torch\nif torch.version.hip is not True:\n    y = 2\nx = 1\n"),
        ("predicate", "import torch\nx = 1\n", "import torch\nif (torch.version.hip or '') < '6':\n    y = 2\nx = 1\n"),
        (
            "predicate",
            "import torch\nx = 1\n",
            "import torch\nif getattr(torch.version, 'hip', True):\n    y = 2\nx = 1\n",
        ),
        ("predicate", "import torch\nx = 1\n", "import torch\nif hasattr(torch.version, 'hip'):\n    y = 2\nx = 1\n"),
        ("predicate", "import torch\nx = 1\n", "import torch\nif 'rocm' not in torch.__version__:\n    y = 2\nx = 1\n"),
        (
            "predicate",
            "import torch\nx = 1\n",
            "import torch\ntorch.version.hip = '6'\nif torch.version.hip:\n    y = 2\nx = 1\n",
        ),
        (
            "evaluates",
            "import torch\nif f():\n    pass\n",
            "import torch\nif f() and g() and torch.version.hip:\n    pass\nelif f():\n    pass\n",
        ),
        ("evaluates", "import torch\nx = f()\n", "import torch\nx = f() and not torch.version.hip\n"),
        ("evaluates", "import torch\nx = [a]\n", "import torch\nx = [a, *([b] if torch.version.hip else [c])]\n"),
        ("evaluates", "import torch\nx = 'a'\n", "import torch\nx = f'{torch.version.hip}a'\n"),
    ):
        yield f"Python: {kind}", ("l/l_a.py", old, new, {})


def _content_corners() -> Iterator[tuple[str, _Corner]]:
    for kind, path, old, new in (
        ("pip", "requirements.txt", "numpy\n", "numpy\n# for ROCm \\\nevil\n"),
        ("pip", "requirements.txt", "numpy\n", "numpy # \\\nevil\n"),
        ("pip", "requirements.txt", "numpy\n", "-r requirements-rocm.txt\nnumpy\n"),
        ("pip", "requirements.txt", "numpy\n", "--extra-index-url https://download.pytorch.org/whl/rocm6.4\nnumpy\n"),
        ("pip", "requirements.txt", "numpy\n", "numpy\npkg; platform_system == 'Linux'\n"),
        ("pip", "requirements.txt", "numpy\n", "numpy#x\n"),
        (
            "uv",
            "pyproject.toml",
            "[project]\nname = 'x'\n",
            "[project]\nname = 'x'\n[dependency-groups]\ndev = ['amdsmi']\n",
        ),
        (
            "uv",
            "pyproject.toml",
            "[project]\nname = 'x'\n",
            "[project]\nname = 'x'\n[tool.uv]\ndev-dependencies = ['amdsmi']\n",
        ),
        (
            "uv",
            "pyproject.toml",
            "[project]\nname = 'x'\n",
            "[project]\nname = 'x'\n[tool.uv]\ndefault-groups = ['rocm']\n[dependency-groups]\nrocm = ['amdsmi']\n",
        ),
        (
            "uv",
            "pyproject.toml",
            "[project]\nname = 'x'\n[dependency-groups]\ndev = []\n",
            "[project]\nname = 'x'\n[dependency-groups]\ndev = [{include-group = 'rocm'}]\nrocm = ['amdsmi']\n",
        ),
        (
            "uv",
            "pyproject.toml",
            "[project]\nname = 'x'\n[tool.uv]\ndefault-groups = 'all'\n",
            "[project]\nname = 'x'\n[tool.uv]\ndefault-groups = 'all'\n[dependency-groups]\nrocm = ['amdsmi']\n",
        ),
        (
            "uv",
            "pyproject.toml",
            "[project]\nname = 'x'\n[tool.uv]\ndefault-groups = ['rocm']\n",
            "[project]\nname = 'x'\n[tool.uv]\ndefault-groups = ['rocm']\n[dependency-groups]\nrocm = ['amdsmi']\n",
        ),
        (
            "uv",
            "pyproject.toml",
            "[project]\nname = 'x'\n",
            "[project]\nname = 'x'\n[tool.uv.sources]\ntorch = {index = 'rocm'}\n",
        ),
        (
            "uv",
            "pyproject.toml",
            "[project]\nname = 'x'\n",
            "[project]\nname = 'x'\n[[tool.uv.index]]\nname = 'rocm'\nurl = 'https://x'\n",
        ),
        (
            "pdm and poetry",
            "pyproject.toml",
            "[tool.poetry]\nname = 'x'\n",
            "[tool.poetry]\nname = 'x'\n[tool.poetry.group.rocm.dependencies]\namdsmi = '*'\n",
        ),
        (
            "pdm and poetry",
            "pyproject.toml",
            "[tool.poetry]\nname = 'x'\n",
            "[tool.poetry]\nname = 'x'\n[tool.poetry.group.dev.dependencies]\namdsmi = '*'\n",
        ),
        (
            "pdm and poetry",
            "pyproject.toml",
            "[tool.poetry]\nname = 'x'\n",
            "[tool.poetry]\nname = 'x'\n[tool.poetry.dependencies]\namdsmi = '*'\n",
        ),
        (
            "pdm and poetry",
            "pyproject.toml",
            "[project]\nname = 'x'\n",
            "[project]\nname = 'x'\n[tool.pdm.dev-dependencies]\nrocm = ['amdsmi']\n",
        ),
        (
            "pdm and poetry",
            "pyproject.toml",
            "[project]\nname = 'x'\n",
            "[project]\nname = 'x'\n[tool.hatch.envs.default]\ndependencies = ['amdsmi']\n",
        ),
        (
            "project",
            "pyproject.toml",
            "[project]\nname = 'x'\n",
            "[project]\nname = 'x'\n[project.scripts]\nx-rocm = 'x:f'\n",
        ),
        (
            "project",
            "pyproject.toml",
            "[project]\nname = 'x'\n",
            "[project]\nname = 'x'\n[project.entry-points.pytest11]\nx = 'x'\n",
        ),
        (
            "project",
            "pyproject.toml",
            "[project]\nname = 'x'\n",
            "[project]\nname = 'x'\n[tool.pytest.ini_options]\naddopts = '-x'\n",
        ),
        (
            "project",
            "pyproject.toml",
            "[project]\nname = 'x'\ndynamic = []\n",
            "[project]\nname = 'x'\ndynamic = ['version']\n",
        ),
        (
            "project",
            "setup.cfg",
            "[metadata]\nname = x\n",
            "[metadata]\nname = x\n[options]\ninstall_requires = amdsmi\n",
        ),
        ("project", "setup.cfg", "[metadata]\nname = x\n", "[metadata]\nname = x\n[aliases]\ntest = pytest\n"),
        (
            "project",
            "setup.cfg",
            "[options.extras_require]\nall = a\n",
            "[options.extras_require]\nall = a\n  amdsmi\n",
        ),
        (
            "project",
            "pyproject.toml",
            "[project]\nname = 'x'\n[project.optional-dependencies]\nall = ['a']\n",
            "[project]\nname = 'x'\n[project.optional-dependencies]\nall = ['a', 'amdsmi']\n",
        ),
        ("project", "MANIFEST.in", "include a\n", "include a\nglobal-exclude *.cu\n"),
        ("project", "MANIFEST.in", "include a\nexclude b\n", "exclude b\ninclude a\n"),
        (
            "notebook",
            "l.ipynb",
            '{"cells": [{"cell_type": "code", "source": ["x = 1"]}]}',
            '{"cells": [{"cell_type": "code", "source": ["x = 2"]}]}',
        ),
        (
            "notebook",
            "l.ipynb",
            '{"cells": [{"cell_type": "code", "source": ["!pip install a"]}]}',
            '{"cells": [{"cell_type": "code", "source": ["!pip install b"]}]}',
        ),
    ):
        yield f"content: {kind}", (f"l/{path}", old, new, {})


def _modes(folders: list[str]) -> Iterator[Leak]:
    script = {"l/l_run.sh": b"#!/bin/sh\nnvcc a.cu\n", "l/l_k.cu": b"int l;\n"}
    for path, text in script.items():
        for bits in (0o755, 0o777, 0o700):
            yield Leak("mode: executable", f"{path} {bits:o}", True, {path: text}, script, {path: bits})
        for bits in (0o4644, 0o2644, 0o1644, 0o6755):
            yield Leak("mode: special bits", f"{path} {bits:o}", True, {path: text}, script, {path: bits})
        for bits in (0o600, 0o440, 0o200, 0o000):
            yield Leak("mode: who may read or write", f"{path} {bits:o}", True, {path: text}, script, {path: bits})
    for folder in ("l", *folders[:1]):
        for name, source in (("l_m", b"X = 1\n"), ("torch", b""), ("__init__", b"\n")):
            new = f"{folder}/__pycache__/{name}.{sys.implementation.cache_tag}.pyc"
            stamp = int(STAMP).to_bytes(4, "little") + len(source).to_bytes(4, "little")
            for flags, claim in ((0, stamp), (1, bytes(8)), (3, importlib.util.source_hash(source))):
                compiled = importlib.util.MAGIC_NUMBER + bytes([flags, 0, 0, 0]) + claim
                compiled += marshal.dumps(compile("X = 2\n", "l", "exec"))
                yield Leak("compiled module", f"{name} {flags}", True, {new: compiled}, {f"{folder}/{name}.py": source})
        for name in (
            f"{folder}/l_m.pyc",
            f"{folder}/l_m.cpython-311-x86_64-linux-gnu.so",
            f"{folder}/l_m.so",
            f"{folder}/l_m.pyd",
        ):
            yield Leak(
                "compiled module", name.rpartition("/")[2], True, {name: importlib.util.MAGIC_NUMBER + bytes(28)}
            )
    for folder in folders[:2]:
        for ending in ENDINGS[:3]:
            kept = {
                "l.sh": f"nvcc {folder}/*{ending}\n".encode(),
                f"{folder}/l_old{ending}": b"\n",
                "l/l_k.cu": b"int l;\n",
            }
            for target in ("l_old" + ending, "../l/l_k.cu", "/etc/hostname", "nowhere"):
                yield Leak(
                    "link into a globbed folder",
                    f"{ending} {target}",
                    True,
                    {f"{folder}/l_rocm{ending}": Link(target)},
                    kept,
                )
            yield Leak("link in place of a file", ending, True, {f"{folder}/l_old{ending}": Link("../l/l_k.cu")}, kept)
            yield Leak("link of a folder", ending, True, {f"{folder}/l_rocm": Link("..")}, kept)
            yield Leak(
                "link of a folder",
                f"deep {ending}",
                True,
                {f"{folder}/rocm/l_new": Link("../..")},
                kept | {"l.mk": f"S := $(shell find {folder} -follow)\n".encode()},
            )


@dataclass(frozen=True)
class _Kind:
    """One of leak_kinds.toml."""

    lot: int
    plan: str
    name: str
    spellings: Sequence[Any]
    beside: Mapping[str, str]

    def leaks(self, original: Path, folders: list[str]) -> Iterator[Leak]:
        plans = {"listed": self._listed, "linked": self._linked, "named": self._named, "found": self._found,
                 "gate": self._gate, "predicate": self._predicate, "corner": self._corner}  # fmt: skip
        return plans[self.plan](original, folders)

    def _leak(self, words: str, spelling: str, port: Mapping[str, Content], both: Mapping[str, bytes | Link]) -> Leak:
        return Leak(f"{words}{self.name}", spelling, True, port, both, lot=self.lot)

    def _beside(self, folder: str) -> dict[str, bytes | Link]:
        return {_filled(path, folder): _filled(text, folder).encode() for path, text in self.beside.items()}

    def _listed(self, original: Path, folders: list[str]) -> Iterator[Leak]:
        for carrier, text in self.spellings:
            for folder, ending in itertools.product(folders[:3], ENDINGS[:5]):
                if (original / carrier.replace("@D@", folder)).exists():
                    continue
                within = carrier.startswith("@D@/")
                deep = any(word in text for word in _DEEP)
                for new in (
                    f"{folder}/l_rocm{ending}",
                    *([f"{folder}/l_new/l_rocm{ending}"] if deep and "@N@" not in text else []),
                ):
                    made = _filled(text, folder, ending).replace("@N@", new)
                    both = {carrier.replace("@D@", folder): made.encode(), f"{folder}/l_old{ending}": b"\n"}
                    both |= self._beside(folder)
                    yield self._leak("listed by ", f"{within} {carrier} {text}", {new: b"\n"}, both)

    def _linked(self, original: Path, folders: list[str]) -> Iterator[Leak]:
        folder = folders[0]
        for (carrier, text), ending in itertools.product(self.spellings, ENDINGS[:5]):
            both: dict[str, bytes | Link] = {
                carrier: _filled(text, folder, ending).encode(),
                "l_link": Link(folder),
                f"{folder}/l_old{ending}": b"\n",
            }
            yield self._leak("listed ", f"{carrier} {text}", {f"{folder}/l_rocm{ending}": b"\n"}, both)

    def _named(self, original: Path, folders: list[str]) -> Iterator[Leak]:
        for name in self.spellings:
            path = _filled(name, folders[0])
            if not (original / path).exists():
                content = _NAMED_TEXT.get(name.rpartition(".")[2], b"\n")
                yield self._leak("read by its name: ", name, {path: content}, self._beside(folders[0]))

    def _found(self, original: Path, folders: list[str]) -> Iterator[Leak]:
        for carrier, text, name in self.spellings:
            path = _filled(name, folders[0])
            if not (original / carrier).exists() and not (original / path).exists():
                both = {carrier: _filled(text, folders[0]).encode()}
                yield self._leak("found by ", f"{carrier} {text} {name}", {path: b"\n"}, both)

    def _gate(self, original: Path, folders: list[str]) -> Iterator[Leak]:
        """A gate of a file that includes what sets it, where its language can; in the first lot, that does not."""
        for carrier, text, language in self.spellings:
            if (original / carrier).exists():
                continue
            path, old, heads, body = _GATES[language]
            first = ""
            if self.lot > 1 and carrier.startswith("l_defs"):
                first = f'#include "{carrier}"\n'
            elif self.lot > 1 and language == "make" and carrier.endswith((".mk", "config")):
                first = f"include ../{carrier}\n"
            elif self.lot > 1 and language == "cmake" and carrier.endswith(".cmake"):
                first = f"include(../{carrier})\n"
            in_pieces = self.name.endswith("in pieces") or "USE_$" in text
            macros = MACROS if language == "c" and not in_pieces else MACROS[:1]
            for macro, head in itertools.product(macros, heads):
                gated = first + head.replace("@M@", macro) + body + old
                both = {carrier: text.replace("@M@", macro).encode(), path: (first + old).encode()}
                yield self._leak("gate set: ", f"{head} {macro} {carrier} {text}", {path: gated.encode()}, both)

    def _predicate(self, original: Path, folders: list[str]) -> Iterator[Leak]:
        for expression, form in itertools.product(self.spellings, _FORMS):
            yield _predicate(self.name, expression, form, self.lot)

    def _corner(self, original: Path, folders: list[str]) -> Iterator[Leak]:
        for path, old, new_text, *others in self.spellings:
            place = _filled(path, folders[0])
            kept = {_filled(name, folders[0]): _filled(text, folders[0]) for name, text in dict(*others).items()}
            if (original / place).exists():
                continue
            made: dict[str, Content] = {place: new_text.encode()}
            if "_rocm_compat" in new_text:
                asked = _FORMS[0].replace("@", "hip()")
                made["l_pkg/_rocm_compat.py"] = (_MODULE + asked).encode()
                kept["l_pkg/__init__.py"] = ""
            texts = kept if not old else {place: old, **kept}
            both = {name: text.encode() for name, text in texts.items()}
            yield self._leak("", f"{path} {old} {new_text}", made, both)


def _kinds() -> Iterator[_Kind]:
    table = read_toml(LIST)
    beside = table.pop("beside")
    for lot, plans in table.items():
        for plan, kinds in plans.items():
            for name, spellings in kinds.items():
                yield _Kind(int(lot), plan, name, spellings, beside.get(name, {}))


_NAMED_TEXT: dict[str, bytes] = {
    "pyc": (3425).to_bytes(2, "little") + b"\r\n\x01" + bytes(11) + b"\xe3" + bytes(40),
    "nbi": b"\x80\x04\x8c\x060.59.0\x94.",
    "nbc": b"\x80\x04}\x94.",
    "o": b"\x7fELF\x02\x01\x01" + bytes(57),
}
"""By ending; other files that are read by their name hold a line end."""


def _filled(text: str, folder: str, ending: str = "") -> str:
    parts = folder.split("/")
    for mark, value in (
        ("@D@", folder),
        ("@B@", parts[-1]),
        ("@L@", ", ".join(repr(part) for part in parts)),
        ("@P@", ".".join(parts)),
        ("@E@", ending),
    ):
        text = text.replace(mark, value)
    return text


_GATES = {
    "c": (
        "l_gate.cpp",
        "int old;\n",
        ("#ifdef @M@\n", "#if defined(@M@)\n", "#if defined @M@ && 1\n"),
        "int l;\n#endif\n",
    ),
    "make": ("l/Makefile", "all: a\n", ("ifdef @M@\n",), "X = 1\nendif\n"),
    "cmake": ("l/CMakeLists.txt", "l_old()\n", ("if(@M@)\n", "if(@M@ AND L_A)\n"), "  l_new()\nendif()\n"),
}


def _predicate(kind: str, expression: str, form: str, lot: int = 1) -> Leak:
    module: dict[str, Content] = {
        "l_pkg/_rocm_compat.py": (_MODULE + form.replace("@", expression)).encode(),
        "l_pkg/m.py": b"import torch\nfrom . import _rocm_compat\n\nX = 1 if _rocm_compat.IS_ROCM else 2\n",
    }
    both: dict[str, bytes | Link] = {"l_pkg/__init__.py": b"", "l_pkg/m.py": b"import torch\n\nX = 2\n"}
    return Leak(f"predicate: {kind}", f"{form} {expression}", True, module, both, lot=lot)


def controls() -> Iterator[Leak]:
    """What leaks are made of, without the leak: the check is quiet about it, or it sees the others for another reason."""
    for form in _FORMS:
        yield _predicate("control", "hip()", form)
    for path, old, heads, body in _GATES.values():
        for head in heads:
            gated = head.replace("@M@", MACROS[0]) + body + old
            yield Leak("gate set: control", head, True, {path: gated.encode()}, {path: old.encode()})


def unusual(original: Path, port: Path) -> Iterator[Leak]:
    folders = sorted(
        {
            place.parent.relative_to(original).as_posix()
            for place in original.rglob("*")
            if place.suffix in ENDINGS and place.is_file() and place.parent != original
        }
    ) or ["l_src"]
    folders.sort(key=lambda folder: hashlib.sha256(folder.encode()).digest())
    for kind in _kinds():
        yield from kind.leaks(original, folders)
    yield from _computed_includes()
    yield from _shadows(folders)
    yield from _modes(folders)
    for corners in (_cmake_corners, _make_corners, _c_corners, _other_languages, _python_corners, _content_corners):
        for kind, (path, old, new, others) in corners():
            yield _corner(kind, f"{path} {old} {new} {sorted(others)}", {path: old, **others}, {path: new})
