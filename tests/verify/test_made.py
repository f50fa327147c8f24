"""A unit is compiled with the flags that its Makefile gives it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from rocport.project.tree import read_project
from rocport.project.unit import Unit
from rocport.sandbox import why_not
from rocport.verify.made import as_made, export_folders

pytestmark = pytest.mark.skipif(shutil.which("make") is None or bool(why_not()), reason=why_not() or "no make")


def _unit(root: Path, path: str) -> Unit:
    project = read_project(root)
    return next(unit for unit in as_made(project, project.units())[0] if unit.path == path)


def test_flags_behind_conditions_variables_and_another_makefile(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "os").mkdir()
    (tmp_path / "Makefile").write_text("all:\n\t$(MAKE) -C src DEEP=7\n")
    (tmp_path / "src" / "Makefile").write_text(
        "NVCC = hipcc\nOS_DIR := ../os\nifneq ($(DEEP),)\nFLAGS += -DLINUX -DDEPTH=$(DEEP)\nendif\n"
        "ifdef NEVER\nFLAGS += -DNEVER\nendif\nFLAGS += -I$(OS_DIR) -std=c++20\n"
        "all: a.o\n%.o: %.cu\n\t@echo $<; $(NVCC) $(FLAGS) -c $< -o $@\n"
    )
    (tmp_path / "src" / "a.cu").write_text("__global__ void k() {}\n")
    unit = _unit(tmp_path, "src/a.cu")
    assert (unit.defines, unit.includes[0], unit.standard) == (("LINUX", "DEPTH=7"), "os", 20)


def test_macros_of_a_pytorch_extension_are_not_those_of_a_program_that_make_compiles(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("all:\n\thipcc -DALONE -c a.cu\n")
    (tmp_path / "a.cu").write_text("#ifndef ALONE\n#include <torch/extension.h>\n#endif\n__global__ void k() {}\n")
    unit = _unit(tmp_path, "a.cu")
    assert unit.torch
    assert unit.undefines == ("__HIP_NO_HALF_OPERATORS__", "__HIP_NO_HALF_CONVERSIONS__")


def test_what_make_does_not_name_stays_as_it_was_read(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("CFLAGS = -DREAD\nall:\n\techo nothing\na.o: a.cu\n\thipcc $(CFLAGS) -c a.cu\n")
    (tmp_path / "a.cu").write_text("__global__ void k() {}\n")
    assert _unit(tmp_path, "a.cu").defines == ("READ",)


def test_folders_outside_the_tree_are_not_taken(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "Makefile").write_text("UP = $(abspath ..)\nall:\n\thipcc -I$(UP) -I/etc -DX -c a.cu\n")
    (root / "a.cu").write_text("__global__ void k() {}\n")
    unit = _unit(root, "a.cu")
    assert unit.defines == ("X",)
    assert set(unit.includes) == {"."}


def _folders(root: Path, recipes: dict[str, str]) -> None:
    for name, text in recipes.items():
        (root / name).mkdir()
        (root / name / "Makefile").write_text(f"CFLAGS = -DREAD\n{text}")
        (root / name / f"{name}.cu").write_text("__global__ void k() {}\n")


def test_a_makefile_that_prints_what_is_no_place_is_said_and_stays_as_read(tmp_path: Path) -> None:
    printed = "all:\n\t+@printf 'cd x\\000y\\n'\n\thipcc -DMADE -c a.cu\n"
    _folders(tmp_path, {"a": printed, "b": "all:\n\thipcc -DMADE -c b.cu\n"})
    project = read_project(tmp_path)
    units, (unanswered,) = as_made(project, project.units())
    assert [unit.defines for unit in units] == [("READ", "MADE"), ("MADE",)]
    assert unanswered.startswith("a (") and "cannot be read" in unanswered


def test_makefiles_that_hang_are_said_and_have_one_limit_together(tmp_path: Path) -> None:
    hangs = "X := $(shell sleep infinity)\nall:\n\thipcc -DMADE -c a.cu\n"
    _folders(tmp_path, {"a": hangs, "b": "all:\n\thipcc -DMADE -c b.cu\n"})
    project = read_project(tmp_path)
    units, unanswered = as_made(project, project.units(), together_s=1)
    assert [unit.defines for unit in units] == [("READ", "MADE"), ("READ", "MADE")]
    assert "did not end" in unanswered[0] and "not asked" in unanswered[1]


def test_headers_of_generate_export_header_are_written_below_the_cache(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "CMakeLists.txt").write_text("generate_export_header(a EXPORT_FILE_NAME ${X}/inc/a.h)\n")
    folders = export_folders(read_project(tmp_path / "tree"), tmp_path / "cache")
    assert [folder.relative_to(folders[0]).as_posix() for folder in folders] == [".", "inc"]
    assert "#define A_EXPORT\n" in (folders[1] / "a.h").read_text()
