"""What the probes found out about one machine: facts with their evidence, and no opinion about them.

A probe returns `Facts`; facts of several probes and captures are added with `+`. `Machine` is what the checks read:
the facts, and the GPUs that the sightings of all sources amount to (`rocport.doctor.gpus`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields

from rocport.facts.errors import FactError
from rocport.facts.targets import early_name_of, load_target
from rocport.model.targets import GfxTarget


@dataclass(frozen=True)
class Evidence:
    """What was read, and where: `source` is a probe's name, `where` a file, a command or a line of a capture."""

    source: str
    where: str
    text: str

    def as_dict(self) -> dict[str, str]:
        return {"source": self.source, "where": self.where, "text": self.text}


@dataclass(frozen=True)
class Sighting:
    """One GPU as one source shows it. Empty text, None: the source does not say."""

    source: str
    evidence: Evidence
    gfx: str = ""
    chip_id: int | None = None
    product: str = ""
    wavefront: int | None = None
    node: int | None = None
    """KFD topology node."""
    pci: str = ""
    """`dddd:bb:dd.f`"""
    compute_units: int | None = None
    render_minor: int | None = None
    vram_bytes: int | None = None
    gtt_bytes: int | None = None
    apu: bool | None = None
    features: str = ""
    """Target features of gcnArchName, such as `sramecc+:xnack-`."""


@dataclass(frozen=True)
class VersionFact:
    """`name` is rocm, hip, driver, torch, torch_hip, torch_rocm, triton, bitsandbytes, kernel, python, glibc, ..."""

    name: str
    value: str
    evidence: Evidence


@dataclass(frozen=True)
class Package:
    """An installed Python distribution. `name` is normalised (lower case, dashes)."""

    name: str
    version: str
    evidence: Evidence


@dataclass(frozen=True)
class Setting:
    """A named value such as `numa_balancing` or `container`; the probes document the names they set."""

    name: str
    value: str | int | bool
    evidence: Evidence


@dataclass(frozen=True)
class Symptom:
    """A message in captured text, or a live condition, that is known to mean something. `name` is the checks' key."""

    name: str
    evidence: Evidence


@dataclass(frozen=True)
class DeviceNode:
    """A node under /dev. `errno` is what opening it read-write gave (0: it opened); None: it was not tried."""

    path: str
    exists: bool
    errno: int | None
    gid: int | None
    evidence: Evidence


@dataclass(frozen=True)
class CodeObjects:
    """The gfx targets inside one binary. `unread` says why the list is not complete; empty: it is."""

    path: str
    package: str
    targets: tuple[str, ...]
    unread: str
    evidence: Evidence


@dataclass(frozen=True)
class Facts:
    """Everything one probe found, or several added together. `probed` names what was looked at at all, so that a
    check can tell 'not there' from 'not looked'."""

    probed: frozenset[str] = frozenset()
    sightings: tuple[Sighting, ...] = ()
    versions: tuple[VersionFact, ...] = ()
    packages: tuple[Package, ...] = ()
    env: tuple[Setting, ...] = ()
    settings: tuple[Setting, ...] = ()
    symptoms: tuple[Symptom, ...] = ()
    nodes: tuple[DeviceNode, ...] = ()
    code_objects: tuple[CodeObjects, ...] = ()

    def __add__(self, other: Facts) -> Facts:
        merged = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self) if f.name != "probed"}
        return Facts(probed=self.probed | other.probed, **merged)


def merge(parts: Iterable[Facts]) -> Facts:
    total = Facts()
    for part in parts:
        total = total + part
    return total


@dataclass(frozen=True)
class Contradiction:
    """Two sources disagree about one GPU."""

    what: str
    first: Evidence
    second: Evidence


@dataclass(frozen=True)
class Gpu:
    """One GPU, put together from its sightings.

    `gfx` is what the first source of the evidence order says (KFD, torch, rocminfo, smi); empty when none names one.
    `chip_targets` are the targets its PCI id or product name stands for, `reported` every gfx any source named.
    """

    index: int
    gfx: str
    wavefront: int | None
    product: str
    kind: str
    """`dgpu`, `apu` or empty (not known)."""
    chip_targets: tuple[str, ...]
    chip_evidence: Evidence | None
    reported: tuple[str, ...]
    sightings: tuple[Sighting, ...]
    contradictions: tuple[Contradiction, ...] = ()

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        return tuple(s.evidence for s in self.sightings)

    @property
    def label(self) -> str:
        """`GPU 0 (gfx1100, Radeon RX 7900 XTX)`"""
        parts = [p for p in (self.gfx or "gfx not known", self.product) if p]
        return f"GPU {self.index} ({', '.join(parts)})"

    @property
    def spoofed(self) -> bool:
        """True when a source names another gfx than the hardware: the KFD or the PCI id says otherwise."""
        known = (self.gfx, early_name_of(self.gfx))
        if self.gfx and self.chip_targets and not set(known) & set(self.chip_targets):
            return True
        return any(c.what == "gfx" for c in self.contradictions)

    @property
    def hardware(self) -> str:
        """The gfx of the chip itself: KFD's, else the PCI id's when it leaves no choice; empty: not known."""
        kfd = next((s.gfx for s in self.sightings if s.source == "kfd" and s.gfx), "")
        if kfd:
            return kfd
        if len(self.chip_targets) == 1:
            return self.chip_targets[0]
        return "" if self.spoofed else self.gfx

    @property
    def runtime_gfx(self) -> str:
        """The gfx that code objects must match: torch's or rocminfo's view, which an override changes."""
        for source in ("torch", "rocminfo"):
            for sighting in self.sightings:
                if sighting.source == source and sighting.gfx:
                    return sighting.gfx
        return self.gfx or self.hardware

    @property
    def target(self) -> GfxTarget | None:
        """The facts of the hardware's target; None when it is not known."""
        name = self.hardware or self.gfx
        try:
            return load_target(name) if name else None
        except FactError:
            return None

    def first(self, attribute: str) -> object:
        """The first value a sighting has for an attribute, None when none has."""
        return next((v for s in self.sightings if (v := getattr(s, attribute)) not in (None, "")), None)

    def number(self, attribute: str) -> int | None:
        """As `first`, for numbers."""
        value = self.first(attribute)
        return value if isinstance(value, int) else None


@dataclass(frozen=True)
class Machine:
    """What the checks read. `live` is True on the machine itself, False for captured text."""

    facts: Facts
    gpus: tuple[Gpu, ...]
    live: bool
    notes: tuple[str, ...] = field(default=())
    """What the probes could not read, and what a capture was taken for."""

    def probed(self, name: str) -> bool:
        return name in self.facts.probed

    def version(self, name: str) -> VersionFact | None:
        """The first (best) fact for a version name."""
        return next((v for v in self.facts.versions if v.name == name), None)

    def versions(self, name: str) -> tuple[VersionFact, ...]:
        return tuple(v for v in self.facts.versions if v.name == name)

    def package(self, name: str) -> Package | None:
        return next((p for p in self.facts.packages if p.name == name), None)

    def packages(self, prefix: str) -> tuple[Package, ...]:
        return tuple(p for p in self.facts.packages if p.name.startswith(prefix))

    def env(self, name: str) -> Setting | None:
        return next((e for e in self.facts.env if e.name == name), None)

    def setting(self, name: str) -> Setting | None:
        return next((s for s in self.facts.settings if s.name == name), None)

    def flag(self, name: str) -> bool:
        """True when a setting is there and true."""
        setting = self.setting(name)
        return setting is not None and bool(setting.value)

    def symptoms(self, *names: str) -> tuple[Symptom, ...]:
        return tuple(s for s in self.facts.symptoms if s.name in names)

    def targets(self) -> Iterator[tuple[Gpu, GfxTarget]]:
        """Every GPU whose target is known, with it."""
        for gpu in self.gpus:
            target = gpu.target
            if target is not None:
                yield gpu, target
