"""ROCm releases, PyTorch releases, and which gfx targets each wheel carries.

Versions stay text in the records, as they were read; the functions below parse them once and compare them.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from dataclasses import dataclass

from rocport.facts._toml import FACTS, read_toml
from rocport.facts.errors import FactError
from rocport.model.versions import HipVersion, RocmVersion, TorchVersion, VersionError


@dataclass(frozen=True)
class RocmRelease:
    """One ROCm release. `stream`: `therock`, `legacy` (until 7.2.4) or `preview` (7.9 to 7.13). `hip` may be empty;
    `hip_source` holds its build where `source` does not."""

    version: str
    date: str
    stream: str
    hip: str
    prefix: str
    source: str
    sure: str
    note: str = ""
    hip_source: str = ""


@dataclass(frozen=True)
class TorchRelease:
    """One PyTorch release (major.minor). `rocm`: the channel pytorch.org points at, `other_rocm` what else it serves;
    `index`: the first of them; `patches`: its releases; `note`: what is known of channels that are not listed."""

    version: str
    released: str
    python_min: str
    python_max: str
    rocm: tuple[str, ...]
    other_rocm: tuple[str, ...]
    triton: tuple[str, ...]
    patches: tuple[str, ...]
    torchvision: str
    glibc_min: str
    index: str
    source: str
    sure: str
    python_max_experimental: bool = False
    note: str = ""

    @property
    def python_final(self) -> str:
        """The newest Python that is not experimental; empty where none is known."""
        major, dot, minor = self.python_max.partition(".")
        return f"{major}{dot}{int(minor) - 1}" if self.python_max_experimental and minor else self.python_max


@dataclass(frozen=True)
class WheelLibrary:
    """Targets that a library inside the wheels of a channel is known to have code for, and known to lack."""

    name: str
    source: str
    sure: str
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True)
class WheelChannel:
    """The gfx targets compiled into the torch wheels of one channel (`7.2`, or `multi-arch` of AMD).

    `unsure` are targets that sources disagree about; `libraries` what is known of the libraries beside torch. `since`
    holds targets that the channel's older torch releases lack, with the first that carries them, by `since_source`.
    """

    name: str
    owner: str
    targets: tuple[str, ...]
    source: str
    sure: str
    unsure: tuple[str, ...] = ()
    note: str = ""
    libraries: tuple[WheelLibrary, ...] = ()
    since: tuple[tuple[str, str], ...] = ()
    since_source: str = ""

    def for_torch(self, version: TorchVersion) -> WheelChannel:
        """The channel as it serves one torch release: without the targets that came with a later one."""
        late = {name for name, first in self.since if version.release[:2] < TorchVersion.parse(first).release[:2]}
        if not late:
            return self
        kept = tuple(name for name in self.targets if name not in late)
        return dataclasses.replace(self, targets=kept, since=(), source=self.since_source, sure="documented")

    def library(self, name: str) -> WheelLibrary | None:
        """The record of `rocBLAS`, `hipBLASLt`, ...; None when nothing is known of it in this channel."""
        return next((library for library in self.libraries if library.name == name), None)

    @property
    def no_rocblas(self) -> tuple[str, ...]:
        """Targets whose matrix products fail, because the rocBLAS of the wheel has no kernels for them."""
        blas = self.library("rocBLAS")
        return blas.lacks if blas else ()


@functools.cache
def rocm_releases() -> tuple[RocmRelease, ...]:
    """All releases, newest first."""
    records = (RocmRelease(**record) for record in read_toml(FACTS / "rocm_releases.toml")["release"])
    return tuple(sorted(records, key=lambda r: RocmVersion.parse(r.version), reverse=True))


def rocm_release(version: RocmVersion) -> RocmRelease:
    """The record of a release; a version without patch finds the newest patch. Raises FactError when not known."""
    for record in rocm_releases():
        known = RocmVersion.parse(record.version)
        if known.release == version.release or (version.patch is None and known.release[:2] == version.release[:2]):
            return record
    raise FactError("ROCm release", str(version), (r.version for r in rocm_releases()))


def newest_of(releases: Iterable[str], asked: str) -> str | None:
    """The newest of these releases that `asked` begins, part by part (`7.2`: 7.2.4, not 7.20); None for none."""
    parts = asked.split(".")
    same = (release for release in releases if release.split(".")[: len(parts)] == parts)
    return max(same, key=lambda release: tuple(map(int, release.split("."))), default=None)


def releases_of_hip(hip: HipVersion) -> tuple[str, ...]:
    """ROCm releases that carry this HIP, newest first; empty when none is known to.

    HIP's third number is a build number: it narrows the answer when the facts have it, and is ignored otherwise.
    """
    same = []
    for record in rocm_releases():
        if not record.hip:
            continue
        known = HipVersion.parse(record.hip)
        if known.release[:2] == hip.release[:2]:
            same.append((record.version, known.patch))
    if hip.patch:
        exact = tuple(version for version, patch in same if patch == hip.patch)
        if exact:
            return exact
        return tuple(version for version, patch in same if patch is None)
    return tuple(version for version, _ in same)


@functools.cache
def torch_releases() -> tuple[TorchRelease, ...]:
    """All PyTorch releases, newest first."""
    records = []
    for record in read_toml(FACTS / "torch_rocm.toml")["torch"]:
        lists = {key: tuple(record[key]) for key in ("rocm", "other_rocm", "triton", "patches")}
        records.append(TorchRelease(**{**record, **lists}))
    return tuple(sorted(records, key=lambda r: TorchVersion.parse(r.version), reverse=True))


def channels_of(release: TorchRelease) -> tuple[str, ...]:
    """Every channel of pytorch.org that serves a release: the one it points at first."""
    return (*release.rocm, *release.other_rocm)


def torch_release(version: TorchVersion) -> TorchRelease:
    """The record of a version's major.minor. Raises FactError when it is not known."""
    for record in torch_releases():
        if TorchVersion.parse(record.version).release[:2] == version.release[:2]:
            return record
    raise FactError("PyTorch release", str(version), (r.version for r in torch_releases()))


@functools.cache
def wheel_channels() -> tuple[WheelChannel, ...]:
    """All channels, in the order of the file (oldest first, AMD's multi-arch index last)."""
    channels = []
    for record in read_toml(FACTS / "torch_wheels.toml")["channel"]:
        lists = {key: tuple(record.get(key, ())) for key in ("targets", "unsure")}
        lists["since"] = tuple(record.get("since", {}).items())
        libraries = tuple(
            WheelLibrary(**{**one, **{key: tuple(one.get(key, ())) for key in ("has", "lacks")}})
            for one in record.pop("library", ())
        )
        channels.append(WheelChannel(**{**record, **lists}, libraries=libraries))
    return tuple(channels)


def wheel_channel(name: str) -> WheelChannel:
    """The channel called `7.2`, `rocm7.2` or `multi-arch`. Raises FactError when it is not known."""
    key = name.lower().removeprefix("rocm")
    for channel in wheel_channels():
        if channel.name == key:
            return channel
    raise FactError("wheel channel", name, (c.name for c in wheel_channels()))


def channel_of_torch(version: TorchVersion) -> WheelChannel | None:
    """The pytorch.org channel that a wheel with this version came from, with the targets that it had for that torch;
    None when that cannot be told.

    Wheels of pytorch.org carry `+rocm7.2`; AMD's carry three numbers or more (`+rocm7.2.0.git7e1940d4`,
    `+rocm10.0.0`) and hold other targets. `6.2.4` is the one channel of pytorch.org with a patch number.
    """
    tag = version.local.lower().removeprefix("rocm")
    if version.rocm is None:
        return None
    return next((c.for_torch(version) for c in wheel_channels() if c.owner == "pytorch" and c.name == tag), None)


def parse_hip(text: str) -> HipVersion | None:
    """`7.2.26015-fc0010cf6a` -> HipVersion; None for `N/A`, `Could not collect` and the like."""
    try:
        return HipVersion.parse(text)
    except VersionError:
        return None
