"""The plan: which torch from which index serves a GPU, and what happens to each wanted package beside it.

Candidates are (torch release, wheel channel) pairs of the facts. Those that cannot serve the target, the Python, the
C library or the wanted versions are refused with the reason; the best of the rest becomes the plan.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from rocport.compat.candidate import Candidate
from rocport.compat.packages import CONSTRAINTS, Item, evaluate
from rocport.compat.wants import Want
from rocport.facts.attention import attention_of
from rocport.facts.listings import Listing, recorded
from rocport.facts.platforms import (
    Driver,
    System,
    amd_torch,
    driver_of,
    kernels_of,
    windows_targets,
    wsl_support,
)
from rocport.facts.rocm import (
    TorchRelease,
    WheelChannel,
    channels_of,
    rocm_releases,
    torch_releases,
    wheel_channel,
    wheel_channels,
)
from rocport.facts.rocm_systems import RocmSystem, systems_of
from rocport.model.versions import TorchVersion

if TYPE_CHECKING:
    from rocport.model.targets import GfxTarget

PYTORCH_INDEX = "https://download.pytorch.org/whl/rocm"
KINDS = ("linux", "wsl", "windows")
SURE_ORDER = ("measured", "documented", "reported", "unverified")


# Versions of torch and what belongs to it, held fast while other packages are installed.
_HELD = "^(torch|torchvision|torchaudio|triton|triton-rocm|pytorch-triton-rocm|rocm.*|amd-.*)=="
_FREEZE = f"pip freeze | grep -E '{_HELD}' > {CONSTRAINTS}"
_FREEZE_WINDOWS = f"pip freeze | Select-String '{_HELD}' | % Line | Set-Content -Encoding ascii {CONSTRAINTS}"


@dataclass(frozen=True)
class Request:
    """What was asked. `python` is `3.12`; None: not said, as for `system`; `rocm` empty: any."""

    target: GfxTarget
    python: str | None = None
    system: System | None = None
    wants: tuple[Want, ...] = ()
    notes: tuple[str, ...] = ()
    rocm: str = ""


@dataclass(frozen=True)
class Refused:
    """A torch build, or something wanted, that does not work, and why."""

    what: str
    why: str
    source: str
    sure: str
    instead: str = ""
    unasked: bool = False
    """It is only that another version was asked for."""


@dataclass(frozen=True)
class Setting:
    """An environment variable of the plan."""

    name: str
    value: str
    why: str
    source: str
    sure: str


@dataclass(frozen=True)
class Alternative:
    """Another torch build that serves the request, and what works in the plan but not beside it."""

    candidate: Candidate
    without: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """The answer. `chosen` is None when no published torch serves the request."""

    request: Request
    chosen: Candidate | None
    commands: tuple[str, ...]
    items: tuple[Item, ...]
    settings: tuple[Setting, ...]
    driver: Driver | None
    kernels: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    refused: tuple[Refused, ...]
    notes: tuple[str, ...]
    records: tuple[Listing, ...] = ()
    """What the chosen index is recorded to hold of this torch, for this Python, system and target."""

    @property
    def systems(self) -> tuple[RocmSystem, ...]:
        """Every system that the chosen ROCm is documented for on GPUs of this family; empty: not in the facts."""
        target = self.request.target
        family = "ryzen" if target.kind == "apu" and target.product_class == "radeon" else target.product_class
        return systems_of(self.chosen.rocm, family) if self.chosen is not None else ()

    @property
    def unrecorded(self) -> tuple[str, ...]:
        """What the plan takes from torch's index without a record that the index has it."""
        needs = (need for item in self.items if item.works for need in item.index_needs)
        names = dict.fromkeys(("torch", *(item.want.key for item in self.items if item.with_torch), *needs))
        lacks = {name for record in self.records for name, _ in record.lacks}
        there = {name for name in names if any(record.version_of(name) is not None for record in self.records)}
        return tuple(name for name in names if name not in there or name in lacks)

    @property
    def complete(self) -> bool:
        """True when everything wanted works as far as the facts go."""
        return self.chosen is not None and all(item.works for item in self.items)


def make_plan(request: Request) -> Plan:
    """The plan for a request; what no fact supports is said to be unknown."""
    good: list[Candidate] = []
    refused: list[tuple[Candidate, Refused]] = []
    for candidate, targets, unsure in _candidates(request.target):
        reason = _refuse(request, candidate, targets, unsure)
        if reason is not None:
            refused.append((candidate, reason))
        elif request.target.name in unsure:
            good.append(_doubtful(candidate, request.target.name))
        else:
            good.append(candidate)
    judged = [(candidate, _items(request, candidate)) for candidate in good]
    own = "AMD" if _is_wsl(request) else "pytorch.org"
    judged.sort(key=lambda pair: _rank(pair[0], pair[1], bool(_records(request, pair[0])), own))
    if not judged:
        items = tuple(evaluate(want, request.target, None, request.python, request.system) for want in request.wants)
        every = _few([reason for _, reason in refused])
        return Plan(request, None, (), items, (), None, (), (), every, (*request.notes, _no_torch(request)))
    chosen, items = judged[0]
    settings = _settings(request, chosen, items)
    newest = Version(chosen.release.version)
    # AMD's pages name one build once for each kind of system: what one record serves, no other refuses or repeats.
    distinct: dict[tuple[str, str], tuple[Candidate, tuple[Item, ...]]] = {}
    for build, kept in judged:
        distinct.setdefault((build.title, build.index), (build, kept))
    served = {candidate.title for candidate in (*good, *(build for build, reason in refused if reason.unasked))}
    newer = [
        reason
        for build, reason in refused
        if Version(build.release.version) >= newest and not reason.unasked and build.title not in served
    ]
    linux = request.system is None or request.system.kind == "linux"
    kernels = kernels_of(request.target.name, request.system) if linux else ()
    return Plan(
        request=request,
        chosen=chosen,
        commands=_commands(request, chosen, items, settings),
        items=items,
        settings=settings,
        driver=driver_of(chosen.rocm) if linux else None,
        kernels=tuple(f"{kernel.text} ({kernel.sure}: {kernel.source})" for kernel in kernels),
        alternatives=tuple(Alternative(build, _lost(items, kept)) for build, kept in [*distinct.values()][1:4]),
        refused=(*_few(newer), *_parts(request.target, chosen)),
        notes=(*request.notes, *_notes(request, chosen, items)),
        records=_records(request, chosen),
    )


def _records(request: Request, chosen: Candidate) -> tuple[Listing, ...]:
    wanted = next((want.specifier for want in request.wants if want.key == "torch"), "")
    system = request.system.kind if request.system is not None else "linux"
    release, target = chosen.release.version, request.target.name
    return recorded(chosen.index, chosen.rocm, release, wanted, request.python, system, target)


def _candidates(target: GfxTarget) -> list[tuple[Candidate, tuple[str, ...], tuple[str, ...]]]:
    """Every known torch build with the targets it carries and those sources disagree about, newest torch first."""
    channels = {channel.name: channel for channel in wheel_channels()}
    found = []
    for release in torch_releases():
        for name in channels_of(release):
            channel = channels.get(name)
            if channel is not None:
                channel = channel.for_torch(TorchVersion.parse(release.version))
                sure = _weaker(release.sure, channel.sure)
                candidate = Candidate(release, name, f"{PYTORCH_INDEX}{name}", "pytorch.org", channel.source, sure)
                found.append((candidate, channel.targets, channel.unsure))
        for build in amd_torch():
            if release.version in build.torch and _is_for(target, build.products):
                official = target.official is not None and target.official.products
                listed = target.name in build.named if build.named else official
                sure = build.sure if listed else _weaker(build.sure, "reported")
                kinds, links = build.kinds or KINDS, build.how == "links"
                candidate = Candidate(
                    release, build.rocm, build.index, "AMD", build.source, sure, "", kinds, links, build.python
                )
                found.append((candidate, channels[build.channel].targets, ()))
    return found


def builds_of(release: TorchRelease) -> tuple[str, ...]:
    """ROCm releases that a torch release is published for, by pytorch.org and by AMD."""
    own = channels_of(release)
    return tuple(dict.fromkeys((*own, *(build.rocm for build in amd_torch() if release.version in build.torch))))


def _is_for(target: GfxTarget, products: str) -> bool:
    """True when a build that AMD names for `products` is for a target; all but the CDNA ones count as Radeon."""
    return products == "" or (products == "instinct") == (target.product_class == "instinct")


def _named_for(kind: str) -> tuple[str, ...]:
    """Targets that AMD's pages have a command for on a kind of system."""
    return tuple(name for build in amd_torch() if kind in build.kinds for name in build.named)


def _weaker(*sure: str) -> str:
    return max(sure, key=SURE_ORDER.index)


def _doubtful(candidate: Candidate, target: str) -> Candidate:
    channel = next((c for c in wheel_channels() if c.name == candidate.rocm), None)
    note = channel.note if channel else f"sources disagree about {target}"
    return dataclasses.replace(candidate, sure="unverified", note=note)


def _refuse(
    request: Request, candidate: Candidate, targets: tuple[str, ...], unsure: tuple[str, ...]
) -> Refused | None:
    """Why a torch build does not serve the request; None when it does."""
    release, system, python = candidate.release, request.system, request.python
    if request.target.name not in (*targets, *unsure):
        why = f"carries no code for {request.target.name}"
        return Refused(candidate.title, why, candidate.source, candidate.sure)
    if candidate.owner == "pytorch.org":
        blas = wheel_channel(candidate.rocm).library("rocBLAS")
        if blas is not None and request.target.name in blas.lacks:
            why = f"its rocBLAS has no kernels for {request.target.name}: the first matrix product fails"
            return Refused(candidate.title, why, blas.source, blas.sure)
    if request.rocm and not is_release(candidate.rocm, request.rocm):
        return Refused(candidate.title, f"is not for ROCm {request.rocm}", candidate.source, "measured", unasked=True)
    if system is not None and system.kind == "windows":
        known = windows_targets()
        if request.target.name not in known.targets:
            why = f"there is no torch for {request.target.name} on Windows"
            return Refused(candidate.title, why, known.source, known.sure, "Linux or WSL's Linux")
        if candidate.owner != "AMD":
            return Refused(candidate.title, "pytorch.org serves no ROCm wheels for Windows", system.source, system.sure)
        if "windows" not in candidate.kinds:
            why = f"is not known to be served for Windows at {candidate.index}"
            return Refused(candidate.title, why, candidate.source, candidate.sure)
    if system is not None and system.kind == "wsl":
        why = _beyond_wsl(request.target, candidate)
        if why:
            return Refused(candidate.title, why, wsl_support().source, wsl_support().sure, "Linux")
        if "wsl" not in candidate.kinds:
            return Refused(candidate.title, "is not known to be served for WSL", candidate.source, candidate.sure)
    if python is not None and candidate.python and python not in candidate.python:
        why = f"is built for Python {', '.join(candidate.python)}, not {python}"
        return Refused(candidate.title, why, candidate.source, candidate.sure)
    if python is not None and release.python_min:
        low, high = Version(release.python_min), Version(release.python_max)
        if not low <= Version(python) <= high:
            why = f"is built for Python {release.python_min} to {release.python_max}, not {python}"
            return Refused(candidate.title, why, release.source, release.sure)
    if system is not None and system.glibc and Version(system.glibc) < Version(release.glibc_min):
        why = f"needs glibc {release.glibc_min}; {system.id} has {system.glibc}"
        return Refused(candidate.title, why, release.source, release.sure)
    for want in request.wants:
        if want.key == "torch" and not _admits(want.specifier, release.version):
            return Refused(candidate.title, f"is not {want.text}", want.where, "measured", unasked=True)
    return None


def _is_wsl(request: Request) -> bool:
    return request.system is not None and request.system.kind == "wsl"


def _beyond_wsl(target: GfxTarget, candidate: Candidate) -> str:
    """Why a build cannot reach the GPU in WSL, empty where it can."""
    least = wsl_support().rocm
    if target.product_class == "instinct":
        return "AMD supports Radeon and Ryzen GPUs in WSL, no Instinct"
    if Version(candidate.rocm) < Version(least):
        return f"librocdxg, which reaches the GPU in WSL, needs ROCm {least} or later"
    return ""


def is_release(rocm: str, asked: str) -> bool:
    """True when `7.1.1` or `7.1` was asked of 7.1.1; 7.1 of pytorch.org does not answer to 7.1.1."""
    return rocm.split(".")[: asked.count(".") + 1] == asked.split(".")


def _admits(specifier: str, release: str) -> bool:
    """True when some patch release of `2.9` satisfies a specifier."""
    wanted = SpecifierSet(specifier)
    return any(wanted.contains(f"{release}.{patch}", prereleases=True) for patch in range(10))


def _lost(items: tuple[Item, ...], others: tuple[Item, ...]) -> tuple[str, ...]:
    """Names of the packages that work beside one torch build and not beside another."""
    works = {item.want.key for item in items if item.works}
    return tuple(item.want.name for item in others if item.want.key in works and not item.works)


def _items(request: Request, candidate: Candidate) -> tuple[Item, ...]:
    wants = {want.key: want for want in request.wants}
    return tuple(
        evaluate(want, request.target, candidate, request.python, request.system)
        for want in wants.values()
        if want.key != "torch"
    )


def _rank(
    candidate: Candidate, items: tuple[Item, ...], is_recorded: bool, own: str
) -> tuple[int, int, int, int, bool, bool, tuple[int, ...], int]:
    """Small is better: what does not work, then how sure the torch build is, of what no wheel was seen for it, whether
    its index is recorded to hold it, whether it is its `own` owner's, then the newest."""
    broken = sum(item.status == "no" for item in items)
    unseen = sum(item.unseen for item in items)
    apart = sum(item.status == "separate" for item in items)
    doubt = SURE_ORDER.index(candidate.sure) // 2
    newest = tuple(-part for part in Version(candidate.release.version).release)
    rocm = -Version(candidate.rocm).release[0] * 100 - Version(candidate.rocm).release[1]
    return broken, doubt, unseen, apart, not is_recorded, candidate.owner != own, newest, rocm


def _few(refused: list[Refused]) -> tuple[Refused, ...]:
    """One line a reason: builds refused for the same reason are named together."""
    by_reason: dict[str, list[Refused]] = {}
    for item in refused:
        by_reason.setdefault(item.why, []).append(item)
    few = []
    for why, items in by_reason.items():
        names = [item.what for item in items]
        what = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1} other torch builds"
        few.append(Refused(what, why, items[0].source, items[0].sure, items[0].instead, items[0].unasked))
    return tuple(few)


def _no_torch(request: Request) -> str:
    target = request.target
    if request.system is not None and request.system.kind == "windows":
        known = windows_targets()
        if target.name not in known.targets:
            return (
                f"no torch for {target.name} runs on Windows: AMD builds it there for Radeon and Ryzen only "
                f"({known.source}); use Linux"
            )
    channels: list[WheelChannel] = [c for c in wheel_channels() if target.name in (*c.targets, *c.unsure)]
    if not channels:
        return (
            f"no published ROCm wheel of torch carries {target.name}: build torch from source with "
            f"PYTORCH_ROCM_ARCH={target.name}, or name another GPU"
        )
    return (
        f"wheels that carry {target.name} exist, but none for what was asked: relax the torch, ROCm, Python or system "
        f"asked{_release_asked(request.rocm)}"
    )


def _release_asked(rocm: str) -> str:
    """What the facts know of a ROCm release that no torch is for."""
    if not rocm:
        return ""
    known = next((record for record in rocm_releases() if is_release(record.version, rocm)), None)
    if known is None:
        return f"; ROCm {rocm} is no release that the facts know"
    return f"; ROCm {known.version} is out ({known.sure}: {known.source}), but no torch for it is in the facts"


def _parts(target: GfxTarget, candidate: Candidate) -> list[Refused]:
    """Parts of torch that do not work on the target, wanted or not."""
    found = []
    versions = candidate.release.triton
    for support in target.library("triton"):
        if not versions or support.state not in ("no", "aborts"):
            continue
        if all(_within(version, support.since, support.until) for version in versions):
            why = f"triton {', '.join(versions)} has no support for {target.name}"
            found.append(Refused("torch.compile on the GPU", why, support.source, support.sure, "eager mode"))
    attention = attention_of(target, candidate.release.version)
    if attention.state == "no" and attention.record is not None:
        why = f"AOTriton has no kernels for {target.name}"
        instead = "scaled_dot_product_attention runs as plain math"
        found.append(
            Refused("flash attention inside torch", why, attention.record.source, attention.record.sure, instead)
        )
    return found


def _within(version: str, since: str, until: str) -> bool:
    parsed = Version(version)
    return (not since or parsed >= Version(since)) and (not until or parsed < Version(until))


def _settings(request: Request, candidate: Candidate, items: tuple[Item, ...]) -> tuple[Setting, ...]:
    found, target, wsl = [], request.target, wsl_support()
    if _is_wsl(request) and Version(candidate.rocm) < Version(wsl.packaged):
        why = f"before ROCm {wsl.packaged} the runtime looks for WSL's GPU only then"
        found.append(Setting(wsl.variable, "1", why, wsl.packaged_source, wsl.sure))
    for support in target.library("hipBLASLt"):
        if support.state == "no":
            why = f"hipBLASLt has no kernels for {target.name}"
            found.append(Setting("TORCH_BLAS_PREFER_HIPBLASLT", "0", why, support.source, support.sure))
    for switch in attention_of(target, candidate.release.version).switches:
        why = f"fused attention on {target.name} is behind this switch"
        found.append(Setting(switch.variable, switch.value, why, switch.source, switch.sure))
    for item in items:
        for name, value in item.env:
            found.append(Setting(name, value, f"{item.want.name} needs it", item.source, item.sure))
    return tuple({setting.name: setting for setting in found}.values())


def _commands(
    request: Request, candidate: Candidate, items: tuple[Item, ...], settings: tuple[Setting, ...]
) -> tuple[str, ...]:
    python = f"python{request.python}" if request.python else "python3"
    windows = request.system is not None and request.system.kind == "windows"
    if windows:
        lines = [f"{'py -' + request.python if request.python else 'py'} -m venv .venv", r".venv\Scripts\Activate.ps1"]
        lines += [f'$env:{setting.name} = "{setting.value}"' for setting in settings]
    else:
        lines = [f"{python} -m venv .venv && . .venv/bin/activate"]
        lines += [f"export {setting.name}={setting.value}" for setting in settings]
    wanted = next((want for want in request.wants if want.key == "torch"), None)
    extra = f"[device-{request.target.name}]" if candidate.owner == "AMD" and not candidate.links else ""
    pin = f"torch{extra}=={candidate.release.version}.*"
    if wanted is not None and "==" in wanted.specifier:
        pin = f"torch{extra}{wanted.specifier}"
    elif wanted is not None and wanted.specifier:
        pin += f",{wanted.specifier}"
    together = [f'"{pin}"']
    together += [f'"{item.pin(extra)}"' for item in items if item.status == "ok" and item.with_torch]
    named = {item.want.key for item in items if item.with_torch}
    for need in dict.fromkeys(need for item in items if item.works for need in item.index_needs):
        version = candidate.release.torchvision if need == "torchvision" else ""
        if need not in named:
            together.append(f'"{need}{extra}=={version}.*"' if version else f'"{need}"')
    where = "--find-links" if candidate.links else "--index-url"
    lines.append(f"pip install {where} {candidate.index} {' '.join(together)}")
    installs = [item.install for item in items if item.install and item.status in ("ok", "build")]
    beside = [held(part) for install in installs for part in install.split(" && ")]
    if any(f"-c {CONSTRAINTS}" in line for line in beside):
        lines.append(_FREEZE_WINDOWS if windows else _FREEZE)
    if any(item.status == "build" for item in items):
        lines.append("hipcc --version")
    lines += beside
    lines.append('python -c "import torch; print(torch.__version__, torch.version.hip, torch.cuda.is_available())"')
    modules = [item.module for item in items if item.works and item.module]
    if modules:
        lines.append(f'python -c "import {", ".join(modules)}"')
    return tuple(lines)


def held(install: str) -> str:
    """An install command that cannot change torch; its dependencies come with it."""
    if "--no-deps" in install or not re.search(r"\bpip install\b", install):
        return install
    return re.sub(r"\bpip install\b", f"pip install -c {CONSTRAINTS}", install, count=1)


def _notes(request: Request, candidate: Candidate, items: tuple[Item, ...]) -> list[str]:
    release = candidate.release
    notes = [
        f"{want.where + ': ' if want.where else ''}{want.text} names a CUDA build ({want.cuda}); the plan takes ROCm's"
        for want in request.wants
        if want.cuda
    ]
    if candidate.note:
        notes.append(candidate.note)
    if request.python and release.python_max_experimental and request.python == release.python_max:
        notes.append(f"Python {request.python} is experimental in torch {release.version} ({release.source})")
    built = [item.want.name for item in items if item.status == "build"]
    if built:
        notes.append(f"{', '.join(built)} compiled here: needs hipcc of ROCm {candidate.rocm} (rocport sdk status)")
    if candidate.python:
        notes.append(f"{candidate.index} holds wheels for Python {', '.join(candidate.python)}")
    elif candidate.owner == "AMD":
        notes.append("which Python versions AMD builds for is not in the facts; pytorch.org's range was assumed")
    if request.system is not None and request.system.note:
        notes.append(f"{request.system.id}: {request.system.note}")
    wsl = wsl_support()
    if _is_wsl(request) and Version(candidate.rocm) < Version(wsl.packaged):
        notes.append(
            f"wsl: librocdxg is not in ROCm before {wsl.packaged}: build it as {wsl.source} says and put librocdxg.so "
            "beside the wheel's libhsa-runtime64.so or where ldconfig finds it"
        )
    if _is_wsl(request) and request.target.name not in (*wsl.targets, *_named_for("wsl")):
        notes.append(f"AMD's lists for WSL do not name {request.target.name} ({wsl.source})")
    official = request.target.official
    if official is not None and not official.products:
        notes.append(
            f"AMD's own list for ROCm {official.release} does not name {request.target.name} ({official.source})"
        )
    newest = torch_releases()[0]
    if not newest.rocm and newest.version != release.version:
        notes.append(f"torch {newest.version} is out, but no ROCm channel for it is in the facts ({newest.sure})")
    return notes
