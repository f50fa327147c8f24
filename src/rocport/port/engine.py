"""Findings in, a ported tree out: selection, conflicts, generated files, manifest."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocport import __version__
from rocport.model import FileRecord, Finding, Options, Problem
from rocport.port import beside, compat, headers, manifest, state
from rocport.port.apply import apply
from rocport.port.files import sha256, write_atomic
from rocport.port.gated import apply_gated
from rocport.port.generated import NewFile, PortedTree
from rocport.port.merge import Met, meet
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
        if found:
            record = manifest.dump_hashes({file.path: sha256(file.data) for file in found})
            found.append(NewFile(below + manifest.NAME, record, "tells a later port its own text from edits"))
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
    present = {place: data for place in places if (data := _bytes(root / place)) is not None}
    for data in present.values():
        wanted |= compat.names_in(data)
    module = compat.render(wanted) if places else b""
    why = "platform facts that the gated Python asks for"
    found = []
    for place in sorted(places):
        here = present.get(place)
        if here is None:
            found.append(NewFile(place, module, why))
            continue
        met = meet(here, compat.render(compat.names_in(here)), module)
        if met.data is not None:
            found.append(NewFile(place, met.data, why, base=here))
        elif met.status == "conflict":
            found.append(NewFile(place, module, why))
    return found


@dataclass(frozen=True)
class Written:
    """What a port into a folder did, stale outputs that it removed among the records."""

    records: tuple[FileRecord, ...]
    problems: tuple[Problem, ...]


class OutputError(Exception):
    """The output folder cannot take the port; the message says why and what to do."""


class TreeWriter:
    """Writes a port beside its source, file by file.

    A file whose bytes are already right is not touched. One that was edited by hand since the last port (its hash is
    not the one the manifest recorded) is merged with what changed since, and never overwritten: where both changed the
    same lines it is listed as a conflict, and the new version is put beside it as `NAME.rocport-new`.
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
        self._kept = state.Kept(out)

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
            self._put(path, path, data, "copied", sha256(data), source.stat().st_mode & 0o777 | 0o200, keep=False)
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
            if file.base is not None:
                self._records.pop(file.path, None)
            self._put(file.source, file.path, file.data, "generated", "", 0o644, base=file.base)
        removed = []
        for output, record in self._earlier.files.items():
            if output in self._records:
                continue
            place = self.out / output
            if place.is_file() and sha256(place.read_bytes()) == record.output_sha256:
                place.unlink()
                removed.append(FileRecord("", output, "removed"))
            elif place.exists():
                self._problems.append(Problem(output, "its source is gone, but it was edited by hand; left in place"))
        self._kept.save()
        source_root = os.path.relpath(self.root.resolve(), self.out.resolve())
        manifest.save(self.out, manifest.Manifest(__version__, reported, self._records, source_root))
        return Written((*(self._records[name] for name in sorted(self._records)), *removed), tuple(self._problems))

    def _put(
        self,
        source: str,
        output: str,
        data: bytes,
        status: str,
        source_hash: str,
        mode: int,
        keep: bool = True,
        base: bytes | None = None,
    ) -> None:
        place = self.out / output
        new_hash = sha256(data)
        present = place.read_bytes() if place.is_file() else None
        earlier = self._earlier.files.get(output)
        unedited = present is not None and earlier is not None and earlier.output_sha256 == sha256(present)
        if base is None:
            base = present if unedited else self._kept.get(output)
        met = Met("updated", data) if self.force else meet(present, base, data)
        if met.status == "conflict":
            write_atomic(place.with_name(place.name + ".rocport-new"), data, mode)
            earlier_hash = earlier.output_sha256 if earlier else ""
            self._records[output] = FileRecord(source, output, "conflict", source_hash, earlier_hash)
            self._problems.append(state.conflict(output, met.conflicts))
            if (last := self._kept.get(output)) is not None:
                self._kept.put(output, last)
            return
        if keep:
            self._kept.put(output, data)
        if met.data is not None and met.data != present:
            write_atomic(place, met.data, mode)
        done = met.status if met.status in ("edited", "merged") else status
        self._records[output] = FileRecord(source, output, done, source_hash, new_hash)


@dataclass(frozen=True)
class Settled:
    """A port in place before it is written: the new bytes of each file, the files to remove, the versions put aside
    because of a conflict, and what is generated (kept as the base of the next merge)."""

    writes: Mapping[str, bytes]
    removed: tuple[str, ...]
    aside: Mapping[str, bytes]
    made: Mapping[str, bytes]
    records: tuple[FileRecord, ...]
    problems: tuple[Problem, ...]

    @property
    def changes(self) -> bool:
        return bool(self.writes or self.removed)


def settle(
    root: Path, ported: Iterable[Ported], new: Sequence[NewFile], mirror_folder: str, force: bool = False
) -> Settled:
    """What a port in place writes. Generated files that were edited by hand are merged (with `force` replaced); those
    whose source is gone are removed, when nobody edited them."""
    kept = state.Kept(root)
    recorded = f"{mirror_folder}/{manifest.NAME}" if mirror_folder else ""
    hashes = manifest.load_hashes(root / recorded) if recorded else {}
    writes = {one.path: one.data for one in ported if one.data is not None}
    records = [
        FileRecord(one.path, one.path, "translated", one.source_sha256, sha256(one.data))
        for one in ported
        if one.data is not None
    ]
    aside: dict[str, bytes] = {}
    made: dict[str, bytes] = {}
    problems: list[Problem] = []
    for file in new:
        present = _bytes(root / file.path)
        if file.path == recorded:
            if present != file.data:
                writes[recorded] = file.data
            continue
        base = file.base or kept.get(file.path)
        if base is None and present is not None and hashes.get(file.path) == sha256(present):
            base = present
        met = Met("updated", file.data) if force and present != file.data else meet(present, base, file.data)
        status = met.status if met.status in ("edited", "merged", "conflict") else "generated"
        if met.status == "conflict":
            aside[f"{file.path}.rocport-new"] = file.data
            last = kept.get(file.path)
            made |= {file.path: last} if last is not None else {}
            problems.append(state.conflict(file.path, met.conflicts))
        else:
            made[file.path] = file.data
            writes |= {file.path: met.data} if met.data is not None else {}
        records.append(FileRecord(file.source, file.path, status, "", sha256(file.data)))
    removed = []
    for path in sorted(hashes.keys() - {file.path for file in new}):
        present = _bytes(root / path)
        if present is not None and sha256(present) == hashes[path]:
            removed.append(path)
            records.append(FileRecord("", path, "removed", "", ""))
        elif present is not None:
            problems.append(Problem(path, "its source is gone, but it was edited by hand; left in place"))
    return Settled(writes, tuple(removed), aside, made, tuple(records), tuple(problems))


def write_in_place(root: Path, settled: Settled) -> None:
    """Replace the sources by their ports, and add and remove generated files. Every file is replaced atomically; what
    is needed to undo it all is kept first."""
    state.record(root, [*settled.writes.items(), *((path, None) for path in settled.removed)])
    for path, data in (*settled.writes.items(), *settled.aside.items()):
        write_atomic(root / path, data)
    for path in settled.removed:
        (root / path).unlink()
    kept = state.Kept(root)
    for path, made in settled.made.items():
        kept.put(path, made)
    kept.save()


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
