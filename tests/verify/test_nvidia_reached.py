"""Who could take up a new or a changed file: pairs that differ in one thing, of which one is named and one is not."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from rocport.verify import nvidia
from rocport.verify.nvidia import Kind
from rocport.verify.nvidia.tree import TreeError, read_folder, read_revision, read_work_tree

INIT = {"p/__init__.py": ""}


def proof(tmp_path: Path, original: dict[str, str], new: dict[str, str]) -> nvidia.Proof:
    for name, files in (("old", original), ("new", {**original, **new})):
        (tmp_path / name).mkdir(parents=True)
        for path, text in files.items():
            place = tmp_path / name / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
    return nvidia.verify(tmp_path / "new", tmp_path / "old")


def said(found: nvidia.Proof, path: str) -> list[tuple[Kind, str]]:
    return [(item.kind, item.message) for item in found.differences if item.path == path]


@pytest.mark.parametrize(
    ("original", "new", "kind", "words"),
    [
        ({"a/b.py": ""}, "a/Dockerfile", Kind.REVIEW, "container tools"),
        (
            {**INIT, "p/l.py": "import importlib\nX = importlib.import_module('p.' + name)\n"},
            "p/b.py",
            Kind.UNDECIDED,
            "whose name is computed",
        ),
        (
            {**INIT, "p/l.py": "import importlib\nX = importlib.import_module('p.b')\n"},
            "p/b.py",
            Kind.UNDECIDED,
            "imported by a string",
        ),
        (
            {**INIT, "setup.py": "setup(package_data={'p': ['*.txt']})\n"},
            "p/x.txt",
            Kind.REVIEW,
            "installed with the package's data",
        ),
        ({"a/b.c": "#define H <x.h>\n#include H\n"}, "a/x.h", Kind.UNDECIDED, "of a macro"),
        ({"a/b.c": '#include "rocm_x.h"\n'}, "a/rocm_x.h", Kind.DIFFERENCE, "may find it first"),
        ({"a/b.c": '#include "rocm_x.h"\n#if A\n'}, "a/rocm_x.h", Kind.DIFFERENCE, "may find it first"),
        ({"a/b.c": "x"}, "a/string.h", Kind.UNDECIDED, "the system's or a library's"),
        ({"Makefile": "rocm_all:\n\ttrue\n"}, "rocm_all", Kind.DIFFERENCE, "result of the target"),
        ({"a.sh": "source a/rocm*.sh\n", "a/b.sh": ""}, "a/rocm_x.sh", Kind.DIFFERENCE, "wildcard"),
        ({"a.sh": "ls a/rocm*.sh\n", "a/b.sh": ""}, "a/rocm_x.sh", Kind.REVIEW, "wildcard"),
        ({"a/b.py": ""}, "a/test_rocm.py", Kind.DIFFERENCE, "pytest collects it by its name"),
        (
            {"a/b.py": "", "pytest.ini": "[pytest]\npython_files = check*.py\n"},
            "a/check_rocm.py",
            Kind.DIFFERENCE,
            "by the project's pattern",
        ),
        ({"a/b.py": ""}, "a/rocm/FindX.cmake", Kind.DIFFERENCE, "`find_package` may find it"),
        ({"a/b.pyx": ""}, "a/b.pxd", Kind.UNDECIDED, "Cython reads it"),
        ({"a/b.py": ""}, "a/b/__init__.py", Kind.DIFFERENCE, "before `a/b.py`"),
        ({"a/b.py": ""}, "a/B.py", Kind.UNDECIDED, "case or composition"),
        ({"a/b.py": ""}, "hip/aux.txt", Kind.UNDECIDED, "Windows cannot hold"),
        ({"a/b.py": ""}, f"hip/{'x' * 230}", Kind.UNDECIDED, "more than 220 characters"),
        ({"a/b.py": ""}, "hip/x.dist-info/METADATA", Kind.DIFFERENCE, "installed distribution"),
        ({"a/b.go": ""}, "a/rocm.go", Kind.UNDECIDED, "Go takes every file"),
        ({"a/b.py": ""}, "json.py", Kind.DIFFERENCE, "standard library's module `json`"),
        ({"a/b.py": "", "Makefile": "-include $(X:.o=.d)\n"}, "a/rocm.d", Kind.UNDECIDED, "may find it"),
        ({"a/lit.cfg": "config.suffixes = ['.cu']\n"}, "a/rocm.cu", Kind.UNDECIDED, "may find it"),
        (
            {"a/b.py": "", "c.py": "open('a/l_%s.cu' % n)\n"},
            "a/l_x.cu",
            Kind.UNDECIDED,
            "may find it",
        ),
        ({"a/b.py": "", "c.py": "open('a/l_' + n)\n"}, "a/l_x.cu", Kind.UNDECIDED, "may find"),
        ({"a/b.py": "", "c.sh": 'nvcc "a/l_$1.cu"\n'}, "a/l_x.cu", Kind.UNDECIDED, "may find it"),
        ({"a/b.py": "", "l.go": "//go:embed a\nvar f embed.FS\n"}, "a/l_x.cu", Kind.UNDECIDED, "may find it"),
        ({"a/b.py": "", "c.json": '{"x": "rocm_x.dat"}'}, "a/rocm_x.dat", Kind.UNDECIDED, "did not have"),
        ({"a/b.py": "", "c.yaml": "m:\n  _target_: l.a.rocm_x.f\n"}, "a/rocm_x.py", Kind.UNDECIDED, "names `a.rocm_x`"),
        ({"a/b.py": "", "c.sh": "python -m a.rocm_x\n"}, "a/rocm_x/__init__.py", Kind.UNDECIDED, "names `a.rocm_x`"),
        ({"a/b.py": ""}, "a/py.typed", Kind.UNDECIDED, "type checkers"),
        ({"a/b.py": ""}, "site_scons/site_init.py", Kind.UNDECIDED, "folders by their names at the root"),
        ({"a/b.py": ""}, ".github/dependabot.yml", Kind.DIFFERENCE, "hidden"),
        ({"a/b.py": ""}, "a/__pycache__/b-12.py311.1.nbc", Kind.UNDECIDED, "compiled before"),
        ({"a/b.py": ""}, "hip/__pycache__/b-12.py311.nbi", Kind.UNDECIDED, "compiled before"),
    ],
)
def test_a_new_file_is_named(tmp_path: Path, original: dict[str, str], new: str, kind: Kind, words: str) -> None:
    found = said(proof(tmp_path, original, {new: ""}), new)
    assert any(item is kind and words in message for item, message in found), found


@pytest.mark.parametrize(
    ("original", "new"),
    [
        ({"a/b.py": ""}, "hip/rocm.txt"),
        ({"a/b.py": ""}, "hip/csrc/x.hip"),
        ({**INIT, "p/l.py": "import importlib\nX = importlib.import_module('p.c')\n"}, "hip/b.txt"),
        ({"setup.py": "setup(package_data={'p': ['*.txt']})\n"}, "hip/x.txt"),
        ({"a/b.c": '#include "rocm_y.h"\n'}, "hip/rocm_x.h"),
        ({"a/b.c": '// names "rocm_x.h"\nchar *a = "b";\n'}, "hip/rocm_x.h"),
        ({"Makefile": ".PHONY: rocm_all\nrocm_all:\n\ttrue\n"}, "hip/rocm_all"),
        ({"a.sh": "# source hip/rocm*.sh\n"}, "hip/rocm_x.sh"),
        ({"a/lit.cfg": "config.suffixes = ['.cu']\n"}, "hip/rocm.cu"),
        ({"a/lit.cfg": "config.suffixes = ['.cpp']\n"}, "hip/a/rocm.cu"),
        ({"a/b.go": ""}, "hip/rocm.go"),
        ({"Makefile": "# -include $(X:.o=.d)\n"}, "hip/rocm.d"),
        ({"a/b.py": "", "c.json": '{"x": "rocm_y.dat"}'}, "hip/rocm_x.dat"),
        ({"c.sh": "cp hip-x/a b\n"}, "hip/rocm.dat"),
        ({"a/b.py": "", "c.sh": "python -m a.rocm_xy ba.rocm_x\n"}, "a/rocm_x.py"),
        ({"a/b.py": "", "c.py": "open('a/m_%s.cu' % n)\n"}, "a/l_x.cu"),
        ({"a/b.py": "", "l.go": "// see a\nvar f embed.FS\n"}, "a/l_x.cu"),
        ({"a/b.py": "x = 'rocm_m'\n"}, "a/rocm_m.py"),
        ({"a/b.py": "", "a/b.txt": "python_files = check*.py\n"}, "a/check_rocm.py"),
        ({"a/b.py": "", "c.txt": "see rocm_x.dat, and more\n"}, "a/rocm_x.dat"),
        ({**INIT, "p/l.py": "import importlib\nX = importlib.import_module('p.c')\n"}, "p/rocm_b.py"),
        ({**INIT, "p/l.py": "import importlib\nX = importlib.import_module(name)\n"}, "hip/b.py"),
        ({**INIT, "q/l.py": "import importlib\nX = importlib.import_module(name)\n"}, "p/rocm_b.py"),
    ],
)
def test_a_new_file_that_nothing_takes_up_is_not(tmp_path: Path, original: dict[str, str], new: str) -> None:
    found = proof(tmp_path, original, {new: ""})
    assert [item for item in found.differences if item.kind is not Kind.REVIEW] == []
    assert found.verdict == "unchanged"


COMPAT = "def __getattr__(name):\n    import torch\n    if name == 'IS_ROCM':\n        return False\n"


@pytest.mark.parametrize(
    ("path", "old", "new", "words"),
    [
        ("Makefile", "export\nall:\n\tnvcc\n", "USE_ROCM ?= 0\nexport\nall:\n\tnvcc\n", "exports every variable"),
        ("n.ipynb", "[]", "{}", ""),
        (
            "n.ipynb",
            json.dumps({"cells": [], "metadata": {}}),
            json.dumps({"cells": [], "metadata": {"a": 1}}),
            "metadata are not the same",
        ),
        ("a.py", "x = 1\n", "\ufeffx = 1\n", "byte order mark"),
        ("a.sh", "x\n", "x\r\n", "line ends"),
        ("requirements.txt", "a\n", "a # b\u2028c\n", "U+2028"),
        ("a.c", "int x;\n", "int x; // \u202e\n", "U+202E"),
        ("a.c", "int x;\n", "int x; // ??/\n", "trigraphs"),
        ("a.c", "// CHECK: a\nint x;\n", "// CHECK: b\nint x;\n", "comments that a tool reads"),
        ("a.c", "// C0DE_V2: a\nint x;\n", "// C0DE_V2: b\nint x;\n", "comments that a tool reads"),
        ("requirements.txt", "a # b\n", "a # b \\\n", "ends in a backslash"),
        ("meson.build", "a = 1\n", "if get_option('use_rocm')\n  a = 2\nendif\na = 1\n", "is not declared"),
        ("a.m", "x = 1 % a\n", "x = 1 % b\n", ""),
        ("a.s", "# a\n", "# b\n", ""),
    ],
)
def test_a_changed_file_is_named(tmp_path: Path, path: str, old: str, new: str, words: str) -> None:
    found = said(proof(tmp_path, {path: old}, {path: new}), path)
    assert any(words in message for kind, message in found if kind is not Kind.REVIEW), found


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("Makefile", "export A\nall:\n\tnvcc\n", "USE_ROCM ?= 0\nexport A\nall:\n\tnvcc\n"),
        ("a.c", "// says: a\nint x;\n", "// says: b\nint x;\n"),
        ("requirements.txt", "a # b\n", "a # c\n"),
        ("a.m", "#import <x.h>\nint x; // a\n", "#import <x.h>\nint x; // b\n"),
    ],
)
def test_a_changed_file_that_means_the_same_is_not(tmp_path: Path, path: str, old: str, new: str) -> None:
    found = proof(tmp_path, {path: old}, {path: new})
    assert [item for item in found.differences if item.kind is not Kind.REVIEW] == []


def git(folder: Path, *words: str) -> None:
    identity = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, env={**os.environ, **identity})


def test_trees_of_git(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x").write_text("x\n")
    (tmp_path / "a" / "run").write_text("#!/bin/sh\n")
    (tmp_path / "a" / "run").chmod(0o755)
    (tmp_path / "link").symlink_to("a/x")
    git(tmp_path, "add", "-A")
    git(tmp_path, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    git(tmp_path, "commit", "-qm", "a")
    (tmp_path / "new").write_text("n\n")
    work, revision = read_work_tree(tmp_path), read_revision(tmp_path, "HEAD")
    modes = {"a/x": "file", "a/run": "exec", "link": "link", "sub": "submodule"}
    assert revision.modes == modes and work.modes == {**modes, "new": "file"}
    for tree in (work, revision):
        assert [tree.data(path) for path in ("a/x", "link", "sub")] == [b"x\n", b"a/x", b""]
    (tmp_path / "a" / "x").unlink()
    assert "a/x" not in read_work_tree(tmp_path)
    assert read_revision(tmp_path / "a", "HEAD").modes == {"x": "file", "run": "exec"}
    with pytest.raises(TreeError, match="no such revision"):
        read_revision(tmp_path, "nowhere")


def test_filter_programs_of_a_repository_are_not_started(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "config", "filter.f.smudge", f"touch {tmp_path}/ran")
    git(tmp_path, "config", "filter.f.required", "true")
    (tmp_path / ".gitattributes").write_text("x filter=f\n")
    (tmp_path / "x").write_text("x\n")
    for words in (("add", "-A"), ("commit", "-qm", "a")):
        git(tmp_path, "-c", "filter.f.clean=cat", *words)
    assert read_revision(tmp_path, "HEAD").data("x") == b"x\n"
    assert not (tmp_path / "ran").exists()


def test_folders_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(TreeError, match="not a folder"):
        read_folder(tmp_path / "nowhere")
    (tmp_path / "x").write_text("x")
    tree = read_folder(tmp_path)
    (tmp_path / "x").unlink()
    with pytest.raises(TreeError, match="every file of the tree must be readable"):
        tree.data("x")


def test_the_original_s_own_module_of_the_generated_name_is_left_alone(tmp_path: Path) -> None:
    found = proof(tmp_path, {"_rocm_compat.py": "import torch\nprint(1)\n", "a.py": "x = 1\n"}, {"a.py": "x = 1 \n"})
    assert found.verdict == "unchanged"


@pytest.mark.parametrize(("path", "seen"), [("b/CMakeLists.txt", True), ("b.txt", False), ("b.sh", False)])
def test_who_sees_that_an_option_is_declared(tmp_path: Path, path: str, seen: bool) -> None:
    new = {"CMakeLists.txt": 'project(x)\noption(USE_ROCM "AMD" OFF)\n'}
    found = proof(tmp_path, {"CMakeLists.txt": "project(x)\n", path: "x()\nif(DEFINED USE_ROCM)\nendif()\n"}, new)
    message = f"option(USE_ROCM) is new, and {path}:2 sees whether it is declared"
    assert (message in [item.message for item in found.differences]) is seen


def test_every_file_is_held_against_the_python_it_may_run_in_and_against_its_imports(tmp_path: Path) -> None:
    original = dict.fromkeys(("p/a.py", "p/b.py", "p/c.py"), "import torch\n")
    new = dict.fromkeys(original, "import torch\nif torch.version.hip:\n    f(lambda a, /: a)\n")
    asked = {"pyproject.toml": "[project]\nrequires-python = '>=3.8'\n", **original}
    assert proof(tmp_path / "asked", asked, new).verdict == "unchanged"
    assert proof(tmp_path / "unasked", original, new).verdict == "not decided"
    compat = {"p/_rocm_compat.py": COMPAT, "p/b.py": "import torch\nfrom . import _rocm_compat\n"}
    found = proof(tmp_path / "imports", original, {**new, **compat})
    assert [path for path in original if any("no package" in message for _, message in said(found, path))] == ["p/b.py"]


@pytest.mark.parametrize("path", ["rocm_b.py", "json/rocm_b.py", "a/json.py"])
def test_only_a_module_at_the_root_stands_before_the_standard_librarys(tmp_path: Path, path: str) -> None:
    messages = [message for _, message in said(proof(tmp_path, {"a/b.py": ""}, {path: ""}), path)]
    assert not any("standard library" in message for message in messages)
