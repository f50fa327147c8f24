"""rocport as a library: what the command line calls, and anything else that wants a scan, a port or a proof.

    from rocport import api

    found = api.scan("path/to/repository")
    patch = api.port("path/to/repository", api.Settings(target=("gfx942",)))
    api.apply(patch, "path/to/port")

Nothing is written by `scan` and `port`; what they return are values. A `Patch` is written by `apply`, into a folder of
its own or onto the sources, and printed by `diff`. `verify` proves what lies in a folder. Paths may be text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rocport.model import Context, Findings, Patch, Problem, Report, SourceFile, SourceTree, cache_folder
from rocport.port import headers, landing, state
from rocport.port import patch as patches
from rocport.port.engine import LayoutError, Ported, Porting, port_other, port_source, with_mirror
from rocport.port.files import BusyError
from rocport.port.landing import Landed, Outcome, OutputError
from rocport.port.places import Places
from rocport.port.state import StateError, Undone
from rocport.repair import cycle
from rocport.repair.cycle import Built
from rocport.rules import discover
from rocport.scan import config
from rocport.scan.adopt import adopt
from rocport.scan.baseline import BaselineError
from rocport.scan.cache import Cache
from rocport.scan.config import ConfigError, Settings
from rocport.scan.engine import Scan, index_tree, parallel, parsed, scan_tree
from rocport.scan.ignored import ignored_by_git, is_ignored
from rocport.scan.plan import plan
from rocport.scan.select import Filter
from rocport.scan.tree import read_tree

__all__ = [
    "BaselineError",
    "Built",
    "BusyError",
    "ConfigError",
    "Findings",
    "Landed",
    "LayoutError",
    "Outcome",
    "OutputError",
    "Patch",
    "Settings",
    "SourceTree",
    "StateError",
    "Undone",
    "apply",
    "build",
    "diff",
    "port",
    "porting",
    "preview",
    "read",
    "report",
    "scan",
    "settings",
    "undo",
    "verify",
]

PathLike = str | os.PathLike[str]
LEVELS = ("build", "functional", "nvidia-unchanged")


def settings(path: PathLike, **values: Any) -> Settings:
    """The settings of the project that `path` lies in (the nearest `rocport.toml` or `[tool.rocport]` upwards), with
    `values` put over them. Raises ConfigError."""
    found = config.find(Path(path))
    return replace(config.load(found) if found else Settings(), **values)


def read(
    path: PathLike, settings: Settings | None = None, skip: frozenset[Path] = frozenset(), whole: bool = False
) -> SourceTree:
    """List the tree below `path` (a folder, or one file) without what git ignores and the settings exclude.

    `whole`: files that are left out belong to the tree, and no rule looks at them; a port takes them over. Folders in
    `skip` (resolved) do not belong to it. Raises FileNotFoundError.
    """
    root, settings = Path(path), settings or Settings()
    if not root.is_dir():
        return adopt(read_tree(root))
    excluded = config.excludes(settings, root)
    ignored = ignored_by_git(root) if settings.respect_gitignore else frozenset()
    return adopt(read_tree(root, skip, lambda path: excluded(path) or is_ignored(path, ignored), whole))


def scan(
    tree: SourceTree | PathLike, settings: Settings | None = None, *, jobs: int = 0, cache: Cache | None = None
) -> Findings:
    """Every place that ROCm treats differently. `jobs` are processes, 0: one a core; with a `cache` only files are read
    by the rules that changed since the last scan. Raises ConfigError, BaselineError, FileNotFoundError."""
    settings = settings or Settings()
    options = config.options(settings)
    tree = tree if isinstance(tree, SourceTree) else read(tree, settings)
    wanted = _filter(tree, settings)
    scanned = scan_tree(tree, options, jobs, cache)
    kept, left_out = [], list(scanned.left_out)
    for path, found in scanned.by_file():
        own, out = wanted(path, tree.read(path), found)
        kept += own
        left_out += out
    return Findings(tree, options, tuple(kept), scanned.problems, tuple(left_out))


def port(tree: SourceTree | PathLike, settings: Settings | None = None, *, jobs: int = 0) -> Patch:
    """The port of a tree as a value: what every file becomes, and why.

    What `scan` is told not to report (suppressions, `select`, `ignore`, `baseline`), `port` leaves as it is and names
    in `left_out`. Raises ConfigError, BaselineError, LayoutError, FileNotFoundError.
    """
    return porting(tree, settings, jobs=jobs).patch()


def porting(tree: SourceTree | PathLike, settings: Settings | None = None, *, jobs: int = 0) -> Porting:
    """The port of a tree file by file: its `patch()` is what `port` returns, and `build` goes on from it. Raises as
    `port` does."""
    settings = settings or Settings()
    options = config.options(settings)
    tree = tree if isinstance(tree, SourceTree) else read(tree, settings, whole=True)
    options, tree = with_mirror(options, tree)
    wanted = _filter(tree, settings)
    python = {file.path: file.content for file in tree.files if file.language == "python"}
    places = Places.of({path: data for path, data in python.items() if isinstance(data, bytes)})
    context = Context(options, index_tree(tree, jobs))
    ported = {one.path: one for one in parallel(_Port(context, places, wanted), tree.sources, jobs)}
    return Porting(tree, options, ported, context.project.torch_extension)


def apply(patch: Patch, where: PathLike, *, force: bool = False) -> Landed:
    """Write a patch: onto its sources where `where` is their folder, else as a tree of its own.

    What was edited by hand since the last port is merged; `force` overwrites it, and takes a folder that is not empty.
    Raises OutputError, and OSError where sources cannot be written, BusyError.
    """
    return landing.Landing(patch, Path(where), force).write()


def build(
    tree: SourceTree | PathLike,
    where: PathLike,
    settings: Settings | None = None,
    *,
    jobs: int = 0,
    force: bool = False,
    progress: Any = None,
    **values: Any,
) -> Built:
    """Port a tree to the folder `where`, compile it there, repair what the compiler says as far as that is certain.

    `values` are those of `verify.build.BuildOptions`. Raises as `port` and `apply` do, VerifyError where nothing can be
    compiled, ToolchainError without a HIP compiler: the port is written then.
    """
    from rocport.verify import build as level

    options = level.BuildOptions(**{"cache": cache_folder(), **values})
    return cycle.build(
        porting(tree, settings, jobs=jobs), Path(where), lambda folder: level.verify(folder, options, progress), force
    )


def undo(where: PathLike) -> Undone:
    """Take the last port onto the sources back. Raises StateError, BusyError, OSError."""
    root = Path(where)
    return state.undo(root if root.is_dir() else root.parent)


def preview(patch: Patch, where: PathLike, *, force: bool = False) -> tuple[Outcome, ...]:
    """What `apply` would do to each file, without doing it. Raises OutputError."""
    return tuple(landing.Landing(patch, Path(where), force).outcomes())


def diff(patch: Patch, outcomes: Sequence[Outcome] | None = None) -> Iterator[bytes]:
    """The patch over its sources for `git apply`, line by line; empty where nothing would change. `outcomes` is what
    `preview` said, where it was asked."""
    tree = patch.tree
    for item in preview(patch, tree.root) if outcomes is None else outcomes:
        if not item.changes:
            continue
        try:
            present = tree.read(item.path)
        except OSError:
            yield from patches.new_file(item.path, item.write or b"")
            continue
        if item.write is None:
            yield from patches.removed_file(item.path, present)
        else:
            yield from patches.changed_file(item.path, present, item.write)


def verify(path: PathLike, level: str = "build", options: Any = None, **values: Any) -> Any:
    """Prove what lies in a folder at a level: `build` (BuildOptions -> model.verification.Verification), `functional`
    (FunctionalOptions -> verify.functional.FunctionalVerification), `nvidia-unchanged` (`original` or `revision`, and
    `strict`, -> verify.nvidia.Proof). Raises ValueError for another level, and the errors of the level's module."""
    from rocport.verify import build, functional, nvidia

    root = Path(path)
    if level == "build":
        return build.verify(root, options or build.BuildOptions(**values))
    if level == "functional":
        return functional.verify(root, options or functional.FunctionalOptions(**values))
    if level == "nvidia-unchanged":
        return nvidia.verify(root, **values)
    raise ValueError(f"no level {level!r}; expected one of {', '.join(LEVELS)}")


def report(result: Findings | Patch, root: str = "", landed: Landed | None = None) -> Report:
    """The result as `rocport.report.render` takes it. `landed` is what became of a patch that was applied."""
    tree, options = result.tree, result.options
    landed = landed or Landed()
    said = [("warp", options.warp), ("targets", ",".join(options.targets))]
    ported = isinstance(result, Patch)
    if ported:
        said.append(("layout", options.layout))
    return Report(
        "port" if ported else "scan",
        root or str(tree.root),
        landed.records,
        result.findings,
        (*result.problems, *landed.problems),
        tuple(said),
        files_read=len(tree.files),
        bytes_read=sum(file.size for file in (_read(tree) if ported else tree.files)),
        plan=() if ported else plan(tree, result.findings),
        left_out=result.left_out,
    )


def _read(tree: SourceTree) -> list[SourceFile]:
    return [file for file in tree.sources if isinstance(file.content, bytes)]


def _filter(tree: SourceTree, settings: Settings) -> Filter:
    return Filter.of(settings, tree.root, (loaded.rule.name for loaded in discover()))


class _Port:
    """Scan and port one file; a class so that it travels to a worker process."""

    def __init__(self, context: Context, places: Places, wanted: Filter) -> None:
        self.scan = Scan(context)
        self.places = places
        self.wanted = wanted

    def __call__(self, file: SourceFile) -> Ported:
        data = file.content
        if isinstance(data, Problem):
            return Ported(file.path, None, problems=(data,))
        cuda = file.language == "cuda"
        if cuda and headers.is_ours(file.path, data):
            return Ported(file.path, None)
        source = parsed(file.path, data, self.scan.context.project) if cuda else None
        scanned = self.scan.lexed(source) if source is not None else self.scan(file)
        kept, left_out = self.wanted(file.path, data, scanned.findings)
        if source is not None:
            ported = port_source(source, kept, self.scan.context.project.torch_extension)
        else:
            ported = port_other(file.path, data, file.language, kept, self.places)
        return replace(ported, problems=scanned.problems, left_out=(*scanned.left_out, *left_out))
