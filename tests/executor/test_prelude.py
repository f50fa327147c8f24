"""What stands before a unit's own text is compiled once, and never serves another text."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from rocport.executor.base import BuildError, BuildOptions
from rocport.executor.cpu import CpuExecutor
from rocport.executor.prelude import cut, precompiled
from rocport.executor.program import load_program, with_flags

_LONG = b"int x;\n" * 40_000
_SOURCE = Path("/p/a.hip")


def _text(*, before: bytes = b'# 1 "/sys/h.h" 1 3\n' + _LONG) -> bytes:
    built_in = b'# 1 "<built-in>" 1\n# 1 "<command line>" 1\n'
    return b'# 1 "/p/a.hip"\n' + built_in + before + b'# 1 "/p/a.hip" 2\nint main() {}\n'


def test_the_own_text_begins_where_the_units_file_does() -> None:
    before, own = cut(_text(), _SOURCE)
    assert before.endswith(_LONG)
    assert own == b'# 1 "/p/a.hip"\nint main() {}\n'


@pytest.mark.parametrize(
    "text",
    [
        _text(before=b'# 1 "/p/mine.h" 1\n' + _LONG),
        _text(before=b'# 1 "/sys/h.h" 1 3\nint x;\n'),
        _text().replace(b'"/p/a.hip" 2', b'"/p/b.hip" 2'),
    ],
    ids=["a file of the user's before", "too little", "another file"],
)
def test_else_the_text_stays_whole(text: bytes) -> None:
    assert cut(text, _SOURCE) == (b"", text)


def test_programs_share_it_and_say_the_same_without(
    executor: CpuExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if executor.compiler.kind != "clang":
        pytest.skip("only clang precompiles here")
    monkeypatch.setenv("ROCPORT_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "wrong.hip"
    program = '#include "own.h"\n#include <hip/hip_runtime.h>\nint main() { return VALUE + missing; }\n'
    source.write_text(program)
    (tmp_path / "own.h").write_text("#define VALUE 2\n")
    options = BuildOptions(optimize="-O0")
    said = []
    monkeypatch.setattr("rocport.executor.cpu.runtime_objects", lambda *_, **__: [])
    for _ in range(2):
        with pytest.raises(BuildError) as caught:
            executor.build(with_flags(load_program(source), "-std=gnu++17"), tmp_path / "b", options)
        said.append(caught.value.log)
        monkeypatch.setattr("rocport.executor.cpu.precompiled", lambda *_: [])
    assert said[0] == said[1]
    assert "wrong.hip:3:" in said[0] and "'missing'" in said[0]
    assert len(list((tmp_path / "cache" / "precompiled").glob("*/header.pch"))) == 1


def test_another_rewriter_takes_none_of_this_ones(
    executor: CpuExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if executor.compiler.kind != "clang":
        pytest.skip("only clang precompiles here")
    monkeypatch.setenv("ROCPORT_CACHE", str(tmp_path / "cache"))
    command = [executor.compiler.path, "-std=gnu++17", "-x", "c++"]
    first = precompiled(b"int x;\n", executor.compiler, command)
    assert first and precompiled(b"int x;\n", executor.compiler, command) == first
    monkeypatch.setattr("rocport.executor.prelude._rewriter", lambda: "a later one")
    assert precompiled(b"int x;\n", executor.compiler, command) not in ([], first)


def test_what_cannot_be_precompiled_is_tried_once_a_while(
    executor: CpuExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if executor.compiler.kind != "clang":
        pytest.skip("only clang precompiles here")
    monkeypatch.setenv("ROCPORT_CACHE", str(tmp_path / "cache"))
    tried = []

    def failing(command: list[str], **_: object) -> subprocess.CompletedProcess[bytes]:
        tried.append(command)
        return subprocess.CompletedProcess(command, 1)

    monkeypatch.setattr("rocport.executor.prelude.subprocess.run", failing)
    command = [executor.compiler.path, "-x", "c++"]
    assert [precompiled(b"int x;\n", executor.compiler, command) for _ in range(3)] == [[], [], []]
    assert len(tried) == 1
    (failed,) = (tmp_path / "cache").rglob("failed")
    os.utime(failed, (0, 0))
    assert not precompiled(b"int x;\n", executor.compiler, command) and len(tried) == 2
