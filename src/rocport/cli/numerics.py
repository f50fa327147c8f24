"""What `capture`, `compare` and `verify --level numerical` share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rocport.numerics.process import Command, Limits


def parsed(words: Sequence[str]) -> Command:
    """The command to run. Raises click.UsageError."""
    from rocport.numerics.process import CommandError, parse_command

    try:
        return parse_command(words)
    except (CommandError, OSError) as error:
        raise click.UsageError(str(error)) from error


def limits_of(timeout: float, memory: float | None) -> Limits:
    """Seconds and GiB as the child's limits."""
    from rocport.numerics.process import Limits

    return Limits(timeout, None if memory is None else int(memory * 2**30))


def show_progress(doing: str) -> Callable[[float, int], None] | None:
    """A line that counts, on a terminal only."""
    if not sys.stderr.isatty():
        return None

    def show(seconds: float, size: int) -> None:
        click.echo(f"\r\033[K{doing}: {seconds:.0f} s, {size >> 10} KiB recorded", nl=False, err=True)

    return show


def clear_line(progress: object) -> None:
    """Take the counting line away."""
    if progress is not None:
        click.echo("\r\033[K", nl=False, err=True)
