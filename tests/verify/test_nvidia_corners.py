"""Corners of languages and of trees that a leak could hide in."""

from __future__ import annotations

import marshal
import os
import py_compile
from pathlib import Path

import pytest

from rocport.verify import nvidia

CMAKE = "project(x)\nadd_library(a a.cpp)\n"


def put(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def verdict(tmp_path: Path, old: dict[str, str], new: dict[str, str]) -> str:
    return nvidia.verify(put(tmp_path / "new", {**old, **new}), put(tmp_path / "old", old)).verdict


NAMED = {"m.py": "import torch\n_R = torch.version.hip is not None\nx = 1\n"}
PLAIN = {"m.py": "import torch\nx = 1\n"}
MACROS = {"a.h": "#define AT __LINE__\n", "b.h": "#define HERE AT + 0\n", "a.cpp": "int x = HERE;\n"}
LEAKS: list[tuple[dict[str, str], dict[str, str]]] = [
    # Line ends of another kind, where there were some and where there were none.
    *(({"l.cmake": text}, {"l.cmake": f"{text}# a\r\n"}) for text in ("", "f()\n", "f()")),
    ({"l.cmake": "f()\r\n"}, {"l.cmake": "f()\n"}),
    ({"l.cmake": "f()\r\n"}, {"l.cmake": "f()\r\nif(USE_ROCM)\nendif()\r\n"}),
    # What a batch system reads, and what writes code into a file, are comments.
    ({"a.py": "#SBATCH --gres=gpu:1\nx = 1\n"}, {"a.py": "#SBATCH --gres=gpu:2\nx = 1\n"}),
    ({"a.py": "# [[[cog\n# out(1)\n# ]]]\n"}, {"a.py": "# [[[cog\n# out(2)\n# ]]]\n"}),
    ({"a.cpp": "/*[[[cog out(1) ]]]*/\nint x;\n"}, {"a.cpp": "/*[[[cog out(2) ]]]*/\nint x;\n"}),
    ({"a.cpp": "// cppimport\n/* cfg = 1 */\n"}, {"a.cpp": "// cppimport\n/* cfg = 2 */\n"}),
    ({"a.cu": '//usr/bin/env nvcc "$0"\nint x;\n'}, {"a.cu": '//usr/bin/env hipcc "$0"\nint x;\n'}),
    ({"a.cu": "// COMPILE_FLAGS: -O2\nint x;\n"}, {"a.cu": "// COMPILE_FLAGS: -O0\nint x;\n"}),
    ({"a.cu": "// ALLOW_RETRIES: 2\nint x;\n"}, {"a.cu": "// ALLOW_RETRIES: 3\nint x;\n"}),
    # A line number behind two macros of two files.
    (MACROS, {"a.cpp": "#ifdef USE_ROCM\nint y;\n#endif\nint x = HERE;\n"}),
    # The value of a cell is not shown.
    (
        {"a.ipynb": '{"cells": [{"cell_type": "code", "source": ["x"]}]}'},
        {"a.ipynb": '{"cells": [{"cell_type": "code", "source": ["x;"]}]}'},
    ),
    # A function that is handed to something whose outcome is kept.
    (
        {"a.py": "import torch\ndef f():\n    return 1\ng = program(f)\n"},
        {"a.py": "import torch\ndef f():\n    if torch.version.hip:\n        return 2\n    return 1\ng = program(f)\n"},
    ),
    # A module whose names are looked through under another name.
    ({**PLAIN, "u.py": "import m, n\nK = [dir(each) for each in (m, n)]\n"}, NAMED),
    ({**PLAIN, "u.py": "import m\nK = list(map(dir, [m]))\n"}, NAMED),
    ({**PLAIN, "u.py": "import m\ndef f(a):\n    return dir(a)\nK = f(m)\n"}, NAMED),
    ({**PLAIN, "u.py": "import sys\nK = {k: dir(v) for k, v in sys.modules.items()}\n"}, NAMED),
    ({**PLAIN, "u.py": "import sys\nK = dir(sys.modules['m'])\n"}, NAMED),
    ({**PLAIN, "u.py": "from importlib import import_module\nK = list(vars(import_module('m')))\n"}, NAMED),
    ({**PLAIN, "u.py": "import sys\na = sys.modules['m']\nK = dir(a)\n"}, NAMED),
    ({**PLAIN, "u.py": "from sys import modules as loaded\nK = dir(loaded['m'])\n"}, NAMED),
    ({**PLAIN, "u.py": "from inspect import getmembers as g\nimport m\nK = g(m)\n"}, NAMED),
    ({**PLAIN, "u.py": "import m\nK = m.__dir__()\n"}, NAMED),
    ({**PLAIN, "u.py": "import m\nM = {'m': m}\nK = dir(M['m'])\n"}, NAMED),
    ({**PLAIN, "u.py": "import runpy\nK = list(runpy.run_path('m.py'))\n"}, NAMED),
    ({**PLAIN, "u.py": "from importlib import import_module\na = import_module('m')\nK = list(a.__dict__)\n"}, NAMED),
    (
        {"m.py": "import inspect, sys, torch\nK = inspect.getmembers(sys.modules[__name__])\n"},
        {"m.py": "import inspect, sys, torch\n_R = torch.version.hip\nK = inspect.getmembers(sys.modules[__name__])\n"},
    ),
    (
        {"m.py": "import torch\ndef f():\n    pass\nK = list(f.__globals__)\n"},
        {"m.py": "import torch\n_R = torch.version.hip\ndef f():\n    pass\nK = list(f.__globals__)\n"},
    ),
    # A folder that a framework loads, and one that the original names without having it.
    ({"a.py": ""}, {"app/migrations/0002.py": ""}),
    ({"p/__init__.py": "", "p/m.py": "x = 1\n"}, {"p/m/__init__.py": "x = 2\n"}),
    ({"airflow.cfg": "[core]\nfolder = flows\n"}, {"flows/new.py": ""}),
    (
        {"p/__init__.py": "from lazy_loader import attach_stub\nattach_stub(__name__, __file__)\n"},
        {"p/__init__.pyi": ""},
    ),
    ({"p/m.py": "x = 1\n"}, {"p/m.pyi": "x: int\n"}),
    ({"a.py": ""}, {"binder/start": "make\n"}),
    # AND and OR bind alike in CMake: `ON OR OFF AND OFF` is `(ON OR OFF) AND OFF`.
    (
        {"CMakeLists.txt": "if(A)\n  f()\nendif()\n"},
        {"CMakeLists.txt": "if(A OR B AND USE_ROCM)\n  f()\nendif()\n"},
    ),
    # A conditional inside `define` is text of the variable.
    (
        {"Makefile": "define R\nnvcc\nendef\n"},
        {"Makefile": "define R\nifdef USE_ROCM\nhipcc\nelse\nnvcc\nendif\nendef\n"},
    ),
    # Declaring the gate shows where it is asked whether it is set.
    (
        {"Makefile": "all: a\n", "rules.mk": "ifdef USE_ROCM\nX = 1\nendif\n"},
        {"Makefile": "USE_ROCM ?= 0\nall: a\n"},
    ),
    (
        {"Makefile": "X := $(origin USE_ROCM)\nall: a\n"},
        {"Makefile": "USE_ROCM ?= 0\nX := $(origin USE_ROCM)\nall: a\n"},
    ),
    # pip does not go on after a backslash at the end of a comment.
    ({"requirements.txt": "numpy\n"}, {"requirements.txt": "numpy\n# for ROCm \\\nevil\n"}),
    # uv installs the group `dev` unasked.
    (
        {"pyproject.toml": "[project]\nname = 'x'\n"},
        {"pyproject.toml": "[project]\nname = 'x'\n[dependency-groups]\ndev = ['amdsmi']\n"},
    ),
    # `#` begins a comment for C's lexer nowhere, for an assembler it does; `'` is no string there.
    ({"k.s": "add r1, r2 # // old\n"}, {"k.s": "add r1, r2 # // new\n.byte 1 // x\n"}),
    ({"k.s": "// a\nnop\n"}, {"k.s": "// b\nnop\n"}),
    ({"f.inc": "      x = 1 // y\n"}, {"f.inc": "      x = 1 // z\n"}),
    ({"m.m": "x = 'a // b';\n"}, {"m.m": "x = 'a // c';\n"}),
    # C and C++: another type in `sizeof`, and a wider one.
    ({"a.c": "int f(void) { return sizeof(float); }\n"}, {"a.c": "int f(void) { return sizeof(double); }\n"}),
    ({"a.c": "void f(int n);\n"}, {"a.c": "void f(long n);\n"}),
    ({"a.c": "unsigned x;\n"}, {"a.c": "unsigned long x;\n"}),
]

GATE = "import torch\n{}if torch.version.hip:\n    {}\n"
LEAKS += [
    # A module that an older Python cannot read is lost there, gated or not.
    (
        {"pyproject.toml": "[project]\nname = 'x'\nrequires-python = '>=3.8'\n", "a.py": "import torch\n"},
        {"a.py": GATE.format("", "match torch:\n        case 1:\n            pass")},
    ),
    ({"a.py": "import torch\n"}, {"a.py": GATE.format("", "match torch:\n        case 1:\n            pass")}),
    (
        {"setup.py": "setup(python_requires='>=3.10')\n", "a.py": "import torch\n"},
        {"a.py": GATE.format("", "try:\n        f()\n    except* ValueError:\n        pass")},
    ),
    # What reads source text or byte code sees the gate.
    (
        {"a.py": "import torch\nimport inspect\nK = inspect.getsource(torch)\n"},
        {"a.py": GATE.format("import inspect\nK = inspect.getsource(torch)\n", "print(1)")},
    ),
    (
        {"a.py": "import torch\ndef f():\n    return 1\n", "b.py": "import a\nK = a.f.__code__.co_code\n"},
        {"a.py": "import torch\ndef f():\n    if torch.version.hip:\n        return 2\n    return 1\n"},
    ),
    (
        {"a.py": "import torch\nclass N(torch.nn.Module):\n    x = 1\nM = torch.jit.script(N())\n"},
        {
            "a.py": "import torch\nclass N(torch.nn.Module):\n    if torch.version.hip:\n        y = 2\n"
            "    x = 1\nM = torch.jit.script(N())\n"
        },
    ),
    (
        {"a.py": "import torch\nKEY = hash(open(__file__).read())\n"},
        {"a.py": GATE.format("KEY = hash(open(__file__).read())\n", "print(1)")},
    ),
]


SEED = "#ifdef USE_ROCM\nint r;\n#endif\n"
PY = "import torch\ndef f():\n    return 1\n"
GATED_PY = "import torch\ndef f():\n    if torch.version.hip:\n        return 2\n    return 1\n"
READERS = [
    *("K = open('a.py').read()\n", "import pkgutil\nK = pkgutil.get_data('p', 'a.py')\n"),
    *("import torch, a\nK = torch.jit.script(a.f)\n", "from a import f\nimport numba\nK = numba.njit(f)\n"),
    *("import a, cloudpickle\nK = cloudpickle.dumps(a.f)\n", "import a\nK = hash(a.f.__code__)\n"),
]
LEAKS += [
    # A line number that is more than a report of the place.
    ({"a.cu": "int seed = __LINE__;\n"}, {"a.cu": f"{SEED}int seed = __LINE__;\n"}),
    (
        {"a.cu": "int a = std::source_location::current().line();\n"},
        {"a.cu": f"{SEED}int a = std::source_location::current().line();\n"},
    ),
    ({"a.cu": "auto a = std::stacktrace::current();\n"}, {"a.cu": f"{SEED}auto a = std::stacktrace::current();\n"}),
    (
        {"h.h": "#define ID (__LINE__ % 7)\n", "a.cu": '#include "h.h"\nint a = ID;\n'},
        {"a.cu": f'#include "h.h"\n{SEED}int a = ID;\n'},
    ),
    # Whoever sees that a variable of Make is declared.
    ({"Makefile": "X = $(if $(USE_ROCM),a,b)\n"}, {"Makefile": "USE_ROCM ?= 0\nX = $(if $(USE_ROCM),a,b)\n"}),
    ({"Makefile": "X = a$(USE_$(B))\n"}, {"Makefile": "USE_ROCM ?= 0\nX = a$(USE_$(B))\n"}),
    (
        {"Makefile": "include c.inc\n", "c.inc": "ifdef USE_ROCM\nendif\n"},
        {"Makefile": "USE_ROCM ?= 0\ninclude c.inc\n"},
    ),
    # Readers of the text of a module.
    *(({"a.py": PY, "b.py": text}, {"a.py": GATED_PY}) for text in READERS),
    *(
        ({"a.py": f"{text}{PY}"}, {"a.py": f"{text}{GATED_PY}"})
        for text in (
            "from pathlib import Path\nK = Path(__file__).read_text()\n",
            "import hashlib\nK = hashlib.md5(open(__file__, 'rb').read())\n",
            "import os\nK = os.path.getsize(__file__)\n",
        )
    ),
    (
        {"a.py": f"import fast\n{PY.replace('def', '@fast.compiled' + chr(10) + 'def')}"},
        {"a.py": f"import fast\n{GATED_PY.replace('def', '@fast.compiled' + chr(10) + 'def')}"},
    ),
    # The project that a module is part of, in a tree that holds several.
    (
        {
            "pyproject.toml": "[project]\nrequires-python = '>=3.11'\n",
            "s/setup.py": "setup(python_requires='>=3.7')\n",
            "s/a.py": "import torch\n",
        },
        {"s/a.py": GATE.format("", "match torch:\n        case 1:\n            pass")},
    ),
    *(
        ({"setup.py": "setup(python_requires='>=3.7')\n", "a.py": "import torch\n"}, {"a.py": GATE.format("", text)})
        for text in ("x = a[*b]", "x = f'{torch=}'", "x: tuple = 1, *a", "def f():\n        return 1, *a")
    ),
    # Headers that the tree does not include, but others may.
    ({"include/a.h": ""}, {"include/half.hpp": ""}),
    ({"include/torch/a.h": ""}, {"include/torch/extension.h": ""}),
]


@pytest.mark.parametrize(("old", "new"), LEAKS)
def test_a_leak_in_a_corner_is_caught(tmp_path: Path, old: dict[str, str], new: dict[str, str]) -> None:
    assert verdict(tmp_path, old, new) in ("changed", "not decided")


def test_gates_that_bind_as_cmake_binds_them_are_gates(tmp_path: Path) -> None:
    old = {"CMakeLists.txt": CMAKE}
    gate = "if(A OR B AND USE_ROCM)\n  f()\nendif()\n"
    assert verdict(tmp_path, old, {"CMakeLists.txt": CMAKE + gate}) == "unchanged"


@pytest.mark.parametrize(("gated", "expected"), [("X = 1\n", "unchanged"), ("X = 2\n", "changed")])
def test_what_makefiles_include_is_compared_as_make(tmp_path: Path, gated: str, expected: str) -> None:
    old = {"Makefile": "include make.inc\n", "make.inc": "X = 1\n"}
    new = f"ifeq ($(USE_ROCM),1)\nX = 3\nelse\n{gated}endif\n"
    assert verdict(tmp_path, old, {"make.inc": new}) == expected


def test_an_inc_that_c_includes_is_compared_as_c(tmp_path: Path) -> None:
    old = {"a.c": '#include "t.inc"\n', "t.inc": "int x;\n"}
    assert verdict(tmp_path, old, {"t.inc": "#ifdef USE_ROCM\nint y;\n#endif\nint x;\n"}) == "unchanged"


def test_an_optional_group_that_nobody_gets_unasked_is_none(tmp_path: Path) -> None:
    old = {"pyproject.toml": "[project]\nname = 'x'\n"}
    new = old["pyproject.toml"] + "[dependency-groups]\nrocm = ['amdsmi']\n"
    assert verdict(tmp_path, old, {"pyproject.toml": new}) == "unchanged"


@pytest.mark.parametrize(
    "path",
    [
        *(".envrc", ".npmrc", ".condarc", ".python-version", ".clang-tidy", ".clang-format", ".pre-commit-config.yaml"),
        *("sub/pyvenv.cfg", "sub/usercustomize.py", ".bazelrc", "CMakeUserPresets.json", ".yarnrc", "sub/Makefile.am"),
        *(".some-new-tool", "some-new-tool.conf", "docs/.hidden/x", "sub/.gitattributes", "hip/.clang-tidy"),
    ],
)
def test_a_file_that_a_tool_reads_by_its_name_is_a_difference(tmp_path: Path, path: str) -> None:
    assert verdict(tmp_path, {"sub/a.txt": "", "docs/a.txt": ""}, {path: ""}) == "changed"


@pytest.mark.parametrize("path", ["Dockerfile.rocm", "requirements-rocm.txt", "ROCM.md", "PORTING.md", "hip/src/a.h"])
def test_a_file_of_the_port_is_none(tmp_path: Path, path: str) -> None:
    assert verdict(tmp_path, {"sub/a.txt": ""}, {path: ""}) == "unchanged"


def test_a_compiled_module_that_is_not_checked_against_its_source_is_a_difference(tmp_path: Path) -> None:
    old = put(tmp_path / "old", {"p/a.py": "x = 1\n"})
    new = put(tmp_path / "new", {"p/a.py": "x = 1\n"})
    (new / "p/__pycache__").mkdir()
    place = new / "p/__pycache__/a.cpython-311.pyc"
    place.write_bytes(b"\xa7\x0d\x0d\x0a" + (3).to_bytes(4, "little") + bytes(8))
    assert nvidia.verify(new, old).verdict == "unchanged"
    place.write_bytes(b"\xa7\x0d\x0d\x0a" + (1).to_bytes(4, "little") + bytes(8))
    assert nvidia.verify(new, old).verdict == "changed"


def test_a_bit_of_the_mode_is_a_difference(tmp_path: Path) -> None:
    old = put(tmp_path / "old", {"run.sh": "a\n"})
    new = put(tmp_path / "new", {"run.sh": "a\n"})
    (new / "run.sh").chmod(0o2644)
    if (new / "run.sh").stat().st_mode & 0o2000 == 0:
        pytest.skip("this file system keeps no set-group-ID bit")
    assert nvidia.verify(new, old).verdict == "changed"


DEEP = 600
CHAINS = {
    "sum": "x = f(" + " + ".join(["a"] * DEEP) + ")\n",
    "attributes": f"x = vars(a{'.b' * DEEP})\n",
    "calls": f"x = dir(f{'()' * DEEP})\n",
    "items": f"x = open(a{'[0]' * DEEP}.__file__)\n",
    "branches": "if a:\n    x = 1\n" + "elif b:\n    x = 1\n" * DEEP,
    "decorator": f"@a{'.b' * DEEP}\ndef f():\n    return 1\n",
}
"""As deep as no reader recurses by itself, and as the compiler takes it: hundreds of `elif` are ordinary."""


@pytest.mark.parametrize("chain", CHAINS)
def test_what_the_compiler_takes_is_not_too_deep(tmp_path: Path, chain: str) -> None:
    head = "import torch, glob\nimport m\nfrom setuptools import setup\n"
    text = f"{head}{CHAINS[chain]}setup(package_data={{'p': ['*.h']}}, packages=[])\n"
    old = {"u.py": text, "setup.py": text, "m.py": PLAIN["m.py"]}
    gate = "if torch.version.hip:\n    y = 1\n"
    assert verdict(tmp_path / "beside", old, NAMED) in ("unchanged", "not decided")
    changed = {"u.py": text + gate, "setup.py": text.replace("from setup", f"{gate}from setup")}
    assert verdict(tmp_path / "gated", old, changed) in ("unchanged", "not decided")
    assert verdict(tmp_path / "changed", old, {"u.py": text + "z = 1\n"}) == "changed"


def test_a_generated_module_that_is_nested_deeply_is_refused(tmp_path: Path) -> None:
    made = f"from typing import Any\n{CHAINS['calls']}"
    assert verdict(tmp_path, {"m.py": ""}, {"_rocm_compat.py": made}) == "changed"


UNCHANGED: list[tuple[dict[str, str], dict[str, str]]] = [
    # A place that is only reported, functions that are only called, versions that are looked for.
    (
        {"a.cu": "void f() { report(__FILE__, __LINE__); }\n"},
        {"a.cu": f"{SEED}void f() {{ report(__FILE__, __LINE__); }}\n"},
    ),
    (
        {"a.py": f"import functools\n{PY.replace('def', '@functools.lru_cache' + chr(10) + 'def')}"},
        {"a.py": f"import functools\n{GATED_PY.replace('def', '@functools.lru_cache' + chr(10) + 'def')}"},
    ),
    ({"a.py": PY, "b.sh": "sed -n 's/__version__ = //p' a.py\n"}, {"a.py": GATED_PY}),
    (
        {"a.py": f"import os\nH = os.path.dirname(__file__)\n{PY}"},
        {"a.py": f"import os\nH = os.path.dirname(__file__)\n{GATED_PY}"},
    ),
    (
        {"Makefile": "ifeq ($(USE_ROCM),1)\nX = 1\nendif\n"},
        {"Makefile": "USE_ROCM ?= 0\nifeq ($(USE_ROCM),1)\nX = 1\nendif\n"},
    ),
    # A file that had no line has no ends of lines to keep.
    ({"l.cmake": ""}, {"l.cmake": "if(USE_ROCM)\n  f()\nendif()\n"}),
    (
        {"meson.build": "project('x')\n", "meson_options.txt": ""},
        {"meson_options.txt": "option('use_rocm', type: 'boolean', value: false)\n"},
    ),
    # What a build script defines for ROCm only is no switch.
    (
        {
            "setup.py": "import torch\nM = []\nif torch.version.hip:\n    M += [('USE_ROCM', None)]\n",
            "a.cu": "int x;\n",
        },
        {"a.cu": f"{SEED}int x;\n"},
    ),
]


@pytest.mark.parametrize(("old", "new"), UNCHANGED)
def test_a_port_that_touches_nothing_is_unchanged(tmp_path: Path, old: dict[str, str], new: dict[str, str]) -> None:
    assert verdict(tmp_path, old, new) == "unchanged"


def test_a_compiled_module_must_be_that_of_the_source_it_claims(tmp_path: Path) -> None:
    old, new = put(tmp_path / "old", {"a.py": "x = 1\n"}), put(tmp_path / "new", {"a.py": "x = 1\n"})
    place = Path(py_compile.compile(str(new / "a.py"), doraise=True))
    assert nvidia.verify(new, old).verdict == "unchanged"
    other = compile("x = 2\n", str(new / "a.py"), "exec")
    place.write_bytes(place.read_bytes()[:16] + marshal.dumps(other))
    assert nvidia.verify(new, old).verdict == "changed"


def test_permissions_of_one_file_are_not_decided_and_a_umask_is_nothing(tmp_path: Path) -> None:
    files = {"a.sh": "a\n", "b.sh": "b\n"}
    old, new = put(tmp_path / "old", files), put(tmp_path / "new", files)
    for name in files:
        (new / name).chmod(0o600)
    assert nvidia.verify(new, old).verdict == "unchanged"
    (new / "b.sh").chmod(0o644)
    assert nvidia.verify(new, old).verdict == "not decided"


@pytest.mark.parametrize("bit", [1 << place for place in range(9) if 1 << place not in (0o100, 0o400)])
def test_each_bit_of_the_permissions_of_one_file_counts(tmp_path: Path, bit: int) -> None:
    for files in ({"a.sh": ""}, {"a.sh": "", "b.sh": ""}):
        old, new = put(tmp_path / f"{len(files)}/old", files), put(tmp_path / f"{len(files)}/new", files)
        assert nvidia.verify(new, old).verdict == "unchanged"
        (new / "a.sh").chmod((new / "a.sh").stat().st_mode ^ bit)
        assert nvidia.verify(new, old).verdict == "not decided"
    # Of every file alike it is the umask of whoever copied them, and what more changed of one is still said.
    (new / "b.sh").chmod((new / "b.sh").stat().st_mode ^ bit)
    assert nvidia.verify(new, old).verdict == "unchanged"
    (new / "b.sh").chmod((new / "b.sh").stat().st_mode ^ (2 if bit != 2 else 4))
    assert nvidia.verify(new, old).verdict == "not decided"


def test_a_name_that_is_no_text_is_compared_like_any_other(tmp_path: Path) -> None:
    for name in ("old", "new"):
        put(tmp_path / name, {"CMakeLists.txt": "f()\n"})
        (tmp_path / name / os.fsdecode(b"\xe9.py")).write_text("x = 1\n")
    (tmp_path / "new" / os.fsdecode(b"\xe9.py")).write_text("x = 2\n")
    (tmp_path / "new" / os.fsdecode(b"\xff.cu")).write_text("int x;\n")
    proof = nvidia.verify(tmp_path / "new", tmp_path / "old")
    assert proof.verdict == "changed" and {os.fsencode(item.path) for item in proof.differences} >= {b"\xe9.py"}
