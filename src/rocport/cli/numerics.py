"""What `capture`, `compare` and `verify --level numerical` share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from rocport.cli.progress import counting

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


def limits_of(timeout: float, memory: float | None) -> Limits:
    """Seconds and GiB as the child's limits."""
    from rocport.numerics.process import Limits

    return Limits(timeout, None if memory is None else int(memory * 2**30))


@contextmanager
def recording(doing: str, fmt: str) -> Iterator[Callable[[float, int], None]]:
    """A line that counts seconds and what was recorded, in bytes, on a terminal only."""
    with counting(doing, fmt) as count:
        yield lambda seconds, size: count(int(seconds), 0, f"{size >> 10} KiB recorded")


def verify_numerical(path: Path, golden: Path | None, words: Sequence[str], timeout: float, fmt: str) -> int:
    """`rocport verify --level numerical`: run a command in the folder `path`, compare with `golden`; the exit code.

    Raises click.UsageError, click.ClickException.
    """
    from rocport.cli.cmd_compare import report, run_and_compare
    from rocport.numerics.process import TaskError

    if golden is None or not words:
        raise click.UsageError(
            "level numerical compares a run with recorded numbers: rocport verify PATH --level numerical "
            "--golden FILE -- python SCRIPT; record FILE with `rocport capture`, best on an NVIDIA GPU"
        )
    if not golden.exists():
        raise click.UsageError(f"{golden}: no such golden file; record one with `rocport capture`")
    folder = path if path.is_dir() else path.parent
    try:
        with recording("running", fmt) as progress:
            result, ran = run_and_compare(
                parsed(words, folder), golden, None, None, False, False, False, limits_of(timeout, None),
                progress=progress, cwd=folder,
            )  # fmt: skip
    except (TaskError, OSError) as error:
        raise click.ClickException(str(error)) from error
    return report(result, ran, fmt, str(path), "verify")
