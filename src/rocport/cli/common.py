"""Options and output shared by commands."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from rocport.model import Options, Report
    from rocport.scan.config import Settings

F = TypeVar("F", bound=Callable[..., Any])


def use_colour(stream: Any = None) -> bool:
    """Colour only on a terminal; NO_COLOR turns it off, FORCE_COLOR on."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return bool((stream or sys.stdout).isatty())


def print_date() -> None:
    """Print the day of the facts, on stderr, when the command that runs now ends."""
    from rocport.facts.dates import dated

    click.get_current_context().call_on_close(lambda: click.echo(dated(), err=True))


def _options(*options: Callable[[F], F]) -> Callable[[F], F]:
    """The options in the order of `--help`."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


settings_options = _options(
    click.option(
        "--warp",
        type=click.Choice(["logical32", "native"]),
        help="Keep CUDA's 32-lane warps on any wavefront, or use the wavefront's own width  [default: logical32]",
    ),
    click.option("--target", metavar="GFX[,GFX]", help="gfx targets the port is for; all by default."),
    click.option("--rocm", metavar="VERSION", help="ROCm version the port is for, such as 10.1."),
    click.option("--torch", metavar="VERSION", help="PyTorch version the port is for."),
    click.option("--select", metavar="RULE[,RULE]", multiple=True, help="Only these rules; * and ? match."),
    click.option("--ignore", metavar="RULE[,RULE]", multiple=True, help="Leave these rules out."),
    click.option(
        "--exclude", metavar="PATTERN", multiple=True, help="Leave these files and folders out; * and ? match."
    ),
    click.option("--baseline", metavar="FILE", help="Leave out the findings this file accepts."),
    click.option(
        "--respect-gitignore/--no-respect-gitignore", default=None, help="Leave out what git ignores  [default: yes]"
    ),
    click.option("--config", metavar="KEY=VALUE", multiple=True, help="Put a setting over the project's."),
    click.option("--isolated", is_flag=True, help="Ignore rocport.toml and [tool.rocport] in pyproject.toml."),
)
"""What may be set in the project's file too. A command takes them as `**given`, for `make_settings`."""


def make_settings(root: Path, given: Mapping[str, Any], layout: str | None = None) -> Settings:
    """The project's settings with the command line put over them. Raises click.UsageError."""
    from rocport.scan import config

    try:
        found = None if given["isolated"] else config.find(root)
        settings = config.override(config.load(found) if found else config.Settings(), given["config"])
    except config.ConfigError as error:
        raise click.UsageError(str(error)) from error
    gitignore = given["respect_gitignore"]
    return replace(
        settings,
        select=_listed(*given["select"]) or settings.select,
        ignore=(*settings.ignore, *_listed(*given["ignore"])),
        exclude=(*settings.exclude, *given["exclude"]),
        respect_gitignore=settings.respect_gitignore if gitignore is None else gitignore,
        baseline=os.path.abspath(given["baseline"]) if given["baseline"] else settings.baseline,
        target=_listed(given["target"] or "") or settings.target,
        warp=given["warp"] or settings.warp or "logical32",
        rocm=given["rocm"] or settings.rocm,
        torch=given["torch"] or settings.torch,
        layout=layout or settings.layout or "hip",
    )


def _listed(*values: str) -> tuple[str, ...]:
    return tuple(name.strip() for value in values for name in value.split(",") if name.strip())


def make_targets(target: str) -> tuple[str, ...]:
    """Known gfx targets from `GFX[,GFX]`. Raises click.BadParameter."""
    from rocport.scan import config

    try:
        return config.options(config.Settings(target=_listed(target))).targets
    except config.ConfigError as error:
        raise click.BadParameter(str(error), param_hint="--target") from error


def make_options(target: str | None, rocm: str | None, torch: str | None) -> Options:
    """What `--target`, `--rocm` and `--torch` name. Raises click.UsageError."""
    from rocport.scan import config

    try:
        return config.options(config.Settings(target=_listed(target or ""), rocm=rocm or "", torch=torch or ""))
    except config.ConfigError as error:
        raise click.UsageError(f"--{error}") from error


def without_collector() -> None:
    """Turn the cycle collector off for a run over a tree.

    Tokens are made by the hundred thousand, hold no cycles, and go when their file is done; walking them again and
    again took a quarter of the time.
    """
    gc.disable()


def existing(path: str) -> Path:
    """The path, or a usage error that names it."""
    found = Path(path)
    if not found.exists():
        raise click.UsageError(f"{path}: no such file or folder; name the folder of the CUDA sources")
    return found


def emit(report: Report, fmt: str, output: str | None = None) -> None:
    """Print the report on stdout, or write it to a file."""
    from rocport.model.terminal import write_raw
    from rocport.report import render

    text = render(fmt, report, colour=output is None and use_colour())
    if output is None:
        write_raw(sys.stdout, text)
        sys.stdout.flush()
    else:
        from rocport.port.files import write_atomic

        write_atomic(Path(output), text.encode())


def one_of_each_width() -> str:
    """The targets that stand for wavefronts of 64 and of 32 lanes, as `--target` takes them."""
    from rocport.facts import targets

    return ",".join(targets.one_of_each_width())


def refuse_given(ctx: click.Context, names: Iterable[str], why: str) -> None:
    """Raises click.UsageError where one of the options was given: what has no effect is not taken in silence."""
    for name in names:
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = next(item for item in ctx.command.params if item.name == name)
            raise click.UsageError(f"{option.opts[-1]} {why}")
