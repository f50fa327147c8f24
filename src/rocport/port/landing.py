"""A patch meets the folder it goes to: a tree of its own, or the sources themselves. One merge for both.

A file whose bytes are already right is not touched. One that was edited by hand since the last port is merged with what
changed since, and never overwritten: where both changed the same lines it is listed as a conflict, and the new version
is put beside it as `NAME.rocport-new`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from rocport import __version__
from rocport.model import FileRecord, Patch, Problem, SourceFile
from rocport.model.plain import plain
from rocport.port import manifest, state
from rocport.port.files import alone, inside, sha256
from rocport.port.merge import Met, meet


class OutputError(Exception):
    """The folder cannot take the port; the message says why and what to do."""


@dataclass(frozen=True)
class Outcome:
    """What becomes of one file of the folder. `write` are its new bytes, None where it stays or goes (`remove`);
    `aside` is a version that could not be merged, `made` what the next merge starts from."""

    path: str
    write: bytes | None = None
    mode: int | None = None
    remove: bool = False
    aside: bytes | None = None
    made: bytes | None = None
    record: FileRecord | None = None
    problem: Problem | None = None

    @property
    def changes(self) -> bool:
        """True when the file gets other bytes, or goes."""
        return self.write is not None or self.remove


@dataclass(frozen=True)
class Landed:
    """What a patch did to a folder, stale outputs that it removed among the records."""

    records: tuple[FileRecord, ...] = ()
    problems: tuple[Problem, ...] = ()


class Landing:
    """A patch and the folder it goes to. Raises OutputError for a folder that holds something else."""

    def __init__(self, patch: Patch, where: Path, force: bool = False) -> None:
        self.patch = patch
        self.where = where
        self.force = force
        self.in_place = where.resolve() == patch.tree.root.resolve()
        self._kept = state.Kept(where)
        self._problems: list[Problem] = []
        self._record_path = ""
        self._cut = {} if self.in_place else state.noted(where)
        if self.in_place:
            if patch.options.layout == "both":
                self._record_path = f"{patch.options.mirror}/{manifest.NAME}"
            self._earlier = manifest.load_hashes(where / self._record_path) if self._record_path else {}
        else:
            earlier = check_folder(where, force)
            if isinstance(earlier, Problem):
                self._problems.append(earlier)
                earlier = None
            self._earlier = {path: item.output_sha256 for path, item in earlier.files.items()} if earlier else {}

    def outcomes(self) -> Iterator[Outcome]:
        """What becomes of every file, those without any change included. Reads the folder, writes nothing."""
        done = set()
        for file in () if self.in_place else self.patch.tree.files:
            if file.path not in self.patch.files:
                done.add(file.path)
                yield self._copied(file)
        for path in self.patch.files:
            done.add(path)
            yield self._patched(path)
        for path in sorted((self._earlier.keys() | self._cut.keys()) - done):
            present = _bytes(self.where, path)
            if present is not None and self._wrote(path, sha256(present)):
                yield Outcome(path, remove=True, record=FileRecord("", path, "removed"))
            elif present is not None:
                problem = Problem(path, "its source is gone, but it was edited by hand; left in place")
                yield Outcome(path, problem=problem)

    def _copied(self, file: SourceFile) -> Outcome:
        try:
            data, mode = file.read(), self._mode(file.path)
        except OSError as error:
            return Outcome(file.path, problem=Problem(file.path, f"cannot be copied: {error.strerror}"))
        keep = file.language != "other"
        record = FileRecord(file.path, file.path, "copied", file.sha256 if keep else sha256(data), sha256(data))
        return self._met(record, data, mode, None, keep)

    def _patched(self, path: str) -> Outcome:
        new = self.patch.files[path]
        base = new.base if self.in_place else None
        if not new.translated:
            record = FileRecord(new.source, path, "generated", "", sha256(new.data))
            return self._met(record, new.data, None if self.in_place else 0o644, base)
        record = FileRecord(path, path, "translated", self.patch.tree.by_path[path].sha256, sha256(new.data))
        try:
            return self._met(record, new.data, None if self.in_place else self._mode(path), base, not self.in_place)
        except OSError as error:
            return Outcome(path, problem=Problem(path, f"cannot be written to {self.where}: {error.strerror}"))

    def _mode(self, path: str) -> int:
        return (self.patch.tree.root / path).stat().st_mode & 0o777 | 0o200

    def _met(self, record: FileRecord, data: bytes, mode: int | None, base: bytes | None, keep: bool = True) -> Outcome:
        """What becomes of a file that was to hold `data`; `base` is what stood there when the patch was made, where it
        replaces that."""
        path = record.output
        present = _bytes(self.where, path)
        earlier = self._earlier.get(path, "")
        if base is None:
            own = present is not None and self._wrote(path, sha256(present))
            base = present if own else self._kept.get(path)
            if base is None and earlier == record.output_sha256:
                base = data
        replaces = self.force or path == self._record_path
        met = Met("updated", data) if replaces and present != data else meet(present, base, data)
        if met.status == "conflict":
            return Outcome(
                path,
                mode=mode,
                aside=data,
                made=self._kept.get(path),
                record=FileRecord(record.source, path, "conflict", record.source_sha256, earlier),
                problem=state.conflict(path, met.conflicts),
            )
        if met.status in ("edited", "merged"):
            record = FileRecord(record.source, path, met.status, record.source_sha256, record.output_sha256)
        return Outcome(path, met.data, mode, made=data if keep else None, record=record)

    def _wrote(self, path: str, hashed: str) -> bool:
        """Whether a file of this hash is what an earlier port wrote, one that was cut off too."""
        return hashed == self._earlier.get(path) or hashed in self._cut.get(path, ())

    def write(self) -> Landed:
        """Do it: every file is replaced atomically or not at all. In place, what is needed to undo it is kept first.

        Raises OSError when the sources themselves cannot be written (in a folder of its own that is a problem of one
        file), BusyError while another process writes there.
        """
        with alone(self.where):
            state.start(self.where)
            return self._land()

    def _land(self) -> Landed:
        if not self.in_place and not self._earlier:
            # Cut off from here on, this is a port that the next one completes.
            self._save_manifest({})
        outcomes: Iterable[Outcome] = self.outcomes()
        if self.in_place:
            outcomes = list(outcomes)
            state.record(self.where, [(item.path, item.write) for item in outcomes if item.changes])
        records: dict[str, FileRecord] = {}
        problems = self._problems
        for item in outcomes:
            try:
                self._write(item)
            except OSError as error:
                if self.in_place:
                    raise
                problems.append(Problem(item.path, f"cannot be written to {self.where}: {error.strerror}"))
                continue
            if item.made is not None:
                self._kept.put(item.path, item.made)
            if item.record is not None and item.path != self._record_path:
                records[item.path] = item.record
            if item.problem is not None:
                problems.append(item.problem)
        self._kept.save()
        ordered = [records[path] for path in sorted(records)]
        if not self.in_place:
            problems += self._links()
            self._save_manifest({record.output: record for record in ordered if record.status != "removed"})
        state.end(self.where)
        ordered.sort(key=lambda record: record.status == "removed")
        return Landed(tuple(ordered), tuple(problems))

    def _write(self, item: Outcome) -> None:
        if item.write is not None:
            if not self.in_place and item.record is not None and item.record.status != "merged":
                state.note(self.where, item.path, item.record.output_sha256)
            state.write(self.where, item.path, item.write, item.mode)
        if item.aside is not None:
            state.write(self.where, f"{item.path}.rocport-new", item.aside, item.mode)
        if item.remove:
            inside(self.where, item.path).unlink()

    def _save_manifest(self, records: Mapping[str, FileRecord]) -> None:
        options = self.patch.options
        said = {"warp": options.warp, "targets": ",".join(options.targets), "layout": options.layout}
        said |= {"rocm": str(options.rocm or ""), "torch": options.torch or ""}
        source_root = os.path.relpath(self.patch.tree.root.resolve(), self.where.resolve())
        manifest.save(self.where, manifest.Manifest(__version__, said, records, source_root))

    def _links(self) -> Iterator[Problem]:
        """Recreate symbolic links that stay inside the tree; one that leaves it is named, not followed."""
        for path, target in self.patch.tree.links:
            resolved = os.path.normpath(os.path.join(os.path.dirname(path), target))
            place = self.where / path
            inside(self.where, os.path.dirname(path))
            if os.path.isabs(target) or resolved.startswith(".."):
                yield Problem(path, f"links to {target}, outside the tree; not ported: copy it by hand")
            elif place.exists() and not place.is_symlink():
                yield Problem(path, "is a link in the source but a file in the output; left alone")
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.unlink(missing_ok=True)
                place.symlink_to(target)


def check_folder(where: Path, force: bool = False) -> manifest.Manifest | Problem | None:
    """What an earlier port left in the folder. Raises OutputError for one that is not empty and that no port wrote."""
    earlier = manifest.load(where)
    if not isinstance(earlier, manifest.Manifest) and not force and _holds_something(where):
        raise OutputError(
            f"{where}: not empty and holds no {manifest.NAME} of an earlier port; choose another --out, or --force"
        )
    return earlier


def _holds_something(where: Path) -> bool:
    """Besides what the first port into it left when it was cut off at its beginning."""
    return where.exists() and any(path.name != state.FOLDER for path in where.iterdir())


def _bytes(root: Path, path: str) -> bytes | None:
    try:
        return plain(inside(root, path))
    except OSError:
        return None
