# SPDX-License-Identifier: Apache-2.0
"""`rocport cache`: what the executor of machine code keeps, and making it smaller."""

from __future__ import annotations

import re

import click

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class _Size(click.ParamType[int]):
    """`500M`, `4G`: bytes."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        read = re.fullmatch(r"(\d+)([KMG]?)i?B?", str(value), re.IGNORECASE)
        if read is None:
            self.fail(f"{value}: a number with K, M or G, as 500M", param, ctx)
        return int(read[1]) * _UNITS[read[2].upper()]


@click.command("cache")
@click.option("--prune", "most", type=_Size(), help="Remove what was not used for longest until this much is left.")
def command(most: int | None) -> None:
    """Say how much the ISA executor keeps in the cache: translated kernels, forms, libraries; with --prune, keep less.

    All of it can be made again but for the libraries (lib, rocm), which programs that were built are linked to: they
    stay. What was used in the last hour stays, too. Without a word 8 GiB are kept. Exit code 0.
    """
    from rocport.executor.isa import shelf
    from rocport.model import cache_folder

    folder = cache_folder() / "isa"
    if most is not None:
        done = shelf.prune(folder, most)
        click.echo(f"removed {done.files} files, {_shown(done.bytes)}; {_shown(done.left)} are left")
    held = shelf.sizes(folder)
    for name, size in held.items():
        click.echo(f"{_shown(size):>10}  {name}")
    click.echo(f"{_shown(sum(held.values())):>10}  {folder}")


def _shown(size: int) -> str:
    return f"{size / (1 << 20):.1f} MiB"
