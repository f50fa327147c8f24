"""`rocport scan`: every place that breaks on ROCm, and why; no writes."""

from __future__ import annotations

import click

from rocport.cli.common import emit, existing, make_options, source_options, without_collector
from rocport.report import formats


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("path")
@source_options
@click.option("--format", "fmt", type=click.Choice(formats()), default="text", show_default=True, help="Output format.")
@click.option("-j", "--jobs", type=int, default=0, help="Processes; all cores by default.")
@click.pass_context
def command(
    ctx: click.Context,
    path: str,
    warp: str,
    target: str | None,
    rocm: str | None,
    torch: str | None,
    fmt: str,
    jobs: int,
) -> None:
    """Name every place of PATH that ROCm treats differently. Writes nothing."""
    from rocport.model import Report
    from rocport.scan.engine import scan_tree
    from rocport.scan.tree import read_tree

    without_collector()
    options = make_options(warp, target, rocm, torch)
    tree = read_tree(existing(path))
    findings, problems = scan_tree(tree, options, jobs)
    report = Report(
        "scan",
        path,
        (),
        tuple(findings),
        tuple(problems),
        (("warp", options.warp), ("targets", ",".join(options.targets))),
        files_read=len(tree.entries),
        bytes_read=sum(entry.size for entry in tree.entries),
    )
    emit(report, fmt)
    ctx.exit(1 if findings or problems else 0)
