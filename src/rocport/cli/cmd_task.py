"""`rocport task`: one site that a port left for a person, with what is needed to write it."""

from __future__ import annotations

import json

import click


@click.command("task", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("port", type=click.Path(exists=True, file_okay=False))
@click.argument("site", required=False, default="")
@click.option("--format", "fmt", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(port: str, site: str, fmt: str) -> None:
    """The bundle of one MANUAL SITE (path:line of the sources; without it the first) of the port in PORT.

    Its code and what it touches, the rule's page, what ROCm has for its names, and what `rocport accept` will check.
    Exit code 0: there is one; 2: no port, no such site, none left.
    """
    from rocport.agent.tasks import task
    from rocport.agent.tools import ToolError

    try:
        found = task(port, site)
    except ToolError as error:
        raise click.ClickException(str(error)) from error
    if fmt == "json":
        click.echo(json.dumps(found, indent=1))
        return
    click.echo(f"{found['site']}: {found['finding']['message']}\nedit {found['file']}\n")
    for number, line in enumerate(found["code"].splitlines(), found["first_line"]):
        click.echo(f"{number:5}  {line}")
    for touched in found["touches"]:
        click.echo(f"\n{touched['name']} ({touched['kind']}) {touched['file']}:{touched['line']}: {touched['text']}")
    for row in found["counterparts"]:
        note = f"  ({row['note']})" if row["note"] else ""
        click.echo(f"\n{row['cuda']}: {row['hip'] or 'ROCm has none'}{note}")
    click.echo(f"\n{found['rule']}\n\nto be accepted:")
    for check in found["check"]:
        click.echo(f"  {check}")
    click.echo(f"{len(found['others'])} other sites are left")
