"""Python packages: what serves them on ROCm. One TOML file a package in packages/.

`state` says where an AMD build comes from:

    torch-index   with torch, from the same ROCm index
    wheel         the wheel of the default index works
    python        no GPU code of its own
    separate      AMD wheels or images of its own, with their own torch or ROCm
    build         compiles from source against a ROCm torch
    fork          a fork does
    partial       some versions or targets only
    cuda-only     NVIDIA only; `replacement` names what does the job
"""

from __future__ import annotations

import fnmatch
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from rocport.facts._toml import FACTS, read_toml
from rocport.facts.errors import FactError
from rocport.model.targets import GfxTarget

STATES = ("torch-index", "wheel", "python", "separate", "build", "fork", "partial", "cuda-only")


@dataclass(frozen=True)
class BlocksizeRule:
    """4-bit block sizes bitsandbytes' ROCm kernels take: on wavefronts of `wavefront` lanes (0: of either width),
    since a version of bitsandbytes (inclusive; empty: since its first ROCm release)."""

    wavefront: int
    sizes: tuple[int, ...]
    since: str
    source: str
    sure: str


@dataclass(frozen=True)
class PolicyRule:
    """What a package decides by itself on AMD GPUs: on wavefronts of `wavefront` lanes (0: of either width), on
    `targets` (empty: every), with or without bf16 matrix instructions (None: either), for versions of bitsandbytes (a
    specifier; empty: every). `do`: what its users can do instead."""

    topic: str
    text: str
    source: str
    sure: str
    do: str = ""
    wavefront: int = 0
    targets: tuple[str, ...] = ()
    bf16_matrix: bool | None = None
    bitsandbytes: str = ""

    def covers(self, target: GfxTarget, bitsandbytes: str | None) -> bool:
        """Whether it is what happens on a target; a version that is not known is in no range."""
        if self.wavefront not in (0, target.wavefront) or self.bf16_matrix not in (None, target.bf16_matrix):
            return False
        if self.targets and target.name not in self.targets:
            return False
        if not self.bitsandbytes:
            return True
        return bitsandbytes is not None and SpecifierSet(self.bitsandbytes).contains(bitsandbytes, prereleases=True)


@dataclass(frozen=True)
class NativeWheel:
    """The ROCm libraries (HIP versions) inside the wheels of a package, for its versions from `since` (inclusive) to
    `until` (exclusive; empty: to the newest). `choice`: `exact` or `nearest`, as the package's loader does."""

    since: str
    until: str
    builds: tuple[str, ...]
    choice: str
    source: str
    sure: str
    targets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What each library has code objects for; empty: it was not read."""
    windows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The same for the wheel of Windows; empty: that wheel has none for ROCm, or nothing is known."""

    def library_for(self, hip: tuple[int, int], builds: tuple[str, ...] = ()) -> str:
        """The build (`7.2`) that is loaded for a HIP (major, minor) from `builds`, by default those of the wheel; empty
        when the import finds none."""
        have = {
            (int(major), int(minor)): f"{major}.{minor}"
            for major, minor in (b.split(".") for b in builds or self.builds)
        }
        if self.choice == "exact":
            name = str(hip[0] * 10 + hip[1])
            return next((text for (major, minor), text in have.items() if f"{major}{minor}" == name), "")
        same = sorted(version for version in have if version[0] == hip[0])
        below = [version for version in same if version <= hip]
        nearest = below[-1:] or same[:1]
        return have[nearest[0]] if nearest else ""


@dataclass(frozen=True)
class Package:
    """One package. `targets` empty: see `target_library`, or not split by target. `{gfx}` in a command is the target,
    `{channel}` torch's ROCm.

    `torch`, `python` and `rocm` are version specifiers; `channels` the torch channels its AMD wheels go with.
    `versions` says what was looked at; empty when the source names no version.
    """

    name: str
    state: str
    summary: str
    source: str
    versions: str
    sure: str
    aliases: tuple[str, ...] = ()
    install: str = ""
    native_install: str = ""
    native_targets: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    target_library: str = ""
    channels: tuple[str, ...] = ()
    unseen_channels: tuple[str, ...] = ()
    """Channels that its workflow builds for, of which no wheel was seen."""
    since: str = ""
    checked: str = ""
    """The one version the facts speak of, where others differ or were not looked at; empty: they speak of all."""
    torch: str = ""
    python: str = ""
    rocm: str = ""
    replacement: str = ""
    windows: str = ""
    """Why it does not work on Windows itself, and what does; empty: nothing is said."""
    windows_reported: str = ""
    """What users report of it on Windows, with the address; empty: nothing is known."""
    note: str = ""
    env: tuple[tuple[str, str], ...] = ()
    blocksizes: tuple[BlocksizeRule, ...] = ()
    wheels: tuple[NativeWheel, ...] = ()
    policies: tuple[PolicyRule, ...] = ()
    module: str = ""
    elsewhere: tuple[str, ...] = ()
    """Names of it whose default wheel runs beside ROCm, on the CPU, as documentation, or as Python that finds no GPU
    of NVIDIA's where it is asked (what imports it is named there)."""
    index_needs: tuple[str, ...] = ()
    """What it needs from torch's own index, where the default one serves CUDA builds."""

    @property
    def imported(self) -> str:
        """What `import` says for it."""
        return self.module or self.name.replace("-", "_")

    def wheel_of(self, version: str) -> NativeWheel | None:
        """The record of the wheel of a version; None when nothing is known about it."""
        parsed = Version(Version(version).public)
        for wheel in self.wheels:
            if parsed >= Version(wheel.since) and (not wheel.until or parsed < Version(wheel.until)):
                return wheel
        return None


def normalize(name: str) -> str:
    """A package name as indexes compare it: lower case, runs of `-_.` as one dash."""
    return re.sub(r"[-_.]+", "-", name).lower()


@functools.cache
def packages() -> tuple[Package, ...]:
    """Every package, by name."""
    return tuple(_load(read_toml(path)) for path in sorted((FACTS / "packages").glob("*.toml")))


def find_package(name: str) -> Package | None:
    """The record for a package or one of its aliases (`nvidia-*` is one); None when nothing is known."""
    key = normalize(name)
    spelled, patterns = _spellings()
    found = spelled.get(key)  # `nvidia-ml-py` before `nvidia-*`
    return found or next((package for pattern, package in patterns if fnmatch.fnmatchcase(key, pattern)), None)


@functools.cache
def _spellings() -> tuple[dict[str, Package], tuple[tuple[str, Package], ...]]:
    """Package by its name and its aliases, a name before an alias and the first before others; aliases with a wildcard.

    All of them as `normalize` writes them."""
    aliases = [(normalize(alias), package) for package in packages() for alias in package.aliases]
    names = {normalize(package.name): package for package in packages()}
    return {**dict(reversed(aliases)), **names}, tuple(one for one in aliases if re.search(r"[*?\[]", one[0]))


def package(name: str) -> Package:
    """The same; raises FactError, with suggestions, when nothing is known."""
    found = find_package(name)
    if found is None:
        raise FactError("package", name, (item.name for item in packages()))
    return found


def _wheel(data: dict[str, Any]) -> NativeWheel:
    for key in ("targets", "windows"):
        data[key] = {build: tuple(targets) for build, targets in data.get(key, {}).items()}
    return NativeWheel(**{**data, "builds": tuple(data["builds"])})


def _load(data: dict[str, Any]) -> Package:
    rules = tuple(BlocksizeRule(**{**rule, "sizes": tuple(rule["sizes"])}) for rule in data.pop("blocksize", ()))
    wheels = tuple(_wheel(wheel) for wheel in data.pop("wheel", ()))
    policies = tuple(
        PolicyRule(**{**rule, "targets": tuple(rule.get("targets", ()))}) for rule in data.pop("policy", ())
    )
    env = tuple(data.pop("env", {}).items())
    for key in ("aliases", "targets", "native_targets", "channels", "unseen_channels", "index_needs"):
        data[key] = tuple(data.get(key, ()))
    return Package(**data, env=env, blocksizes=rules, wheels=wheels, policies=policies)
