"""What happens to one wanted package beside a chosen torch."""

from __future__ import annotations

import functools
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from rocport.compat.candidate import Candidate
from rocport.compat.wants import Want
from rocport.facts.errors import FactError
from rocport.facts.packages import Package, find_package, normalize
from rocport.facts.platforms import System
from rocport.facts.rocm import rocm_release
from rocport.model.versions import RocmVersion

if TYPE_CHECKING:
    from rocport.model.targets import GfxTarget

CONSTRAINTS = "torch-constraints.txt"
STATUSES = ("ok", "build", "separate", "no", "unknown")


@dataclass(frozen=True)
class Item:
    """One wanted package. `status`: ok, build (compiles on the machine), separate (an environment of its own), no or
    unknown. `install` is a command, empty when torch's own command installs it (`with_torch`) or nothing does."""

    want: Want
    status: str
    text: str
    source: str
    sure: str
    install: str = ""
    with_torch: bool = False
    version: str = ""
    env: tuple[tuple[str, str], ...] = ()
    instead: str = ""
    module: str = ""
    """What `import` says for it; empty when that is not known."""
    index_needs: tuple[str, ...] = ()
    """What has to come from torch's index for it."""
    unseen: bool = False
    """Its maintainers build a wheel that goes with this torch; nobody saw one."""

    @property
    def works(self) -> bool:
        return self.status in ("ok", "build")

    def pin(self, extra: str) -> str:
        """What torch's install command says for it; `extra` selects the GPU at AMD's index."""
        extra = extra if self.want.key == "torchvision" else ""
        return f"{self.want.name}{extra}=={self.version}.*" if self.version else self.want.name


def evaluate(
    want: Want, target: GfxTarget, candidate: Candidate | None, python: str | None, system: System | None
) -> Item:
    """What happens to `want` on `target` beside the torch of `candidate` (None: no torch serves the target)."""
    known = find_package(want.name)
    if want.url:
        text = "comes from an address; whether what is there runs on ROCm is not known"
        return Item(want, "unknown", text, "", "unverified")
    if known is None:
        text = "not in the facts: a package without GPU code runs as it is, one with CUDA code does not"
        return Item(want, "unknown", text, "", "unverified")

    def item(status: str, text: str, install: str = "") -> Item:
        module = known.imported if status == "ok" else ""
        needs = known.index_needs if status == "ok" else ()
        instead = known.replacement
        return Item(want, status, text, known.source, known.sure, install, False, "", (), instead, module, needs)

    if want.cuda and known.state != "torch-index":
        return item("no", f"{want.text} names a CUDA build ({want.cuda})")
    if known.state == "cuda-only":
        return item("no", f"{known.summary}: NVIDIA only{_note(known)}")
    if candidate is None and known.state != "python":
        if known.name == "torch":
            return Item(want, "no", "no published wheel serves this request", known.source, known.sure)
        return Item(want, "unknown", "needs a torch for this GPU first", "", "unverified")
    if known.state == "python":
        return item("ok", f"no GPU code of its own{_note(known)}", _pip(want, known, known.install))
    windows = system is not None and system.kind == "windows"
    if windows and known.windows:
        return item("no", known.windows)
    refusal = _refusal(want, known, target, candidate, python)
    if refusal is not None:
        return refusal
    assert candidate is not None
    if known.state == "torch-index":
        return _beside_torch(want, known, candidate)
    if known.state == "separate":
        text = f"{known.summary}: an environment of its own{_note(known)}"
        return item("separate", f"{text}; {known.install}" if known.install else text)
    carried = _carried(known, target, candidate, windows)
    if carried is not None and not carried[0]:
        return Item(want, "no", carried[1], known.source, known.sure, instead=known.replacement)
    if windows and carried is None:
        text = f"{known.summary}: {known.windows_reported or 'whether it works on Windows is not in the facts'}"
        return Item(want, "unknown", text, "", "unverified")
    install = _pip(want, known, known.install)
    if known.native_targets:
        native = target.name in known.native_targets
        install = _pip(want, known, known.native_install if native else known.install).replace("{gfx}", target.name)
        env = () if native else known.env
        text = f"{known.summary}{_note(known)}"
        return Item(want, "build", text, known.source, known.sure, install, env=env, module=known.imported)
    status = "ok" if known.state in ("wheel", "partial") else "build"
    text = f"{known.summary}{f'; {carried[1]}' if carried else ''}{_note(known)}"
    install = install.replace("{gfx}", target.name).replace("{channel}", candidate.rocm)
    return Item(want, status, text, known.source, known.sure, install, env=known.env, module=known.imported)


def _note(known: Package) -> str:
    return f"; {known.note}" if known.note else ""


def _refusal(
    want: Want, known: Package, target: GfxTarget, candidate: Candidate | None, python: str | None
) -> Item | None:
    """Why a package does not work here; None when nothing speaks against it."""

    def no(text: str, source: str = known.source, sure: str = known.sure) -> Item:
        return Item(want, "no", text, source, sure, instead=known.replacement)

    if known.targets and target.name not in known.targets:
        return no(f"is built for {', '.join(known.targets)}, not {target.name}")
    if known.target_library and known.name != "triton":
        records = target.library(known.target_library)
        if not records:
            text = f"nothing is known about {known.name} on {target.name}"
            return Item(want, "unknown", text, "", "unverified", instead=known.replacement)
        if records[-1].state == "no":
            record = records[-1]
            return no(f"{record.versions} has no code for {target.name}", record.source, record.sure)
    if known.python and python is not None and not SpecifierSet(known.python).contains(f"{python}.0", prereleases=True):
        return no(f"is built for Python {known.python}, not {python}")
    if candidate is None:
        return None
    torch = f"{candidate.release.version}.0"
    if known.torch and not SpecifierSet(known.torch).contains(torch):
        return no(f"needs torch {known.torch}; this is {candidate.release.version}")
    if known.rocm and not SpecifierSet(known.rocm).contains(candidate.rocm):
        return no(f"needs ROCm {known.rocm}; this is {candidate.rocm}")
    if candidate.rocm in known.unseen_channels:
        text = f"its workflow builds for ROCm {candidate.rocm}, but no wheel of that was seen"
        return Item(want, "unknown", text, known.source, "unverified", instead=known.replacement, unseen=True)
    if known.channels and known.state == "partial" and candidate.rocm not in known.channels:
        return no(f"is built for ROCm {', '.join(known.channels)}, not {candidate.rocm}")
    if known.checked and not SpecifierSet(want.specifier).contains(known.checked, prereleases=True):
        text = f"the facts speak of {known.checked} only; whether {want.text} works is not known"
        return Item(want, "unknown", text, known.source, known.sure, instead=known.replacement)
    if known.since and not _satisfiable(want.specifier, known.since):
        return no(f"{want.text} excludes {known.since}, the first version that serves ROCm well")
    return None


def _satisfiable(specifier: str, since: str) -> bool:
    """True when a version satisfies both a specifier and `>=since`: `since` itself, or near one the specifier names."""
    wanted = SpecifierSet(specifier)
    tried = [since]
    for part in wanted:
        base = part.version.removesuffix(".*")
        tried += [base, f"{base}.1", f"{base}.999"]
    for text in tried:
        try:
            version = Version(text)
        except InvalidVersion:
            continue
        if version >= Version(since) and wanted.contains(version, prereleases=True):
            return True
    return False


def _beside_torch(want: Want, known: Package, candidate: Candidate) -> Item:
    release = candidate.release
    text = f"comes with torch {release.version}, from the same index{_note(known)}"
    version = {"torchvision": release.torchvision, "triton": ""}.get(known.name, "")
    if known.name == "triton":
        if not release.triton:
            return Item(
                want, "unknown", f"which triton torch {release.version} brings is not in the facts", "", "unverified"
            )
        text = f"comes with torch {release.version} as triton-rocm {' or '.join(release.triton)}{_note(known)}"
        wanted = SpecifierSet(want.specifier)
        brought = [full for found in release.triton for full in _patches(found)]
        fits = any(wanted.contains(full, prereleases=True) for full in brought)
        status = "ok" if fits else "no"
        return Item(want, status, text, release.source, release.sure, module=known.imported)
    if version and want.specifier:
        wanted = SpecifierSet(want.specifier)
        if not any(wanted.contains(full, prereleases=True) for full in _patches(version)):
            text = f"torch {release.version} goes with {known.name} {version}, not {want.specifier}"
            return Item(want, "no", text, release.source, release.sure)
    return Item(want, "ok", text, known.source, known.sure, with_torch=True, version=version, module=known.imported)


def _patches(version: str) -> tuple[str, ...]:
    """The releases that a version of the facts may be: any patch, where only major and minor are known."""
    return (version,) if version.count(".") > 1 else tuple(f"{version}.{patch}" for patch in range(10))


def _carried(known: Package, target: GfxTarget, candidate: Candidate, windows: bool) -> tuple[bool, str] | None:
    """Which native library of the newest wheel is loaded beside torch's HIP, and whether it has code for the target;
    None where the facts do not list libraries (for Windows: none for it)."""
    wheel = known.wheels[-1] if known.wheels else None
    if wheel is None or (windows and not wheel.windows):
        return None
    targets = wheel.windows if windows else wheel.targets
    builds = tuple(targets) if windows else wheel.builds
    try:
        hip = rocm_release(RocmVersion.parse(candidate.rocm)).hip
    except FactError:
        hip = ""
    if not hip:
        text = f"which of its libraries torch for ROCm {candidate.rocm} takes is not known ({', '.join(builds)})"
        return True, text
    major, minor = (int(part) for part in hip.split(".")[:2])
    taken = wheel.library_for((major, minor), builds)  # named after HIP, which is 7.16 in ROCm 10.1
    if not taken:
        return False, f"no library for HIP {hip} among {', '.join(builds)}"
    how, which = f"its library for HIP {taken}", ""
    if taken != f"{major}.{minor}":
        how, which = f"no library for HIP {hip}: it takes the nearest, {taken}, of {', '.join(builds)}", ", which"
    if taken not in targets:
        return True, f"{how}; what that one carries is not in the facts"
    if target.name not in targets[taken]:
        return False, f"{how}{which} has no code for {target.name}: {', '.join(targets[taken])}"
    return True, f"{how}{which} carries {target.name}"


@functools.lru_cache(maxsize=1024)
def _words(command: str) -> tuple[str, ...]:
    return tuple(shlex.split(command))


def _pip(want: Want, known: Package, install: str) -> str:
    """The install command with the wanted versions in it; what installs from elsewhere is left as it is."""
    words = _words(install or f"pip install {want.name}")
    if "pip" not in words or any("git+" in word for word in words):
        return install
    specifier = SpecifierSet(want.specifier)
    if known.since:
        specifier &= SpecifierSet(f">={known.since}")
    line = []
    for word in words:
        name = re.match(r"[A-Za-z0-9][\w.-]*", word)
        if name and normalize(name[0]) == normalize(known.name):
            line.append(f'"{want.name}{specifier}"' if specifier else want.name)
        else:
            line.append(f"'{word}'" if re.search(r"[<>]", word) else word)
    return " ".join(line)
