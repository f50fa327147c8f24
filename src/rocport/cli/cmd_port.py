"""`rocport port`: the port as edits, generated files and a report."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rocport.cli.common import emit, existing, make_settings, print_date, settings_options, without_collector
from rocport.report import formats

if TYPE_CHECKING:
    from rocport.model.verification import Verification
    from rocport.port.engine import Porting
    from rocport.repair.cycle import Built


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("path")
@click.option(
    "--layout",
    type=click.Choice(["hip", "both"]),
    help="hip: a tree for ROCm, CUDA sources translated under their names. both: one tree for both platforms, CUDA "
    "sources untouched, translations in a folder of their own  [default: hip]",
)
@click.option("--out", metavar="DIR", help="Folder of the ported tree [default: PATH-hip beside PATH].")
@click.option("--in-place", is_flag=True, help="Replace the sources themselves.")
@click.option("--diff", is_flag=True, help="Print the port as a patch for `git apply`; write nothing.")
@click.option("--undo", is_flag=True, help="Take the last --in-place port of PATH back.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when the port would change something.")
@click.option(
    "--build",
    is_flag=True,
    help="Compile what the project's build files name, too (syntax, one target of each wavefront width), repair what "
    "is certain, and say what is left.",
)
@click.option(
    "--force", is_flag=True, help="Overwrite outputs that were edited by hand, or a folder that is not empty."
)
@click.option("--allow-dirty", is_flag=True, help="With --in-place: accept a git tree with uncommitted changes.")
@settings_options
@click.option(
    "--format", "fmt", type=click.Choice(formats()), default="text", show_default=True, help="Report format on stdout."
)
@click.option("-j", "--jobs", type=int, default=0, help="Processes; all cores by default.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    path: str,
    layout: str | None,
    out: str | None,
    in_place: bool,
    diff: bool,
    undo: bool,
    check: bool,
    build: bool,
    force: bool,
    allow_dirty: bool,
    fmt: str,
    jobs: int,
    **given: Any,
) -> None:
    """Port PATH to ROCm: CUDA sources to HIP, and gated edits in Python, build and container files.

    The sources stay as they are; the port is a tree of its own that mirrors them. Edits outside CUDA sources ask for
    the platform first, so that NVIDIA runs what it ran; with --layout both the CUDA sources stay too, and the port is
    one patch for the repository (--diff, --in-place). Exit code 0: everything was ported; 1:
    some sites are left for you (MANUAL), a file was in the way, or --check/--diff found changes to make.
    """
    from rocport import api
    from rocport.port.landing import check_folder
    from rocport.repair.report import edits_left, lines, to_json, with_errors

    without_collector()
    if sum((bool(out), in_place, diff, check, undo)) > 1:
        raise click.UsageError("--out, --in-place, --diff, --check and --undo exclude each other")
    root = existing(path)
    if undo:
        ctx.exit(_undo(root))
    settings = make_settings(root, given, layout)
    if in_place and not allow_dirty:
        _refuse_dirty(root)
    writes = not (in_place or diff or check)
    if build and not writes:
        raise click.UsageError("--build compiles a tree of its own: not with --in-place, --diff or --check")
    folder = Path(out) if out else _default_out(root)
    try:
        if writes:
            check_folder(folder, force)
        tree = api.read(root, settings, frozenset({folder.resolve()}), whole=True)
        porting = api.porting(tree, settings, jobs=jobs)
        built, why_not = _built(porting, folder, force, fmt) if build else (None, "")
        patch = built.patch if built else porting.patch()
        outcomes = api.preview(patch, tree.root, force=force) if diff or check else ()
        landed = built.landed if built else api.Landed()
        if not built and (writes or in_place):
            landed = api.apply(patch, folder if writes else tree.root, force=force)
    except (api.ConfigError, api.BaselineError, api.LayoutError) as error:
        raise click.UsageError(str(error)) from error
    except (api.OutputError, api.BusyError) as error:
        raise click.ClickException(str(error)) from error
    except OSError as error:
        hint = f"; take the rest back by --undo {path}" if in_place else ""
        raise click.ClickException(f"{error.filename}: cannot be read or written ({error.strerror}){hint}") from error
    would = any(item.changes for item in outcomes)
    problems = [item.problem for item in outcomes if item.problem is not None]
    if diff:
        if sys.stdout.isatty():
            sys.stdout.writelines(line.decode("utf-8", "surrogateescape") for line in api.diff(patch, outcomes))
        else:
            # For `git apply`: byte for byte.
            sys.stdout.buffer.writelines(api.diff(patch, outcomes))
        sys.stdout.flush()
        for problem in (*patch.problems, *problems):
            click.echo(f"{problem.path}: {problem.message}", err=True)
        ctx.exit(1 if would else 0)
    report = api.report(patch, path, replace(landed, problems=(*landed.problems, *problems)))
    left = 0
    if built:
        findings = with_errors(report.findings, built)
        left = edits_left(findings)
        report = replace(report, findings=findings, build=to_json(built, left))
    emit(report, fmt)
    if check:
        ctx.exit(1 if would else 0)
    if fmt == "text":
        for file in patch.added:
            click.echo(f"added {file.path}: {file.why}", err=True)
        if tree.left_out:
            click.echo(
                f"{len(tree.left_out)} files or folders are copied unread (git ignores them, or an exclude names them)",
                err=True,
            )
        if writes:
            proof = f"{folder} --level build"
            if patch.options.layout == "both":
                proof = f"{folder} --level nvidia-unchanged --original {path}"
            click.echo(f"\nported to {folder}; next: rocport verify {proof}", err=True)
        print_date()
    if built:
        click.echo("\n" + "\n".join(lines(built, left)), err=fmt != "text")
    if why_not:
        raise click.ClickException(f"the port is written, its build was not tried: {why_not}")
    compiles = built is None or built.verification.passed
    ctx.exit(0 if patch.complete and not report.problems and compiles else 1)


def _built(porting: Porting, folder: Path, force: bool, fmt: str) -> tuple[Built | None, str]:
    """Write the port to the folder, compile and repair it; or why it could not be compiled."""
    from rocport.cli.common import one_of_each_width
    from rocport.cli.progress import counting
    from rocport.model import cache_folder
    from rocport.repair import cycle
    from rocport.toolchain import ToolchainError
    from rocport.verify import build

    targets = tuple(one_of_each_width().split(","))
    options = build.BuildOptions(targets, cache=cache_folder(), syntax_only=True, precompiled=True)
    try:
        with counting("compiling", fmt) as count:

            def compile_port(where: Path) -> Verification:
                return build.verify(where, options, lambda u, at, total: count(at, total, f"{u.path} {u.target}"))

            return cycle.build(porting, folder, compile_port, force), ""
    except (build.VerifyError, ToolchainError) as error:
        return None, str(error)


def _undo(root: Path) -> int:
    """Undo a port in place; 1 when files were changed since and stay as they are."""
    from rocport import api
    from rocport.port import state

    try:
        undone = api.undo(root)
    except (api.StateError, api.BusyError, OSError) as error:
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
