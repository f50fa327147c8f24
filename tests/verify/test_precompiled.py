"""One precompiled header for the units of a pass that differ in their own macros and folders only."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport.project.tree import read_project
from rocport.project.unit import Unit
from rocport.toolchain import Toolchain
from rocport.verify import build, diagnostics
from rocport.verify import precompiled as module
from rocport.verify.precompiled import precompiled, with_hip

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


_HIP = "#include <hip/hip_runtime.h>\n"


@pytest.mark.parametrize(
    ("text", "own", "taken"),
    [
        (_HIP, (), True),
        ("// a\n#include <cstdio>\n#include <math.h>\n" + _HIP + "#define N 1\n", ("-DM=1", "-Iempty"), True),
        ("#include <rocblas/rocblas.h>\n" + _HIP, (), False),  # it may need what it should have included
        ("#define N 1\n" + _HIP, (), False),
        ("#pragma once\n" + _HIP, (), False),
        ('#include "mine.h"\n' + _HIP, (), False),
        ("int x;\n" + _HIP, (), False),
        ("#include <cstdio>\n", (), False),
        (_HIP, ("-DN=1",), False),
        (_HIP, ("-UN",), False),
        (_HIP, ("-Ishadow",), False),
        (_HIP, ("-iquote", "shadow"), False),
        (_HIP, ("-idiraftershadow",), False),
        ("#include <cstdio>\n" + _HIP, ("-Istandard",), False),
        ("#include <hip/hip_runtime.h>\n", ("-Ihipless",), True),
    ],
)
def test_hip_s_header_serves_units_that_begin_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, own: tuple[str, ...], taken: bool
) -> None:
    """What stands before it, a macro of its words or a header of its names in the unit's folders: compiled whole."""
    for name in ("shadow/string.h", "standard/cstdio", "empty/a.h", "hipless/hip/other.h"):
        (tmp_path / name).parent.mkdir(parents=True)
        (tmp_path / name).write_text("")
    (tmp_path / "a.hip").write_text(text)
    asked: list[list[str]] = []

    def leads_to(before: list[str], *_: object) -> tuple[frozenset[bytes], list[str]]:
        asked.append(before)
        return frozenset([b"N"]), ["hip/hip_runtime.h", "string.h"]

    def made(command: list[str], *_: object) -> Path:
        asked.append(command)
        return tmp_path / "header.pch"

    monkeypatch.setattr(module, "known", leads_to)
    monkeypatch.setattr(module, "header", made)
    unit = Unit("a.hip", "hip")
    command = ["clang++", "-x", "hip", "--offload-arch=gfx942", "--offload-device-only", "-O3", "-c", *own, unit.path]
    words = with_hip(unit, command, own, tmp_path, "gfx942")
    assert words[-1:] == ([str(tmp_path / "header.pch")] if taken else [])
    if taken:
        assert asked[0] == ["clang++", "-x", "hip"], "the same for all passes"
        assert asked[1][:6] == ["clang++", "-x", "hip", "--offload-arch=gfx942", "--offload-device-only", "-O3"]


def test_hip_s_header_serves_no_host_source_and_none_behind_a_forced_one(tmp_path: Path) -> None:
    (tmp_path / "a.hip").write_text(_HIP)
    for unit in (Unit("a.hip", "c++"), Unit("a.hip", "hip", forced=("b.h",)), Unit("gone.hip", "hip")):
        assert with_hip(unit, ["false", unit.path], (), tmp_path, "gfx942") == []


def test_what_does_not_compile_with_hip_s_header_is_compiled_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its messages are those of the whole unit."""
    toolchain = Toolchain("distribution", tmp_path / "clang", "19", 19, None, "", tmp_path, tmp_path, tmp_path)
    toolchain.compiler.write_text("")
    cache, tree = build.Cache(None, build.Fingerprints(tmp_path)), read_project(tmp_path)
    builder = build._Builder(toolchain, tree, build.BuildOptions(("gfx942",)), cache, diagnostics.Origins(), tmp_path)
    monkeypatch.setattr(build, "with_hip", lambda *_: ["-pch"])
    for code, compiled in ((0, [True]), (None, [True]), (1, [True, False])):
        tried: list[bool] = []

        def compile_(command: list[str], *_: str, code: int | None = code, tried: list[bool] = tried) -> object:
            tried.append("-pch" in command)
            return build._Outcome(code, "'x' file not found", ()), []

        monkeypatch.setattr(builder, "_compile", compile_)
        builder._compiled(Unit("a.hip", "hip"), ["clang++", "a.hip"], "gfx942")
        assert tried == compiled
