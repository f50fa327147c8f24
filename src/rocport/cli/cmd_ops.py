"""`rocport ops`: which tier serves an operator here, and why the others do not."""

from __future__ import annotations

import json
from typing import Any

import click

from rocport.cli.common import print_date


@click.group(name="ops")
def command() -> None:
    """Operators and their tiers (needs PyTorch)."""


def _platform(gfx: str | None) -> Any:
    try:
        from rocport.runtime import Platform, platform
    except ImportError as error:
        raise click.UsageError(f"rocport ops needs PyTorch: {error}; pip install 'rocport[torch]'") from error
    if gfx is None:
        return platform()
    from rocport.facts.errors import FactError
    from rocport.facts.targets import load_target

    try:
        return Platform("rocm", target=load_target(gfx))
    except FactError as error:
        raise click.UsageError(str(error)) from error


@command.command()
@click.argument("operators", nargs=-1, metavar="[OPERATOR]...")
@click.option("--gfx", help="Decide as on this gfx target instead of this machine.")
@click.option("--format", "style", type=click.Choice(["text", "json"]), default="text", show_default=True)
def explain(operators: tuple[str, ...], gfx: str | None, style: str) -> None:
    """Print every tier of OPERATOR (default: all), the one that serves, and why each other one is refused.

    The call explained is the operator's own example; a shape or type of yours may be served otherwise. Packages are
    looked up on this machine also with --gfx.
    """
    print_date()
    where = _platform(gfx)
    from rocport.ops.dispatch import TierRefused, names, operator
    from rocport.ops.examples import example_call
    from rocport.runtime import assume

    unknown = sorted(set(operators) - set(names()))
    if unknown:
        raise click.UsageError(f"no operator {', '.join(unknown)}: there are {', '.join(names())}")
    rows: dict[str, list[dict[str, Any]]] = {}
    with assume(where):
        for name in operators or names():
            try:
                choices = operator(name).explain(where, *example_call(name))
            except (TierRefused, ValueError) as error:
                raise click.UsageError(str(error)) from error
            rows[name] = [
                {"tier": c.tier, "chosen": c.chosen, "refused": c.refused, "source": c.source} for c in choices
            ]
    if style == "json":
        click.echo(json.dumps({"platform": str(where), "operators": rows}, indent=2))
        return
    click.echo(f"on {where}")
    for name, tiers in rows.items():
        click.echo(name)
        for row in tiers:
            mark = "->" if row["chosen"] else "  "
            said = row["refused"] or ("serves" if row["chosen"] else "could serve")
            click.echo(f"  {mark} {row['tier']:<13} {said}")
