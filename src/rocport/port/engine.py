"""Findings in, a ported tree out: selection, conflicts, generated files, manifest."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocport import __version__
from rocport.model import FileRecord, Finding, Options, Problem
from rocport.port import beside, compat, headers, manifest
from rocport.port.apply import apply
from rocport.port.files import sha256, write_atomic
from rocport.port.gated import apply_gated
from rocport.port.generated import NewFile, PortedTree
from rocport.port.mirror import mirror
from rocport.port.places import Places
from rocport.syntax.cuda import CudaSource


@dataclass(frozen=True)
class Ported:
    """One file after the port. `data` is None when the file is taken over as it is."""

    path: str
    source_sha256: str
    data: bytes | None
    findings: tuple[Finding, ...] = ()
    headers: frozenset[str] = frozenset()
    problem: Problem | None = None
    size: int = 0
    compat: frozenset[str] = frozenset()
    """Names of the generated Python module that the file uses."""
    compat_file: str = ""
    suppressed: int = 0
    language: str = "cuda"


def port_file(path: str, data: bytes, findings: list[Finding]) -> Ported:
    """Port one source file in memory."""
    return port_source(CudaSource(path, data), findings)


def port_source(source: CudaSource, findings: list[Finding]) -> Ported:
    """Port one parsed source file in memory."""
    path, data = source.path, source.data
    if not findings:
        return Ported(path, sha256(data), None, size=len(data))
    applied = apply(source, findings)
    changed = applied.data if applied.data != data else None
    return Ported(path, sha256(data), changed, applied.findings, applied.headers, size=len(data))


def port_other(path: str, data: bytes, language: str, findings: Sequence[Finding], places: Places) -> Ported:
    """Port one Python, build, dependency or container file in memory: gated edits inside it."""
    if not findings:
        return Ported(path, sha256(data), None, size=len(data), language=language)
    gated = apply_gated(path, data, language, findings, places)
    changed = gated.data if gated.data != data else None
    return Ported(
        path,
        sha256(data),
        changed,
        gated.findings,
        size=len(data),
        compat=gated.compat,
        compat_file=gated.compat_file,
        language=language,
    )


def new_files(
    root: Path,
    files: frozenset[str],
    ported: Sequence[Ported],
    translated: Mapping[str, bytes],
    options: Options,
    whole: bool = True,
) -> list[NewFile]:
    """What the port adds: headers, translations in a tree for both platforms, the Python module, and what belongs
    beside the sources.

    `whole` is False for a single file, beside which nothing else belongs. `translated` are the translations that do not
    replace their sources (layout `both`), by the path of the source. Raises OSError when a file that has to be read
    again cannot be.
    """
    both = options.layout == "both"
    below = f"{options.mirror}/" if both else ""
    found = [
        NewFile(below + name, headers.read(name), "included by translated sources")
        for name in sorted(headers.closure(frozenset().union(*(one.headers for one in ported))))
    ]
    if both:
        sources = [one.path for one in ported if one.language == "cuda" and one.problem is None]
        found += mirror(options.mirror, translated, sources, files, lambda path: (root / path).read_bytes())
    found += _compat_modules(root, ported)
    if whole:
        changed = {one.path: one.data for one in ported if one.data is not None}
        findings = tuple(finding for one in ported for finding in one.findings)
        found += beside.generate(PortedTree(root, files, findings, changed, options, options.layout))
    return found


def _compat_modules(root: Path, ported: Iterable[Ported]) -> list[NewFile]:
    """The generated Python module, wherever a file imports it. Every copy serves the names of the whole tree, because
    two that lie beside scripts may meet in one process; one that is there already keeps what it served."""
    wanted: frozenset[str] = frozenset()
    places: set[str] = set()
    for one in ported:
        if one.compat_file:
            wanted |= one.compat
            places.add(one.compat_file)
    for place in places:
        if (root / place).is_file():
            wanted |= compat.names_in((root / place).read_bytes())
    module = compat.render(wanted) if places else b""
    return [NewFile(place, module, "platform facts that the gated Python asks for") for place in sorted(places)]


@dataclass(frozen=True)
class Written:
    """What a port into a folder did."""

    records: tuple[FileRecord, ...]
    problems: tuple[Problem, ...]
    removed: tuple[str, ...]


class OutputError(Exception):
    """The output folder cannot take the port; the message says why and what to do."""


class TreeWriter:
    """Writes a port beside its source, file by file.

    A file whose bytes are already right is not touched. A file that was edited by hand since the last port (its hash is
    not the one the manifest recorded) is never overwritten: it is listed as a conflict and the new translation is put
    beside it as `NAME.rocport-new`.
    """

    def __init__(self, root: Path, out: Path, force: bool = False) -> None:
        self.root = root
        self.out = out
        self.force = force
        self._records: dict[str, FileRecord] = {}
        self._problems: list[Problem] = []
        earlier = manifest.load(out)
        if isinstance(earlier, Problem):
            self._problems.append(earlier)
            earlier = None
        if earlier is None and out.exists() and any(out.iterdir()) and not force:
            raise OutputError(
                f"{out}: not empty and holds no {manifest.NAME} of an earlier port; choose another --out, or --force"
            )
        self._earlier = earlier or manifest.Manifest(__version__)

    def add(self, ported: Ported) -> None:
        """Write one file: its translation, or a copy."""
        source = self.root / ported.path
        try:
            mode = source.stat().st_mode & 0o777
            if ported.data is not None:
                self._put(ported.path, ported.path, ported.data, "translated", ported.source_sha256, mode | 0o200)
            else:
                self._put(ported.path, ported.path, source.read_bytes(), "copied", ported.source_sha256, mode | 0o200)
        except OSError as error:
            self._problems.append(Problem(ported.path, f"cannot be written to {self.out}: {error.strerror}"))

    def copy(self, path: str) -> None:
        """Take over a file that is not source."""
        source = self.root / path
        target = self.out / path
        try:
            data = source.read_bytes()
            self._put(path, path, data, "copied", sha256(data), source.stat().st_mode & 0o777 | 0o200)
        except OSError as error:
            self._problems.append(Problem(path, f"cannot be copied to {target}: {error.strerror}"))

    def link(self, path: str, target: str) -> None:
        """Recreate a symbolic link that stays inside the tree; one that leaves it is named, not followed."""
        resolved = os.path.normpath(os.path.join(os.path.dirname(path), target))
        if os.path.isabs(target) or resolved.startswith(".."):
            self._problems.append(Problem(path, f"links to {target}, outside the tree; not ported: copy it by hand"))
            return
        place = self.out / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_symlink():
            place.unlink()
        elif place.exists():
            self._problems.append(Problem(path, "is a link in the source but a file in the output; left alone"))
            return
        place.symlink_to(target)

    def finish(self, new: Iterable[NewFile], reported: dict[str, str]) -> Written:
        """Write the generated files and the manifest, and remove outputs whose source is gone."""
        for file in new:
            self._put(file.source, file.path, file.data, "generated", "", 0o644)
        removed = []
        for output, record in self._earlier.files.items():
            if output in self._records:
                continue
            place = self.out / output
            if place.is_file() and sha256(place.read_bytes()) == record.output_sha256:
                place.unlink()
                removed.append(output)
            elif place.exists():
                self._problems.append(Problem(output, "its source is gone, but it was edited by hand; left in place"))
        source_root = os.path.relpath(self.root.resolve(), self.out.resolve())
        manifest.save(self.out, manifest.Manifest(__version__, reported, self._records, source_root))
        return Written(
            tuple(self._records[name] for name in sorted(self._records)), tuple(self._problems), tuple(removed)
        )

    def _put(self, source: str, output: str, data: bytes, status: str, source_hash: str, mode: int) -> None:
        place = self.out / output
        new_hash = sha256(data)
        if place.is_file():
            present = sha256(place.read_bytes())
            earlier = self._earlier.files.get(output)
            if present == new_hash:
                self._records[output] = FileRecord(source, output, status, source_hash, new_hash)
                return
            if not self.force and (earlier is None or earlier.output_sha256 != present):
                write_atomic(place.with_name(place.name + ".rocport-new"), data, mode)
                self._records[output] = FileRecord(
                    source, output, "conflict", source_hash, earlier.output_sha256 if earlier else ""
                )
                self._problems.append(
                    Problem(output, f"was edited by hand since the last port; kept, see {output}.rocport-new")
                )
                return
        write_atomic(place, data, mode)
        self._records[output] = FileRecord(source, output, status, source_hash, new_hash)


def write_in_place(root: Path, files: Iterable[Ported], new: Iterable[NewFile]) -> None:
    """Replace the sources by their ports and add the generated files. Every file is replaced atomically."""
    for ported in files:
        if ported.data is not None:
            write_atomic(root / ported.path, ported.data)
    for file in new:
        write_atomic(root / file.path, file.data)
