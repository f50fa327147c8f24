"""Corners of languages and of trees that a leak could hide in."""

from __future__ import annotations

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


LEAKS: list[tuple[dict[str, str], dict[str, str]]] = [
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


@pytest.mark.parametrize(("old", "new"), LEAKS)
def test_a_leak_in_a_corner_is_caught(tmp_path: Path, old: dict[str, str], new: dict[str, str]) -> None:
    assert verdict(tmp_path, old, new) in ("changed", "not decided")


def test_gates_that_bind_as_cmake_binds_them_are_gates(tmp_path: Path) -> None:
    old = {"CMakeLists.txt": CMAKE}
    gate = "if(A OR B AND USE_ROCM)\n  f()\nendif()\n"
    assert verdict(tmp_path, old, {"CMakeLists.txt": CMAKE + gate}) == "unchanged"


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
