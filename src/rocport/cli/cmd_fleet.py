"""`rocport fleet`: many repositories, on processes of this machine or on a Ray cluster."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
from pathlib import Path

import click

from rocport.cli.common import emit, make_options, one_of_each_width, print_date
from rocport.cli.progress import counting
from rocport.report import formats


@click.command("fleet", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("listed", metavar="LIST...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--out", required=True, type=click.Path(path_type=Path, file_okay=False), help="Where pages and rows go.")
@click.option(
    "--store", metavar="URL", help="Where results are kept: a folder or a URL of fsspec  [default: OUT/store]"
)
@click.option("--work", type=click.Path(path_type=Path, file_okay=False), help="Trees and ports  [default: OUT/work]")
@click.option("--mirror", type=click.Path(path_type=Path, exists=True, file_okay=False),
              help="Git directories OWNER+NAME to read in place of the network.")  # fmt: skip
@click.option("--target", default=one_of_each_width, show_default="one of each wavefront width", metavar="GFX[,GFX]",
              help="Compile for these.")  # fmt: skip
@click.option("--rocm", metavar="VERSION", help="ROCm version the ports are for, such as 10.1.")
@click.option("--torch", metavar="VERSION", help="PyTorch version the ports are for.")
@click.option("--build/--no-build", default=True, show_default=True, help="Compile the units of each port.")
@click.option("--objects", is_flag=True, help="Make code objects, for registers and LDS; else only check the code.")
@click.option("--run", is_flag=True, help="Run the programs of each port at both wavefront widths, confined.")
@click.option("--pages/--no-pages", default=True, show_default=True, help="Write a page of each repository.")
@click.option("--sample", type=click.IntRange(0), default=0, help="At most N units of each repository; 0: all.")
@click.option("--chunk", type=click.IntRange(1), default=16, show_default=True, help="Units of one task.")
@click.option("--address", metavar="ADDRESS", help="A Ray cluster (auto, HOST:PORT, ray://...); else this machine.")
@click.option("-j", "--workers", type=click.IntRange(0), default=0, help="Tasks at once; 0: one a processor.")
@click.option("--seconds", type=click.FloatRange(1), default=3600, show_default=True, help="Time limit of a task.")
@click.option("--memory", type=click.IntRange(64), help="Memory limit of a task, in MiB.")
@click.option("--retries", type=click.IntRange(0), default=3, show_default=True, help="Of a task whose worker is lost.")
@click.option("--format", "fmt", type=click.Choice(formats()), default="text", show_default=True, help="Output format.")
@click.pass_context
def command(
    ctx: click.Context,
    listed: tuple[Path, ...],
    out: Path,
    store: str | None,
    work: Path | None,
    mirror: Path | None,
    target: str,
    rocm: str | None,
    torch: str | None,
    build: bool,
    objects: bool,
    run: bool,
    pages: bool,
    sample: int,
    chunk: int,
    address: str | None,
    workers: int,
    seconds: float,
    memory: int | None,
    retries: int,
    fmt: str,
) -> None:
    """Fetch, scan, port and compile every repository of the LISTs, and write one page about all of them.

    A LIST has one source a line (a git URL with @REVISION, pypi:NAME==VERSION, an archive, a folder), or is a TOML
    index, or is one folder: then its units are spread over the workers; a port is compiled as it lies. What the store
    has is not done again. Exit code 0: every repository was ported; 1: some was not; 2: wrong usage, no cluster.
    """
    print_date()
    from rocport.fleet import board, child, driver
    from rocport.fleet.cluster import ClusterError
    from rocport.fleet.cluster import runner as on_cluster
    from rocport.fleet.sources import SourceError, read_sources
    from rocport.fleet.tasks import Places, environment
    from rocport.port.files import write_atomic

    asked = make_options(target, rocm, torch)
    out = out.resolve()
    places = Places(
        str((work or out / "work").resolve()), store or str(out / "store"), str(mirror.resolve()) if mirror else "",
        environment(),
    )  # fmt: skip
    limits = child.Limits(seconds, memory << 20 if memory else None)
    leave = None
    try:
        sources = read_sources(*listed)
        kept = places.opened()
        runner: driver.Runner = functools.partial(child.run, limits=limits)
        at_once = workers or os.cpu_count() or 1
        if address:
            runner, processors, leave = on_cluster(address, limits)
            at_once = workers or processors
    except (SourceError, ClusterError) as error:
        raise click.ClickException(str(error)) from error
    except ImportError as error:
        raise click.ClickException(f"{store}: needs fsspec ({error}); pip install 'rocport[fleet]'") from error
    options = driver.Options(
        asked.targets,
        build,
        run,
        pages,
        objects,
        sample,
        chunk,
        workers=at_once,
        retries=retries,
        rocm=rocm or "",
        torch=torch or "",
    )
    try:
        # Ray prints what it has to say of lost workers; stdout is for the report.
        with counting("fleet", fmt) as count, contextlib.redirect_stdout(sys.stderr):
            fleet = driver.lead(sources, options, places, kept, runner, count)
    finally:
        if leave is not None:
            leave()
    data = board.summary(fleet, options)
    for row in data["repositories"]:
        page = kept.read(row["page"]) if row["page"] else None
        row["page"] = f"pages/{row['id']}.html" if page is not None else ""
        if page is not None:
            write_atomic(out / row["page"], page)
    report = board.board(data, _record(out, data))
    from rocport.report import render

    write_atomic(out / "index.html", render("html", report).encode())
    emit(report, fmt)
    click.echo(
        f"{fleet.made} tasks done, {fleet.known} known, {fleet.again} done again after a lost worker; "
        f"{out / 'index.html'}",
        err=True,
    )
    if fleet.interrupted:
        click.echo("interrupted: the same command goes on where this one ended", err=True)
        ctx.exit(130)
    ctx.exit(0 if all(row["state"] == "done" for row in data["repositories"]) else 1)


def _record(out: Path, data: dict[str, object]) -> dict[str, object] | None:
    """Keep what a run found beside the earlier ones; the last of them that found something else, if there is one."""
    from rocport.port.files import write_atomic

    folder = out / "runs"
    earlier = sorted(folder.glob("*.json")) if folder.is_dir() else []
    before: dict[str, object] | None = None
    while earlier:
        before = json.loads(earlier[-1].read_text(encoding="utf-8"))
        assert before is not None
        if before["repositories"] != data["repositories"]:
            break
        earlier.pop()
        before = None
    if not earlier or before is not None:
        number = int(earlier[-1].stem) + 1 if earlier else 1
        write_atomic(folder / f"{number:06}.json", (json.dumps(data, indent=1) + "\n").encode())
    return before
