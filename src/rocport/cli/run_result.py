"""What a run on an executor printed, saw and ended with."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from rocport.cli import EXIT_CLEAN, EXIT_FINDINGS

if TYPE_CHECKING:
    from rocport.executor.base import Hazard, RunResult


def show(result: RunResult, width: int, timeout: float) -> int:
    """Print a run's output, hazards and end; the exit code: 1 for a grave hazard or a status that is not 0."""
    sys.stdout.write(result.stdout)
    sys.stdout.flush()
    sys.stderr.write(result.stderr)
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
