"""What `capture`, `compare` and `verify --level numerical` share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from rocport.cli.progress import counting
from rocport.cli.running import say_sandbox

if TYPE_CHECKING:
    from pathlib import Path

    from rocport.numerics.process import Command, Limits


def parsed(words: Sequence[str], cwd: Path | None = None) -> Command:
    """The command to run in `cwd`. Raises click.UsageError."""
    from rocport.numerics.process import CommandError, parse_command

    try:
        return parse_command(words, cwd)
    except (CommandError, OSError) as error:
        raise click.UsageError(str(error)) from error


def limits_of(timeout: float, memory: float | None, confined: bool = True) -> Limits:
    """Seconds and GiB as the child's limits; says so where a child that should be confined cannot be."""
    from rocport.numerics.process import Limits

    say_sandbox(confined)
    return Limits(timeout, None if memory is None else int(memory * 2**30), confined)


@contextmanager
def recording(doing: str, fmt: str) -> Iterator[Callable[[float, int], None]]:
    """A line that counts seconds and what was recorded, in bytes, on a terminal only."""
    with counting(doing, fmt) as count:
        yield lambda seconds, size: count(int(seconds), 0, f"{size >> 10} KiB recorded")
