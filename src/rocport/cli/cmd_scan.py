"""`rocport scan`: every place that breaks on ROCm, and why; no writes but a baseline."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rocport.cli.common import emit, existing, make_options, source_options
from rocport.report import formats

if TYPE_CHECKING:
    from rocport.model import Finding


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
    fmt: str,
    output_file: str | None,
    jobs: int,
) -> None:
    """Name every place of PATH that ROCm treats differently: CUDA, Python, build, dependency and container files."""
    from rocport.model import Report
    from rocport.rules import discover
    from rocport.scan import baseline as baselines
    from rocport.scan import select
    from rocport.scan.engine import scan_tree
    from rocport.scan.plan import plan
    from rocport.scan.suppress import UNUSED
    from rocport.scan.tree import read_tree

    options = make_options(warp, target, rocm, torch)
    root = existing(path)
    chosen, dropped = _patterns(selected), _patterns(ignored)
    names = [*(loaded.rule.name for loaded in discover()), UNUSED]
    try:
        select.check_patterns([*chosen, *dropped], names)
        accepted = baselines.load(Path(baseline)) if baseline else frozenset()
    except (select.UnknownRule, baselines.BaselineError) as error:
        raise click.UsageError(str(error)) from error
    tree = read_tree(root)
    scanned = scan_tree(tree, options, jobs)
    findings, problems = list(scanned.findings), scanned.problems
    if not everything:
        findings = select.open_findings(findings)
    findings = select.select(findings, chosen, dropped)
    if write_baseline:
        from rocport.port.files import write_atomic

        write_atomic(Path(write_baseline), baselines.dump(tree.root, findings).encode())
        click.echo(f"accepted {len(findings)} findings in {write_baseline}", err=True)
        ctx.exit(0)
    before = len(findings)
    findings = baselines.without(tree.root, findings, accepted) if accepted else findings
    if statistics:
        _statistics(findings)
        ctx.exit(1 if findings or problems else 0)
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
    ctx.exit(1 if findings or problems else 0)


def _patterns(values: tuple[str, ...]) -> list[str]:
    return [name.strip() for value in values for name in value.split(",") if name.strip()]


def _statistics(findings: list[Finding]) -> None:
    counted = Counter(finding.rule for finding in findings)
    files: dict[str, set[str]] = {}
    for finding in findings:
        files.setdefault(finding.rule, set()).add(finding.path)
    for rule, count in sorted(counted.items(), key=lambda item: (-item[1], item[0])):
        click.echo(f"{count:6}  {len(files[rule]):5} file{'s' if len(files[rule]) > 1 else ' '}  {rule}")
