"""What PyTorch on ROCm consists of and supports, by torch and ROCm: pytorch_support.toml, pytorch_changes.toml."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from rocport.facts._toml import FACTS, read_toml
from rocport.model.versions import RocmVersion, TorchVersion

KINDS = ("library", "dtype", "module", "domain")
STATES = ("yes", "no", "limited", "unmaintained")


@dataclass(frozen=True)
class Feature:
    """One entry. `torch` and `rocm` are the first versions a document names (empty: none), `last_torch` the last;
    `until_torch` and `until_rocm` the last ones for which a document repeats a limit (a newer one was not looked up);
    `target_library` is its name in the facts of targets, empty when support is not split by target."""

    kind: str
    name: str
    purpose: str
    state: str
    source: str
    sure: str
    torch: str = ""
    rocm: str = ""
    last_torch: str = ""
    until_torch: str = ""
    until_rocm: str = ""
    used_in: tuple[str, ...] = ()
    target_library: str = ""
    note: str = ""


@functools.cache
def features() -> tuple[Feature, ...]:
    """Every entry, by kind and in the order of the file."""
    data: dict[str, Any] = read_toml(FACTS / "pytorch_support.toml")
    return tuple(
        Feature(kind=kind, **{**record, "used_in": tuple(record.get("used_in", ()))})
        for kind in KINDS
        for record in data[kind]
    )


@dataclass(frozen=True)
class Change:
    """What changed with a torch and a ROCm (the first ones, inclusive). `library`: its name in the facts of targets;
    `target`: the targets it is about (empty: all)."""

    name: str
    text: str
    torch: str
    rocm: str
    source: str
    sure: str
    library: str = ""
    target: tuple[str, ...] = ()

    def in_build(self, torch: TorchVersion, rocm: RocmVersion | None) -> bool:
        """Whether a torch for a ROCm (None: any) is as new as the document asks."""
        return torch.release[:2] >= TorchVersion.parse(self.torch).release[:2] and not _older(rocm, self.rocm)


@functools.cache
def changes() -> tuple[Change, ...]:
    """Every change, newest first as in the file."""
    records = read_toml(FACTS / "pytorch_changes.toml")["change"]
    return tuple(Change(**{**record, "target": tuple(record.get("target", ()))}) for record in records)


def state_in(feature: Feature, torch: TorchVersion, rocm: RocmVersion | None = None) -> str:
    """The state of an entry in a torch for a ROCm (None: any): `no` before its first, `unmaintained` after its last."""
    release = torch.release[:2]
    if feature.torch and release < TorchVersion.parse(feature.torch).release[:2]:
        return "no"
    if feature.rocm and _older(rocm, feature.rocm):
        return "no"
    if feature.last_torch and release > TorchVersion.parse(feature.last_torch).release[:2]:
        return "unmaintained"
    return "yes" if feature.last_torch else feature.state


def beyond(feature: Feature, torch: TorchVersion, rocm: RocmVersion | None = None) -> str:
    """What to say of a limit that was documented for older versions only; empty where it was documented for these."""
    past = feature.until_torch and torch.release[:2] > TorchVersion.parse(feature.until_torch).release[:2]
    newer = feature.until_rocm and rocm is not None and _older(RocmVersion.parse(feature.until_rocm), str(rocm))
    if not past and not newer:
        return ""
    bounds = [f"torch {feature.until_torch}" if feature.until_torch else ""]
    bounds.append(f"ROCm {feature.until_rocm}" if feature.until_rocm else "")
    return f"documented up to {' and '.join(filter(None, bounds))}; newer ones were not looked up"


def _older(rocm: RocmVersion | None, than: str) -> bool:
    """True when a ROCm is known and older; `7.1` is not older than 7.1.1: it may be any 7.1."""
    if rocm is None:
        return False
    first = RocmVersion.parse(than).release
    return rocm.release < first[: len(rocm.release)] if rocm.patch is None else rocm.release < first
