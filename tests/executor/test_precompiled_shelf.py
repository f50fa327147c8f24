"""Precompiled headers: one shelf, on which each is made once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocport.executor import precompiled
from rocport.model.locks import locked

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
