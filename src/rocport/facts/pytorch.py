"""What PyTorch on ROCm consists of and supports, for a version of torch: pytorch_support.toml."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

from rocport.facts._toml import FACTS, read_toml
from rocport.model.versions import TorchVersion

KINDS = ("library", "dtype", "module", "domain")
STATES = ("yes", "no", "limited", "unmaintained")


@dataclass(frozen=True)
class Feature:
    """One entry. `torch` and `rocm` are the first versions a document names (empty: none), `last_torch` the last;
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


def state_in(feature: Feature, torch: TorchVersion) -> str:
    """The state of an entry in a version of torch: `no` before its first, `unmaintained` after its last."""
    release = torch.release[:2]
    if feature.torch and release < TorchVersion.parse(feature.torch).release[:2]:
        return "no"
    if feature.last_torch and release > TorchVersion.parse(feature.last_torch).release[:2]:
        return "unmaintained"
    return "yes" if feature.last_torch else feature.state
