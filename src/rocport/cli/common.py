"""Options and output shared by commands."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from rocport.model import Options, Report, RocmVersion, VersionError

F = TypeVar("F", bound=Callable[..., Any])


def use_colour(stream: Any = None) -> bool:
    """Colour only on a terminal; NO_COLOR turns it off, FORCE_COLOR on."""
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return bool((stream or sys.stdout).isatty())


def source_options(function: F) -> F:
    """`--warp`, `--target`, `--rocm`, `--torch`: what the rules may assume."""
    for option in (
        click.option("--torch", "torch", metavar="VERSION", help="PyTorch version the port is for."),
        click.option("--rocm", metavar="VERSION", help="ROCm version the port is for, such as 10.1."),
        click.option("--target", metavar="GFX[,GFX]", help="gfx targets the port is for; all by default."),
        click.option(
            "--warp",
            type=click.Choice(["logical32", "native"]),
            default="logical32",
            show_default=True,
            help="Keep CUDA's 32-lane warps on any wavefront, or use the wavefront's own width.",
        ),
    ):
        function = option(function)
    return function


def make_options(warp: str, target: str | None, rocm: str | None, torch: str | None) -> Options:
    """Options from the command line. Raises click.BadParameter."""
    targets = tuple(name.strip() for name in (target or "").split(",") if name.strip())
    if targets:
        from rocport.facts.errors import FactError
        from rocport.facts.targets import load_target

        for name in targets:
            try:
                load_target(name)
            except FactError as error:
                raise click.BadParameter(str(error), param_hint="--target") from error
    try:
        version = RocmVersion.parse(rocm) if rocm else None
    except VersionError as error:
        raise click.BadParameter(str(error), param_hint="--rocm") from error
    return Options(warp=warp, targets=targets, rocm=version, torch=torch)


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
    from rocport.report import render

    text = render(fmt, report, colour=output is None and use_colour())
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        from rocport.port.files import write_atomic

        write_atomic(Path(output), text.encode())
