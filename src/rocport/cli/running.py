"""What the commands that run something on an executor share: checks of their options, and what a run ended with."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from rocport.cli import EXIT_CLEAN, EXIT_ERROR, EXIT_FINDINGS
from rocport.model.terminal import write_raw

if TYPE_CHECKING:
    from rocport.executor.base import BuildError, Hazard, RunResult


_CI = frozenset({"GITHUB_ACTIONS", "TF_BUILD"})


class ProgramCommand(click.Command):
    """A command that runs a program: options are its own wherever they stand; what follows `--` is the program's."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Raises click.NoSuchOption, with where the program's options go."""
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            message = f"{error.message} {self.name} has no such option; what is for the program goes behind `--`."
            raise click.NoSuchOption(error.option_name, message, error.possibilities, ctx) from error


sandbox_option = click.option(
    "--sandbox/--no-sandbox",
    "confined",
    default=True,
    show_default=True,
    help="Let the program write below its folder and a temporary one only, and reach no network.",
)


UNCONFINED = "rocport: it wrote below its folder only and reached no network; --no-sandbox lifts both"
"""What to try when a confined program failed."""


def say_sandbox(confined: bool) -> None:
    """Say plainly where a program that should be confined cannot be."""
    from rocport.sandbox import why_not

    if confined and (reason := why_not()):
        click.echo(f"rocport: not confined: {reason}; it can do what you can", err=True)


def check_hazards(quiet: tuple[str, ...]) -> None:
    """Raises click.BadParameter for a hazard that does not exist."""
    from rocport.executor.report import HAZARDS

    for name in quiet:
        if name not in HAZARDS:
            raise click.BadParameter(f"{name}: no such hazard; one of {', '.join(HAZARDS)}", param_hint="--quiet")


def check_order(order: str) -> None:
    """Raises click.BadParameter for an order that does not exist."""
    if order not in ("forward", "reverse") and not order.isdigit():
        raise click.BadParameter(f"{order}: forward, reverse or a number", param_hint="--order")


def refused_build(error: BuildError, last: int = 0) -> int:
    """Print the compiler's words (the `last` characters of them; 0: all), why something could not be built, and what
    the executor lacks for it; the exit code."""
    click.echo(error.log.rstrip()[-last:] or str(error), err=True)
    missing = f"\nThe executor lacks: {', '.join(error.missing[:10])}" if error.missing else ""
    click.echo(f"Error: {error}{missing}", err=True)
    return EXIT_ERROR


def show(result: RunResult, width: int, timeout: float) -> int:
    """Print a run's output, hazards and end; the exit code: 1 for a grave hazard or a status that is not 0."""
    for stream, text in ((sys.stdout, result.stdout), (sys.stderr, result.stderr)):
        # As it is for a file or another program, where that is no log of CI.
        piped = not stream.isatty() and not _CI & os.environ.keys()
        (partial(write_raw, stream) if piped else stream.write)(text)
        stream.flush()
    for hazard in result.hazards:
        _print_hazard(hazard)
    if result.timed_out:
        click.echo(f"rocport: stopped after {timeout:g} s (--timeout)", err=True)
    elif result.status:
        how = f"signal {-result.status}" if result.status < 0 else f"status {result.status}"
        click.echo(f"rocport: the program ended with {how} at width {width}", err=True)
    grave = any(hazard.grave for hazard in result.hazards)
    return EXIT_CLEAN if result.ok and not grave else EXIT_FINDINGS


def _print_hazard(hazard: Hazard) -> None:
    word = "hazard" if hazard.grave else "note"
    facts = [f"kernel {hazard.kernel}"] if hazard.kernel else []
    facts += [f"{hazard.count} times"] if hazard.count > 1 else []
    tail = f" ({', '.join(facts)})" if facts else ""
    click.echo(f"{word}[{hazard.kind}] {hazard.place}: {hazard.message}{tail}", err=True)
    for frame in hazard.frames[1:4]:
        click.echo(f"    called from {frame.path}:{frame.line}", err=True)
