"""`rocport mcp`: the tools of a coding agent, over the Model Context Protocol."""

from __future__ import annotations

import click


@click.command("mcp", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Serve scan, port, verify, run, explain, doctor, compat, rule pages and facts to a coding agent.

    The Model Context Protocol on stdin and stdout.

    Needs the extra `mcp`. A client starts it: {"command": "rocport", "args": ["mcp"]}.
    """
    try:
        from rocport.agent.server import make_server
    except ModuleNotFoundError as error:
        raise click.ClickException(f"{error.name} is not installed; next: pip install 'rocport[mcp]'") from error
    make_server().run("stdio")
