"""Two trees: originals, file modes, new files and who would pick them up, the generated module, the command."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import nvidia_trees
import pytest
from click.testing import CliRunner, Result

from rocport.cli import cli
from rocport.verify import nvidia
from rocport.verify.nvidia import Kind, Shown, generated


def write(folder: Path, files: Mapping[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def proof(tmp_path: Path, original: Mapping[str, str], added: Mapping[str, str]) -> nvidia.Proof:
    old = write(tmp_path / "old", original)
    new = write(tmp_path / "new", {**original, **added})
    return nvidia.verify(new, old)


def messages(found: nvidia.Proof, kind: Kind = Kind.DIFFERENCE) -> list[str]:
    return [f"{item.path}: {item.message}" for item in found.of(kind)]


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True)


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["verify", "--level", "nvidia-unchanged", *arguments])


PACKAGE = {"pkg/__init__.py": "", "pkg/m.py": "import torch\n"}


@pytest.mark.parametrize(
    ("original", "new", "why"),
    [
        ({"setup.py": "import glob\ns = glob.glob('csrc/*.cu')\n", "csrc/a.cu": ""}, "csrc/b.cu", "listing"),
        (
            {
                "setup.py": "import os\nfrom glob import glob\nhere = os.path.dirname(os.path.abspath(__file__))\n"
                "s = glob(os.path.join(here, 'csrc', '**', '*.cpp'), recursive=True)\n",
                "csrc/a.cpp": "",
            },
            "csrc/hip/b.cpp",
            "listing",
        ),
        (
            {"setup.py": "from pathlib import Path\ns = list((Path(__file__).parent / 'c').rglob('*.h'))\n", "c/a": ""},
            "c/d/b.h",
            "listing",
        ),
        ({"p/__init__.py": "import pkgutil\nm = list(pkgutil.iter_modules(__path__))\n"}, "p/rocm.py", "listing"),
        ({"p/__init__.py": "import os\nm = os.listdir(os.path.dirname(__file__))\n"}, "p/rocm.py", "listing"),
        ({"setup.py": "from setuptools import *\nsetup(packages=find_packages())\n"}, "hip/__init__.py", "package"),
        ({"setup.py": "from setuptools import *\nsetup(packages=find_namespace_packages())\n"}, "hip/a.h", "package"),
        ({"setup.cfg": "[options]\npackages = find_namespace:\n"}, "hip/a.h", "package"),
        ({"pyproject.toml": "[project]\nname = 'x'\n", "x/__init__.py": ""}, "hip/a.h", "automatic discovery"),
        ({"pyproject.toml": "[project]\nname = 'x'\n", "x/__init__.py": ""}, "rocm.py", "automatic discovery"),
        (
            {"pyproject.toml": "[tool.setuptools.packages.find]\nwhere = ['src']\n", "src/x/a.py": ""},
            "src/hip/a.h",
            "package",
        ),
        ({"m.py": "try:\n    import hip\nexcept ImportError:\n    hip = None\n"}, "hip/a.h", "namespace package"),
        ({"m.py": "try:\n    import fast\nexcept ImportError:\n    fast = None\n"}, "fast.py", "import fast"),
        (
            {"p/__init__.py": "", "p/m.py": "try:\n    from . import fast\nexcept ImportError:\n    pass\n"},
            "p/fast.py",
            "finds it",
        ),
        ({"m.py": "x = 1\n"}, "logging.py", "standard library"),
        ({"CMakeLists.txt": "file(GLOB S csrc/*.cu)\n", "csrc/a.cu": ""}, "csrc/b.cu", "pattern"),
        ({"CMakeLists.txt": "file(GLOB_RECURSE S ${PROJECT_SOURCE_DIR}/*.h)\n"}, "hip/csrc/b.h", "pattern"),
        (
            {"CMakeLists.txt": "set(D csrc)\nfile(GLOB S CONFIGURE_DEPENDS ${D}/*.cpp)\n", "csrc/a.cpp": ""},
            "csrc/b.cpp",
            "pattern",
        ),
        ({"c/CMakeLists.txt": "aux_source_directory(. S)\n"}, "c/b.cpp", "pattern"),
        ({"CMakeLists.txt": "file(GLOB D RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *)\n"}, "hip/b.txt", "pattern"),
        ({"CMakeLists.txt": "find_package(NCCL)\n"}, "cmake/FindNCCL.cmake", "find_package"),
        ({"Makefile": "S = $(wildcard src/*.cu)\n", "src/a.cu": ""}, "src/b.cu", "matches"),
        ({"Makefile": "-include local.mk\n"}, "local.mk", "matches"),
        ({"Makefile": "hip: a.o\n\thipcc a.o\n"}, "hip/a.h", "target"),
        ({"Makefile": "all:\n"}, "GNUmakefile", "make takes it"),
        ({"c/a.cu": '#include "b.h"\n', "inc/b.h": ""}, "c/b.h", "#include"),
        ({"c/a.cu": "#include <util/b.h>\n", "inc/util/b.h": ""}, "util/b.h", "#include"),
        ({"c/a.cu": "#if __has_include(<fast.h>)\n#endif\n"}, "c/fast.h", "#include"),
        (
            {"Dockerfile": "FROM x\nRUN pip install -r requirements*.txt\n", "requirements.txt": ""},
            "requirements-rocm.txt",
            "wildcard",
        ),
        ({"p/a.py": ""}, "p/__init__.py", "regular package"),
        ({"p/a.py": ""}, "tests/conftest.py", "pytest"),
        ({"p/a.py": ""}, "p/test_rocm.py", "pytest"),
        ({"p/a.py": ""}, "BUILD", "Bazel"),
        ({"p/a.py": ""}, "x.pth", "loaded"),
    ],
)
def test_a_new_file_that_is_picked_up_is_a_difference(
    tmp_path: Path, original: dict[str, str], new: str, why: str
) -> None:
    found = proof(tmp_path, original, {new: ""})
    assert any(new in item and why in item for item in messages(found)), messages(found)
    assert {file.path: file.shown for file in found.files}[new] is None


@pytest.mark.parametrize(
    ("original", "new"),
    [
        ({"setup.py": "import glob\ns = glob.glob('csrc/*.cu')\n", "csrc/a.cu": ""}, "hip/csrc/b.hip"),
        ({"setup.py": "import glob\ns = glob.glob('csrc/*.cu')\n", "csrc/a.cu": ""}, "hip/csrc/a.cu"),
        ({"p/__init__.py": "import os\nm = [f for f in os.listdir('x') if f.endswith('.json')]\n"}, "x/rocm.py"),
        ({"setup.py": "from setuptools import *\nsetup(packages=find_packages())\n"}, "hip/csrc/a.h"),
        ({"setup.py": "from setuptools import *\nsetup(packages=find_packages('src'))\n"}, "hip/__init__.py"),
        (
            {"setup.py": "from setuptools import *\nsetup(packages=find_packages(exclude=['hip*']))\n"},
            "hip/__init__.py",
        ),
        ({"pyproject.toml": "[project]\nname = 'x'\n[tool.setuptools]\npackages = ['x']\n"}, "hip/a.h"),
        ({"pyproject.toml": "[build-system]\nbuild-backend = 'hatchling.build'\n[project]\nname = 'x'\n"}, "hip/a.h"),
        ({"m.py": "import hipster\n"}, "hip/a.h"),
        ({"m.py": "import os\nx = [f for f in os.scandir(os.getcwd()) if f.is_dir()]\n"}, "hip/a.h"),
        ({"CMakeLists.txt": "file(GLOB S csrc/*.cu)\n", "csrc/a.cu": ""}, "hip/csrc/b.cu"),
        ({"CMakeLists.txt": "file(GLOB S ${SOMEWHERE}/*.cu)\n", "csrc/a.cu": ""}, "hip/csrc/b.cu"),
        ({"Makefile": ".PHONY: hip\nhip: a.o\n\thipcc a.o\n"}, "hip/a.h"),
        ({"c/a.cu": '#include "b.h"\n', "c/b.h": ""}, "hip/c/b.h"),
        ({"c/a.cu": "#ifdef USE_ROCM\n#include <fast.h>\n#endif\n"}, "c/fast.h"),
        (
            {"Dockerfile": "FROM x\nRUN pip install -r requirements.txt\n", "requirements.txt": ""},
            "requirements-rocm.txt",
        ),
        ({"a.py": ""}, "Dockerfile.rocm"),
    ],
)
def test_a_new_file_out_of_reach_is_shown_as_such(tmp_path: Path, original: dict[str, str], new: str) -> None:
    found = proof(tmp_path, original, {new: ""})
    assert messages(found) == []
    assert {file.path: file.shown for file in found.files}[new] is Shown.UNREACHABLE


def test_a_ci_job_is_for_review_and_strict_makes_it_a_difference(tmp_path: Path) -> None:
    found = proof(tmp_path, {"a.py": ""}, {".github/workflows/rocm.yml": "on: push\n"})
    assert found.verdict == "unchanged"
    assert "CI job" in messages(found, Kind.REVIEW)[0]
    assert nvidia.verify(tmp_path / "new", tmp_path / "old", strict=True).verdict == "changed"


def test_modes_links_and_missing_files_are_differences(tmp_path: Path) -> None:
    old = write(tmp_path / "old", {"a.sh": "a", "b.sh": "b", "c.txt": "c", "d.txt": "d"})
    new = write(tmp_path / "new", {"a.sh": "a", "b.sh": "b", "d.txt": "d"})
    (old / "b.sh").chmod(0o755)
    (old / "l").symlink_to("a.sh")
    (new / "l").symlink_to("b.sh")
    (new / "d.txt").unlink()
    (new / "d.txt").symlink_to("a.sh")
    (new / "loop").symlink_to("loop")
    (old / "loop").symlink_to("loop")
    found = messages(nvidia.verify(new, old))
    assert len(found) == 4
    assert [text.partition(":")[0] for text in found] == ["b.sh", "c.txt", "d.txt", "l"]


def test_the_generated_module_must_not_have_effects() -> None:
    text = nvidia_trees.COMPAT.encode()
    checked = generated.check("p/_rocm_compat.py", text)
    assert checked.safe
    assert checked.constants == {"IS_ROCM": False, "WAVE64": False, "IS_CUDA": True}
    assert checked.imports_torch
    for bad in (b"import torch\n", b"import os\nos.environ['X'] = '1'\n", b"print('x')\n", b"X = open('x', 'w')\n"):
        assert not generated.check("p/_rocm_compat.py", text + bad).safe
    hidden = text.replace(
        b"def _hip() -> str | None:\n", b"def _hip() -> str | None:\n    globals()['o'] = open('x', 'w')\n"
    )
    assert not generated.check("p/_rocm_compat.py", hidden).safe
    eager = b"import importlib.util\nIS_ROCM = False\nX = importlib.import_module('os')\n"
    assert not generated.check("p/_rocm_compat.py", eager).safe


def test_a_name_that_depends_on_the_machine_is_no_constant() -> None:
    text = (
        b"import os\n\n\ndef __getattr__(name):\n    if name == 'IS_ROCM':\n"
        b"        return 'ROCM_PATH' in os.environ\n    raise AttributeError(name)\n"
    )
    assert generated.check("p/_rocm_compat.py", text).constants == {}


GATED = "import torch\n{}x = {}\n"


@pytest.mark.parametrize(
    ("path", "line", "files", "why"),
    [
        ("setup.py", "import _rocm_compat", {"_rocm_compat.py": nvidia_trees.COMPAT}, "build script"),
        ("s/run.py", "from . import _rocm_compat", {"s/_rocm_compat.py": nvidia_trees.COMPAT}, "no package"),
        ("pkg/m.py", "import _rocm_compat", {"pkg/_rocm_compat.py": nvidia_trees.COMPAT}, "in a package"),
        ("s/run.py", "from pkg import _rocm_compat", {"pkg/_rocm_compat.py": nvidia_trees.COMPAT}, "runs its code"),
        ("pkg/m.py", "from .sub import _rocm_compat", {"pkg/_rocm_compat.py": nvidia_trees.COMPAT}, "added"),
        ("pkg/m.py", "from . import _rocm_compat", {}, "added"),
    ],
)
def test_the_import_of_the_generated_module_must_work_where_the_original_does(
    tmp_path: Path, path: str, line: str, files: dict[str, str], why: str
) -> None:
    original = {"pkg/__init__.py": "", path: GATED.format("", "2")}
    old = write(tmp_path / "old", original)
    gate = GATED.format(f"{line}\n", "(1 if _rocm_compat.IS_ROCM else 2)")
    new = write(tmp_path / "new", {**original, path: gate, **files})
    found = messages(nvidia.verify(new, old))
    assert any(item.startswith(path) and why in item for item in found), found


@pytest.mark.parametrize(
    ("path", "line", "compat"),
    [
        ("pkg/m.py", "from . import _rocm_compat", "pkg/_rocm_compat.py"),
        ("pkg/m.py", "from pkg import _rocm_compat", "pkg/_rocm_compat.py"),
        ("pkg/sub/m.py", "from pkg import _rocm_compat", "pkg/_rocm_compat.py"),
        ("pkg/sub/m.py", "from .. import _rocm_compat", "pkg/_rocm_compat.py"),
        ("s/run.py", "import _rocm_compat", "s/_rocm_compat.py"),
    ],
)
def test_imports_that_work(tmp_path: Path, path: str, line: str, compat: str) -> None:
    original = {"pkg/__init__.py": "", "pkg/sub/__init__.py": "", path: GATED.format("", "2")}
    old = write(tmp_path / "old", original)
    gate = GATED.format(f"{line}\n", "(1 if _rocm_compat.IS_ROCM else 2)")
    new = write(tmp_path / "new", {**original, path: gate, compat: nvidia_trees.COMPAT})
    found = nvidia.verify(new, old)
    assert messages(found) == []
    assert found.counts()[Shown.COMPAT.value] == 1
    assert found.counts()[Shown.SYNTAX_TREE.value] == 1


def test_a_module_the_distribution_names_needs_the_generated_one_named_too(tmp_path: Path) -> None:
    setup = "from setuptools import setup\nsetup(py_modules=['run'])\n"
    old = write(tmp_path / "old", {"setup.py": setup, "run.py": GATED.format("", "2")})
    gate = GATED.format("import _rocm_compat\n", "(1 if _rocm_compat.IS_ROCM else 2)")
    new = write(tmp_path / "new", {"setup.py": setup, "run.py": gate, "_rocm_compat.py": nvidia_trees.COMPAT})
    assert any("distribution names" in item for item in messages(nvidia.verify(new, old)))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("setup.py", "import os\nexec(open(os.path.join('pkg', 'm.py')).read())\n"),
        ("setup.py", "import shutil\nshutil.copyfile('pkg/m.py', 'build/m.py')\n"),
        ("CMakeLists.txt", "install(FILES pkg/__init__.py\n  pkg/m.py DESTINATION lib)\n"),
        ("BUILD.bazel", "py_library(name = 'm', srcs = ['pkg/m.py'])\n"),
        ("pkg/meson.build", "py.install_sources('m.py')\n"),
    ],
)
def test_a_file_that_is_run_or_copied_by_its_name_does_not_find_the_generated_module(
    tmp_path: Path, path: str, text: str
) -> None:
    original = {"pkg/__init__.py": "", "pkg/m.py": GATED.format("", "2"), path: text}
    old = write(tmp_path / "old", original)
    gate = GATED.format("from . import _rocm_compat\n", "(1 if _rocm_compat.IS_ROCM else 2)")
    new = write(tmp_path / "new", {**original, "pkg/m.py": gate, "pkg/_rocm_compat.py": nvidia_trees.COMPAT})
    assert any("by its name" in item for item in messages(nvidia.verify(new, old)))


def test_torch_is_not_imported_before_the_environment_is_set_for_it(tmp_path: Path) -> None:
    source = "import os\nos.environ['X'] = '2'\nimport torch\n"
    old = write(tmp_path / "old", {"s/run.py": source})
    gate = source.replace("'2'", "('1' if _rocm_compat.IS_ROCM else '2')").replace(
        "os\n", "os\nimport _rocm_compat\n", 1
    )
    new = write(tmp_path / "new", {"s/run.py": gate, "s/_rocm_compat.py": nvidia_trees.COMPAT})
    assert any("before the module has set" in item for item in messages(nvidia.verify(new, old)))


def test_a_notebook_is_compared_by_its_code(tmp_path: Path) -> None:
    def notebook(*cells: str) -> str:
        made = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": cell.splitlines(True)} for cell in cells]
        return json.dumps({"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})

    old = write(tmp_path / "old", {"n.ipynb": notebook("!pip list\nimport torch\n", "x = 2\n")})
    gate = "_IS_ROCM = torch.version.hip is not None\n"
    new = write(
        tmp_path / "new", {"n.ipynb": notebook(f"!pip list\nimport torch\n{gate}", "x = (1 if _IS_ROCM else 2)\n")}
    )
    assert nvidia.verify(new, old).files[0].shown is nvidia.Shown.SYNTAX_TREE
    assert nvidia.verify(new, old).verdict == "unchanged"
    write(new, {"n.ipynb": notebook("!pip list -v\nimport torch\n", "x = 2\n")})
    assert nvidia.verify(new, old).verdict == "changed"


def test_a_revision_of_the_same_repository(tmp_path: Path) -> None:
    tree = write(tmp_path / "repository", {"pkg/m.py": "import torch\nx = 2\n", "a.sh": "a\n", ".gitignore": "*.o\n"})
    (tree / "a.sh").chmod(0o755)
    git(tree, "init", "-q")
    git(tree, "add", ".")
    git(tree, "commit", "-q", "-m", "one")
    (tree / "pkg/m.py").write_text("import torch\nx = (1 if torch.version.hip else 2)\n")
    (tree / "junk.o").write_text("")
    result = invoke(str(tree))
    assert result.exit_code == 0, result.output
    assert "1  syntax tree" in result.output and "2  hash" in result.output
    assert invoke(str(tree), "--original-rev", "HEAD").exit_code == 0
    missing = invoke(str(tree), "--original-rev", "nowhere")
    assert missing.exit_code != 0 and "nowhere" in missing.output
    # A part of a repository is compared with that part of the revision.
    assert invoke(str(tree / "pkg")).exit_code == 0
    (tree / "pkg/new.py").write_text("import torch\n")
    (tree / "a.sh").chmod(0o644)
    (tree / "pkg/m.py").write_text("import torch\nx = 3\n")
    result = invoke(str(tree))
    assert result.exit_code == 1
    assert "pkg/m.py:2 (original line 2)" in result.output and "a.sh" in result.output


def test_a_tree_of_the_layout_hip_is_said_to_be_hip_only(tmp_path: Path) -> None:
    folder = write(tmp_path / "project", {"a.cu": "#include <cuda_runtime.h>\nvoid f() { cudaDeviceSynchronize(); }\n"})
    made = CliRunner().invoke(cli, ["port", str(folder), "--out", str(tmp_path / "out"), "-j", "1"])
    assert made.exit_code == 0, made.output
    result = invoke(str(tmp_path / "out"))
    assert result.exit_code == 0, result.output
    assert "HIP only" in result.output and "1 of 1 files still are" in result.output
    assert invoke(str(tmp_path / "out"), "--strict").exit_code == 1
    (folder / "a.cu").write_text("// changed since\n")
    result = invoke(str(tmp_path / "out"))
    assert result.exit_code == 2
    assert "no longer what was ported" in result.output


@pytest.mark.parametrize("fmt", ["text", "concise", "json", "jsonl", "github", "sarif", "junit", "markdown"])
def test_every_format_names_the_place(tmp_path: Path, fmt: str) -> None:
    old = write(tmp_path / "old", {"pkg/m.py": "x = 2\n"})
    new = write(tmp_path / "new", {"pkg/m.py": "x = 3\n"})
    result = invoke(str(new), "--original", str(old), "--format", fmt)
    assert result.exit_code == 1
    assert "pkg/m.py" in result.output and "stands where" in result.output
    if fmt == "json":
        body = json.loads(result.stdout)
        assert body["verdict"] == "changed" and body["summary"]["difference"] == 1
        assert body["differences"][0]["original_line"] == 1


def test_wrong_usage(tmp_path: Path) -> None:
    folder = write(tmp_path / "tree", {"a.py": "x = 1\n"})
    result = invoke(str(folder))
    assert result.exit_code != 0 and "nothing to compare with" in result.output
    (folder / "rocport-manifest.json").write_text("{")
    result = invoke(str(folder))
    assert result.exit_code != 0 and "cannot be read" in result.output
    result = invoke(str(folder), "--original", str(folder), "--original-rev", "HEAD")
    assert result.exit_code == 2
    assert invoke(str(folder / "a.py"), "--original", str(folder)).exit_code != 0


def test_a_tree_that_cannot_be_read_is_a_message(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("the superuser reads everything")
    folder = write(tmp_path / "tree", {"a.py": "x = 1\n"})
    (folder / "a.py").chmod(0)
    result = invoke(str(folder), "--original", str(folder))
    assert result.exit_code != 0 and "must be readable" in result.output
