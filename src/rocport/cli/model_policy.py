"""What `rocport model inspect` and `rocport doctor --model` print: how a model loads on targets, named or found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rocport.checkpoint.memory import Training
    from rocport.doctor.machine import Machine
    from rocport.model.targets import GfxTarget


def report(
    path: Path,
    targets: list[tuple[GfxTarget, int | None]],
    bitsandbytes: str | None,
    as_json: bool,
    training: Training | None = None,
    build: tuple[str | None, str | None] = (None, None),
) -> int:
    """Print one policy a target, given with the bytes its GPU has (None: not known). 0 when all load as is, else 1.

    `build`: the torch and the ROCm to assume (None: not said).
    """
    from rocport.checkpoint import CheckpointError
    from rocport.checkpoint.policy import decide, policy_data, policy_text
    from rocport.facts.dates import dated

    try:
        found = [decide(path, target, bitsandbytes, memory, training, *build) for target, memory in targets]
    except (CheckpointError, OSError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps([policy_data(policy) for policy in found], indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(policy_text(policy) for policy in found), nl=False)
        click.echo(dated())
    return 0 if all(policy.verdict == "ok" for policy in found) else 1


def checked_build(torch: str | None, rocm: str | None) -> tuple[str | None, str | None]:
    """`--torch` and `--rocm`, as given. Raises click.BadParameter for what is no version."""
    from rocport.model.versions import RocmVersion, TorchVersion, VersionError

    try:
        if torch is not None:
            TorchVersion.parse(torch)
    except VersionError as error:
        raise click.BadParameter(str(error), param_hint="--torch") from error
    try:
        if rocm is not None:
            RocmVersion.parse(rocm)
    except VersionError as error:
        raise click.BadParameter(str(error), param_hint="--rocm") from error
    return torch, rocm


def named_targets(names: str) -> list[tuple[GfxTarget, int | None]]:
    """The targets of `--target GFX[,GFX]`. Raises click.BadParameter."""
    from rocport.facts.errors import FactError
    from rocport.facts.targets import load_target

    try:
        return [(load_target(name), None) for name in names.split(",") if name.strip()]
    except FactError as error:
        raise click.BadParameter(str(error), param_hint="--target") from error


def machine_targets(machine: Machine) -> list[tuple[GfxTarget, int | None]]:
    """Target and memory of each GPU of a machine, equal ones once. Raises click.UsageError when there is none."""
    from rocport.facts.targets import wave_target

    found: list[tuple[GfxTarget, int | None]] = []
    for gpu in machine.gpus:
        if gpu.target is not None:
            one = (gpu.target, gpu.number("vram_bytes") if gpu.target.kind == "dgpu" else None)
            if one not in found:
                found.append(one)
    if not found:
        raise click.UsageError(
            f"--model: no GPU with a known gfx target was found; name one with --target {wave_target(64).name}"
        )
    return found


def installed_bitsandbytes(machine: Machine) -> str | None:
    """The version of bitsandbytes on a machine, None when it is not there."""
    package = machine.package("bitsandbytes")
    return package.version if package else None
