"""Operating systems, amdgpu drivers, kernels, and the torch builds AMD serves itself: platforms.toml."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from rocport.facts._toml import FACTS, read_toml
from rocport.facts.errors import FactError


@dataclass(frozen=True)
class System:
    """An operating system. `kind` is linux, wsl or windows; `glibc` is empty where there is none to know."""

    id: str
    aliases: tuple[str, ...]
    kind: str
    glibc: str
    source: str
    sure: str
    note: str = ""


@dataclass(frozen=True)
class Driver:
    """The amdgpu driver for a ROCm release (major.minor). `minimum` empty: no document names one; `known`: drivers
    that a document says work."""

    rocm: str
    minimum: str
    known: str
    source: str
    sure: str


@dataclass(frozen=True)
class Kernel:
    """A Linux kernel that targets need on systems (empty: on any)."""

    targets: tuple[str, ...]
    systems: tuple[str, ...]
    minimum: str
    text: str
    source: str
    sure: str


@dataclass(frozen=True)
class AmdTorch:
    """Versions of torch that AMD serves for a ROCm release. `products`: `instinct`, `radeon` (and Ryzen), or empty.

    `kinds`: systems it is known for (empty: all); `how`: `index`, or `links` for a page of wheels; `channel`: whose
    targets it carries; `python`: the versions there are wheels for (empty: not known); `named`: the targets that the
    source has a command for (empty: those of AMD's own list).
    """

    rocm: str
    torch: tuple[str, ...]
    products: str
    index: str
    source: str
    sure: str
    kinds: tuple[str, ...] = ()
    how: str = "index"
    channel: str = "multi-arch"
    python: tuple[str, ...] = ()
    named: tuple[str, ...] = ()


@dataclass(frozen=True)
class WindowsTargets:
    """Targets AMD builds torch for on Windows."""

    targets: tuple[str, ...]
    source: str
    sure: str


@dataclass(frozen=True)
class WslSupport:
    """What reaches the GPU in WSL: GPUs that AMD lists, the first ROCm whose runtime can load librocdxg, and the first
    that brings it and looks for it without `variable`."""

    targets: tuple[str, ...]
    rocm: str
    packaged: str
    variable: str
    source: str
    packaged_source: str
    sure: str


@functools.cache
def _data() -> dict[str, Any]:
    return read_toml(FACTS / "platforms.toml")


def systems() -> tuple[System, ...]:
    """All systems, in the order of the file."""
    return tuple(System(**{**record, "aliases": tuple(record["aliases"])}) for record in _data()["system"])


def find_system(name: str) -> System:
    """The system called `ubuntu24.04`, `Ubuntu 24.04`, `noble`, ... Raises FactError when it is not known."""
    key = name.strip().lower().replace(" ", "").replace("-", "")
    for system in systems():
        if key in (system.id, *(alias.replace("-", "") for alias in system.aliases)):
            return system
    raise FactError("operating system", name, (system.id for system in systems()))


def driver_of(rocm: str) -> Driver | None:
    """The driver record of a ROCm release, by major and minor number; None when nothing is known."""
    key = ".".join(rocm.split(".")[:2])
    return next((Driver(**record) for record in _data()["driver"] if record["rocm"] == key), None)


def kernels_of(target: str, system: System | None) -> tuple[Kernel, ...]:
    """Kernels that a target needs on a system; for all systems when it is None."""
    records = (
        Kernel(**{**record, "targets": tuple(record["targets"]), "systems": tuple(record["systems"])})
        for record in _data()["kernel"]
    )
    return tuple(
        kernel
        for kernel in records
        if target in kernel.targets and (not kernel.systems or system is None or system.id in kernel.systems)
    )


def amd_torch() -> tuple[AmdTorch, ...]:
    """AMD's own builds, newest ROCm first."""
    lists = ("torch", "kinds", "python", "named")
    return tuple(
        AmdTorch(**{**record, **{key: tuple(record[key]) for key in lists if key in record}})
        for record in _data()["amd_torch"]
    )


def windows_targets() -> WindowsTargets:
    """What AMD builds torch for on Windows."""
    record = _data()["windows"]
    return WindowsTargets(**{**record, "targets": tuple(record["targets"])})


def wsl_support() -> WslSupport:
    """What ROCm needs in WSL."""
    record = _data()["wsl"]
    return WslSupport(**{**record, "targets": tuple(record["targets"])})
