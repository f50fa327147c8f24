"""`rocport accept`: an edit of a port, taken only when its checks pass."""

from __future__ import annotations

import json
from typing import BinaryIO

import click

from rocport.cli import EXIT_CLEAN, EXIT_FINDINGS


@click.command("accept", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("port", type=click.Path(exists=True, file_okay=False))
@click.argument("file")
@click.argument("text", type=click.File("rb"))
@click.option("--target", default="", metavar="GFX[,GFX]", help="Compile for these  [default: one of each width]")
@click.option("--format", "fmt", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_context
def command(ctx: click.Context, port: str, file: str, text: BinaryIO, target: str, fmt: str) -> None:
    """Replace FILE of the port in PORT by TEXT (a file; -: stdin), and keep it only when its checks pass.

    It compiles, the programs that read it pass at wavefront width 32 and 64, the NVIDIA path is what it was: `rocport
    task` names the file. Exit code 0: taken; 1: refused, the file is as it was; 2: no port, no such file, no compiler.
    """
    from rocport.agent.accept import accept
    from rocport.agent.tools import ToolError
    from rocport.cli.common import make_targets

    try:
        words = text.read().decode()
        verdict = accept(port, file, words, make_targets(target) if target else ())
    except (ToolError, UnicodeDecodeError) as error:
        raise click.ClickException(str(error)) from error
    if fmt == "json":
        click.echo(json.dumps(verdict, indent=1))
    else:
        click.echo(f"{'taken' if verdict['accepted'] else 'refused'}: {file}")
        for error_ in verdict["errors"]:
            click.echo(f"  {json.dumps(error_)}")
        for program, said in verdict["ran"].items():
            click.echo(f"  {program}: {said}")
        click.echo("How: " + "; ".join(verdict["how"]))
    ctx.exit(EXIT_CLEAN if verdict["accepted"] else EXIT_FINDINGS)
