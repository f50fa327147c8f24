"""What stands before a unit's own text, precompiled: parsing the executor's headers is most of what a small unit costs.

The text that the preprocessor put before the unit's own decides, with the compiler, its flags and rocport's rewriter,
under which name the precompiled header is kept; so it serves exactly the units that begin with the same bytes, and no
macro, include folder or edit of a header can make it stale. Only clang makes
them; whatever goes wrong, the unit is compiled as a whole.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rocport.executor.compiler import HostCompiler, executor_cache
from rocport.executor.rewrite import rewrite
from rocport.model import HANGING_S
from rocport.model.digest import file_sha256
from rocport.model.locks import locked

_KEPT_BYTES = 1 << 30  # 9 MB each; with PyTorch's headers over 100
_LEAST = 200_000  # bytes of text; less is parsed faster than found
_FAILED_S = 3600  # what could not be precompiled is tried again after that: the memory may have been short
# A marker of a file that is no system header; the compiler's own pseudo-files have names in angle brackets.
_OWN = re.compile(rb'^# \d+ "[^<][^\n]*"(?:(?! 3)[ \d])*$', re.MULTILINE)


def cut(text: bytes, source: Path) -> tuple[bytes, bytes]:
    """(what stands before the own text, the own text) of a unit's preprocessed `text`; nothing before where something
    of the user's comes earlier."""
    first = b'# 1 "%s"' % os.fsencode(source)
    again = first + b" 2\n"
    at = text.find(b"\n" + again)
    if at < _LEAST or not text.startswith(first):
        return b"", text
    before = text[len(first) : at + 1]
    if _OWN.search(before):
        return b"", text
    return before, first + b"\n" + text[at + 1 + len(again) :]


def precompiled(before: bytes, compiler: HostCompiler, command: Sequence[str]) -> list[str]:
    """What to add to `command` (the compiler and its flags, without files) in place of the text `before`.

    Empty where there is no precompiled header to be had.
    """
    if compiler.kind != "clang":
        return []
    try:
        status = Path(compiler.path).stat()
    except OSError:
        return []
    # The header holds the text as this rocport rewrites it.
    made_by = repr((list(command), compiler.version, status.st_size, status.st_mtime_ns, _rewriter()))

    def make(partial: Path) -> bool:
        text = partial.with_suffix(".ii")
        text.write_bytes(rewrite(before).text)
        emit = ["-Xclang", "-emit-pch", "-c", str(text), "-o", str(partial)]
        done = subprocess.run([*command, *emit], capture_output=True, timeout=HANGING_S, check=False, env=compiler.env)
        return not done.returncode

    header = shelved(made_by.encode() + b"\0" + before, make)
    return ["-Xclang", "-include-pch", "-Xclang", str(header)] if header else []


def shelved(made_of: bytes, make: Callable[[Path], bool]) -> Path | None:
    """The precompiled header that is made of this; `make` writes it to the path that it gets where it is not there.

    None where there is none to be had. What was not used for longest goes.
    """
    place = executor_cache() / "prelude" / hashlib.sha256(made_of).hexdigest()[:32]
    header = place / "prelude.pch"
    if not header.is_file() and not _made(place, header, make):
        return None
    with contextlib.suppress(OSError):
        os.utime(place)
    return header


@functools.cache
def _rewriter() -> str:
    return file_sha256(Path(__file__).with_name("rewrite.py"))


def _made(place: Path, header: Path, make: Callable[[Path], bool]) -> bool:
    try:
        place.mkdir(parents=True, exist_ok=True)
        with locked(place):
            if header.is_file():
                return True
            failed = place / "failed"
            if failed.is_file() and time.time() - failed.stat().st_mtime < _FAILED_S:
                return False
            failed.write_text("")  # until it has not: those who wait do not repeat what fails or hangs
            partial = place / "prelude.partial"
            if not make(partial):
                return False
            partial.replace(header)
            failed.unlink()
    except (OSError, subprocess.TimeoutExpired):
        return False
    _forget(place.parent)
    return True


class _Busy(Exception):
    """Another process holds the place."""


def _in_use() -> None:
    raise _Busy


def _forget(shelf: Path) -> None:
    """Removes what was not used for longest."""
    kept = 0
    with contextlib.suppress(OSError):
        for place in sorted(shelf.iterdir(), key=lambda place: place.stat().st_mtime, reverse=True):
            kept += sum(file.stat().st_size for file in place.iterdir())
            if kept > _KEPT_BYTES:
                with contextlib.suppress(_Busy), locked(place, _in_use):
                    shutil.rmtree(place, ignore_errors=True)
