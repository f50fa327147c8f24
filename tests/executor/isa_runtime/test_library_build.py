"""The runtime's libraries are built once, by who comes first; others wait for no other build and leave nothing."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from rocport.executor.base import BuildError
from rocport.executor.isa.runtime import declarations, executor, library
from rocport.executor.isa.runtime.declarations import LibraryError, run_compiler
from rocport.executor.isa.runtime.library import build_libraries
from rocport.model.locks import locked
from rocport.toolchain import Toolchain


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where `a` is to be built, by a build that takes no time."""
    shelf = tmp_path / "lib"
    shelf.mkdir()

    def build(folder: Path, *_: object) -> None:
        folder.mkdir()
        (folder / "done").write_text("")

    monkeypatch.setattr(library, "_place", lambda _: (shelf / "a", {}))
    monkeypatch.setattr(library, "_build_all", build)
    return shelf


def test_a_build_waits_for_no_build_of_other_sources(shelf: Path, toolchain: Toolchain) -> None:
    left, fresh = shelf / "tmpleft", shelf / "tmpfresh"
    for folder in (left, fresh):
        (folder / "in").mkdir(parents=True)
    os.utime(left, (0, 0))
    with locked(shelf / "lock"), locked(shelf / "b.lock"):
        assert build_libraries(toolchain) == shelf / "a"
    assert {path.name for path in shelf.iterdir()} == {"a", "lock", "b.lock", "tmpfresh"}


def test_a_build_says_that_it_waits_for_the_same_one(
    shelf: Path, toolchain: Toolchain, capsys: pytest.CaptureFixture[str]
) -> None:
    said, thread = "", threading.Thread(target=build_libraries, args=(toolchain,))
    with locked(shelf / "a.lock"):
        thread.start()
        while thread.is_alive() and not said:
            said = capsys.readouterr().err
            time.sleep(0.01)
        assert not (shelf / "a").exists()
    thread.join()
    assert said == f"rocport: waiting for another build of the ISA runtime ({shelf / 'a.lock'})\n"
    assert [path.name for path in shelf.iterdir()] == ["a"]


def test_an_object_of_a_source_that_was_edited_meanwhile_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, toolchain: Toolchain
) -> None:
    monkeypatch.setenv("ROCPORT_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "a.cpp"
    source.write_text("int x;\n")

    def compiler(command: list[str], _: str) -> str:
        Path(command[-1]).write_text("")
        source.write_text("int y;\n")
        return ""

    monkeypatch.setattr(library, "run_compiler", compiler)
    with pytest.raises(LibraryError, match="edited"):
        library._object(source, [], tmp_path, toolchain)
    assert not list((tmp_path / "cache").rglob("*.o"))


def test_a_compiler_that_hangs_is_an_error_of_the_build(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declarations, "HANGING_S", 0.01)
    with pytest.raises(LibraryError, match=r"part.*sleep took over"):
        run_compiler(["sleep", "60"], "part")
    with pytest.raises(BuildError, match=r"a\.hip: compile failed: sleep took over"):
        executor._step(["sleep", "60"], "a.hip", "compile")
