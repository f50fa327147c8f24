"""The PyTorch wheels that generated files name: one release, from the facts, and the index it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from rocport.facts.rocm import TorchRelease, torch_releases, wheel_channels
from rocport.model import Options


@dataclass(frozen=True)
class Wheels:
    """A PyTorch release for ROCm: `index` is what pip's --index-url takes, `pins` the exact versions in it."""

    torch: str
    rocm: str
    index: str
    pins: tuple[tuple[str, str], ...]

    def install(self, names: tuple[str, ...] = ("torch",)) -> str:
        """The pip command that installs it."""
        wanted = [f"{name}=={version}" for name, version in self.pins if name in names]
        return f"pip install --index-url {self.index} {' '.join(wanted)}"


def wheels(options: Options) -> Wheels:
    """The release of `--torch` and `--rocm` where it is known; else the newest whose wheels were looked into."""
    looked_into = {
        channel.name for channel in wheel_channels() if channel.owner == "pytorch" and channel.sure == "measured"
    }
    known = [release for release in torch_releases() if release.rocm and release.index]
    asked = [release for release in known if _asked(release, options)]
    (first, *_) = asked or [release for release in known if release.rocm[0] in looked_into]
    rocm = first.rocm[0]
    pins = [("torch", f"{first.version}.0+rocm{rocm}")]
    if first.torchvision:
        pins.append(("torchvision", f"{first.torchvision}.0+rocm{rocm}"))
    return Wheels(first.version, rocm, first.index, tuple(pins))


def _asked(release: TorchRelease, options: Options) -> bool:
    if options.torch is None and options.rocm is None:
        return False
    torch = options.torch is None or f"{options.torch}.".startswith(f"{release.version}.")
    rocm = options.rocm is None or any(str(options.rocm).startswith(name) for name in release.rocm)
    return torch and rocm
