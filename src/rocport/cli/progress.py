"""A line that counts while something runs: on a terminal only, on stderr, drawn by rich."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rocport.model.terminal import one_line

Count = Callable[[int, int, str], None]
"""`count(done, total, what)`; a total of 0 is not known."""


@contextmanager
def counting(doing: str, fmt: str = "text") -> Iterator[Count]:
    """Show how far something is. Nothing is shown, and rich not imported, unless stderr is a terminal and the output
    is for a person."""
    if not sys.stderr.isatty() or fmt != "text" or os.environ.get("TERM") == "dumb":
        yield lambda done, total, what: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn(doing),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(file=getattr(sys.stderr, "_stream", sys.stderr)), transient=True) as shown:
        task = shown.add_task("", total=None)

        def count(done: int, total: int, what: str) -> None:
            shown.update(task, completed=done, total=total or None, description=escape(one_line(what[:70])))

        yield count
