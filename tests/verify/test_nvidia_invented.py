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


def write(folder: Path, files: Files) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    return folder


@pytest.mark.parametrize("name", LEAKS)
def test_an_invented_leak_is_not_called_unchanged(name: str, tmp_path: Path) -> None:
    old, new = LEAKS[name]
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
