"""A Dockerfile: the image it begins from, what its ENVs set for the container, and the torch its RUNs install."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace

from rocport.doctor.machine import Evidence, Facts, Package, Setting, VersionFact
from rocport.doctor.probes.environment import watched
from rocport.doctor.probes.pip_list import normal, versions_of
from rocport.facts.errors import FactError
from rocport.facts.rocm import rocm_release
from rocport.model.versions import RocmVersion

HEAD = 1 << 20
"""Characters in which a Dockerfile is looked for."""

_SILENT = re.compile(r"\s*(?:#|```|\Z)")
_FIRST = re.compile(r"(?i)(?:FROM\s+(?:--\w+=\S+\s+)*\S+(?:\s+AS\s+\S+)?|ARG\s+\w+(?:=\S*)?)")
_OTHER = re.compile(r"(?:RUN|ENV|ARG|COPY|ADD|CMD|ENTRYPOINT|WORKDIR|USER|LABEL|SHELL|EXPOSE|VOLUME)\s+\S")
_INSTRUCTION = re.compile(r"(?i)(FROM|ARG|ENV|RUN)\s+(.*)", re.DOTALL)
_IMAGE = re.compile(r"(?i)(?:--\w+=\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?\s*\Z")
_REPOSITORY = re.compile(r"(?:\A|/)rocm/([\w.-]+):([\w.-]+)\Z")
_RELEASE = re.compile(r"(?:\A|rocm[-_]?)(\d+\.\d+(?:\.\d+)?)(?=[-_]|\Z)")
_TORCH = re.compile(r"pytorch_(?:release_|rel-)?(\d+\.\d+(?:\.\d+)?)")
_PIN = re.compile(r"(?<![\w-])([A-Za-z][\w.-]*)(?:\[[\w,-]*\])?==(\d[\w.+]*)")
_INDEX = re.compile(r"/whl/(?:nightly/|test/)?rocm(\d+\.\d+(?:\.\d+)?)")
_EXPORTS = re.compile(r"(?:\s*(?:&&|;)?\s*export\s+\w+=(?:\"[^\"]*\"|'[^']*'|[^\s;&]*))+\s*;?\s*")


@dataclass(frozen=True)
class Base:
    """What the tag of an image of AMD's says; empty: it does not."""

    rocm: str = ""
    torch: str = ""


def base(image: str) -> Base | None:
    """ROCm and PyTorch by the tag of an image of AMD's (`rocm/dev-ubuntu-24.04:7.0-complete`); None: another image."""
    found = _REPOSITORY.search(image)
    if found is None:
        return None
    rocm, torch = _RELEASE.search(found[2]), _TORCH.search(found[2])
    return Base(rocm[1] if rocm else "", torch[1] if torch else "")


def variables(argument: str) -> list[tuple[str, str]]:
    """What an ENV sets: `A=1 B="2"`, or the old form `A 1`."""
    old = re.fullmatch(r"(\w+)\s+([^=]*)", argument)
    if old:
        return [(old[1], old[2].strip())]
    try:
        words = shlex.split(argument)
    except ValueError:
        return []
    pairs = [word.partition("=") for word in words]
    return [(name, value) for name, equals, value in pairs if equals]


def is_dockerfile(text: str) -> bool:
    """True where the first line that is no comment is a FROM, or an ARG before one, and another instruction follows."""
    rows = [row.strip() for row in text[:HEAD].splitlines() if not _SILENT.match(row)]
    begins = bool(rows) and _FIRST.fullmatch(rows[0]) and any(re.match(r"(?i)FROM\s+\S", row) for row in rows)
    return bool(begins) and any(map(_OTHER.match, rows))


def instructions(text: str) -> Iterator[tuple[int, str, str]]:
    """(line number, keyword, argument) of every FROM, ARG, ENV and RUN, continued lines as one."""
    pending, start = "", 0
    for number, row in enumerate(text.splitlines(), start=1):
        if _SILENT.match(row):
            continue
        start = start if pending else number
        pending = f"{pending} {row.strip()}".strip()
        if pending.endswith("\\"):
            pending = pending[:-1].rstrip()
            continue
        match = _INSTRUCTION.fullmatch(pending)
        if match:
            yield start, match[1].upper(), match[2].strip()
        pending = ""


def words_beside(text: str) -> str:
    """A Dockerfile's text with its comments and instructions made empty lines: what a person says of it is left."""
    rows, continued = [], False
    for row in text.splitlines():
        own = continued or _SILENT.match(row) or _FIRST.fullmatch(row.strip()) or _OTHER.match(row.strip())
        continued = bool(own) and row.rstrip().endswith("\\") and not row.lstrip().startswith("#")
        rows.append("" if own else row)
    return "\n".join(rows)


def parse(text: str, where: str) -> Facts:
    """The container that the last stage makes. Settings: `base_image`, `run_export` for a RUN that only exports,
    `torch_of_pypi` for one that installs torch from the default index."""
    arguments: dict[str, str] = {}
    stages: dict[str, Facts] = {}
    stage, name = Facts(), ""
    for number, keyword, argument in instructions(text):
        at = f"{where}:{number}"
        if keyword == "ARG":
            key, equals, value = argument.partition("=")
            arguments |= {key: value.strip("\"'")} if equals else {}
        elif keyword == "FROM":
            stages[name] = stage
            image = _IMAGE.match(_filled(argument, arguments))
            name = (image[2] or "").lower() if image else ""
            named = image[1] if image else ""
            stage = stages[named.lower()] if named and named.lower() in stages else _begun(named, at)
        elif keyword == "ENV":
            stage = _set(stage, variables(argument), at)
        else:
            stage = _run(stage, _filled(argument, arguments), at)
    return replace(stage, probed=stage.probed | {"dockerfile"})


def _filled(text: str, arguments: dict[str, str]) -> str:
    return re.sub(r"\$\{?(\w+)(?::-[^}]*)?\}?", lambda match: arguments.get(match[1], match[0]), text)


def _begun(image: str, at: str) -> Facts:
    shown = Evidence("dockerfile", at, f"FROM {image}")
    says = base(image) or Base()
    versions = []
    if says.torch:
        versions.append(VersionFact("torch", says.torch, shown))
    if says.rocm:
        versions += [VersionFact("rocm", says.rocm, shown)]
        try:
            hip = rocm_release(RocmVersion.parse(says.rocm)).hip
        except FactError:
            hip = ""
        versions += [VersionFact("torch_hip", hip, shown)] if hip and says.torch else []
    return Facts(versions=tuple(versions), settings=(Setting("base_image", image, shown),))


def _set(stage: Facts, pairs: list[tuple[str, str]], at: str) -> Facts:
    new = {
        name: Setting(name, value, Evidence("env", at, f"{name}={value}"))
        for name, value in pairs
        if watched(name) and (value or "VISIBLE_DEVICES" in name)
    }
    kept = tuple(one for one in stage.env if one.name not in new)
    return replace(stage, env=(*kept, *new.values()), probed=stage.probed | ({"env"} if new else set()))


def _run(stage: Facts, command: str, at: str) -> Facts:
    """The stage after a RUN: what is installed last is there."""
    shown = Evidence("dockerfile", at, f"RUN {command}"[:200])
    settings = [Setting("run_export", command, shown)] if _EXPORTS.fullmatch(command) else []
    index = _INDEX.search(command)
    packages = []
    for name, version in _PIN.findall(command):
        tag = f"+rocm{index[1]}" if index and normal(name).startswith("torch") and "+" not in version else ""
        packages.append(Package(normal(name), version + tag, shown))
    torch = any(package.name == "torch" for package in packages)
    if _from_pypi(command) and (torch or not any(fact.name == "torch" for fact in stage.versions)):
        settings.append(Setting("torch_of_pypi", command, shown))
    kept = tuple(fact for fact in stage.versions if not (torch and fact.name in ("torch", "torch_hip")))
    return replace(
        stage,
        probed=stage.probed | ({"packages"} if packages else set()),
        packages=(*packages, *stage.packages),
        versions=(*versions_of(packages), *kept),
        settings=(*stage.settings, *settings),
    )


def _from_pypi(command: str) -> bool:
    """True where a pip of the command installs torch and names neither an index, a file nor constraints."""
    pips = re.split(r"&&|;|\|\|", command)
    return any(
        re.search(r"\bpip3? install\b.*\s[\"']?torch(?:==[\d.]+)?[\"']?(?:\s|\Z)", pip)
        and not re.search(r"--index-url|-i |--extra-index-url|--find-links|-f |-c |--no-index|PIP_|\.whl", pip)
        for pip in pips
    )
