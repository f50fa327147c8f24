"""Precompiled headers: one shelf, on which each is made once."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from rocport.executor import precompiled
from rocport.model.locks import locked
from rocport.toolchain import Toolchain

COMPILER = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/calls"
while [ $# -gt 1 ]; do
  [ "$1" = -o ] && cp "$(dirname "$2")/header.hip" "$2"
  shift
done
"""


def test_a_header_is_made_once_for_a_command_a_pass_and_what_it_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROCPORT_CACHE", str(tmp_path / "cache"))
    found = tmp_path / "found"
    found.mkdir()
    compiler = tmp_path / "clang"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)

    def made(*emit: str, includes: tuple[str, ...] = ("a.h", "b.h")) -> Path | None:
        return precompiled.header([str(compiler), "-isystem", str(found)], includes, emit)

    first = made("--host")
    assert first and first.read_text() == "#include <a.h>\n#include <b.h>\n"
    assert made("--host") == first
    assert made("--device") != first and made("--host", includes=("a.h",)) != first
    assert len((tmp_path / "calls").read_text().splitlines()) == 3
    os.utime(found, (0, 0))
    assert made("--host") != first, "a header that appears may be found before the one that was there"
    assert precompiled.header([str(tmp_path / "none")], ["a.h"], []) is None


def test_a_place_that_another_process_holds_is_not_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("held", "free"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "header.pch").write_text("text")
    monkeypatch.setattr(precompiled, "_KEPT_BYTES", 1)
    with locked(tmp_path / "held"):
        precompiled._forget(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["held"]


def test_a_maker_that_is_interrupted_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCPORT_CACHE", str(tmp_path))

    def interrupted(partial: Path) -> bool:
        partial.write_text("half")
        raise KeyboardInterrupt

    def whole(partial: Path) -> bool:
        return bool(partial.write_text("whole"))

    with pytest.raises(KeyboardInterrupt):
        precompiled.shelved(b"text", interrupted)
    made = precompiled.shelved(b"text", whole)
    assert made and made.read_text() == "whole", "units were compiled as a whole for an hour"


def test_a_system_header_changed_in_place_is_not_taken_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toolchain: Toolchain
) -> None:
    monkeypatch.setenv("ROCPORT_CACHE", str(tmp_path / "cache"))
    text, unit = tmp_path / "found" / "a.h", tmp_path / "unit.cpp"
    text.parent.mkdir()
    text.write_text("int before();\n")
    unit.write_text("int main() { return before(); }\n")
    command = [str(toolchain.compiler), "-x", "c++", f"-isystem{text.parent}", *precompiled.PLAIN]

    def compiles() -> bool:
        made = precompiled.header(command, ["a.h"], ())
        assert made
        use = ["-Xclang", "-include-pch", "-Xclang", str(made), "-fsyntax-only", str(unit)]
        return not subprocess.run([*command, *use], capture_output=True, check=False, timeout=3600).returncode

    assert compiles()
    text.write_text("int after();  // of the next release\n")
    assert not compiles(), "it compiled with what is no longer there"
