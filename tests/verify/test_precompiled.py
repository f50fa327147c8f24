"""One precompiled header for the units of a pass that differ in their own macros and folders only."""

from __future__ import annotations

from pathlib import Path

from rocport.project.unit import Unit
from rocport.verify.precompiled import Precompiled

COMPILER = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
while [ $# -gt 1 ]; do
  [ "$2" = -emit-pch ] && out="$6"
  shift
done
grep -q 'torch/extension.h' "$1" && : > "$out"
"""


def test_one_header_serves_units_with_other_macros_and_folders(tmp_path: Path) -> None:
    compiler = tmp_path / "clang"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    headers = Precompiled(tmp_path / "made")
    unit = Unit("a.hip", "hip", headers=("torch/extension.h",))

    def asked(*own: str, std: str = "c++20") -> list[str]:
        command = [str(compiler), "-x", "hip", f"-std={std}", "-DT", *own, "-DT", "-fsyntax-only", unit.path]
        return headers.arguments(unit, command, own)

    first = asked("-DA=1", "-Icsrc")
    assert first[-3:-1] == ["-include-pch", "-Xclang"]
    assert Path(first[-1]).exists()
    assert Path(first[-1]).with_suffix(".h").exists(), "clang asks for the header again"
    assert asked("-DB") == first
    assert asked(std="c++23") != first
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == 2
    assert "-DA=1" not in calls[0]
    assert "-fno-cxx-modules" in calls[0]


def test_units_without_pytorch_s_api_and_c_sources_take_none(tmp_path: Path) -> None:
    headers = Precompiled(tmp_path)
    for unit in (Unit("a.hip", "hip", headers=("c10/util/Half.h",)), Unit("a.c", "c", headers=("torch/extension.h",))):
        assert headers.arguments(unit, ["false", unit.path], ()) == []


def test_what_cannot_be_precompiled_is_compiled_as_before(tmp_path: Path) -> None:
    unit = Unit("a.hip", "hip", headers=("torch/torch.h",))
    assert Precompiled(tmp_path).arguments(unit, ["/bin/false", unit.path], ()) == []
