# SPDX-License-Identifier: Apache-2.0
"""Whether a unit's first header may be read precompiled: only where that gives what the whole unit gives.

HIP's header is the unit's first (headers of the system may stand before); no header that is read there lies in the
unit's own folders, too; no macro of the unit's flags is a word in one.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from rocport.executor.precompiled import kept, stub
from rocport.model import HANGING_S
from rocport.syntax.cuda import CudaSource
from rocport.syntax.includes import spelled_includes

RUNTIME = "hip/hip_runtime.h"
_WORD = re.compile(rb"[A-Za-z_]\w*")


def macro(flag: str) -> bytes:
    """The name of what -D or -U gives a meaning."""
    return re.split("[=(]", flag[2:])[0].encode()


def headers_before(source: Path, folders: Iterable[Path]) -> list[str] | None:
    """The headers of the system that stand before HIP's in a unit with these include folders; None where anything else
    does, or HIP's is not there. Raises OSError."""
    data = source.read_bytes()
    named = data.rfind(RUNTIME.encode())
    if named < 0:
        return None
    # What stands behind its line, most of a unit, says nothing, and would be read once for each pass over the unit.
    text = CudaSource(str(source), data[: data.find(b"\n", named) + 1 or len(data)])
    after, found = 0, list[str]()
    for directive in text.directives:
        name = text.text(directive.first + 2, directive.last).strip().decode(errors="replace")
        if directive.name != b"include" or directive.first != after:
            break
        if name.strip('<>"') == RUNTIME:
            return found
        if not name.startswith("<") or any(holds(folder, [name.strip("<>")]) for folder in folders):
            break
        found.append(name.strip("<>"))
        after = directive.last
    return None


def holds(folder: Path, names: Iterable[str]) -> bool:
    """Whether a header of one of these names, as an include spells it, lies in the folder."""
    there = set(os.listdir(folder)) if folder.is_dir() else set()
    return any(name.partition("/")[0] in there and (folder / name).is_file() for name in names)


def known(before: Sequence[str], header: str, target: str) -> tuple[frozenset[bytes], list[str]] | None:
    """All words of the headers that `header` leads to, and the names that they include; None where the compiler (and
    its flags `before`) does not read it. Raises OSError."""

    def make(place: Path) -> bool:
        read: set[str] = set()
        for side in ("--offload-host-only", "--offload-device-only"):
            line = [*before, f"--offload-arch={target}", side, "-M", str(stub(place, [header]))]
            done = subprocess.run(
                line, capture_output=True, text=True, errors="replace", timeout=HANGING_S, check=False,
                env={**os.environ, "LC_ALL": "C"},
            )  # fmt: skip
            if done.returncode:
                return False
            read.update(done.stdout.replace("\\\n", " ").partition(": ")[2].split())
        words: set[bytes] = set()
        names = {header}
        for path in read:
            text = Path(path).read_bytes()
            words.update(_WORD.findall(text))
            beside = Path(path).parent  # where a quoted name is looked for before any folder of the unit's
            names.update(name for name, quoted in spelled_includes(text) if not (quoted and (beside / name).is_file()))
        place.write_bytes(b"\n".join(words) + b"\0" + os.fsencode("\n".join(names)))
        return True

    place = kept([*before, "-M"], [header], make)
    return None if place is None else _parsed(place.read_bytes())


@lru_cache(maxsize=8)
def _parsed(data: bytes) -> tuple[frozenset[bytes], list[str]]:
    words, _, names = data.partition(b"\0")
    return frozenset(words.split(b"\n")), os.fsdecode(names).split("\n")
