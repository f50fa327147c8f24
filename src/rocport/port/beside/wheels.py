"""The PyTorch wheels that generated files name: one release, from the facts, and the index it comes from."""

from __future__ import annotations

from dataclasses import dataclass

from rocport.facts.listings import Listing, recorded
from rocport.facts.rocm import TorchRelease, channels_of, torch_releases, wheel_channel
from rocport.facts.targets import default_targets
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
    """The release of `--torch` and `--rocm` where it is known; else the newest with a record in its index and
    measured code objects."""
    known = [release for release in torch_releases() if release.rocm and release.index]
    asked = [release for release in known if _asked(release, options)]
    if asked:
        release = asked[0]
        channels = [name for name in channels_of(release) if options.rocm is None or _is_of(options, name)]
        return _wheels(release, channels[0], _records(release, channels[0]))
    for release in known:
        for channel in channels_of(release):
            found = _records(release, channel)
            if found and wheel_channel(channel).sure == "measured":
                return _wheels(release, channel, found)
    raise AssertionError("no release of torch is recorded in wheel_listings.csv")


def _records(release: TorchRelease, channel: str) -> tuple[Listing, ...]:
    index, target = release.index.removesuffix(release.rocm[0]) + channel, default_targets()[0]
    return recorded(index, channel, release.version, "", None, "linux", target)


def _wheels(release: TorchRelease, channel: str, records: tuple[Listing, ...]) -> Wheels:
    """Pins of a torch whose torchvision is named by a record; else of the first patch, which both have."""
    record = next((record for record in records if record.version_of("torchvision")), None)
    torch = record.torch if record else f"{release.version}.0"
    pins = [("torch", f"{torch}+rocm{channel}")]
    if release.torchvision:
        named = record.version_of("torchvision") if record else None
        pins.append(("torchvision", f"{named or release.torchvision + '.0'}+rocm{channel}"))
    return Wheels(release.version, channel, release.index.removesuffix(release.rocm[0]) + channel, tuple(pins))


def _is_of(options: Options, channel: str) -> bool:
    return f"{options.rocm}.".startswith(f"{channel}.")


def _asked(release: TorchRelease, options: Options) -> bool:
    if options.torch is None and options.rocm is None:
        return False
    torch = options.torch is None or f"{options.torch}.".startswith(f"{release.version}.")
    return torch and (options.rocm is None or any(_is_of(options, name) for name in channels_of(release)))
