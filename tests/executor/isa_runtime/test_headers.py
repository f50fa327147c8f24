# SPDX-License-Identifier: Apache-2.0
"""A unit's first header is precompiled, only where that gives what the whole unit gives."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from rocport.executor.first_header import known
from rocport.executor.isa.runtime import headers
from rocport.toolchain import Toolchain

_HIP = "#include <hip/hip_runtime.h>\n"


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The compiler's command lines; nothing is compiled, every file that one names is made."""
    run: list[Sequence[str]] = []

    def record(command: Sequence[str]) -> str:
        run.append(command)
        for at, word in enumerate(command):
            if word == "-o":
                Path(command[at + 1]).write_text("")
        return ""

    def leads_to(*_: object) -> tuple[frozenset[bytes], list[str]]:
        return frozenset([b"N"]), ["hip/hip_runtime.h", "string.h"]

    monkeypatch.setattr(headers, "_run", record)
    monkeypatch.setattr(headers, "known", leads_to)
    monkeypatch.setattr(headers, "header", lambda command, includes, emit: Path(f"{includes[0]}.pch"))
    return run


def _compiled(toolchain: Toolchain, folder: Path, text: str, *flags: str, kernels: bool = True) -> bool:
    source = folder / "unit.hip"
    source.write_text(text)
    return headers.compiled(["clang++"], flags, source, folder / "unit.o", ["gfx942", "gfx1100"], toolchain, kernels)


@pytest.mark.parametrize(
    ("text", "flags", "precompiled"),
    [
        (_HIP, (), True),
        ("/* a */ // b\n#include <stdio.h>\n" + _HIP, ("-std=c++20", "-DM=2"), True),
        ("int x;\n" + _HIP, (), False),
        ("#define N 1\n" + _HIP, (), False),
        ('#include "mine.h"\n' + _HIP, (), False),
        ("int main() {}\n", ("-include", "first.h"), True),
        ("int main() {}\n", ("-include", "first.h", "-DN=1"), True),
        ("int main() {}\n", ("-include", "first.h", "-include", "second.h"), False),
        (_HIP, ("-DN=1",), False),
        (_HIP, ("-UN",), False),
        (_HIP, ("-fgpu-rdc",), False),
    ],
)
def test_which_units_have_a_first_header(
    toolchain: Toolchain,
    tmp_path: Path,
    commands: list[Sequence[str]],
    text: str,
    flags: tuple[str, ...],
    precompiled: bool,
) -> None:
    assert _compiled(toolchain, tmp_path, text, *flags) is precompiled
    assert len(commands) == (4 if precompiled else 0)  # two targets, the bundle, the host


def test_every_pass_names_the_unit(toolchain: Toolchain, tmp_path: Path, commands: list[Sequence[str]]) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        assert _compiled(toolchain, tmp_path / name, _HIP)
    named = [[word for word in command if word.startswith("-cuid=")] for command in commands]
    passes = [words[0] for words in named if words]
    assert len(passes) == 6 and len(set(passes[:3])) == len(set(passes[3:])) == 1
    assert passes[0] != passes[3], "its object defines a symbol of that name: two units of a program did not link"


def test_a_units_name_is_the_same_in_every_folder_that_a_program_is_built_in(tmp_path: Path) -> None:
    source = tmp_path / "unit.hip"
    name = headers.unit_name(source, tmp_path / "0-unit.o")
    assert name == headers.unit_name(source, tmp_path / "scratch" / "0-unit.o")
    assert name != headers.unit_name(source, tmp_path / "1-unit.o")


def test_a_unit_that_is_no_kernel_source_has_no_pass_for_a_device(
    toolchain: Toolchain, tmp_path: Path, commands: list[Sequence[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _compiled(toolchain, tmp_path, _HIP, kernels=False)
    assert len(commands) == 1 and "--offload-host-only" in commands[0]
    commands.clear()
    monkeypatch.setattr(headers, "_FATBIN", b"")  # every object asks for it: there was a kernel in the unit
    assert _compiled(toolchain, tmp_path, _HIP, kernels=False)
    assert len(commands) == 5 and "-fcuda-include-gpubinary" in commands[-1]


def test_an_object_with_a_kernel_and_no_code_asks_for_it(toolchain: Toolchain, tmp_path: Path) -> None:
    source, made = tmp_path / "unit.hip", tmp_path / "unit.o"
    words = [f"--rocm-path={toolchain.root}", "-isystem", str(toolchain.include), "-D__HIP_PLATFORM_AMD__=1"]
    words += ["-x", "hip", "-nogpulib", "--offload-host-only", "-c", str(source), "-o", str(made)]
    for text, asks in (("void f() {}", False), ("__global__ void f() {}", True)):
        source.write_text(_HIP + text)
        subprocess.run([str(toolchain.compiler), *words], check=True)
        assert (headers._FATBIN in made.read_bytes()) is asks


def test_a_header_of_the_units_own_folders_is_not_overtaken(
    toolchain: Toolchain, tmp_path: Path, commands: list[Sequence[str]]
) -> None:
    own = tmp_path / "own"
    own.mkdir()
    assert _compiled(toolchain, tmp_path, _HIP, f"-I{own}")
    (own / "string.h").write_text("")
    assert not _compiled(toolchain, tmp_path, _HIP, f"-I{own}")
    assert not _compiled(toolchain, tmp_path, "#include <string.h>\n" + _HIP, "-I", str(own))


def test_what_the_header_leads_to_is_read_from_the_compiler(toolchain: Toolchain, tmp_path: Path) -> None:
    (tmp_path / "deep.h").write_text('#define WORD 1\n#include "deeper.h"\n#include "far/away.h"\n')
    (tmp_path / "deeper.h").write_text("")
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "away.h").write_text("")
    (tmp_path / "first.h").write_text("#include <deep.h>\n")
    base = [str(toolchain.compiler), "-x", "hip", "-nogpulib", "-nogpuinc", f"-isystem{tmp_path}"]
    leads_to = known(base, "first.h", "gfx942")
    assert leads_to is not None
    words, names = leads_to
    assert {b"WORD", b"deep"} <= words
    assert {"first.h", "deep.h"} <= set(names)
    assert "deeper.h" not in names  # found beside the file that includes it
