"""Commands in strings, names in pieces, comments and settings that tools read: seen, and no more than they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from nvidia_trees import COMPAT

from rocport.verify import nvidia

Files = dict[str, str]
NEW = {"csrc/new.cu": "int b;\n"}
KERNEL = {"csrc/k.cu": "int a;\n"}
GATE = {"l/CMakeLists.txt": "if(USE_ROCM)\n  new()\nendif()\nold()\n"}
WAS = {"l/CMakeLists.txt": "old()\n"}
GATED = {"a.cpp": "int x;\n#ifdef USE_ROCM\nint r;\n#endif\n"}
MADE = {"l/Makefile": "include ../l.mk\nall: a\n\tnvcc a.cu\n"}
ASKS = {"l/Makefile": "include ../l.mk\nifdef USE_ROCM\nX = 1\nendif\nall: a\n\tnvcc a.cu\n"}
PLAIN = {"a.cpp": "int x;\n"}
OPS = "def f():\n    return 32\n"
GATED_OPS = "from . import _rocm_compat\n\n\ndef f():\n    if _rocm_compat.IS_ROCM:\n        return 64\n    return 32\n"
ADDS = {"p/_rocm_compat.py": COMPAT}


def cell(source: str) -> str:
    return f'{{"cells": [{{"cell_type": "code", "source": ["{source}"]}}]}}'


LEAKS: dict[str, tuple[Files, Files]] = {
    # A shell in a string.
    "CMake, beside its sources": ({"csrc/CMakeLists.txt": 'execute_process(COMMAND sh -c "nvcc *.cu")\n'}, NEW),
    "CMake, in another folder": (
        {"CMakeLists.txt": 'execute_process(COMMAND sh -c "nvcc *.cu" WORKING_DIRECTORY ${S})\n'},
        NEW,
    ),
    "CMake, any folder": ({"CMakeLists.txt": 'add_custom_target(l COMMAND sh -c "nvcc */*.cu")\n'}, NEW),
    "CMake, a loop": ({"CMakeLists.txt": 'add_test(NAME l COMMAND sh -c "cd ${S}; for f in *; do x $f; done")\n'}, NEW),
    "CMake, code to install": (
        {"CMakeLists.txt": 'install(CODE "execute_process(COMMAND sh -c \\"cp ${S}/*.cu /x\\")")\n'},
        NEW,
    ),
    "a recipe that goes into a folder": ({"Makefile": "all:\n\tcd $(D) && nvcc *.cu\n"}, NEW),
    "a script that goes into a folder": ({"run.sh": "cd $1\nnvcc *.cu\n"}, NEW),
    "C": ({"l.c": 'void f(void) { system("nvcc csrc/*.cu"); }\n'}, NEW),
    "Python, a folder put in": ({"l.py": 'import os\nos.system("nvcc %s/*.cu" % d)\n'}, NEW),
    # Texts that are no source.
    "a list of patterns": ({"files.txt": "csrc/*.cu\n"}, NEW),
    "a notebook's shell": ({"l.ipynb": cell("!nvcc csrc/*.cu")}, NEW),
    "a notebook's cell of a shell": ({"l.ipynb": cell("%%bash\\ncat csrc/*.cu")}, NEW),
    "a notebook's Python": ({"l.ipynb": cell("import os\\nF = os.listdir('csrc')")}, NEW),
    "a job's step": ({".github/workflows/a.yml": "jobs:\n  b:\n    with:\n      files: 'csrc/*.cu'\n"}, NEW),
    "a loop over files": ({"play.yml": "- tasks:\n    - with_fileglob: 'csrc/*.cu'\n"}, NEW),
    "a suite of tests": ({"csrc/lit.cfg.py": "config.suffixes = ['.cu']\n"}, NEW),
    # Settings and built files, by their names.
    "settings for the folder": ({}, {"csrc/global.json": "{}\n"}),
    "settings of tests": ({}, {"csrc/lit.local.cfg": "config.unsupported = True\n"}),
    "a precompiled header": ({"csrc/k.h": "\n"}, {"csrc/k.h.gch": "gpch\n"}),
    # Names in pieces, and code in strings.
    "a gate's name in pieces, CMake": (
        WAS | {"l.cmake": "foreach(b CUDA ROCM)\n  set(USE_${b} ON)\nendforeach()\n"},
        GATE,
    ),
    "a gate set by evaluated code": (WAS | {"l.cmake": 'cmake_language(EVAL CODE "set(USE_ROCM ON)")\n'}, GATE),
    "a macro's name in pieces, Python": (PLAIN | {"setup.py": "F = [f'-DUSE_{b}=0' for b in c]\n"}, GATED),
    "a macro's name in pieces, Make": (PLAIN | {"l.mk": "CXXFLAGS += -DUSE_$(B)=0\n"}, GATED),
    "a macro's name in pieces, shell": (PLAIN | {"l.sh": 'F="$F -DUSE_$b=0"\n'}, GATED),
    "a macro's name in pieces, CMake": (
        PLAIN | {"l.cmake": "foreach(b CUDA ROCM)\n  add_definitions(-DUSE_${b}=0)\nendforeach()\n"},
        GATED,
    ),
    "a macro in a text that is included": (PLAIN | {"defs.txt": "#define USE_ROCM 0\n"}, GATED),
    "a variable of Make, at once": (MADE | {"l.mk": "USE_ROCM ::= 1\n"}, ASKS),
    "a variable of Make, of a command": (MADE | {"l.mk": "USE_ROCM != which hipcc\n"}, ASKS),
    "a variable of Make, of lines": (MADE | {"l.mk": "define USE_ROCM\n1\nendef\n"}, ASKS),
    # Numbers that an insertion, or a sign, changes.
    "arithmetic without a sign": (PLAIN, {"a.cpp": "int x;\n#if (USE_ROCM - 1) > 0u\nint r;\n#endif\n"}),
    "a literal that has no sign": (PLAIN, {"a.cpp": "int x;\n#if USE_ROCM - 1 > 0x8000000000000000\nint r;\n#endif\n"}),
    "a shift out of the type": (PLAIN, {"a.cpp": "int x;\n#if (1 << 63) + USE_ROCM < 0\nint r;\n#endif\n"}),
    "a sum out of the type": (
        PLAIN,
        {"a.cpp": "int x;\n#if 9223372036854775807 + 1 + USE_ROCM < 0\nint r;\n#endif\n"},
    ),
    "a sign out of the type": (
        PLAIN,
        {"a.cpp": "int x;\n#if -(-9223372036854775807 - 1 + USE_ROCM) < 0\nint r;\n#endif\n"},
    ),
    "an arm that takes the sign": (
        PLAIN,
        {"a.cpp": "int x;\n#if (USE_ROCM ? 1u : -1) + USE_ROCM > 0\nint r;\n#endif\n"},
    ),
    "a truth that is compared as a number": (
        {"a.cpp": "#if FOO == 1\nint r;\n#endif\nint x;\n"},
        {"a.cpp": "#if (USE_ROCM || FOO) == 1\nint r;\n#endif\nint x;\n"},
    ),
    "a line's number in CMake": (
        {"CMakeLists.txt": "f(${CMAKE_CURRENT_LIST_LINE})\n"},
        {"CMakeLists.txt": 'option(USE_ROCM "" OFF)\nif(USE_ROCM)\n  n()\nendif()\nf(${CMAKE_CURRENT_LIST_LINE})\n'},
    ),
    "a folder that CMake has configured": ({}, {"build/CMakeCache.txt": "A:BOOL=ON\n"}),
    # Comments that tools read.
    "a test's command": ({"a.cu": "// RUN: nvcc %s\nint a;\n"}, {"a.cu": "// RUN: nvcc -O0 %s\nint a;\n"}),
    "an attribute of Rcpp": ({"a.cpp": "int f();\n"}, {"a.cpp": "// [[Rcpp::export]]\nint f();\n"}),
    "a switch that falls through": (
        {"a.cpp": "switch (a) { case 1: g(); /* fall through */ case 2: h(); }\n"},
        {"a.cpp": "switch (a) { case 1: g(); case 2: h(); }\n"},
    ),
    "a switch that falls through, behind a string": (
        {"a.cpp": 'char *s = "//"; /* fall through */\n'},
        {"a.cpp": 'char *s = "//";\n'},
    ),
    "a module that keeps its modules": (
        {
            "p/__init__.py": "",
            "p/a.py": f"{OPS}ALL = [v for k, v in list(globals().items()) if not k.startswith('__')]\n",
        },
        ADDS | {"p/a.py": f"{GATED_OPS}ALL = [v for k, v in list(globals().items()) if not k.startswith('__')]\n"},
    ),
    "a module that counts its names": (
        {"p/__init__.py": "", "p/a.py": f"{OPS}N = len(dir())\n"},
        ADDS | {"p/a.py": f"{GATED_OPS}N = len(dir())\n"},
    ),
    **{
        f"who reads a module: {code}": (
            {"p/a.py": OPS, "p/__init__.py": "", "p/b.py": f"import inspect, linecache\nfrom . import a\nX = {code}\n"},
            ADDS | {"p/a.py": GATED_OPS},
        )
        for code in (
            *("dir(a)", "list(vars(a).items())", "len(a.__dict__)", "[n for n in dir(a) if n.startswith('_')]"),
            *("inspect.getmembers(a, inspect.ismodule)", "inspect.getmembers(a)", "list(a.f.__globals__)"),
            *("linecache.getlines(a.__file__)", "open(a.__file__).read()", "a.__loader__.get_source('p.a')"),
        )
    },
    **{
        f"a module that lists its names, testing something else: {code}": (
            {"p/__init__.py": "", "p/a.py": f"{OPS}{code}\n"},
            ADDS | {"p/a.py": f"{GATED_OPS}{code}\n"},
        )
        for code in (
            "__all__ = [n for n in dir()] + [m for m in extra if not m.startswith('_')]",
            "__all__ = [n for n in dir() if not version.startswith('_')]",
            "__all__ = [k for k in dir() for p in pats if not p.startswith('_')]",
            "__all__ = [n for n in dir() if version[0] != '_' or version.islower()]",
            "ALL = [v for v in globals().values() if isinstance(version, type)]",
            "ALL = [v for v in list(vars().values()) if not v.startswith('_')]",
            "ALL = [i for i in globals().items() if i[0] != '_']",
            "for k, v in list(globals().items()):\n    for p in pats:\n        if not p.startswith('_'): x(v)",
            "for k in dir():\n    if k.startswith('_'):\n        x(k)\n        continue\n    y(k)",
        )
    },
    "a script's metadata": (
        {"a.py": "# /// script\n# dependencies = ['torch']\n# ///\nx = 1\n"},
        {"a.py": "# /// script\n# dependencies = ['torch', 'amdsmi']\n# ///\nx = 1\n"},
    ),
    "a directive of Cython": ({"a.py": "# cython: boundscheck=True\nx = 1\n"}, {"a.py": "x = 1\n"}),
    # A cell that a gated block makes.
    "super() off ROCm": (
        {"a.py": "import torch\nclass A:\n    def f(self):\n        return 1\n"},
        {
            "a.py": "import torch\nclass A:\n    def f(self):\n        if torch.version.hip:\n"
            "            super().f()\n        return 1\n"
        },
    ),
}

HARMLESS: dict[str, tuple[Files, Files]] = {
    "a filter of paths": ({"a.yml": "on:\n  push:\n    paths:\n      - 'csrc/*.cu'\n"}, NEW),
    "a filter's own name": (
        {"a.yml": "jobs:\n  a:\n    x:\n      filters:\n        src:\n          - 'csrc/*.cu'\n"},
        NEW,
    ),
    "an expression of CMake": ({"CMakeLists.txt": 'string(REGEX REPLACE ".*/csrc/.*" "" A "${B}")\n'}, NEW),
    "a hint to contributors": ({"CONTRIBUTING.md": "    find -iname '*.cu' | xargs clang-format\n"}, NEW),
    "a family of functions": ({"PKG-INFO": "Name: k\n\ncd path/to/k\n`new*` and `scatter_*`\n"}, NEW),
    "settings named for ROCm": ({}, {"csrc/rocm.json": "{}\n"}),
    "a comment for people": ({"a.cu": "// a\nint a;\n"}, {"a.cu": "// b: see CHECKLIST\nint a;\n"}),
    "a comment of a gate": (
        {"a.cpp": "int a;\n"},
        {"a.cpp": "#ifdef USE_ROCM // fall through\nint b;\n#endif\nint a;\n"},
    ),
    "a gate beside a condition": (
        {"a.cpp": "#if FOO && BAR\nint r;\n#endif\nint x;\n"},
        {"a.cpp": "#if (FOO || USE_ROCM) && BAR\nint r;\n#endif\nint x;\n"},
    ),
    **{
        f"who asks of a module: {code}": (
            {"p/a.py": OPS, "p/__init__.py": "", "p/b.py": f"import inspect, os\nfrom . import a\nX = {code}\n"},
            ADDS | {"p/a.py": GATED_OPS},
        )
        for code in (
            *("[n for n in dir(a) if not n.startswith('_')]", "a.__dict__['f']", "'f' in dir(a)", "vars(a).get('f')"),
            *("inspect.getmembers(a, inspect.isfunction)", "os.path.dirname(a.__file__)"),
            "sorted(n for n in a.__dict__ if n.islower() and not n.startswith('__') and callable(a.__dict__[n]))",
            "[v for n, v in vars(a).items() if isinstance(v, type) and n != 'x']",
            "[n for n in dir(a) if callable(getattr(a, n))]",
        )
    },
    "a module that keeps what is of its class": (
        {
            "p/__init__.py": "",
            "p/a.py": f"{OPS}class Q: pass\nD = {{n: q for (n, q) in locals().items() if isinstance(q, Q)}}\n",
        },
        ADDS
        | {"p/a.py": f"{GATED_OPS}class Q: pass\nD = {{n: q for (n, q) in locals().items() if isinstance(q, Q)}}\n"},
    ),
    "a module that keeps what is public": (
        {"p/__init__.py": "", "p/a.py": f"{OPS}__all__ = [k for k in globals() if k[0] != '_']\n"},
        ADDS | {"p/a.py": f"{GATED_OPS}__all__ = [k for k in globals() if k[0] != '_']\n"},
    ),
    **{
        f"a module that keeps what is not private: {code}": (
            {"p/__init__.py": "", "p/a.py": f"{OPS}{code}\n"},
            ADDS | {"p/a.py": f"{GATED_OPS}{code}\n"},
        )
        for code in (
            "__all__ = sorted(n for n in list(globals().keys()) if not n.startswith('_'))",
            "__all__ = [n for n in dir() if callable(globals()[n])]",
            "ALL = [v for v in list(globals().values()) if callable(v)]",
            "for k, v in list(globals().items()):\n    if k.startswith('_'):\n        continue\n    x(v)",
            "for k in dir():\n    if not k.startswith('_'):\n        x(k)",
        )
    },
    "a name that cannot be a gate's": (PLAIN | {"l.sh": 'F="$F -DWITH_$b=0"\n'}, GATED),
}


def verdict(old: Files, new: Files, folder: Path) -> str:
    for name, files in (("original", KERNEL | old), ("port", KERNEL | old | new)):
        for path, text in files.items():
            place = folder / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
    return nvidia.verify(folder / "port", folder / "original").verdict


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_is_not_called_unchanged(name: str, tmp_path: Path) -> None:
    assert verdict(*LEAKS[name], tmp_path) in ("changed", "not decided")


@pytest.mark.parametrize("name", HARMLESS)
def test_what_reaches_nothing_is_unchanged(name: str, tmp_path: Path) -> None:
    assert verdict(*HARMLESS[name], tmp_path) == "unchanged"
