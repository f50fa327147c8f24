"""What stands before a unit's own text, precompiled: parsing the executor's headers is most of what a small unit costs.

The text that the preprocessor put before the unit's own decides, with the compiler, its flags and rocport's rewriter,
under which name the precompiled header is kept; so it serves exactly the units that begin with the same bytes, and no
macro, include folder or edit of a header can make it stale. Only clang makes
them; whatever goes wrong, the unit is compiled as a whole.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

from rocport.executor.compiler import HostCompiler
from rocport.executor.precompiled import INSTANTIATED, shelved
from rocport.executor.rewrite import rewrite
from rocport.model import HANGING_S
from rocport.model.digest import file_sha256

_LEAST = 200_000  # bytes of text; less is parsed faster than found
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
    command = [*command, *INSTANTIATED]
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
    return [*INSTANTIATED, "-Xclang", "-include-pch", "-Xclang", str(header)] if header else []


@functools.cache
def _rewriter() -> str:
    return file_sha256(Path(__file__).with_name("rewrite.py"))
