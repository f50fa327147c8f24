"""`rocport scan`: every place that breaks on ROCm, and why; no writes but a baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocport.cli.common import emit, existing, make_options, source_options, without_collector
from rocport.report import formats

if TYPE_CHECKING:
    from rocport.model import Finding
    from rocport.scan.config import Settings
    from rocport.scan.tree import Tree


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
@source_options
@click.option("--select", "selected", metavar="RULE[,RULE]", multiple=True, help="Only these rules; * and ? match.")
@click.option("--ignore", "ignored", metavar="RULE[,RULE]", multiple=True, help="Leave these rules out.")
@click.option("--all", "everything", is_flag=True, help="List the one-to-one renames too, which port does by itself.")
@click.option("--rules", is_flag=True, is_eager=True, expose_value=False, callback=_list_rules, help="List the rules.")
@click.option("--statistics", is_flag=True, help="Count findings by rule instead of listing them.")
@click.option("--baseline", metavar="FILE", help="Leave out the findings this file accepts.")
@click.option("--write-baseline", metavar="FILE", help="Accept today's findings: write them to FILE, and exit 0.")
@click.option("--format", "fmt", type=click.Choice(formats()), default="text", show_default=True, help="Output format.")
@click.option("--exclude", metavar="PATTERN", multiple=True, help="Leave out these files and folders; * and ? match.")
@click.option(
    "--respect-gitignore/--no-respect-gitignore",
    default=None,
    help="Leave out what git ignores [default: yes].",
)
@click.option("--config", "assignments", metavar="KEY=VALUE", multiple=True, help="Put a setting over the project's.")
@click.option("--isolated", is_flag=True, help="Ignore rocport.toml and [tool.rocport] in pyproject.toml.")
@click.option("--show-settings", is_flag=True, help="Print the settings this scan would use, and their file.")
@click.option("--show-files", is_flag=True, help="List the files this scan would read.")
@click.option("--no-cache", is_flag=True, help="Read every file again, whatever earlier scans found.")
@click.option("--exit-zero", is_flag=True, help="Exit 0 even with findings.")
@click.option("--output-file", metavar="FILE", help="Write the report to FILE instead of stdout.")
@click.option("-j", "--jobs", type=int, default=0, help="Processes; all cores by default.")
@click.pass_context
def command(
    ctx: click.Context,
    path: str,
    warp: str,
    target: str | None,
    rocm: str | None,
    torch: str | None,
    selected: tuple[str, ...],
    ignored: tuple[str, ...],
    everything: bool,
    statistics: bool,
    baseline: str | None,
    write_baseline: str | None,
    exclude: tuple[str, ...],
    respect_gitignore: bool | None,
    assignments: tuple[str, ...],
    isolated: bool,
    show_settings: bool,
    show_files: bool,
    no_cache: bool,
    exit_zero: bool,
    fmt: str,
    output_file: str | None,
    jobs: int,
) -> None:
    """Name every place of PATH that ROCm treats differently: CUDA, Python, build, dependency and container files."""
    from rocport.model import Report
    from rocport.rules import discover
    from rocport.scan import baseline as baselines
    from rocport.scan import config, select
    from rocport.scan.cache import Cache, default_path
    from rocport.scan.engine import scan_tree
    from rocport.scan.plan import plan
    from rocport.scan.suppress import UNUSED

    without_collector()
    root = existing(path)
    settings = _settings(root, isolated, assignments)
    given = ctx.get_parameter_source("warp") == click.core.ParameterSource.DEFAULT
    options = make_options(
        settings.warp or warp if given else warp,
        target or ",".join(settings.target),
        rocm or settings.rocm or None,
        torch or settings.torch or None,
    )
    settings = replace(
        settings,
        select=tuple(_patterns(selected)) or settings.select,
        ignore=(*settings.ignore, *_patterns(ignored)),
        exclude=(*settings.exclude, *exclude),
        respect_gitignore=settings.respect_gitignore if respect_gitignore is None else respect_gitignore,
        baseline=baseline or (str((settings.folder or Path()) / settings.baseline) if settings.baseline else ""),
        target=options.targets,
        warp=options.warp,
        rocm=str(options.rocm or ""),
        torch=options.torch or "",
    )
    if show_settings:
        _print_settings(settings)
        ctx.exit(0)
    names = [*(loaded.rule.name for loaded in discover()), UNUSED]
    try:
        select.check_patterns([*settings.select, *settings.ignore, *_all(settings.per_file_ignores)], names)
        accepted = baselines.load(Path(settings.baseline)) if settings.baseline and not write_baseline else frozenset()
    except (select.UnknownRule, baselines.BaselineError) as error:
        raise click.UsageError(str(error)) from error
    tree = _read(root, settings)
    if show_files:
        for entry in tree.entries:
            if entry.language != "other":
                click.echo(entry.path)
        ctx.exit(0)
    cache = None if no_cache else Cache(default_path())
    scanned = scan_tree(tree, options, jobs, cache)
    findings, problems = list(scanned.findings), scanned.problems
    if not everything:
        findings = select.open_findings(findings)
    findings = select.select(findings, settings.select, settings.ignore)
    findings = [
        finding
        for finding in findings
        if not select.matches(finding.rule, config.ignored_rules(settings, tree.root, finding.path))
    ]
    if write_baseline:
        from rocport.port.files import write_atomic

        write_atomic(Path(write_baseline), baselines.dump(tree.root, findings).encode())
        click.echo(f"accepted {len(findings)} findings in {write_baseline}", err=True)
        ctx.exit(0)
    before = len(findings)
    findings = baselines.without(tree.root, findings, accepted) if accepted else findings
    code = 1 if (findings or problems) and not exit_zero else 0
    if statistics:
        _statistics(findings)
        ctx.exit(code)
    report = Report(
        "scan",
        path,
        (),
        tuple(findings),
        problems,
        (("warp", options.warp), ("targets", ",".join(options.targets))),
        files_read=len(tree.entries),
        bytes_read=sum(entry.size for entry in tree.entries),
        plan=plan(tree, findings),
        suppressed=scanned.suppressed + before - len(findings),
    )
    emit(report, fmt, output_file)
    if tree.left_out and fmt == "text":
        click.echo(
            f"{len(tree.left_out)} files or folders were left out (git ignores them, or an exclude names them): "
            f"{', '.join(tree.left_out[:3])}{' ...' if len(tree.left_out) > 3 else ''}",
            err=True,
        )
    ctx.exit(code)


def _settings(root: Path, isolated: bool, assignments: tuple[str, ...]) -> Settings:
    from rocport.scan import config

    try:
        found = None if isolated else config.find(root)
        return config.override(config.load(found) if found else config.Settings(), assignments)
    except config.ConfigError as error:
        raise click.UsageError(str(error)) from error


def _read(root: Path, settings: Settings) -> Tree:
    """The tree without what git ignores and the settings exclude. A file named by the user is always read."""
    from rocport.scan.config import excludes
    from rocport.scan.ignored import ignored_by_git, is_ignored
    from rocport.scan.tree import read_tree

    if root.is_file():
        return read_tree(root)
    excluded = excludes(settings, root)
    ignored = ignored_by_git(root) if settings.respect_gitignore else frozenset()
    return read_tree(root, leave_out=lambda path: excluded(path) or is_ignored(path, ignored))


def _print_settings(settings: Settings) -> None:
    click.echo(f"source = {settings.source or 'none: no rocport.toml and no [tool.rocport] above this folder'}")
    for item in fields(settings):
        if item.name != "source":
            value = getattr(settings, item.name)
            shown = list(value) if isinstance(value, tuple) else value
            click.echo(f"{item.name.replace('_', '-')} = {shown!r}")


def _all(groups: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [name for group in groups.values() for name in group]


def _patterns(values: tuple[str, ...]) -> list[str]:
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def _statistics(findings: list[Finding]) -> None:
    counted = Counter(finding.rule for finding in findings)
    files: dict[str, set[str]] = {}
    for finding in findings:
        files.setdefault(finding.rule, set()).add(finding.path)
    for rule, count in sorted(counted.items(), key=lambda item: (-item[1], item[0])):
        click.echo(f"{count:6}  {len(files[rule]):5} file{'s' if len(files[rule]) > 1 else ' '}  {rule}")
