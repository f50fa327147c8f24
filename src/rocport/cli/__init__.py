"""The command line: one module a command, parsing and exit codes only. Commands are imported when they are called."""

from __future__ import annotations

import errno
import importlib
import io
import os
import pkgutil
import sys

import click

from rocport import __version__

EXIT_CLEAN = 0
EXIT_FINDINGS = 1
EXIT_ERROR = 2
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _commands() -> dict[str, str]:
    """Command name -> module; `cmd_<name>.py` beside this file is a command, underscores become dashes."""
    return {
        info.name[4:].replace("_", "-"): f"{__name__}.{info.name}"
        for info in pkgutil.iter_modules(__path__)
        if info.name.startswith("cmd_")
    }


class _Lazy(click.Group):
    """A group that imports a command's module only when that command is asked for (`--help` imports all)."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_commands())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _commands().get(cmd_name)
        if module is None:
            return None
        command: click.Command = importlib.import_module(module).command
        return command


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rocport")
def cli() -> None:
    """Take a CUDA / PyTorch repository to a correct run on an AMD GPU, and prove it before you own one."""


def main() -> None:
    """Entry point. Exit codes: 0 clean, 1 findings or a change would be made, 2 usage or internal error."""
    from rocport.model.terminal import Guard

    # Either is None where its descriptor is closed.
    out, err = (stream or io.TextIOWrapper(io.BytesIO()) for stream in (sys.stdout, sys.stderr))
    sys.stdout, sys.stderr = Guard(out), Guard(err)
    try:
        code = cli.main(prog_name="rocport", standalone_mode=False)
        sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else EXIT_CLEAN)
    except click.ClickException as error:
        error.show()
        sys.exit(EXIT_ERROR)
    except (click.Abort, KeyboardInterrupt):
        click.echo("rocport: interrupted; nothing half-written was left behind", err=True)
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(EXIT_ERROR)
    except OSError as error:
        from rocport.model.folders import NotPrivateError

        if error.errno in _FULL:
            # What is still to be written has nowhere to go: it would fail once more when Python ends.
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        elif not isinstance(error, NotPrivateError):
            raise
        click.echo(f"Error: {error}", err=True)
        sys.exit(EXIT_ERROR)
