"""`rocport scan`: every place that breaks on ROCm, and why; no writes but a baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rocport.cli.common import (
    emit,
    existing,
    make_settings,
    print_date,
    refuse_given,
    settings_options,
    without_collector,
)
from rocport.report import formats

if TYPE_CHECKING:
    from rocport.model import Finding
    from rocport.scan.config import Settings


def _list_rules(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if not value or ctx.resilient_parsing:
        return
    from rocport.rules import discover

    for loaded in discover():
        rule = loaded.rule
        click.echo(f"{rule.name:28} phase {rule.phase}  {','.join(sorted(rule.languages)):20} {rule.summary}")
    ctx.exit(0)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("path")
@settings_options
@click.option("--all", "everything", is_flag=True, help="List the one-to-one renames too, which port does by itself.")
@click.option("--rules", is_flag=True, is_eager=True, expose_value=False, callback=_list_rules, help="List the rules.")
@click.option("--statistics", is_flag=True, help="Count findings by rule instead of listing them.")
@click.option("--write-baseline", metavar="FILE", help="Accept today's findings: write them to FILE, and exit 0.")
@click.option("--format", "fmt", type=click.Choice(formats()), default="text", show_default=True, help="Output format.")
@click.option("--show-settings", is_flag=True, help="Print the settings this scan would use, and their file.")
@click.option("--show-files", is_flag=True, help="List the files this scan would read.")
@click.option("--no-cache", is_flag=True, help="Read every file again, whatever earlier scans found.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 even with findings.")
@click.option("--output-file", metavar="FILE", help="Write the report to FILE instead of stdout.")
@click.option("-j", "--jobs", type=int, default=0, help="Processes; all cores by default.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    path: str,
    everything: bool,
    statistics: bool,
    write_baseline: str | None,
    show_settings: bool,
    show_files: bool,
    no_cache: bool,
    exit_zero: bool,
    fmt: str,
    output_file: str | None,
    jobs: int,
    **given: Any,
) -> None:
    """Name every place of PATH that ROCm treats differently: CUDA, Python, build, dependency and container files."""
    from rocport import api
    from rocport.scan import baseline
    from rocport.scan.cache import Cache, default_path
    from rocport.scan.select import open_findings

    if statistics:
        refuse_given(ctx, ("fmt", "output_file"), "is of the report; --statistics prints counts")
    without_collector()
    root = existing(path)
    settings = make_settings(root, given)
    if show_settings:
        _print_settings(settings)
        ctx.exit(0)
    tree = api.read(root, settings)
    if show_files:
        for file in tree.sources:
            click.echo(file.path)
        ctx.exit(0)
    if write_baseline:
        settings = replace(settings, baseline="")
    try:
        found = api.scan(tree, settings, jobs=jobs, cache=None if no_cache else Cache(default_path()))
    except (api.ConfigError, api.BaselineError) as error:
        raise click.UsageError(str(error)) from error
    if not everything:
        found = replace(found, findings=tuple(open_findings(found.findings)))
    if write_baseline:
        from rocport.port.files import write_atomic

        write_atomic(Path(write_baseline), baseline.dump(tree, found.findings).encode())
        click.echo(f"accepted {len(found.findings)} findings in {write_baseline}", err=True)
        ctx.exit(0)
    code = 1 if (found.findings or found.problems) and not exit_zero else 0
    if statistics:
        _statistics(found.findings)
        ctx.exit(code)
    emit(api.report(found, path), fmt, output_file)
    if tree.left_out and fmt == "text":
        click.echo(
            f"{len(tree.left_out)} files or folders were left out (git ignores them, or an exclude names them): "
            f"{', '.join(tree.left_out[:3])}{' ...' if len(tree.left_out) > 3 else ''}",
            err=True,
        )
    if fmt == "text":
        print_date()
    ctx.exit(code)


def _print_settings(settings: Settings) -> None:
    click.echo(f"source = {settings.source or 'none: no rocport.toml and no [tool.rocport] above this folder'}")
    for item in fields(settings):
        if item.name != "source":
            value = getattr(settings, item.name)
            shown = list(value) if isinstance(value, tuple) else value
            click.echo(f"{item.name.replace('_', '-')} = {shown!r}")


def _statistics(findings: Sequence[Finding]) -> None:
    counted = Counter(finding.rule for finding in findings)
    files: dict[str, set[str]] = {}
    for finding in findings:
        files.setdefault(finding.rule, set()).add(finding.path)
    for rule, count in sorted(counted.items(), key=lambda item: (-item[1], item[0])):
        click.echo(f"{count:6}  {len(files[rule]):5} file{'s' if len(files[rule]) > 1 else ' '}  {rule}")
