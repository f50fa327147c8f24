"""Leaks invented for what no kind of the grammar of benchmarks/leaks.py holds; each was judged before it was run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocport.verify import nvidia

Files = dict[str, str]
EXTRAS = "[project]\nname = 'x'\n[project.optional-dependencies]\n"
IMPORT = "import torch\n"
GATE = "if torch.version.hip:\n    {}\n"
CI = "on: push\njobs:\n  b:\n    runs-on: x\n    steps:\n      - run: make\n"
GATED_C = "#ifdef USE_ROCM\nint r;\n#endif\nint x;\n"
GATED_PY = "import torch\ndef f():\n    if torch.version.hip:\n        return 2\n    return 1\n"
PLAIN_PY = "import torch\ndef f():\n    return 1\n"

LEAKS: dict[str, tuple[Files, Files]] = {
    # Line ends.
    "a Makefile with CRLF": ({"Makefile": "all: a\n\tnvcc a.cu\n"}, {"Makefile": "all: a\r\n\tnvcc a.cu\r\n"}),
    "a raw string with CRLF": ({"a.cu": 'auto s = R"(a\nb)";\n'}, {"a.cu": 'auto s = R"(a\r\nb)";\n'}),
    "an interpreter line with CRLF": (
        {"a.py": "#!/usr/bin/env python\nx = 1\n"},
        {"a.py": "#!/usr/bin/env python\r\nx = 1\r\n"},
    ),
    "a CMake string with CRLF": (
        {"CMakeLists.txt": 'file(WRITE a "x\ny")\n'},
        {"CMakeLists.txt": 'file(WRITE a "x\r\ny")\n'},
    ),
    "a notebook magic with CRLF": (
        {"a.ipynb": '{"cells": [{"cell_type": "code", "source": ["%%bash\\n", "make"]}]}'},
        {"a.ipynb": '{"cells": [{"cell_type": "code", "source": ["%%bash\\r\\n", "make"]}]}'},
    ),
    # Lexing that depends on a mode of the compiler.
    "a trigraph splices a comment": ({"a.cu": "int x;\nint y;\n"}, {"a.cu": "int x;\n// for ROCm??/\nint y;\n"}),
    "a comment that never ends": ({"CMakeLists.txt": "f()\ng()\n"}, {"CMakeLists.txt": "f()\n#[[ ROCm\ng()\n"}),
    "a Make comment that goes on": ({"Makefile": "X = 1\nY = 2\n"}, {"Makefile": "X = 1\n# for ROCm \\\nY = 2\n"}),
    "a macro of another alphabet": ({"a.cu": "int x;\n"}, {"a.cu": "#ifndef USE_R\u041eCM\nint r;\n#endif\nint x;\n"}),
    "a null byte": ({"a.cu": "int x;\n"}, {"a.cu": "int x\0;\n"}),
    "a form feed before a directive's name": ({"a.cu": "#define A 1\n"}, {"a.cu": "#define\fB 1\n#define A 1\n"}),
    # Whoever reads the text of a changed file.
    "CMake embeds it": ({"a.cu": "int x;\n", "CMakeLists.txt": "file(READ a.cu TEXT)\n"}, {"a.cu": GATED_C}),
    "CMake hashes it": ({"a.cu": "int x;\n", "CMakeLists.txt": "file(SHA256 a.cu SUM)\n"}, {"a.cu": GATED_C}),
    "CMake configures it": (
        {"a.cu": "int x;\n", "CMakeLists.txt": "configure_file(a.cu b.cu @ONLY)\n"},
        {"a.cu": "#ifdef USE_ROCM\nint r = @R@;\n#endif\nint x;\n"},
    ),
    "a patch is applied to it": (
        {"a.cu": "int x;\n", "fix.patch": "--- a/a.cu\n+++ b/a.cu\n@@ -1 +1 @@\n-int x;\n+int y;\n"},
        {"a.cu": GATED_C},
    ),
    "sed edits it": ({"a.cu": "int x;\n", "b.sh": "sed -i '1s/x/y/' a.cu\n"}, {"a.cu": GATED_C}),
    "a list of checksums": ({"a.cu": "int x;\n", "SHA256SUMS": f"{'0' * 64}  a.cu\n"}, {"a.cu": GATED_C}),
    "xxd embeds it": ({"a.h": "int x;\n", "Makefile": "a.inc: a.h\n\txxd -i a.h > a.inc\n"}, {"a.h": GATED_C}),
    "an assembler embeds it": ({"a.cu": "int x;\n", "b.S": '.incbin "a.cu"\n'}, {"a.cu": GATED_C}),
    "C++ reads it when it runs": ({"a.cu": "int x;\n", "b.cpp": 'std::ifstream f("a.cu");\n'}, {"a.cu": GATED_C}),
    "Python formats it": (
        {"a.cu": "int x = %d;\n", "b.py": "S = open('a.cu').read() % 3\n"},
        {"a.cu": f"{GATED_C}int y = %d;\n".replace("int x;\nint y", "int x")},
    ),
    "a shell script counts its lines": ({"a.py": PLAIN_PY, "b.sh": "head -n 3 a.py > c.py\n"}, {"a.py": GATED_PY}),
    "a module is copied by exec": (
        {"a.py": PLAIN_PY, "b.py": "exec(open('a.py').read().split('def')[1])\n"},
        {"a.py": GATED_PY},
    ),
    # The predicate means something else.
    "torch is optional": (
        {"a.py": "try:\n    import torch\nexcept ImportError:\n    torch = None\nx = 1\n"},
        {"a.py": f"try:\n    import torch\nexcept ImportError:\n    torch = None\n{GATE.format('y = 1')}x = 1\n"},
    ),
    "torch is imported below": (
        {"a.py": "x = 1\nimport torch\n"},
        {"a.py": f"{GATE.format('y = 1')}x = 1\nimport torch\n"},
    ),
    "torch is imported in another function": (
        {"a.py": "def f():\n    import torch\nx = 1\n"},
        {"a.py": f"def f():\n    import torch\n{GATE.format('y = 1')}x = 1\n"},
    ),
    "torch is a parameter": (
        {"a.py": f"{IMPORT}def f(torch):\n    return 1\n"},
        {"a.py": f"{IMPORT}def f(torch):\n    if torch.version.hip:\n        return 2\n    return 1\n"},
    ),
    "torch is something else": (
        {"a.py": "import fake as torch\nx = 1\n"},
        {"a.py": f"import fake as torch\n{GATE.format('y = 1')}x = 1\n"},
    ),
    "torch is deleted before": (
        {"a.py": f"{IMPORT}del torch\nx = 1\n"},
        {"a.py": f"{IMPORT}del torch\n{GATE.format('y = 1')}x = 1\n"},
    ),
    "hip is bound again": (
        {"a.py": f"{IMPORT}hip = 1\nx = 1\n"},
        {"a.py": f"{IMPORT}from torch.version import hip\nhip = 1\nif hip:\n    y = 1\nx = 1\n"},
    ),
    "version is a string": (
        {"a.py": "from torch import version\nversion = '1'\nx = 1\n"},
        {"a.py": "from torch import version\nversion = '1'\nif version.hip:\n    y = 1\nx = 1\n"},
    ),
    "a test sets the predicate": (
        {"a.py": f"{IMPORT}x = 1\n", "t.py": "import torch\ntorch.version.hip = '6'\nimport a\n"},
        {"a.py": f"{IMPORT}{GATE.format('_y = 1')}x = 1\n"},
    ),
    "setattr sets the predicate": (
        {"a.py": f"{IMPORT}x = 1\n", "t.py": "import torch\nmonkeypatch.setattr(torch.version, 'hip', '6')\n"},
        {"a.py": f"{IMPORT}{GATE.format('_y = 1')}x = 1\n"},
    ),
    "the module is replaced": (
        {"a.py": f"{IMPORT}import sys\nsys.modules['torch'] = None\nx = 1\n"},
        {"a.py": f"{IMPORT}import sys\nsys.modules['torch'] = None\n{GATE.format('_y = 1')}x = 1\n"},
    ),
    # Names of files.
    "a twin in other letters": ({"c/k.cu": "int x;\n"}, {"c/K.cu": "int y;\n"}),
    "a folder's twin in other letters": ({"hip2/k.cu": "int x;\n"}, {"HIP2/j.cu": "int y;\n"}),
    "a name Windows reserves": ({"c/k.cu": "int x;\n"}, {"hip/aux.cu": "int y;\n"}),
    "a name that ends in a dot": ({"c/k.cu": "int x;\n"}, {"hip/k.": "int y;\n"}),
    "a colon in a name": ({"c/k.cu": "int x;\n"}, {"hip/k:a.cu": "int y;\n"}),
    "a new line in a name": ({"c/k.cu": "int x;\n"}, {"hip/k\na.cu": "int y;\n"}),
    "a name that is an option": ({"c/k.cu": "int x;\n", "b.sh": "rm *\n"}, {"-rf": "", "hip/k.cu": ""}),
    "a module of the standard library beside a script": (
        {"tools/run.py": "import numpy\n"},
        {"tools/random.py": "x = 1\n"},
    ),
    "a module of an installed package beside a script": (
        {"tools/run.py": "import torch\n"},
        {"tools/numpy/__init__.py": "x = 1\n"},
    ),
    "a new virtual environment": ({"a.py": "x = 1\n"}, {".venv/bin/activate": "export X=1\n"}),
    "new packages of node": ({"package.json": "{}\n"}, {"node_modules/l/index.js": "x\n"}),
    "a source in a cache folder": ({"b.sh": "find . -name '*.cu'\n"}, {"c/__pycache__/k.cu": "int y;\n"}),
    "a repository in the tree": ({"a.py": "x = 1\n"}, {"hip/.git/hooks/pre-commit": "make\n"}),
    # What an entry that is asked for by name touches.
    "an extra that another one asks for": (
        {"pyproject.toml": "[project]\nname = 'x'\n[project.optional-dependencies]\nall = ['x[rocm,cuda]']\n"},
        {"pyproject.toml": f"{EXTRAS}all = ['x[rocm,cuda]']\nrocm = ['amdsmi']\n"},
    ),
    "an extra that CI installs": (
        {
            "pyproject.toml": "[project]\nname = 'x'\n[project.optional-dependencies]\na = []\n",
            "b.sh": "pip install '.[rocm]'\n",
        },
        {"pyproject.toml": "[project]\nname = 'x'\n[project.optional-dependencies]\na = []\nrocm = ['amdsmi']\n"},
    ),
    "uv syncs all extras": (
        {"pyproject.toml": "[project]\nname = 'x'\n", "b.sh": "uv sync --all-extras\n"},
        {"pyproject.toml": "[project]\nname = 'x'\n[project.optional-dependencies]\nrocm = ['amdsmi']\n"},
    ),
    "uv syncs all groups": (
        {"pyproject.toml": "[project]\nname = 'x'\n", "b.sh": "uv sync --all-groups\n"},
        {"pyproject.toml": "[project]\nname = 'x'\n[dependency-groups]\nrocm = ['amdsmi']\n"},
    ),
    "a lock that is checked": (
        {"pyproject.toml": "[project]\nname = 'x'\n", "uv.lock": "version = 1\n", "b.sh": "uv sync --locked\n"},
        {"pyproject.toml": "[project]\nname = 'x'\n[project.optional-dependencies]\nrocm = ['amdsmi']\n"},
    ),
    # A new job of CI.
    "a job that cancels the other": (
        {".github/workflows/ci.yml": CI + "concurrency: {group: b, cancel-in-progress: true}\n"},
        {".github/workflows/rocm.yml": CI + "concurrency: {group: b, cancel-in-progress: true}\n"},
    ),
    "a job that fills the other's cache": (
        {".github/workflows/ci.yml": CI},
        {
            ".github/workflows/rocm.yml": CI
            + "      - uses: actions/cache@v4\n        with: {key: build, path: build}\n"
        },
    ),
    "a job that publishes": (
        {".github/workflows/ci.yml": CI},
        {".github/workflows/rocm.yml": CI + "      - uses: pypa/gh-action-pypi-publish@v1\n"},
    ),
    "a job with the name of the other": (
        {".github/workflows/ci.yml": "name: build\n" + CI},
        {".github/workflows/rocm.yml": "name: build\n" + CI},
    ),
    "a job that writes to the repository": (
        {".github/workflows/ci.yml": CI},
        {".github/workflows/rocm.yml": "permissions: {contents: write}\n" + CI},
    ),
}


PYPROJECT = "[project]\nname = 'x'\n"
CARGO = "[package]\nname = 'x'\nversion = '0.1.0'\n"

TAKEN: dict[str, tuple[Files, Files]] = {
    # Tools that take every source of a folder unasked.
    "a binary of Cargo": (
        {"Cargo.toml": CARGO, "src/main.rs": "fn main() {}\n"},
        {"src/bin/rocm.rs": "fn main() {}\n"},
    ),
    "an example of Cargo": ({"Cargo.toml": CARGO, "src/lib.rs": ""}, {"examples/rocm.rs": "fn main() {}\n"}),
    "a source of a package in Go": ({"dev/a.go": "package dev\n"}, {"dev/rocm.go": "package dev\nfunc init() {}\n"}),
    "a source of an SDK project of .NET": (
        {"app/app.csproj": '<Project Sdk="Microsoft.NET.Sdk" />\n'},
        {"app/Rocm.cs": "class R {}\n"},
    ),
    "a source of Gradle": (
        {"build.gradle": "plugins { id 'java' }\n", "src/main/java/A.java": "class A {}\n"},
        {"src/main/java/Rocm.java": "class Rocm {}\n"},
    ),
    "a source of Swift's packages": (
        {"Package.swift": 'let package = Package(name: "x")\n', "Sources/x/a.swift": "\n"},
        {"Sources/x/rocm.swift": "\n"},
    ),
    "a source of an R package": (
        {"DESCRIPTION": "Package: x\n", "src/a.cpp": "int a;\n"},
        {"src/rocm.cpp": "int b;\n"},
    ),
    "a module of dune": ({"lib/dune": "(library (name x))\n", "lib/a.ml": ""}, {"lib/rocm.ml": "let x = 1\n"}),
    "a file of Terraform": ({"infra/a.tf": "locals {}\n"}, {"infra/rocm.tf": "locals { x = 1 }\n"}),
    "a module of Fortran's package manager": (
        {"fpm.toml": "name = 'x'\n", "src/a.f90": "\n"},
        {"src/rocm.f90": "module rocm\nend module\n"},
    ),
    "a wrap of Meson": (
        {"meson.build": "project('x', 'cpp')\nd = dependency('fmt')\n"},
        {"subprojects/fmt.wrap": "[wrap-file]\n"},
    ),
    # Python finds it.
    "metadata of a distribution beside the code": (
        {"pkg/a.py": "x = 1\n"},
        {"rocm.dist-info/entry_points.txt": "[pytest11]\nx = hip.plugin\n", "rocm.dist-info/METADATA": "Name: rocm\n"},
    ),
    "an egg beside the code": (
        {"pkg/a.py": "x = 1\n"},
        {"rocm.egg-info/entry_points.txt": "[torch.backends]\nx = y\n"},
    ),
    "declarations that Cython takes along": ({"pkg/a.pyx": "x = 1\n"}, {"pkg/a.pxd": "cdef int x\n"}),
    "a module that a loop imports by its name": (
        {
            "pkg/__init__.py": "import importlib\nfor n in ('cuda', 'rocm'):\n    try:\n"
            "        importlib.import_module(f'.{n}', __package__)\n    except ImportError:\n        pass\n",
            "pkg/cuda.py": "",
        },
        {"pkg/rocm.py": "x = 1\n"},
    ),
    "a module on a path that the shell sets": (
        {"tools/run.sh": "export PYTHONPATH=tools\npython pkg/a.py\n", "pkg/a.py": "import yaml\n"},
        {"tools/yaml.py": "x = 1\n"},
    ),
    "a module on a path that Python appends": (
        {"pkg/a.py": "import sys\nsys.path.append('vendor')\nimport yaml\n", "vendor/README": ""},
        {"vendor/yaml.py": "x = 1\n"},
    ),
    "a test under another pattern": (
        {"pytest.ini": "[pytest]\npython_files = check_*.py\n", "tests/check_a.py": ""},
        {"tests/check_rocm.py": "def test_x(): pass\n"},
    ),
    "a test that unittest discovers": (
        {"run.sh": "python -m unittest discover -p 'check*.py'\n", "tests/check_a.py": ""},
        {"tests/check_rocm.py": "x = 1\n"},
    ),
    # Folders and links.
    "Make's wildcard of folders": (
        {"Makefile": "SUBDIRS := $(wildcard */)\nall: $(SUBDIRS)\n$(SUBDIRS):\n\t$(MAKE) -C $@\n"},
        {"hip/Makefile": "all:\n"},
    ),
    "a recipe's loop over folders": (
        {"Makefile": "all:\n\tfor d in */; do $(MAKE) -C $$d; done\n"},
        {"hip/Makefile": "all:\n"},
    ),
    "a recipe's loop over folders below": (
        {"Makefile": "all:\n\tfor d in src/*/; do $(MAKE) -C $$d; done\n", "src/a/Makefile": "all:\n"},
        {"src/hip/Makefile": "all:\n"},
    ),
    "a job's loop over folders": (
        {".github/workflows/a.yml": CI.replace("make", "for d in src/*/; do make -C $d; done"), "src/a/Makefile": ""},
        {"src/hip/Makefile": "all:\n"},
    ),
    "a loop over folders of just": (
        {"justfile": "all:\n    for d in */; do make -C $d; done\n"},
        {"hip/Makefile": "all:\n"},
    ),
    "a shell loop over folders": ({"b.sh": "for d in */; do make -C $d; done\n"}, {"hip/Makefile": "all:\n"}),
    "a shell loop over the Makefiles of folders": (
        {"b.sh": "for m in */Makefile; do make -f $m; done\n"},
        {"hip/Makefile": "all:\n"},
    ),
    "Make's loop over folders": (
        {"Makefile": "SUB := $(dir $(wildcard */Makefile))\nall: $(SUB)\n"},
        {"hip/Makefile": "all:\n"},
    ),
    "a dependency file that Make includes": (
        {"Makefile": "OBJ = csrc/k.o\nall: $(OBJ)\n-include $(OBJ:.o=.d)\n", "csrc/k.cu": "int x;\n"},
        {"csrc/k.d": "CXXFLAGS += -O0\n"},
    ),
    "a module of CMake that stands before its own": (
        {
            "CMakeLists.txt": "list(APPEND CMAKE_MODULE_PATH ${CMAKE_SOURCE_DIR}/cmake)\ninclude(CheckLanguage)\n",
            "cmake/x.cmake": "",
        },
        {"cmake/CheckLanguage.cmake": "set(X 1)\n"},
    ),
    # What a new entry means to a tool.
    "an index that uv asks for everything": (
        {"pyproject.toml": PYPROJECT},
        {"pyproject.toml": PYPROJECT + "[[tool.uv.index]]\nname = 'rocm'\nurl = 'https://example.org/rocm'\n"},
    ),
    "a group that poetry installs unasked": (
        {"pyproject.toml": PYPROJECT},
        {"pyproject.toml": PYPROJECT + "[tool.poetry.group.rocm.dependencies]\namdsmi = '*'\n"},
    ),
    "a development group of pdm": (
        {"pyproject.toml": PYPROJECT},
        {"pyproject.toml": PYPROJECT + "[tool.pdm.dev-dependencies]\nrocm = ['amdsmi']\n"},
    ),
    "a backend that torch loads unasked": (
        {"pyproject.toml": PYPROJECT},
        {"pyproject.toml": PYPROJECT + "[project.entry-points.'torch.backends']\nrocm = 'x:load'\n"},
    ),
    "an extension module of setuptools": (
        {"pyproject.toml": PYPROJECT},
        {"pyproject.toml": PYPROJECT + "[[tool.setuptools.ext-modules]]\nname = 'r'\nsources = ['hip/r.c']\n"},
    ),
    "a default of a command of setup.cfg": (
        {"setup.cfg": "[metadata]\nname = x\n"},
        {"setup.cfg": "[metadata]\nname = x\n[build_ext]\ndefine = USE_ROCM\n"},
    ),
    "a requirement with a marker that is true": (
        {"requirements.txt": "torch\n"},
        {"requirements.txt": "torch\namdsmi; platform_system == 'Linux'\n"},
    ),
    "an optional dependency of npm": (
        {"package.json": "{}\n"},
        {"package.json": '{"optionalDependencies": {"hip": "1"}}\n'},
    ),
    # Gates that are no gates.
    "headers of HIP that are there": (
        {"a.cu": "int x;\n"},
        {"a.cu": "#if __has_include(<hip/hip_runtime.h>)\nint r;\n#endif\nint x;\n"},
    ),
    "HIP's platform for NVIDIA": (
        {"a.cu": "int x;\n"},
        {"a.cu": "#ifdef __HIP_PLATFORM_NVIDIA__\nint r;\n#endif\nint x;\n"},
    ),
    "no device pass": ({"a.cu": "int x;\n"}, {"a.cu": "#ifndef __CUDA_ARCH__\nint r;\n#endif\nint x;\n"}),
    "a directive of a later C": (
        {"a.cu": "#ifdef A\n#endif\nint x;\n"},
        {"a.cu": "#ifdef A\n#elifndef USE_ROCM\nint r;\n#endif\nint x;\n"},
    ),
    "a byte order mark": (
        {"a.sh": "#!/bin/sh\nmake\n", "a.py": "#!/usr/bin/env python\nx = 1\n"},
        {"a.py": "\ufeff#!/usr/bin/env python\nx = 1\n"},
    ),
    "a byte order mark before C": ({"a.cu": "int x;\n"}, {"a.cu": "\ufeffint x;\n"}),
    "CMake found HIP": (
        {"CMakeLists.txt": "f()\n"},
        {"CMakeLists.txt": "find_package(hip QUIET)\nif(hip_FOUND)\n  g()\nendif()\nf()\n"},
    ),
    "CMake lists its variables": (
        {"CMakeLists.txt": "get_cmake_property(V VARIABLES)\nforeach(v ${V})\n  f(${v})\nendforeach()\n"},
        {
            "CMakeLists.txt": 'option(USE_ROCM "" OFF)\n'
            "get_cmake_property(V VARIABLES)\nforeach(v ${V})\n  f(${v})\nendforeach()\n"
        },
    ),
    "CMake lists a folder's cache": (
        {"CMakeLists.txt": "get_directory_property(V CACHE_VARIABLES)\nf(${V})\n"},
        {"CMakeLists.txt": 'option(USE_ROCM "" OFF)\nget_directory_property(V CACHE_VARIABLES)\nf(${V})\n'},
    ),
    "CMake lists a property of a folder": (
        {"CMakeLists.txt": "get_property(V DIRECTORY PROPERTY VARIABLES)\nf(${V})\n"},
        {"CMakeLists.txt": 'option(USE_ROCM "" OFF)\nget_property(V DIRECTORY PROPERTY VARIABLES)\nf(${V})\n'},
    ),
    "Make lists its variables": (
        {"Makefile": "all:\n\techo $(.VARIABLES)\n"},
        {"Makefile": "USE_ROCM ?= 0\nall:\n\techo $(.VARIABLES)\n"},
    ),
    "spaces for the tab of a recipe": ({"Makefile": "all:\n\tnvcc a.cu\n"}, {"Makefile": "all:\n        nvcc a.cu\n"}),
    "files that git does not ship": (
        {".gitignore": "*.o\n", "a.cu": ""},
        {".gitignore": "*.o\ncsrc/\n"},
    ),
    "files that a container does not get": ({".dockerignore": "x\n"}, {".dockerignore": "x\ncsrc\n"}),
}
"""Later ones: 25 of these 45 (a link below is one) were seen at first."""


def _c(text: str) -> tuple[Files, Files]:
    return {"a.cu": "int x;\n"}, {"a.cu": f"{text}int x;\n"}


def _py(new: str, old: str = "x = 1\n") -> tuple[Files, Files]:
    return {"a.py": IMPORT + old}, {"a.py": IMPORT + new}


def _cmake(new: str, old: str = "f()\n") -> tuple[Files, Files]:
    return {"CMakeLists.txt": old}, {"CMakeLists.txt": new}


def _make(new: str, old: str = "all:\n\tnvcc a.cu\n") -> tuple[Files, Files]:
    return {"Makefile": old}, {"Makefile": new}


CORNERS: dict[str, tuple[Files, Files]] = {
    "C: plus": _c("#if USE_ROCM + 0 == 0\nint r;\n#endif\n"),
    "C: not": _c("#if !USE_ROCM\nint r;\n#endif\n"),
    "C: else": _c("#ifdef USE_ROCM\n#else\nint r;\n#endif\n"),
    "C: ?:": _c("#if defined(USE_ROCM) ? 0 : 1\nint r;\n#endif\n"),
    "C: char": _c("#if 'A' == 65 && !defined(USE_ROCM)\nint r;\n#endif\n"),
    "C: undef": _c("#ifndef USE_ROCM\n#undef assert\n#endif\n"),
    "C: == 0": _c("#if __HIP_PLATFORM_AMD__ == 0\nint r;\n#endif\n"),
    "C: <": _c("#if HIP_VERSION < 60000000\nint r;\n#endif\n"),
    "C: !>=": _c("#if !(HIP_VERSION >= 5)\nint r;\n#endif\n"),
    "C: builtin": _c("#if !__has_builtin(__builtin_amdgcn_x)\nint r;\n#endif\n"),
    "C: trigraph": _c("??=ifndef USE_ROCM\nint r;\n??=endif\n"),
    "C: digraph": _c("%:ifndef USE_ROCM\nint r;\n%:endif\n"),
    "C: comma": _c("#if defined(USE_ROCM) || 1\nint r;\n#endif\n"),
    "C: elif true": _c("#if defined(USE_ROCM)\n#elif 1\nint r;\n#endif\n"),
    "C: spliced": _c("#ifn\\\ndef USE_ROCM\nint r;\n#endif\n"),
    "C: comment in directive": _c("#/**/ifndef USE_ROCM\nint r;\n#endif\n"),
    "Python: == None": _py("if torch.version.hip == None:\n    y = 1\nx = 1\n"),
    "Python: or": _py("if torch.version.hip is not None or x:\n    y = 1\nx = 1\n"),
    "Python: while": _py("while torch.version.hip is None:\n    y = 1\n    break\nx = 1\n"),
    "Python: ifexp": _py("x = 1 if torch.version.hip is None else 0\n", "x = 0\n"),
    "Python: loop": _py("for _ in [1] * (torch.version.hip is None):\n    y = 1\nx = 1\n"),
    "Python: with": _py("import contextlib\nwith contextlib.suppress(ValueError):\n    x = 1\n"),
    "Python: default": _py("def f(a=torch.version.hip is None):\n    pass\n", "def f(a=False):\n    pass\n"),
    "Python: dict order": _py("x = {2: 1, 1: 2}\n", "x = {1: 2, 2: 1}\n"),
    "Python: str hip": _py("if str(torch.version.hip) == 'None':\n    y = 1\nx = 1\n"),
    "Python: len": _py("if not (torch.version.hip or ''):\n    y = 1\nx = 1\n"),
    "Python: in": _py("if torch.version.hip in (None,):\n    y = 1\nx = 1\n"),
    "Python: hasattr": _py("if hasattr(torch.version, 'hip'):\n    y = 1\nx = 1\n"),
    "Python: walrus": _py("if (h := torch.version.hip) is None:\n    y = 1\nx = 1\n"),
    "Python: try raise": _py(
        "try:\n    if torch.version.hip:\n        raise ValueError\nexcept ValueError:\n    pass\n"
        "else:\n    y = 1\nx = 1\n"
    ),
    "Python: match": _py("match torch.version.hip:\n    case None:\n        y = 1\nx = 1\n"),
    "Python: annotated gate": _py("if torch.version.hip:\n    pass\nelse:\n    y: int = 1\nx = 1\n"),
    "CMake: not": _cmake("if(NOT USE_ROCM)\n  g()\nendif()\nf()\n"),
    "CMake: streq": _cmake('if(USE_ROCM STREQUAL "")\n  g()\nendif()\nf()\n'),
    "CMake: quoted": _cmake('if("${USE_ROCM}" STREQUAL "")\n  g()\nendif()\nf()\n'),
    "CMake: env": _cmake("if(NOT DEFINED ENV{USE_ROCM})\n  g()\nendif()\nf()\n"),
    "CMake: else": _cmake("if(USE_ROCM)\nelse()\n  g()\nendif()\nf()\n"),
    "CMake: genex": _cmake("f($<$<NOT:$<BOOL:${USE_ROCM}>>:-DX>)\n"),
    "CMake: elseif": _cmake("if(USE_ROCM)\nelseif(TRUE)\n  g()\nendif()\nf()\n"),
    "CMake: var": _cmake("set(A ${USE_ROCM})\nif(NOT A)\n  g()\nendif()\nf()\n"),
    "CMake: quote": _cmake('f("a;b")\n', "f(a;b)\n"),
    "CMake: unset": _cmake("unset(USE_ROCM)\nf()\n"),
    "CMake: eval": _cmake('cmake_language(EVAL CODE "g()")\nf()\n'),
    "Make: ifneq": _make("ifneq ($(USE_ROCM),1)\nX=1\nendif\nall:\n\tnvcc a.cu\n"),
    "Make: ifndef": _make("ifndef USE_ROCM\nX=1\nendif\nall:\n\tnvcc a.cu\n"),
    "Make: if": _make("all:\n\tnvcc $(if $(USE_ROCM),,-DX) a.cu\n"),
    "Make: strip": _make("ifeq ($(strip $(USE_ROCM)),)\nX=1\nendif\nall:\n\tnvcc a.cu\n"),
    "Make: zero": _make("USE_ROCM ?= 0\nifeq ($(USE_ROCM),0)\nX=1\nendif\nall:\n\tnvcc a.cu\n"),
    "Make: subst": _make("USE_ROCM ?= 0\nall:\n\tnvcc $(USE_ROCM:0=-DX) a.cu\n"),
    "Make: computed": _make("USE_ROCM ?= 0\nF_0 = -DX\nall:\n\tnvcc $(F_$(USE_ROCM)) a.cu\n"),
    "Make: trailing": _make("D = b \nall:\n\tnvcc $(D)/a\n", "D = b\nall:\n\tnvcc $(D)/a\n"),
    "Make: comment": _make("D = b # x\nall:\n\tnvcc $(D)/a\n", "D = b\nall:\n\tnvcc $(D)/a\n"),
    "Make: define": _make("define X\n  a\nendef\n", "define X\na\nendef\n"),
    "Make: recipe comment": _make("all:\n\t# echo\n\tnvcc a.cu\n"),
    "Make: not": _make("ifeq ($(filter 1,$(USE_ROCM)),)\nX=1\nendif\nall:\n\tnvcc a.cu\n"),
    "JSON: twice": ({"a.json": '{"a": 1}\n'}, {"a.json": '{"a": 2, "a": 1}\n'}),
    "JSON: float": ({"a.json": '{"a": 1}\n'}, {"a.json": '{"a": 1.0}\n'}),
    "JSON: order": ({"a.json": '{"a": 1, "b": 2}\n'}, {"a.json": '{"b": 2, "a": 1}\n'}),
    "JSON: bom": ({"a.json": '{"a": 1}\n'}, {"a.json": '\ufeff{"a": 1}\n'}),
    "TOML: date": ({"a.toml": "a = 1979-05-27\n"}, {"a.toml": "a = '1979-05-27'\n"}),
    "TOML: int": ({"a.toml": "a = 16\n"}, {"a.toml": "a = 16.0\n"}),
    "INI: case": ({"setup.cfg": "[a]\nB = c\n"}, {"setup.cfg": "[a]\nb = c\n"}),
    "INI: default": ({"setup.cfg": "[a]\nb = c\n"}, {"setup.cfg": "[DEFAULT]\nz = 1\n[a]\nb = c\n"}),
    "INI: inline": ({"setup.cfg": "[a]\nb = c\n"}, {"setup.cfg": "[a]\nb = c ; d\n"}),
    "requirements: order": ({"requirements.txt": "a\nb\n"}, {"requirements.txt": "b\na\n"}),
    "requirements: env": ({"requirements.txt": "a\n"}, {"requirements.txt": "a\n${X}\n"}),
    "requirements: editable": ({"requirements.txt": "a\n"}, {"requirements.txt": "a\n-e .[rocm]\n"}),
    "Meson: not": (
        {"meson.build": "project('x')\n", "meson_options.txt": "option('use_rocm', type: 'boolean', value: false)\n"},
        {"meson.build": "project('x')\nif not get_option('use_rocm')\n  f()\nendif\n"},
    ),
    "Meson: ?:": (
        {"meson.build": "project('x')\n", "meson_options.txt": "option('use_rocm', type: 'boolean', value: false)\n"},
        {"meson.build": "project('x')\nf(get_option('use_rocm') ? 1 : 2)\n"},
    ),
}
"""Conditions that are no gates, and texts whose white space or order counts: 69 of 70 were seen at first."""


def _set(path: str, text: str) -> tuple[Files, Files]:
    return {"a.cpp": "int x;\n", path: text}, {"a.cpp": GATED_C}


def _read(path: str, text: str) -> tuple[Files, Files]:
    return {"csrc/k.cu": "int x;\n", path: text}, {"csrc/k.cu": GATED_C}


def _job(more: str) -> tuple[Files, Files]:
    return {"a.cu": ""}, {".github/workflows/rocm.yml": CI + more}


def _toml(new: str, old: str = "[project]\nname = 'x'\n") -> tuple[Files, Files]:
    return {"pyproject.toml": old}, {"pyproject.toml": new}


READ: dict[str, tuple[Files, Files]] = {
    "set by Slurm": _set("job.sh", "#!/bin/sh\n#SBATCH --export=ALL,USE_ROCM=0\nmake\n"),
    "set by PBS": _set("job.sh", "#!/bin/sh\n#PBS -v USE_ROCM=0\nmake\n"),
    "set by Kubernetes": _set("k.yaml", "env:\n  - name: USE_ROCM\n    value: '0'\n"),
    "set by a module file": _set("mod/x.lua", 'setenv("USE_ROCM", "0")\n'),
    "set by a Tcl module file": _set("mod/x", "#%Module\nsetenv USE_ROCM 0\n"),
    "set by Spack": _set("package.py", "def f(self):\n    return [self.define('USE_ROCM', False)]\n"),
    "set by Spack's env": _set("package.py", "def f(env):\n    env.set('USE_ROCM', '0')\n"),
    "set by nox": _set("noxfile.py", "def t(session):\n    session.env['USE_ROCM'] = '0'\n"),
    "set by nox's run": _set("noxfile.py", "def t(session):\n    session.run('make', env={'USE_ROCM': '0'})\n"),
    "set by a fixture": _set("conftest.py", "def f(monkeypatch):\n    monkeypatch.setenv('USE_ROCM', '0')\n"),
    "set by Cargo": _set(".cargo/config.toml", "[env]\nUSE_ROCM = '0'\n"),
    "set by the editor": _set(".vscode/c_cpp_properties.json", '{"defines": ["USE_ROCM=0"]}\n'),
    "set by Swift": _set("Package.swift", '.define("USE_ROCM", to: "0")\n'),
    "set by Gradle": _set("gradle.properties", "USE_ROCM=0\n"),
    "set by systemd": _set("env.conf", "USE_ROCM=0\n"),
    "set by Automake": _set("Makefile.am", "AM_CPPFLAGS = -DUSE_ROCM=0\n"),
    "set by a site file": _set("config.site", "CPPFLAGS=-DUSE_ROCM\n"),
    "set by Ansible": _set("play.yml", "- hosts: x\n  environment:\n    USE_ROCM: 0\n"),
    "set by a template of Python": _set("gen.py", "TEXT = '#define USE_ROCM 0'\n"),
    "set by a format of Python": _set("gen.py", "open('c.h', 'w').write('#define {} 0'.format('USE_ROCM'))\n"),
    "set by echo": _set("gen.sh", "echo '#define USE_ROCM 0' > config.h\n"),
    "set by sed": _set("gen.sh", "sed -i 's/@X@/USE_ROCM/' config.h\n"),
    "set by file(WRITE)": _set("CMakeLists.txt", 'file(WRITE config.h "#define USE_ROCM 0")\n'),
    "set by a variable of CMake": _set("CMakeLists.txt", "set(D USE_ROCM)\nadd_definitions(-D${D}=0)\n"),
    "set by X-macros": _set("defs.def", "X(USE_ROCM)\n"),
    "set by CSV": _set("flags.csv", "name,value\nUSE_ROCM,0\n"),
    "set by make's command line": _set("b.sh", "make USE_ROCM=0\n"),
    "read by Python's glob": _read("g.py", "import glob\nS = [open(f).read() for f in glob.glob('csrc/*.cu')]\n"),
    "read by pathlib's glob": _read(
        "g.py", "from pathlib import Path\nS = [p.read_text() for p in Path('csrc').glob('*.cu')]\n"
    ),
    "read by a loop, lines below": _read(
        "g.py",
        "from glob import glob\ndef key(h):\n    for f in glob('csrc/*.cu'):\n        # 1\n        # 2\n"
        "        # 3\n        # 4\n        path = f\n        h.update(path.read_bytes())\n",
    ),
    "read by a loop over a list made above": _read(
        "g.py", "from glob import glob\nS = []\nS += glob('csrc/*.cu')\n\n\n\n\n\nT = [open(f) for f in sorted(S)]\n"
    ),
    "read by CMake's glob": _read(
        "CMakeLists.txt", "file(GLOB S csrc/*.cu)\nforeach(f ${S})\n  file(READ ${f} T)\nendforeach()\n"
    ),
    "read by cat": _read("b.sh", "cat csrc/*.cu > all.cu\n"),
    "read by sed": _read("b.sh", "sed -i 's/x/y/' csrc/*.cu\n"),
    "read by md5sum": _read("b.sh", "md5sum csrc/*.cu > sums\n"),
    "read by a loop": _read("b.sh", "for f in csrc/*.cu; do head -n 1 $f; done\n"),
    "read by CuPy": _read(
        "g.py", "import cupy, os\nM = cupy.RawModule(code=open(os.path.join('csrc', 'k.cu')).read())\n"
    ),
    "read by resources": _read(
        "g.py", "from importlib.resources import files\nS = files('csrc').joinpath('k.cu').read_text()\n"
    ),
    "read by Jinja": _read("g.py", "S = env.get_template('k.cu').render()\n"),
    "read by nvrtc": _read("h.cpp", 'auto s = slurp("csrc/k.cu"); nvrtcCreateProgram(&p, s, 0, 0, 0, 0);\n'),
    "read by ld": _read("b.sh", "ld -r -b binary -o k.o csrc/k.cu\n"),
    "read by Node": _read("g.js", "const s = fs.readFileSync('csrc/k.cu', 'utf8');\n"),
    "read by Rust": _read("g.rs", 'const S: &str = include_str!("csrc/k.cu");\n'),
    "read by a here-string": _read("b.sh", "TEXT=$(<csrc/k.cu)\n"),
    "read by redirection": _read("b.sh", "nvcc -x cu - < csrc/k.cu\n"),
    "read by redirection, lines below": _read("Makefile", "all:\n\tmytool < csrc/k.cu\n\techo hi\n"),
    "read by redirection into another": _read("Makefile", "all:\n\tbase64 < csrc/k.cu > k.b64\n"),
    "read by git": _read("b.sh", "git hash-object csrc/k.cu\n"),
    "read by grep": _read("b.sh", "grep -c __global__ csrc/k.cu\n"),
    "read by diff": _read("b.sh", "diff csrc/k.cu other.cu\n"),
    "twins of Unicode": ({"c/\u00e9.cu": ""}, {"hip/a.cu": "", "c/e\u0301.cu": ""}),
    "a path too long for Windows": ({"a.cu": ""}, {"hip/" + "/".join(["d" * 60] * 5) + "/k.cu": ""}),
    "a job that commits": _job("      - uses: stefanzweifel/git-auto-commit-action@v5\n"),
    "a job that writes pages": _job("      - uses: peaceiris/actions-gh-pages@v4\n"),
    "a job that pushes an image": _job("      - uses: docker/build-push-action@v6\n        with: {push: true}\n"),
    "a job that copies to a bucket": _job("      - run: aws s3 cp a s3://b\n"),
    "a job with a token": _job("    permissions:\n      id-token: write\n"),
    "a job that comments": _job("      - run: gh pr comment 1 -b x\n"),
    "a job that reports coverage": _job("      - uses: codecov/codecov-action@v4\n"),
    "a job that uploads packages": _job("      - run: anaconda upload x\n"),
    "an order of requirements": _toml(
        "[build-system]\nrequires = ['b', 'a']\n", "[build-system]\nrequires = ['a', 'b']\n"
    ),
    "an edited extra": _toml(
        "[project]\nname='x'\n[project.optional-dependencies]\ndev = ['a', 'amdsmi']\n",
        "[project]\nname='x'\n[project.optional-dependencies]\ndev = ['a']\n",
    ),
    "a default group": _toml(
        "[project]\nname='x'\n[dependency-groups]\nrocm = ['a']\n[tool.uv]\ndefault-groups = ['rocm']\n"
    ),
    "a dependency for an extra": _toml(
        "[project]\nname='x'\ndependencies = [\"amdsmi; extra == 'rocm'\"]\n",
        "[project]\nname='x'\ndependencies = []\n",
    ),
    "a dynamic field": _toml("[project]\nname='x'\ndynamic = ['version']\n"),
    "a backend's path": _toml(
        "[build-system]\nrequires = []\nbackend-path = ['hip']\n", "[build-system]\nrequires = []\n"
    ),
    "a group of another name for dev": _toml("[project]\nname='x'\n[dependency-groups]\nDEV = ['a']\n"),
    "a group that includes another": _toml(
        "[project]\nname='x'\n[dependency-groups]\ndev = ['a', {include-group = 'rocm'}]\nrocm = ['b']\n",
        "[project]\nname='x'\n[dependency-groups]\ndev = ['a']\n",
    ),
}
"""Who sets a gate, who reads a text that the port changed, jobs: 36 of 67 were seen at first, two are not."""


def write(folder: Path, files: Files) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    return folder


EVERY = {**LEAKS, **TAKEN, **CORNERS, **READ}


@pytest.mark.parametrize("name", EVERY)
def test_an_invented_leak_is_not_called_unchanged(name: str, tmp_path: Path) -> None:
    old, new = EVERY[name]
    proof = nvidia.verify(write(tmp_path / "new", {**old, **new}), write(tmp_path / "old", old))
    assert proof.verdict in ("changed", "not decided")


def test_a_new_pipe_is_not_called_unchanged(tmp_path: Path) -> None:
    old, new = write(tmp_path / "old", {"c/k.cu": ""}), write(tmp_path / "new", {"c/k.cu": ""})
    os.mkfifo(new / "c" / "j.cu")
    assert nvidia.verify(new, old).verdict in ("changed", "not decided")


def test_a_new_empty_folder_that_is_asked_for_is_not_called_unchanged(tmp_path: Path) -> None:
    files = {"CMakeLists.txt": "if(IS_DIRECTORY ${CMAKE_SOURCE_DIR}/rocm)\n  f()\nendif()\n"}
    old, new = write(tmp_path / "old", files), write(tmp_path / "new", files)
    (new / "rocm").mkdir()
    assert nvidia.verify(new, old).verdict in ("changed", "not decided")


def test_what_a_dangling_link_shows_is_not_called_unchanged(tmp_path: Path) -> None:
    old, new = write(tmp_path / "old", {"c/k.cu": ""}), write(tmp_path / "new", {"c/k.cu": "", "hip/k.cu": ""})
    for folder in (old, new):
        (folder / "c" / "amd").symlink_to("../hip")
    assert nvidia.verify(new, old).verdict == "not decided"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"dev/a.go": ""}, {"hip/k.go": ""}),
        ({"Cargo.toml": "", "src/lib.rs": ""}, {"hip/src/rocm.rs": ""}),
        ({"pkg/a.py": "import importlib\nimportlib.import_module('json')\n"}, {"hip/k.py": ""}),
        ({"pytest.ini": "[pytest]\npython_files = check_*.py\n"}, {"hip/k.py": ""}),
        ({"Makefile": "all:\n\tnvcc a.cu\n-include $(OBJ:.o=.d)\n"}, {"hip/k.d": ""}),
        ({"g.py": "import glob\nS = glob.glob('csrc/*.cu')\n", "csrc/a.cu": "int x;\n"}, {"csrc/a.cu": GATED_C}),
        ({".travis.yml": "script:\n  - find . -not -path '*/\\.*' | grep x\n"}, {"hip/k.cu": ""}),
        ({".travis.yml": "script: make  # for d in */\n"}, {"hip/k.cu": ""}),
        ({".travis.yml": "script:\n  - echo 'int x; /* a */' > a.c\n"}, {"hip/k.cu": ""}),
        ({"Makefile": "all:\n\techo '/* made */' > a.h  # for d in */\n"}, {"hip/k.cu": ""}),
        ({"a.scss": "/* a\n b */\n"}, {"hip/k.cu": ""}),
        (
            {
                "setup.py": "from glob import glob\ndef f():\n    s = glob('csrc/*.cu')\n\n\n\n\n"
                "    for n in glob('*.txt'):\n        open(n)\n    g(s, open('README'))\n",
                "csrc/a.cu": "int x;\n",
            },
            {"csrc/a.cu": GATED_C},
        ),
        ({"j.js": "f(); /* for a in b */\n"}, {"hip/k.cu": ""}),
        ({"j.hpp": "/* open(x) */ int y; /* a */\n", "csrc/a.cu": "int x;\n"}, {"csrc/a.cu": GATED_C}),
        ({"g.py": "x = open(f).read() * 2  # csrc/*.cu\n", "csrc/a.cu": "int x;\n"}, {"csrc/a.cu": GATED_C}),
        ({"b.cpp": '#include "k.cuh"\nbool f = 1 < K\n;\n', "k.cuh": "int x;\n"}, {"k.cuh": GATED_C}),
        ({"x.egg-info/PKG-INFO": "cat a.cu | open('a.cu')\n", "a.cu": "int x;\n"}, {"a.cu": GATED_C}),
        ({"b.sh": "for f in csrc/*/; do ls $f; done\n", "csrc/a/b.cu": ""}, {"hip/k.cu": ""}),
        ({".github/workflows/a.yml": "on:\n  push:\n    paths:\n      - '**/*.cu'\n"}, {"hip/k.cu": ""}),
    ],
)
def test_what_no_tool_takes_is_unchanged(old: Files, new: Files, tmp_path: Path) -> None:
    proof = nvidia.verify(write(tmp_path / "new", {**old, **new}), write(tmp_path / "old", old))
    assert proof.verdict == "unchanged", proof.differences
