"""What earlier scans found, keyed by everything that went into it: content and path of the file, options, the names of
the tree, and the rules themselves. A cache that cannot be read or written is as if it was not there."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from rocport.model import (
    Applicability,
    Confidence,
    Definition,
    Edit,
    Finding,
    Options,
    ProjectIndex,
    Severity,
    Span,
    cache_folder,
    shape,
)
from rocport.model.digest import code_digest
from rocport.syntax.project import FileNames

# Packages whose code or data decides what a scan finds.
DECIDING = ("binding", "convergence", "facts", "model", "project", "ptx", "rules", "scan", "syntax")
"""The packages that decide what a scan finds: `scan` and all that it imports."""
_KEEP_DAYS = 30
_SECONDS_A_DAY = 86_400


class Cache:
    """Texts by key in one SQLite file. Entries not used for 30 days go."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._database: sqlite3.Connection | None = None
        for attempt in ("use", "replace"):
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                database = sqlite3.connect(path, timeout=5)
                database.execute("CREATE TABLE IF NOT EXISTS entry (key TEXT PRIMARY KEY, used INTEGER, text TEXT)")
                database.execute("SELECT count(*) FROM entry WHERE used < 0").fetchone()
                self._database = database
                return
            except sqlite3.DatabaseError:
                # Half-written, or another program's: only a file of our own name in our own folder is replaced.
                if attempt == "replace":
                    return
                with contextlib.suppress(OSError):
                    path.unlink()
            except OSError:
                return

    def get(self, keys: Iterable[str]) -> dict[str, Any]:
        """The values that are known, by key."""
        found: dict[str, Any] = {}
        if self._database is None:
            return found
        wanted = list(keys)
        try:
            for first in range(0, len(wanted), 500):
                part = wanted[first : first + 500]
                marks = ",".join("?" * len(part))
                rows = self._database.execute(f"SELECT key, text FROM entry WHERE key IN ({marks})", part)
                for key, text in rows:
                    found[key] = json.loads(text)
        except (sqlite3.DatabaseError, ValueError, TypeError):
            return {}
        return found

    def put(self, values: Mapping[str, Any], used: Iterable[str] = ()) -> None:
        """Store values, and mark the keys in `used` as still wanted."""
        if self._database is None:
            return
        today = int(time.time()) // _SECONDS_A_DAY
        with contextlib.suppress(sqlite3.DatabaseError), self._database:
            self._database.executemany(
                "INSERT OR REPLACE INTO entry VALUES (?, ?, ?)",
                ((key, today, json.dumps(value, separators=(",", ":"))) for key, value in values.items()),
            )
            self._database.executemany(
                "UPDATE entry SET used = ? WHERE key = ? AND used < ?", ((today, key, today) for key in used)
            )
            self._database.execute("DELETE FROM entry WHERE used < ?", (today - _KEEP_DAYS,))


def default_path(environ: Mapping[str, str] = os.environ) -> Path:
    """Where the scans of this user are kept."""
    return cache_folder(environ) / "scan.sqlite"


def code_fingerprint() -> str:
    """Changes with every file of rocport that decides what a scan finds."""
    return code_digest(DECIDING)


def context_fingerprint(code: str, options: Options, project: ProjectIndex) -> str:
    """Everything but the file itself."""
    digest = hashlib.blake2b(f"{code}\0{options!r}\0{project.torch_extension}{project.arrays}".encode(), digest_size=16)
    for group in (
        sorted(project.device_functions),
        [name + b"\1" + body for name, body in sorted(project.macros.items())],
        [name + repr(said).encode() for name, said in sorted(project.macro_bodies.items())],
        [name.encode(errors="surrogateescape") for name in sorted(project.files)],
        [name.encode(errors="surrogateescape") for name in sorted(project.ptx_sources)],
        [name.encode(errors="surrogateescape") for name in sorted(project.included)],
        [name + b"\1" + bytes([reads]) for name, reads in sorted(project.carrying.items())],
        sorted(project.void_functions),
        sorted(project.sized),
        sorted(project.constructed),
        [name + repr(paths).encode() for name, paths in sorted(project.templates.items())],
        [name + repr(paths).encode() for name, paths in sorted(project.vectors.items())],
        [
            name + repr([(path, sorted(spaces)) for path, spaces in said]).encode()
            for name, said in sorted(project.marks.items())
        ],
        [repr(item).encode() for _, items in sorted(project.definitions.items()) for item in items],
        [repr(item).encode() for item in sorted(project.includes.items())],
        [repr(item).encode() for item in sorted(project.pins.items())],
        [name.encode() for name in sorted(project.defined)],
        [name.encode() for name in sorted(project.extensions)],
        [path.encode() for path in sorted(project.hip_builds)],
        [repr(None if project.named is None else sorted(project.named)).encode()],
        [
            name + repr([(path, sorted(kinds)) for path, kinds in items]).encode()
            for name, items in sorted(project.meets.items())
        ],
    ):
        digest.update(b"\0".join(group) + b"\2")
    return digest.hexdigest()


def key(*parts: str | bytes) -> str:
    """One key of its parts."""
    digest = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode(errors="surrogateescape")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


_T = TypeVar("_T")


def unpacked(known: Mapping[str, Any], unpack: Callable[[Any], _T]) -> dict[str, _T]:
    """The values that are what a scan stores, unpacked. One that is not is as if it was not there."""
    found: dict[str, _T] = {}
    for mark, packed in known.items():
        with contextlib.suppress(ValueError, TypeError, AttributeError, KeyError):
            found[mark] = unpack(packed)
    return found


_NAMES = shape.Row(
    [str],
    shape.Each(str),
    [str],
    bool,
    bool,
    [shape.Row(str, str, int, str, (int, None), shape.Row((bool, None), (bool, None)), bool, str)],
    [str],
    shape.Each([str]),
    shape.Each([str]),
    shape.Each(bool),
    bool,
    [str],
    [str],
    [str],
    [str],
    [str],
    shape.Each([str]),
    [str],
)
_FINDING = shape.Row(
    *(str, int, int, int, int, str, str, str, str, str, int),
    [shape.Row(int, int, str)],
    *([str], [str], str, str, bool, str),
)


def pack_names(names: FileNames) -> list[Any]:
    """The names of a file as JSON takes them."""
    return [
        [name.decode("latin-1") for name in sorted(names.device_functions)],
        {name.decode("latin-1"): body.decode("latin-1") for name, body in names.macros.items()},
        sorted(names.included),
        names.torch_extension,
        names.ptx,
        [
            [
                item.name.decode("latin-1"),
                item.kind,
                item.line,
                item.owner.decode("latin-1"),
                item.parameters,
                item.live,
                item.defined,
                item.takes.decode("latin-1"),
            ]
            for item in names.definitions
        ],
        names.includes,
        {name.decode("latin-1"): sorted(kinds) for name, kinds in names.meets.items()},
        {
            name.decode("latin-1"): [call.decode("latin-1") for call in sorted(called)]
            for name, called in names.calls.items()
        },
        {name.decode("latin-1"): reads for name, reads in names.carrying.items()},
        names.arrays,
        [name.decode("latin-1") for name in sorted(names.void_functions)],
        [name.decode("latin-1") for name in sorted(names.sized)],
        [name.decode("latin-1") for name in sorted(names.constructed)],
        [name.decode("latin-1") for name in sorted(names.templates)],
        [name.decode("latin-1") for name in sorted(names.vectors)],
        {name.decode("latin-1"): sorted(space.decode() for space in said) for name, said in names.marks.items()},
        [name.decode("latin-1") for name in sorted(names.asked)],
    ]


def unpack_names(packed: list[Any]) -> FileNames:
    """The inverse of `pack_names`. Raises ShapeError."""
    shape.check(packed, _NAMES)
    device, macros, included, torch_extension, ptx, definitions, includes, meets, calls, carrying, arrays = packed[:11]
    void, sized, constructed, templates, vectors, marks, asked = packed[11:]
    return FileNames(
        frozenset(name.encode("latin-1") for name in device),
        {name.encode("latin-1"): body.encode("latin-1") for name, body in macros.items()},
        frozenset(included),
        torch_extension,
        ptx,
        tuple(
            Definition(
                name.encode("latin-1"),
                kind,
                line,
                "",
                owner.encode("latin-1"),
                parameters,
                tuple(live),
                defined,
                takes.encode("latin-1"),
            )
            for name, kind, line, owner, parameters, live, defined, takes in definitions
        ),
        tuple(includes),
        {name.encode("latin-1"): frozenset(kinds) for name, kinds in meets.items()},
        {
            name.encode("latin-1"): frozenset(call.encode("latin-1") for call in called)
            for name, called in calls.items()
        },
        {name.encode("latin-1"): reads for name, reads in carrying.items()},
        arrays,
        frozenset(name.encode("latin-1") for name in void),
        frozenset(name.encode("latin-1") for name in sized),
        frozenset(name.encode("latin-1") for name in constructed),
        frozenset(name.encode("latin-1") for name in templates),
        frozenset(name.encode("latin-1") for name in vectors),
        {name.encode("latin-1"): frozenset(space.encode() for space in said) for name, said in marks.items()},
        frozenset(name.encode("latin-1") for name in asked),
    )


def pack_finding(finding: Finding) -> list[Any]:
    """A finding as JSON takes it, without its path, which the key holds."""
    return [
        finding.rule,
        finding.span.start,
        finding.span.end,
        finding.line,
        finding.end_line,
        finding.message,
        finding.severity.value,
        finding.applicability.value,
        finding.confidence.value,
        finding.fix,
        finding.phase,
        [[edit.span.start, edit.span.end, edit.text.decode("latin-1")] for edit in finding.edits],
        sorted(finding.headers),
        sorted(finding.compat),
        finding.holds,
        finding.source,
        finding.routine,
        finding.cause,
    ]


def unpack_finding(path: str, packed: list[Any]) -> Finding:
    """The inverse of `pack_finding`. Raises ShapeError."""
    shape.check(packed, _FINDING)
    (rule, start, end, line, end_line, message, severity, applicability, confidence, fix, phase) = packed[:11]
    edits, headers, compat, holds, source, routine, cause = packed[11:]
    return Finding(
        rule,
        path,
        Span(start, end),
        line,
        end_line,
        message,
        Severity(severity),
        Applicability(applicability),
        phase,
        Confidence(confidence),
        fix,
        tuple(Edit(Span(first, last), text.encode("latin-1")) for first, last, text in edits),
        frozenset(headers),
        frozenset(compat),
        holds,
        source,
        routine,
        cause,
    )
