"""One precompiled header for the units of a pass that differ in their own macros and folders only."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport.project.tree import read_project
from rocport.project.unit import Unit
from rocport.toolchain import Toolchain
from rocport.verify import build, diagnostics
from rocport.verify.precompiled import precompiled

COMPILER = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
while [ $# -gt 1 ]; do
  [ "$2" = -emit-pch ] && header="$3"
  [ "$1" = -o ] && : > "$2"
  shift
done
grep -q 'torch/extension.h' "$header"
"""


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCPORT_CACHE", str(tmp_path / "cache"))


def test_one_header_serves_units_with_other_macros_and_folders(tmp_path: Path) -> None:
    compiler = tmp_path / "clang"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    unit = Unit("a.hip", "hip", headers=("torch/extension.h",))

    def asked(*own: str, std: str = "c++20") -> list[str]:
        command = [str(compiler), "-x", "hip", f"-std={std}", "-DT", *own, "-DT", "-fsyntax-only", unit.path]
        return precompiled(unit, command, own)

    first = asked("-DA=1", "-Icsrc")
    assert first[-3:-1] == ["-include-pch", "-Xclang"]
    assert Path(first[-1]).exists()
    assert Path(first[-1]).with_name("header.hip").exists(), "clang asks for the header again"
    assert asked("-DB") == first
    assert asked(std="c++23") != first
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == 2
    assert "-DA=1" not in calls[0]
    assert "-fno-cxx-modules" in calls[0]


def test_units_without_pytorch_s_api_and_c_sources_take_none() -> None:
    for unit in (Unit("a.hip", "hip", headers=("c10/util/Half.h",)), Unit("a.c", "c", headers=("torch/extension.h",))):
        assert precompiled(unit, ["false", unit.path], ()) == []


def test_what_cannot_be_precompiled_is_compiled_as_before() -> None:
    unit = Unit("a.hip", "hip", headers=("torch/torch.h",))
    assert precompiled(unit, ["/bin/false", unit.path], ()) == []


READER = """#!/bin/sh
while [ $# -gt 1 ]; do
  case "$2" in -emit-pch) exec cp /dev/null "$5";; -include-pch) exec cat "$4";; esac
  shift
done
exit 1
"""
"""A compiler that makes what is precompiled, and compiles what it can read that for."""


def test_the_confined_compiler_reads_it(tmp_path: Path) -> None:
    root, scratch, sdk = (tmp_path / name for name in ("tree", "scratch", "sdk"))
    compiler = sdk / "bin" / "clang"
    for folder in (root, scratch, compiler.parent):
        folder.mkdir(parents=True)
    compiler.write_text(READER)
    compiler.chmod(0o755)
    toolchain = Toolchain("distribution", compiler, "19", 19, None, "", sdk, sdk, sdk)
    options = build.BuildOptions(("gfx942",), syntax_only=True, precompiled=True)
    cache = build.Cache(None, build.Fingerprints(root))
    builder = build._Builder(toolchain, read_project(root), options, cache, diagnostics.Origins(), scratch)
    unit = Unit("a.hip", "hip", headers=("torch/extension.h",))
    outcome, _ = builder._compiled(unit, [str(compiler), unit.path], "gfx942")
    assert outcome.code == 0, outcome.text
