"""A torch build that may serve a plan."""

from __future__ import annotations

from dataclasses import dataclass

from rocport.facts.rocm import TorchRelease


@dataclass(frozen=True)
class Candidate:
    """One torch build: where it comes from and how sure it is that it carries the target.

    `kinds`: systems it is known for (empty: Linux and WSL); `links`: `index` is a page of wheels, not an index.
    """

    release: TorchRelease
    rocm: str
    index: str
    owner: str
    source: str
    sure: str
    note: str = ""
    kinds: tuple[str, ...] = ("linux", "wsl")
    links: bool = False
    python: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        return f"torch {self.release.version} for ROCm {self.rocm} from {self.owner}"
