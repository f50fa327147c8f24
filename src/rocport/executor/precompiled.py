"""Precompiled headers, each made once, on one shelf: what was not used for longest goes."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rocport.model import HANGING_S, cache_folder
from rocport.model.locks import locked

INSTANTIATED = ("-fpch-instantiate-templates",)
"""What the headers leave to instantiate is not left to each unit: of an empty unit with PyTorch's headers that is 2.7 s
of a processor for the device, not 6.3."""
# Named modules, which C++20 switches on, merge functions that differ in __host__ and __device__ alone:
# https://clang.llvm.org/docs/StandardCPlusPlusModules.html. Headers of the system, which all of these are, clang
# otherwise takes as they were.
PLAIN = ("-Xclang", "-fno-cxx-modules", *INSTANTIATED, "-Xclang", "-fmodules-validate-system-headers")
"""Of a command that makes one, and of those that use it."""
_KEPT_BYTES = 4 << 30  # HIP's header takes 9 MB, PyTorch's over 100
_FAILED_S = 3600  # what could not be precompiled is tried again after that: the memory may have been short


def shelf() -> Path:
    """The folder of all of them."""
    return cache_folder() / "precompiled"


def header(command: Sequence[str], includes: Sequence[str], emit: Sequence[str]) -> Path | None:
    """The precompiled header of a file with these `#include <...>`, for units that the command is to compile.

    `command` is clang and its flags, without files; `emit` says of which pass. Which header a name means is known by
    when the folders of `-isystem` changed; what the headers hold clang itself looks up when it uses them. None where
    there is none to be had.
    """

    def make(place: Path) -> bool:
        line = [*command, *emit, "-S", "-Xclang", "-emit-pch", str(stub(place, includes)), "-o", str(place)]
        return not subprocess.run(line, capture_output=True, timeout=HANGING_S, check=False).returncode

    return kept([*command, *emit], includes, make)


def stub(place: Path, includes: Sequence[str]) -> Path:
    """The file that includes these, next to what is made of it: clang looks at it again."""
    text = place.with_suffix(".hip")
    text.write_text("".join(f"#include <{name}>\n" for name in includes))
    return text


def kept(command: Sequence[str], includes: Sequence[str], make: Callable[[Path], bool]) -> Path | None:
    """What `make` makes of the headers under this command, once for each state of the folders they lie in."""
    following = [*command[1:], ""]
    folders = [
        one.removeprefix("-isystem") or after
        for one, after in zip(command, following, strict=True)
        if one.startswith("-isystem")
    ]
    try:
        changed = [Path(folder).stat().st_mtime_ns for folder in folders]
        made_by = repr((command, includes, _compiler(command[0]), changed))
    except OSError:
        return None
    return shelved(made_by.encode(), make)


@functools.cache
def _compiler(path: str) -> tuple[int, int]:
    status = Path(path).resolve().stat()
    return status.st_size, status.st_mtime_ns


def shelved(made_of: bytes, make: Callable[[Path], bool]) -> Path | None:
    """The precompiled header that is made of this; `make` writes it to the path that it gets where it is not there.

    None where there is none to be had. What was not used for longest goes.
    """
    place = shelf() / hashlib.sha256(made_of).hexdigest()[:32]
    made = place / "header.pch"
    if not made.is_file() and not _made(place, made, make):
        return None
    with contextlib.suppress(OSError):
        os.utime(place)
    return made


def _made(place: Path, made: Path, make: Callable[[Path], bool]) -> bool:
    try:
        place.mkdir(parents=True, exist_ok=True)
        with locked(place):
            if made.is_file():
                return True
            failed = place / "failed"
            if failed.is_file() and time.time() - failed.stat().st_mtime < _FAILED_S:
                return False
            partial = place / "header.partial"
            if not _makes(make, partial):
                failed.write_text("")  # those who wait do not repeat what fails or hangs
                return False
            partial.replace(made)
            failed.unlink(missing_ok=True)
    except OSError:
        return False
    _forget(place.parent)
    return True


def _makes(make: Callable[[Path], bool], partial: Path) -> bool:
    try:
        return make(partial)
    except (OSError, subprocess.TimeoutExpired):
        return False


class _Busy(Exception):
    """Another process holds the place."""


def _in_use() -> None:
    raise _Busy


def _forget(folder: Path) -> None:
    """Removes what was not used for longest."""
    kept = 0
    with contextlib.suppress(OSError):
        for place in sorted(folder.iterdir(), key=lambda place: place.stat().st_mtime, reverse=True):
            kept += sum(file.stat().st_size for file in place.iterdir())
            if kept > _KEPT_BYTES:
                with contextlib.suppress(_Busy), locked(place, _in_use):
                    shutil.rmtree(place, ignore_errors=True)
