"""Versions of ROCm, HIP and PyTorch: parsed once, ordered, printed back.

`torch.version.hip` is a HIP version, not a ROCm version: ROCm 10.0 carries HIP 7.15, ROCm 10.1 HIP 7.16. The two are
different types here so that a comparison between them is an error and not a silent lie.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import total_ordering
from typing import TypeVar

_DOTTED = re.compile(r"^\s*v?(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?(?:[.\-+~](.*?))?\s*$")

V = TypeVar("V", bound="_Dotted")


class VersionError(ValueError):
    """Text that is not a version; the message names the text and what was expected."""


@total_ordering
@dataclass(frozen=True)
class _Dotted:
    major: int
    minor: int
    patch: int | None = None
    extra: str = ""

    @classmethod
    def parse(cls: type[V], text: str) -> V:
        """Parse `major.minor[.patch][-extra]`.

        Raises VersionError for anything else, in particular for glued digits (`rocm102`, `714`): 102 may be 10.2 or
        1.0.2, and guessing it broke bitsandbytes (its issues 1799, 1890).
        """
        match = _DOTTED.match(text)
        if match is None:
            raise VersionError(
                f"{text!r} is not a {cls.__name__}: expected dotted numbers such as '10.1' or '7.2.4'; "
                "digits glued together are not split by guess"
            )
        major, minor, patch, extra = match.groups()
        return cls(int(major), int(minor), int(patch) if patch is not None else None, extra or "")

    @property
    def release(self) -> tuple[int, int, int]:
        """(major, minor, patch) with a missing patch read as 0."""
        return (self.major, self.minor, self.patch or 0)

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}"
        if self.patch is not None:
            text += f".{self.patch}"
        return f"{text}-{self.extra}" if self.extra else text

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.release == other.release

    def __lt__(self: V, other: V) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self.release < other.release

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.release))


class RocmVersion(_Dotted):
    """A ROCm release, such as 6.4.3 or 10.1.0."""


class HipVersion(_Dotted):
    """A HIP runtime version, what `torch.version.hip` and `hipconfig` print, such as 7.15.26333."""


_TORCH = re.compile(r"^\s*v?(\d+)\.(\d+)(?:\.(\d+))?([a-z.]+\d*[a-z0-9.]*)?(?:\+(\S+))?\s*$", re.IGNORECASE)
_ROCM_TAG = re.compile(r"^rocm(?:sdk)?(\d+\.\d+(?:\.\d+)?)(?![0-9])", re.IGNORECASE)


@total_ordering
@dataclass(frozen=True, eq=False)
class TorchVersion:
    """A PyTorch version with its local tag: `2.9.1+rocm7.2.0.git7e1940d4`, `2.13.0+cpu`, `2.7.0a0+git3a58512`.

    Ordered by release number; a pre-release (`a0`, `rc1`, `.dev20240710`) sorts before its release. The local tag does
    not take part in the order.
    """

    major: int
    minor: int
    patch: int
    pre: str = ""
    local: str = ""

    @classmethod
    def parse(cls, text: str) -> TorchVersion:
        """Raises VersionError for text that is not a PyTorch version."""
        match = _TORCH.match(text)
        if match is None:
            raise VersionError(f"{text!r} is not a PyTorch version: expected such as '2.9.1+rocm7.2'")
        major, minor, patch, pre, local = match.groups()
        return cls(int(major), int(minor), int(patch or 0), pre or "", local or "")

    @property
    def release(self) -> tuple[int, int, int]:
        return (self.major, self.minor, self.patch)

    @property
    def rocm(self) -> RocmVersion | None:
        """The ROCm release of the `+rocm` tag; None without one, and for glued digits (`+rocm714`)."""
        match = _ROCM_TAG.match(self.local)
        return RocmVersion.parse(match.group(1)) if match else None

    @property
    def flavour(self) -> str:
        """`rocm`, `cuda`, `cpu`, `xpu` by the local tag, or `unknown`: a source build (`+git3a58512`), or the plain
        wheel of the default index, which carries CUDA on Linux but has no tag."""
        tag = self.local.lower()
        if tag.startswith("rocm"):
            return "rocm"
        if re.match(r"cu\d", tag):
            return "cuda"
        return tag if tag in ("cpu", "xpu") else "unknown"

    def _key(self) -> tuple[tuple[int, int, int], int, tuple[int, ...]]:
        return (self.release, 0 if self.pre else 1, tuple(int(n) for n in re.findall(r"\d+", self.pre)))

    def __eq__(self, other: object) -> bool:
        return self._key() == other._key() if isinstance(other, TorchVersion) else NotImplemented

    def __lt__(self, other: object) -> bool:
        return self._key() < other._key() if isinstance(other, TorchVersion) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key())

    def __str__(self) -> str:
        text = f"{self.major}.{self.minor}.{self.patch}{self.pre}"
        return f"{text}+{self.local}" if self.local else text
