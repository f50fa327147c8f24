"""A plan put to pip's own resolver: nothing is installed, and what was not reached is said.

Wheel indexes of torch for ROCm are not reachable from everywhere. Where one is not, its packages stand in as empty
wheels of the versions the facts name, and pip resolves everything else around them against the default index. A plan
for Windows is put to pip with Windows' wheels; the markers of their requirements stay those of the machine that asks.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from rocport.compat.packages import CONSTRAINTS
from rocport.compat.plan import Plan

REPORT = "report.json"
TIMEOUT = 600
"""Seconds one command may take: pip downloads metadata, for source packages the whole source."""

_UNREACHED = re.compile(
    r"NewConnectionError|ConnectTimeoutError|Max retries exceeded|Could not fetch URL|"
    r"requirement torch(?:vision|audio)?\b[^\n]*\(from versions: none\)|No matching distribution found for torch\b|"
    r"ProxyError|Temporary failure in name resolution|403 Client Error|404 Client Error",
)
_NO_WHEEL = re.compile(r"satisfies the requirement ([\w.-]+)[^\n]*\(from versions: none\)")
_OPTIONS = ("--dry-run", "--quiet", "--disable-pip-version-check", "--no-input", "--retries", "0", "--timeout", "20")


@dataclass(frozen=True)
class Step:
    """One install command. `state`: resolved, recorded or stand-ins (an index was not reached; it is recorded to hold
    what stood in for it, or not), no-wheel (pip was asked for wheels alone, as for Windows, and a package has none: it
    may serve as built from source), conflict or failed."""

    command: str
    state: str
    said: str


@dataclass(frozen=True)
class Resolution:
    """What pip said to the install commands of a plan, with the Python it was asked with."""

    steps: tuple[Step, ...]
    python: str

    @property
    def resolved(self) -> bool:
        """True when pip found versions for every command."""
        return all(step.state in ("resolved", "recorded", "stand-ins") for step in self.steps)

    @property
    def proven(self) -> bool:
        """True when every package was found in its index, or its index is recorded to hold it."""
        return all(step.state in ("resolved", "recorded") for step in self.steps)


def resolve_plan(plan: Plan, python: str = sys.executable) -> Resolution:
    """Put every `pip install` of a plan to `pip install --dry-run` of `python`. Raises ValueError without a torch."""
    if plan.chosen is None:
        raise ValueError("no torch serves this request: there is nothing to resolve")
    steps = []
    with tempfile.TemporaryDirectory(prefix="rocport-resolve-") as folder:
        beside: list[str] = []
        for command in (line for line in plan.commands if line.startswith("pip install")):
            steps.append(_step(command, python, Path(folder), plan, beside))
    return Resolution(tuple(steps), _version_of(python))


def _version_of(python: str) -> str:
    command = [python, "-c", "import platform; print(platform.python_version())"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def torch_pins(plan: Plan) -> tuple[str, ...]:
    """`torch==2.14.0+rocm7.2` and so on: what stands in for the index of a plan that has a torch."""
    return tuple(f"{name}=={version}" for name, version in _torch_family(plan))


def _step(command: str, python: str, folder: Path, plan: Plan, beside: list[str]) -> Step:
    """Resolve one command. `beside`: what the commands after it need to see torch; filled by the one with the index."""
    words = [*shlex.split(command)[2:], *_for_windows(plan)]
    option = next((word for word in words if word in ("--index-url", "--find-links")), "")
    if not option:
        done = _pip(python, [*words, *beside], folder)
        return _judged(command, done, "resolved" if "wheels" not in beside else _stood_in(plan))
    (folder / REPORT).unlink(missing_ok=True)
    done = _pip(python, [*words, "--report", REPORT], folder)
    taken = _taken(folder / REPORT, "torch")
    foreign = done.returncode == 0 and taken and "rocm" not in taken
    if foreign or (done.returncode and (_UNREACHED.search(done.stderr) or _offers_no_rocm(done.stderr))):
        (folder / "wheels").mkdir(exist_ok=True)
        pins = [_stand_in(folder / "wheels", name, version) for name, version in _torch_family(plan)]
        beside[:] = ["--find-links", "wheels"]
        _constrain(folder, pins)
        around = [*_without_index(words), "-c", CONSTRAINTS, *beside]
        step = _judged(command, _pip(python, around, folder), _stood_in(plan))
        said = f"pip's own settings offer torch {taken}, which is not for ROCm; the index named here was not reached"
        return replace(step, said=step.said or said) if foreign else step
    beside[:] = ["--extra-index-url" if option == "--index-url" else option, words[words.index(option) + 1]]
    _constrain(
        folder, [f"{name}=={version.split('+')[0].rpartition('.')[0]}.*" for name, version in _torch_family(plan)]
    )
    return _judged(command, done, "resolved")


def _for_windows(plan: Plan) -> tuple[str, ...]:
    """Options that make pip look for Windows' wheels; empty for other systems."""
    if plan.request.system is None or plan.request.system.kind != "windows":
        return ()
    python = ("--python-version", plan.request.python) if plan.request.python else ()
    return ("--platform", "win_amd64", "--only-binary", ":all:", "--target", "windows", *python)


def _taken(report: Path, name: str) -> str:
    """The version of a package that pip chose; empty without a report."""
    if not report.is_file():
        return ""
    chosen = json.loads(report.read_text(encoding="utf-8")).get("install", ())
    return next((item["metadata"]["version"] for item in chosen if item["metadata"]["name"] == name), "")


def _offers_no_rocm(said: str) -> bool:
    """True where pip lists the versions of torch that it saw, and none is for ROCm: they are not the index's."""
    versions = re.search(r"requirement torch\S* \(from versions: ([^)]*)\)", said)
    return versions is not None and "rocm" not in versions[1]


def _stood_in(plan: Plan) -> str:
    return "stand-ins" if plan.unrecorded else "recorded"


def _constrain(folder: Path, pins: list[str]) -> None:
    (folder / CONSTRAINTS).write_text("\n".join(pins) + "\n", encoding="utf-8")


def _judged(command: str, done: subprocess.CompletedProcess[str], state: str) -> Step:
    if done.returncode == 0:
        return Step(command, state, "")
    said = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or done.stderr.strip().splitlines()
    clash = any("ResolutionImpossible" in line or "conflicting" in line for line in said)
    bare = _NO_WHEEL.search(done.stderr) if "--only-binary" in done.args else None
    if bare and not clash:
        return Step(command, "no-wheel", f"{bare[1]}: pip finds no wheel for Windows; built from source, it may serve")
    return Step(command, "conflict" if clash else "failed", " ".join(said[:3])[:400])


def _pip(python: str, words: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    command = [python, "-m", "pip", "install", *_OPTIONS, "--ignore-installed", *words]
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"ERROR: pip did not end within {TIMEOUT} s")


def _without_index(words: list[str]) -> list[str]:
    """The words without the index; extras such as torch[device-...] are AMD's index's own and go with it."""
    kept, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word in ("--index-url", "--extra-index-url", "--find-links"):
            skip = True
        else:
            kept.append(re.sub(r"\[[^\]]*\]", "", word) if re.match(r"(torch|rocm)", word) else word)
    return kept


def _torch_family(plan: Plan) -> Iterator[tuple[str, str]]:
    """(name, version) of the packages a ROCm index serves for the chosen torch."""
    chosen = plan.chosen
    assert chosen is not None
    release = chosen.release
    wanted = next((want.specifier for want in plan.request.wants if want.key == "torch"), "")
    exact = re.fullmatch(r"==(\d+\.\d+\.\d+)", wanted)
    record = next((record for record in plan.records if record.packages), None) or next(iter(plan.records), None)
    beside = dict(record.packages) if record else {}
    torch = exact.group(1) if exact else record.torch if record else f"{release.version}.0"
    yield "torch", f"{torch}+rocm{chosen.rocm}"
    if release.torchvision:
        yield "torchvision", f"{_full(beside.get('torchvision') or release.torchvision)}+rocm{chosen.rocm}"
    yield "torchaudio", f"{_full(beside.get('torchaudio') or release.version)}+rocm{chosen.rocm}"
    for triton in release.triton[:1]:
        yield "triton", triton if triton.count(".") == 2 else f"{triton}.0"


def _full(version: str) -> str:
    """`0.29` -> `0.29.0`"""
    return version if version.count(".") > 1 else f"{version}.0"


def _stand_in(folder: Path, name: str, version: str) -> str:
    """Write an empty wheel of that name and version; returns its pin."""
    needs = (
        ["filelock", "typing-extensions>=4.10.0", "sympy", "networkx", "jinja2", "fsspec"] if name == "torch" else []
    )
    info = f"{name}-{version}.dist-info"
    metadata = [
        f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}",
        *(f"Requires-Dist: {need}" for need in needs),
    ]
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{info}/METADATA", "\n".join(metadata) + "\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: rocport\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", "")
    return f"{name}=={version}"
