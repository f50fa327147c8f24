# SPDX-License-Identifier: Apache-2.0
"""Translate a code object's kernels to shared objects, with what a loader needs to know; cached by content."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocport.executor.isa import dwarf, library, program
from rocport.executor.isa.tables import family
from rocport.model.shape import Each
from rocport.model.shape import read as read_shaped
from rocport.syntax.code_object import CodeObject, CodeObjectError, KernelCode, read, unbundle


@dataclass(frozen=True)
class Translated:
    """One kernel, ready to be opened."""

    path: Path
    steps: int
    compiled: int
    """Forms that were not in the cache."""
    untranslated: dict[str, str]
    """Instructions that stop the kernel when reached -> why."""
    origins: dict[str, str]
    """Each form met, as `ENCODING NAME` -> `pseudo-code`, `override`, `by hand` or `untranslated`."""
    seconds: float


def open_object(data: bytes, target: str) -> CodeObject:
    """The code object of a target in these bytes. Raises CodeObjectError and TablesError."""
    code = read(unbundle(data, target))
    family(target)
    if code.target and code.target != target and "generic" not in code.target:
        raise CodeObjectError(f"the code object is {code.target}'s, not {target}'s")
    return code


def _digest(code: CodeObject, kernel: KernelCode, target: str, watched: bool) -> str:
    parts = hashlib.sha256(code.data)
    parts.update(f"{kernel.name} {target} {library.compiler()[1]} {_sources()} {watched}".encode())
    return parts.hexdigest()[:24]


_SOURCES = ""


_NOTE = {"path": str, "steps": int, "untranslated": Each(str), "origins": Each(str)}
"""What is kept beside a translated kernel."""


def _sources() -> str:
    """Digest of the translator's own files."""
    global _SOURCES
    if not _SOURCES:
        digest = hashlib.sha256()
        for path in sorted(Path(__file__).resolve().parent.glob("*.py")):
            digest.update(path.read_bytes())
        _SOURCES = digest.hexdigest()[:12]
    return _SOURCES


def _noted(note: Path) -> dict[str, Any] | None:
    """What is kept beside a translated kernel; None where it is not what `translate` writes, or names a file outside of
    the cache: what is loaded lies in it, whatever a note says."""
    try:
        kept: dict[str, Any] = read_shaped(note.read_text(encoding="utf-8"), _NOTE)
        path = Path(kept["path"])
        return kept if path.resolve().is_relative_to(library.folder().resolve()) and path.exists() else None
    except (OSError, ValueError):
        return None


def translate(code: CodeObject, kernel: KernelCode, target: str, watched: bool = False) -> Translated:
    """The kernel's shared object, from the cache where it holds it; `watched`: for RP_WATCH. Raises EngineError,
    TablesError."""
    start = time.perf_counter()
    note = library.folder() / "translated" / (_digest(code, kernel, target, watched) + ".json")
    kept = _noted(note)
    if kept is not None:
        seconds = time.perf_counter() - start
        return Translated(Path(kept["path"]), kept["steps"], 0, kept["untranslated"], kept["origins"], seconds)
    built = program.build(code, kernel, target)
    if watched:
        program.watch(built)
    lines = dwarf.lines(code.data, [step.address for step in built.steps])
    linked = library.link(code, built, target, lines)
    origins = {f"{step.encoding} {step.name}": step.how for step in built.steps}
    library.write_whole(
        note,
        json.dumps(
            {"path": str(linked.path), "steps": linked.steps, "untranslated": built.untranslated, "origins": origins}
        ),
    )
    seconds = time.perf_counter() - start
    return Translated(linked.path, linked.steps, linked.compiled, built.untranslated, origins, seconds)


def describe(data: bytes, target: str, names: Sequence[str]) -> dict[str, Any]:
    """What `translate` prints: docs/isa.md. Raises KeyError for a kernel that the object lacks, and as translate."""
    code = open_object(data, target)
    elf = library.folder() / "objects" / (hashlib.sha256(code.data).hexdigest()[:24] + ".co")
    if not elf.exists():
        library.write_whole(elf, code.data)
    descriptors = {kernel.symbol for kernel in code.kernels.values()}
    kernels = {}
    for name in names:
        kernel = code.kernels[name]
        done = translate(code, kernel, target)
        d, use = kernel.descriptor, kernel.use
        kernels[name] = {
            "so": str(done.path),
            "wave_size": use.wavefront,
            "vgprs": use.vgprs,
            "agprs": use.agprs,
            "sgprs": use.sgprs,
            "lds_bytes": d.lds_bytes,
            "scratch_bytes": d.scratch_bytes,
            "kernarg_bytes": d.kernarg_bytes,
            "kernarg_align": kernel.kernarg_align,
            "max_block": use.max_workgroup,
            "steps": done.steps,
            "untranslated": done.untranslated,
            "arguments": [
                {"offset": a.offset, "bytes": a.size, "kind": a.kind, "name": a.name} for a in kernel.arguments
            ],
        }
    return {
        "target": target,
        "elf": str(elf),
        "image_bytes": len(code.memory),
        "image_align": 4096,
        "segments": [
            {
                "address": s.address,
                "offset": s.offset,
                "file_bytes": s.file_bytes,
                "memory_bytes": s.memory_bytes,
                "writable": s.writable,
            }
            for s in code.segments
        ],
        "relocations": [
            {"address": r.address, "kind": r.kind, "symbol": r.symbol, "addend": r.addend} for r in code.relocations
        ],
        "symbols": {
            name: {"address": s.address, "bytes": s.size, "kind": "kernel" if name in descriptors else s.kind}
            for name, s in code.symbols.items()
        },
        "kernels": kernels,
    }
