"""`rocport compat`: which versions go together on a GPU, as a plan that can be run."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rocport.model.targets import GfxTarget


@click.command()
@click.option("--gpu", metavar="NAME|GFX", help="Product name or gfx target; this machine's GPU by default.")
@click.option("--python", "python", metavar="X.Y", help="Python version, such as 3.12.")
@click.option("--os", "system", metavar="OS", help="Operating system, such as ubuntu24.04, rhel9 or windows11.")
@click.option("--rocm", "rocm", metavar="X.Y[.Z]", help="ROCm release that torch has to be for, such as 7.1.1.")
@click.option("--want", "wanted", multiple=True, metavar="PKG[,PKG]", help="What has to work: torch>=2.9,bitsandbytes.")
@click.option(
    "--from",
    "files",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Read what is wanted from a requirements file.",
)
@click.option(
    "--tables",
    metavar="TORCH",
    help="Print the support tables of a torch version (libraries, dtypes, modules) instead.",
)
@click.option(
    "--matrix", is_flag=True, help="Print which wheels and libraries in them have code for which target instead."
)
@click.option(
    "--format",
    "fmt",
    type=click.Choice(["text", "json", "markdown"]),
    help="Output; text by default, markdown for --tables.",
)
@click.option(
    "--script",
    type=click.Choice(["linux", "wsl", "windows", "docker", "conda"]),
    help="Print the plan as one script (Windows: PowerShell), Dockerfile or conda environment.",
)
@click.option("--resolve", is_flag=True, help="Ask pip whether the versions go together (pip install --dry-run).")
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.pass_context
def command(
    ctx: click.Context,
    gpu: str | None,
    python: str | None,
    system: str | None,
    rocm: str | None,
    wanted: tuple[str, ...],
    files: tuple[Path, ...],
    tables: str | None,
    matrix: bool,
    fmt: str | None,
    script: str | None,
    resolve: bool,
    as_json: bool,
) -> None:
    """Plan an installation: ROCm, wheel index, versions, driver and environment for a GPU, and what will not work.

    Exit code: 0 everything wanted works (with --resolve: and pip found versions for all of it), 1 something does not
    or is not known, 2 usage error.
    """
    fmt = "json" if as_json else fmt
    if rocm is not None and not re.fullmatch(r"\d{1,2}\.\d{1,2}(\.\d{1,2})?", rocm):
        raise click.BadParameter(f"{rocm!r} is no ROCm release; expected such as 7.1.1", param_hint="--rocm")
    if matrix:
        if wanted or files or python or script or resolve or tables:
            raise click.UsageError("--matrix goes with --gpu, --os, --rocm and --format only")
        _matrix(gpu, system, rocm, fmt or "markdown")
        return
    if tables is not None:
        if wanted or files or python or system or script or resolve:
            raise click.UsageError("--tables goes with --gpu, --rocm and --format only")
        _tables(tables, gpu, rocm, fmt or "markdown")
        return
    if fmt == "markdown":
        raise click.UsageError("--format markdown goes with --tables TORCH")
    from rocport.compat import CompatError
    from rocport.compat.plan import Request, make_plan
    from rocport.compat.text import plan_data, plan_text
    from rocport.compat.wants import parse_wants, read_requirements
    from rocport.facts.errors import FactError
    from rocport.facts.platforms import find_system

    if python is not None and not re.fullmatch(r"3\.\d{1,2}", python):
        raise click.BadParameter(f"{python!r} is no Python version; expected such as 3.12", param_hint="--python")
    if script is not None and fmt is not None:
        raise click.UsageError("--script goes without --json and --format")
    if resolve and script is not None:
        raise click.UsageError("--resolve goes with the plan, not with --script")
    if script in ("windows", "wsl") and system is None:
        system = "windows11" if script == "windows" else "wsl"
    try:
        known = find_system(system) if system else None
    except FactError as error:
        raise click.BadParameter(str(error), param_hint="--os") from error
    notes: list[str] = []
    try:
        wants = [want for text in wanted for want in parse_wants(text)]
        for file in files:
            found, said = read_requirements(file, python)
            wants += found
            notes += said
    except CompatError as error:
        raise click.UsageError(str(error)) from error
    target = _target(gpu)
    plan = make_plan(Request(target, python, known, tuple(wants), tuple(notes), rocm or ""))
    resolution = None
    if resolve and plan.chosen is not None:
        from rocport.compat.resolve import resolve_plan

        resolution = resolve_plan(plan)
    if script is not None:
        from rocport.compat.script import plan_script

        try:
            click.echo(plan_script(plan, script), nl=False)
        except ValueError as error:
            raise click.UsageError(f"--script {script}: {error}") from error
    elif fmt == "json":
        click.echo(json.dumps(plan_data(plan, resolution), indent=2, ensure_ascii=False))
    else:
        click.echo(plan_text(plan, resolution), nl=False)
    ctx.exit(0 if plan.complete and (resolution is None or resolution.resolved) else 1)


def _target(gpu: str | None) -> GfxTarget:
    """The target that was named, else the one of this machine's GPUs."""
    from rocport.compat import CompatError
    from rocport.compat.gpu import resolve_gpu

    if gpu is not None:
        try:
            return resolve_gpu(gpu)
        except CompatError as error:
            lines = [str(error), *(f"  {candidate}" for candidate in error.candidates)]
            raise click.BadParameter("\n".join(lines), param_hint="--gpu") from error
    from rocport.doctor.host import Host
    from rocport.doctor.live import read_machine
    from rocport.facts.targets import wave_target

    found = {gpu.target.name: gpu.target for gpu in read_machine(Host(), False).gpus if gpu.target is not None}
    if len(found) != 1:
        seen = f"has {', '.join(found)}" if found else "has no AMD GPU with a known gfx target"
        raise click.UsageError(
            f"this machine {seen}; name one with --gpu 'RX 7900 XTX' or --gpu {wave_target(32).name}"
        )
    return next(iter(found.values()))


def _matrix(gpu: str | None, system: str | None, rocm: str | None, fmt: str) -> None:
    from rocport.compat import CompatError
    from rocport.compat.matrix import matrix_data, matrix_markdown
    from rocport.facts.errors import FactError
    from rocport.facts.platforms import find_system

    if fmt == "text":
        raise click.UsageError("--matrix prints --format markdown or json")
    try:
        kind = find_system(system).kind if system else "linux"
    except FactError as error:
        raise click.BadParameter(str(error), param_hint="--os") from error
    targets = (_target(gpu),) if gpu is not None else ()
    try:
        data = matrix_data(kind, targets, rocm or "")
    except CompatError as error:
        raise click.BadParameter(str(error), param_hint="--rocm") from error
    click.echo(json.dumps(data, indent=2, ensure_ascii=False) if fmt == "json" else matrix_markdown(data).rstrip())


def _tables(torch: str, gpu: str | None, rocm: str | None, fmt: str) -> None:
    from rocport.compat.plan import builds_of
    from rocport.compat.text import tables_data, tables_markdown
    from rocport.facts.errors import FactError
    from rocport.facts.rocm import torch_release
    from rocport.model.versions import RocmVersion, TorchVersion, VersionError

    if fmt == "text":
        raise click.UsageError("--tables prints --format markdown or json")
    try:
        release = torch_release(TorchVersion.parse(torch))
    except (VersionError, FactError) as error:
        raise click.BadParameter(str(error), param_hint="--tables") from error
    served = builds_of(release)
    if rocm is not None and rocm not in served:  # 7.14 for 7.14.1
        rocm = max((name for name in served if name.startswith(f"{rocm}.")), key=RocmVersion.parse, default=rocm)
    if rocm is not None and rocm not in served:
        raise click.BadParameter(
            f"torch {release.version} for ROCm {rocm} is not in the facts; there are {', '.join(served)}",
            param_hint="--rocm",
        )
    data = tables_data(release, _target(gpu) if gpu is not None else None, rocm or "")
    click.echo(json.dumps(data, indent=2, ensure_ascii=False) if fmt == "json" else tables_markdown(data).rstrip())
