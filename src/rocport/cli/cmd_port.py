"""`rocport port`: the port as edits, generated files and a report."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocport.cli.common import emit, existing, make_options, source_options, without_collector
from rocport.report import formats

if TYPE_CHECKING:
    from rocport.model import Context, FileRecord, Options, Problem
    from rocport.port.engine import Ported, Settled
    from rocport.port.places import Places
    from rocport.scan.tree import Entry


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("path")
@click.option(
    "--layout",
    type=click.Choice(["hip", "both"]),
    default="hip",
    show_default=True,
    help="hip: a tree for ROCm, CUDA sources translated under their names. both: one tree for both platforms, CUDA "
    "sources untouched, translations in a folder of their own.",
)
@click.option("--out", metavar="DIR", help="Folder of the ported tree [default: PATH-hip beside PATH].")
@click.option("--in-place", is_flag=True, help="Replace the sources themselves.")
@click.option("--diff", is_flag=True, help="Print the port as a patch for `git apply`; write nothing.")
@click.option("--undo", is_flag=True, help="Take the last --in-place port of PATH back.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when the port would change something.")
@click.option(
    "--force", is_flag=True, help="Overwrite outputs that were edited by hand, or a folder that is not empty."
)
@click.option("--allow-dirty", is_flag=True, help="With --in-place: accept a git tree with uncommitted changes.")
@source_options
@click.option(
    "--format", "fmt", type=click.Choice(formats()), default="text", show_default=True, help="Report format on stdout."
)
@click.option("-j", "--jobs", type=int, default=0, help="Processes; all cores by default.")
@click.pass_context
def command(
    ctx: click.Context,
    path: str,
    layout: str,
    out: str | None,
    in_place: bool,
    diff: bool,
    undo: bool,
    check: bool,
    force: bool,
    allow_dirty: bool,
    warp: str,
    target: str | None,
    rocm: str | None,
    torch: str | None,
    fmt: str,
    jobs: int,
) -> None:
    """Port PATH to ROCm: CUDA sources to HIP, and gated edits in Python, build and container files.

    The sources stay as they are; the port is a tree of its own that mirrors them. Edits outside CUDA sources ask for
    the platform first, so that NVIDIA runs what it ran; with --layout both the CUDA sources stay too, and the port is
    one patch for the repository (--diff, --in-place). Exit code 0: everything was ported; 1:
    some sites are left for you (MANUAL), a file was in the way, or --check/--diff found changes to make.
    """
    from rocport.model import Applicability, Context, Report
    from rocport.port import engine
    from rocport.port.places import Places
    from rocport.scan.engine import index_tree, parallel, read_source
    from rocport.scan.tree import read_tree

    without_collector()
    if sum((bool(out), in_place, diff, check, undo)) > 1:
        raise click.UsageError("--out, --in-place, --diff, --check and --undo exclude each other")
    if undo:
        ctx.exit(_undo(existing(path)))
    options = make_options(warp, target, rocm, torch)
    root = existing(path)
    target_folder = Path(out) if out else _default_out(root)
    if in_place and not allow_dirty:
        _refuse_dirty(root)
    writes = not (in_place or diff or check)
    skip = {target_folder.resolve()}
    if layout == "both":
        options, earlier = _both(options, root)
        skip |= {(root / options.mirror).resolve()} if earlier else set()
    tree = read_tree(root, frozenset(skip))
    context = Context(options, index_tree(tree, jobs))
    reported = (("warp", options.warp), ("targets", ",".join(options.targets)), ("layout", layout))
    problems: list[Problem] = list(tree.problems)
    ported: list[Ported] = []
    translated: dict[str, bytes] = {}
    writer = None
    if writes:
        try:
            writer = engine.TreeWriter(tree.root, target_folder, force)
        except (engine.OutputError, OSError) as error:
            raise click.ClickException(str(error)) from error
    python = {entry.path: read_source(tree.root, entry) for entry in tree.entries if entry.language == "python"}
    places = Places.of({name: data for name, data in python.items() if isinstance(data, bytes)})
    sources = [entry for entry in tree.entries if entry.language != "other"]
    for result in parallel(_Port(tree.root, context, places), sources, jobs):
        if result.problem is not None:
            problems.append(result.problem)
        if layout == "both" and result.language == "cuda" and result.data is not None:
            translated[result.path] = result.data
            result = replace(result, data=None)
        if writer is not None:
            writer.add(result)
        ported.append(result)
    findings = tuple(finding for result in ported for finding in result.findings)
    try:
        new = engine.new_files(tree.root, context.project.files, ported, translated, options, root.is_dir())
    except OSError as error:
        raise click.ClickException(f"{error.filename}: cannot be read again ({error.strerror})") from error
    records: tuple[FileRecord, ...] = ()
    if writer is not None:
        for entry in tree.entries:
            if entry.language == "other":
                writer.copy(entry.path)
        for link, points_to in tree.links:
            writer.link(link, points_to)
        written = writer.finish(new, dict(reported))
        problems.extend(written.problems)
        records = written.records
    else:
        settled = engine.settle(tree.root, ported, new, options.mirror if layout == "both" else "", force)
        problems.extend(settled.problems)
        if in_place:
            try:
                engine.write_in_place(tree.root, settled)
            except OSError as error:
                message = f"{error.filename}: cannot be written ({error.strerror}); take the rest back by --undo {path}"
                raise click.ClickException(message) from error
            records = settled.records
        changes = settled.changes
    if diff:
        _print_diff(tree.root, settled)
        for problem in problems:
            click.echo(f"{problem.path}: {problem.message}", err=True)
        ctx.exit(1 if changes else 0)
    report = Report(
        "port",
        path,
        records,
        findings,
        tuple(problems),
        reported,
        files_read=len(tree.entries),
        bytes_read=sum(result.size for result in ported),
        suppressed=sum(result.suppressed for result in ported),
    )
    emit(report, fmt)
    if not check and fmt == "text":
        for file in new:
            if not file.source:
                click.echo(f"added {file.path}: {file.why}", err=True)
    if writer is not None and fmt == "text":
        proof = f"{target_folder} --level build"
        if layout == "both":
            proof = f"{target_folder} --level nvidia-unchanged --original {path}"
        click.echo(f"\nported to {target_folder}; next: rocport verify {proof}", err=True)
    if check:
        ctx.exit(1 if changes else 0)
    left = any(finding.applicability is Applicability.MANUAL for finding in findings)
    ctx.exit(1 if left or problems else 0)


class _Port:
    """Scan and port one file; a class so that it travels to a worker process."""

    def __init__(self, root: Path, context: Context, places: Places) -> None:
        self.root = root
        self.context = context
        self.places = places

    def __call__(self, entry: Entry) -> Ported:
        from rocport.model import Problem
        from rocport.port import headers
        from rocport.port.engine import Ported, port_other, port_source
        from rocport.port.files import sha256
        from rocport.port.mark import marked
        from rocport.scan import suppress
        from rocport.scan.engine import known_names, read_source, scan_file, scan_source
        from rocport.syntax.cuda import CudaSource

        data = read_source(self.root, entry)
        if isinstance(data, Problem):
            return Ported(entry.path, "", None, problem=data, language=entry.language)
        if entry.language == "cuda" and headers.is_ours(entry.path, data):
            return Ported(entry.path, sha256(data), None, size=len(data))
        if entry.language == "cuda":
            source = CudaSource(entry.path, data, known_names())
            result = port_source(source, scan_source(source, self.context))
            if result.data is not None and self.context.project.torch_extension:
                return replace(result, data=marked(result.data))
            return result
        found = scan_file(entry.path, data, entry.language, self.context)
        if isinstance(found, Problem):
            return Ported(entry.path, sha256(data), None, problem=found, size=len(data), language=entry.language)
        kept, suppressed = suppress.apply(entry.path, data, found)
        return replace(port_other(entry.path, data, entry.language, kept, self.places), suppressed=suppressed)


def _both(options: Options, root: Path) -> tuple[Options, bool]:
    """The options with the folder of the translations; True when an earlier port made that folder."""
    from rocport.port.mirror import folder_for

    if not root.is_dir():
        raise click.UsageError(f"--layout both ports a folder, and {root} is a file; use --layout hip")
    try:
        folder, earlier = folder_for(root)
    except FileExistsError as error:
        raise click.UsageError(str(error)) from error
    return replace(options, layout="both", mirror=folder), earlier


def _undo(root: Path) -> int:
    """Undo a port in place; 1 when files were changed since and stay as they are."""
    from rocport.port import state

    try:
        undone = state.undo(root if root.is_dir() else root.parent)
    except state.StateError as error:
        raise click.UsageError(str(error)) from error
    click.echo(f"{len(undone.restored)} files restored, {len(undone.removed)} removed")
    for path in undone.left:
        click.echo(
            f"{path}: changed since the port; left as it is, its old bytes are in {state.FOLDER}/before", err=True
        )
    return 1 if undone.left else 0


def _default_out(root: Path) -> Path:
    folder = root.resolve()
    return folder.with_name(folder.name + "-hip") if folder.is_dir() else folder.parent / (folder.stem + "-hip")


def _refuse_dirty(root: Path) -> None:
    from rocport.scan.ignored import GIT

    folder = root if root.is_dir() else root.parent
    try:
        status = subprocess.run(
            [*GIT, "-C", str(folder), "status", "--porcelain", "--", "."], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise click.UsageError("--in-place needs git to make sure nothing is lost; or pass --allow-dirty") from None
    if status.returncode != 0:
        raise click.UsageError(f"{folder} is not in a git repository, so --in-place could not be undone; --allow-dirty")
    if status.stdout.strip():
        raise click.UsageError(f"{folder} has uncommitted changes; commit them first, or pass --allow-dirty")


def _print_diff(root: Path, settled: Settled) -> None:
    from rocport.port import patch

    out = sys.stdout.buffer
    for path, data in settled.writes.items():
        if (root / path).is_file():
            out.writelines(patch.changed_file(path, (root / path).read_bytes(), data))
        else:
            out.writelines(patch.new_file(path, data))
    for path in settled.removed:
        out.writelines(patch.removed_file(path, (root / path).read_bytes()))
    out.flush()
