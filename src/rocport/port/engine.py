"""Findings in, a patch out: edits of the sources, generated files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from rocport.model import Edit, Finding, LeftOut, Options, Patch, PatchFile, Problem, SourceTree
from rocport.port import beside, compat, headers, manifest
from rocport.port.apply import apply
from rocport.port.files import sha256
from rocport.port.gated import apply_gated
from rocport.port.generated import PortedTree
from rocport.port.mark import marked
from rocport.port.merge import meet
from rocport.port.mirror import folder_for, mirror
from rocport.port.places import Places
from rocport.syntax.cuda import CudaSource


@dataclass(frozen=True)
class Ported:
    """One file after the port. `data` is None when the file is taken over as it is."""

    path: str
    data: bytes | None
    findings: tuple[Finding, ...] = ()
    headers: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()
    compat: frozenset[str] = frozenset()
    """Names of the generated Python module that the file uses."""
    compat_file: str = ""
    left_out: tuple[LeftOut, ...] = ()
    asked: tuple[Finding, ...] = ()
    """The findings with the edits that their rules ask for; `findings` are what became of them."""
    edits: tuple[Edit, ...] = ()
    """Those of a CUDA source that were made, in order of place."""
    mark: int = 0
    """By how many bytes the mark for hipify moves the text behind them."""


@dataclass(frozen=True)
class Porting:
    """A tree and what became of each of its files: what a patch is made of, and made again from."""

    tree: SourceTree
    options: Options
    ported: Mapping[str, Ported]
    extension: bool = False
    """The tree is that of a torch extension."""

    def patch(self) -> Patch:
        """Raises OSError when a file that has to be read cannot be."""
        return make_patch(self.tree, self.options, list(self.ported.values()))

    def also(self, findings: Iterable[Finding]) -> Porting:
        """The port with further findings in its CUDA sources."""
        more: dict[str, list[Finding]] = {}
        for finding in findings:
            more.setdefault(finding.path, []).append(finding)
        ported = dict(self.ported)
        for path, found in more.items():
            before = ported[path]
            again = port_source(CudaSource(path, self.tree.read(path)), (*before.asked, *found), self.extension)
            ported[path] = replace(again, problems=before.problems, left_out=before.left_out)
        return replace(self, ported=ported)


def port_file(path: str, data: bytes, findings: list[Finding]) -> Ported:
    """Port one source file in memory."""
    return port_source(CudaSource(path, data), findings)


def port_source(source: CudaSource, findings: Sequence[Finding], extension: bool = False) -> Ported:
    """Port one parsed source file in memory. In a tree of a torch extension the translation is marked for hipify."""
    path, data = source.path, source.data
    if not findings:
        return Ported(path, None)
    applied = apply(source, findings)
    changed = applied.data if applied.data != data else None
    if changed is not None and extension:
        changed = marked(changed)
    moved = len(changed) - len(applied.data) if changed is not None else 0
    asked = tuple(findings)
    return Ported(path, changed, applied.findings, applied.headers, asked=asked, edits=applied.edits, mark=moved)


def port_other(path: str, data: bytes, language: str, findings: Sequence[Finding], places: Places) -> Ported:
    """Port one Python, build, dependency or container file in memory: gated edits inside it."""
    if not findings:
        return Ported(path, None)
    gated = apply_gated(path, data, language, findings, places)
    changed = gated.data if gated.data != data else None
    return Ported(path, changed, gated.findings, compat=gated.compat, compat_file=gated.compat_file)


def with_mirror(options: Options, tree: SourceTree) -> tuple[Options, SourceTree]:
    """For layout `both`: the options with the folder of the translations, and the tree without those of an earlier
    port. Raises LayoutError where there is no such folder."""
    if options.layout != "both":
        return options, tree
    if tree.single:
        raise LayoutError(f"--layout both ports a folder, and {tree.files[0].path} is a file; use --layout hip")
    try:
        folder, earlier = folder_for(tree.root)
    except FileExistsError as error:
        raise LayoutError(str(error)) from error
    if earlier:
        files = tuple(file for file in tree.files if not file.path.startswith(f"{folder}/"))
        links = tuple(link for link in tree.links if not link[0].startswith(f"{folder}/"))
        tree = replace(tree, files=files, links=links)
    return replace(options, mirror=folder), tree


class LayoutError(ValueError):
    """The layout asked for does not fit the tree; the message says why and what to do."""


def make_patch(tree: SourceTree, options: Options, ported: Sequence[Ported]) -> Patch:
    """The patch of a tree whose files are ported. Raises OSError when a file that has to be read cannot be."""
    changed: dict[str, bytes] = {}
    translated: dict[str, bytes] = {}
    for one in ported:
        if one.data is not None:
            cuda = tree.by_path[one.path].language == "cuda"
            (translated if cuda and options.layout == "both" else changed)[one.path] = one.data
    files = {
        path: PatchFile(path, data, "translated", path, tree.by_path[path].read()) for path, data in changed.items()
    }
    files |= {new.path: new for new in _new_files(tree, options, ported, changed, translated)}
    return Patch(
        tree,
        options,
        files,
        tuple(finding for one in ported for finding in one.findings),
        (*tree.problems, *(problem for one in ported for problem in one.problems)),
        tuple(item for one in ported for item in one.left_out),
    )


def _new_files(
    tree: SourceTree,
    options: Options,
    ported: Sequence[Ported],
    changed: Mapping[str, bytes],
    translated: Mapping[str, bytes],
) -> list[PatchFile]:
    """What the port adds: headers, translations in a tree for both platforms (`translated`, by the path of the source),
    the Python module, and what belongs beside the sources."""
    both = options.layout == "both"
    below = f"{options.mirror}/" if both else ""
    found = [
        PatchFile(below + name, headers.read(name), "included by translated sources")
        for name in sorted(headers.closure(frozenset().union(*(one.headers for one in ported))))
    ]
    if both:
        sources = [file.path for file in tree.files if file.language == "cuda" and isinstance(file.content, bytes)]
        found += mirror(options.mirror, translated, sources, tree.paths, tree.read)
        if found:
            record = manifest.dump_hashes({file.path: sha256(file.data) for file in found})
            found.append(PatchFile(below + manifest.NAME, record, "tells a later port its own text from edits"))
    found += _compat_modules(tree, ported)
    if not tree.single:
        found += beside.generate(PortedTree(tree, changed, options))
    return found


def _compat_modules(tree: SourceTree, ported: Iterable[Ported]) -> list[PatchFile]:
    """The generated Python module, wherever a file imports it. Every copy serves the names of the whole tree, because
    two that lie beside scripts may meet in one process; one that is there already keeps what it served."""
    wanted: frozenset[str] = frozenset()
    places: set[str] = set()
    for one in ported:
        if one.compat_file:
            wanted |= one.compat
            places.add(one.compat_file)
    present = {place: data for place in places if (data := _present(tree, place)) is not None}
    for data in present.values():
        wanted |= compat.names_in(data)
    module = compat.render(wanted) if places else b""
    why = "platform facts that the gated Python asks for"
    found = []
    for place in sorted(places):
        here = present.get(place)
        if here is None:
            found.append(PatchFile(place, module, why))
            continue
        met = meet(here, compat.render(compat.names_in(here)), module)
        if met.data is not None:
            found.append(PatchFile(place, met.data, why, base=here))
        elif met.status == "conflict":
            found.append(PatchFile(place, module, why))
    return found


def _present(tree: SourceTree, path: str) -> bytes | None:
    try:
        return tree.read(path)
    except OSError:
        return None
