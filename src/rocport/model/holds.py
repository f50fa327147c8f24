"""Where a statement holds: a typed range over ROCm, torch, libraries and what a target is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from packaging.specifiers import SpecifierSet

from rocport.model.targets import GfxTarget
from rocport.model.versions import RocmVersion


@dataclass(frozen=True)
class Range:
    """The versions and targets a fact, a rule or a hazard holds for. What is left empty bounds nothing.

    `rocm` and `torch` are version specifiers (`>=7.0,<7.14`), `library` maps a package to one. `target` maps a field of
    `GfxTarget` to the values it may have: `{"wavefront": (64,)}`, `{"family": ("CDNA4",)}`. Raises InvalidSpecifier for
    text that is no specifier and AttributeError for a field that targets do not have, when it is first asked.
    """

    rocm: str = ""
    torch: str = ""
    library: Mapping[str, str] = field(default_factory=dict)
    target: Mapping[str, tuple[object, ...]] = field(default_factory=dict)

    def covers(
        self,
        *,
        rocm: RocmVersion | None = None,
        torch: str | None = None,
        targets: Iterable[GfxTarget] = (),
        libraries: Mapping[str, str] | None = None,
    ) -> bool:
        """False where something known is out of range; what is not known (None, or nothing) is taken to be in it.

        Of several targets one in range is enough.
        """
        asked = list(targets)
        return (
            (rocm is None or _within(self.rocm, ".".join(map(str, rocm.release))))
            and (torch is None or _within(self.torch, torch))
            and (not asked or any(self._is(target) for target in asked))
            and all(_within(self.library.get(name, ""), version) for name, version in (libraries or {}).items())
        )

    def _is(self, target: GfxTarget) -> bool:
        return all(getattr(target, name) in values for name, values in self.target.items())

    def __str__(self) -> str:
        named = (("ROCm", self.rocm), ("torch", self.torch), *self.library.items())
        parts = [f"{name} {text}" for name, text in named if text]
        parts += [f"{name} {' or '.join(map(str, values))}" for name, values in self.target.items()]
        return "; ".join(parts)


EVERYWHERE = Range()


def _within(specifier: str, version: str) -> bool:
    return not specifier or SpecifierSet(specifier).contains(version, prereleases=True)
