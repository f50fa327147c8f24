"""AMD's documentation repositories: releases, products, library versions, drivers, install pages, images."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from fact_sources.claim import Claim, listed
from fact_sources.snapshot import Snapshot
from rocport.facts import rocm_libraries
from rocport.facts.containers import container_images
from rocport.facts.platforms import amd_torch, driver_of
from rocport.facts.products import targets_of_processor
from rocport.facts.rocm import rocm_releases
from rocport.facts.rocm_libraries import LIBRARIES_CSV
from rocport.facts.rocm_systems import COLUMNS as SYSTEMS_COLUMNS
from rocport.facts.rocm_systems import SYSTEMS_CSV, rocm_systems
from rocport.facts.targets import targets_of_product

DOCS = "ROCm/rocm-docs"
VERSIONS, GPUS = "docs/release/versions.rst", "docs/data/gpus.yaml"
DRIVERS = "docs/data/driver-firmware-support.yaml"
COMPONENTS = ("docs/data/components-current.yaml", "docs/data/components-previous.yaml")
MATRIX = "docs/compatibility/compatibility-matrix-historical-6.0.csv"
LEGACY = "ROCm/legacy-rocm-build"
LAST = (LEGACY, "docs/compatibility/compatibility-matrix.rst")
BETWEEN = ("danielso2020/ROCm", LAST[1])
HISTORY = (("ROCm/ROCm", MATRIX), LAST, ("hanzoai/ROCm", MATRIX), BETWEEN)
"""The matrix of 6.x and 7.x releases: AMD's own copy ends at 6.3, the last page of that line holds 7.1.0 and 7.2.1 to
7.2.4, public copies of two between them 6.4 to 7.1.0, and 7.1.1 and 7.2.0 (its table of systems is not AMD's)."""
INSTINCT = (LEGACY, "docs/compatibility/include/system-instinct.rst")
"""Systems of the release with which that repository ended, 7.14.0 (the newest driver it names is 31.40)."""
ECOSYSTEM = "AMD-Ecosystem/ai-ecosystem"
MIGRAPHX = "docs/inference/include/migraphx/rocm7.14.0-pkg-install.rst"
"""The page that names the MIGraphX of 7.14.0, which no table of that release has."""
READ_AT = {
    f"hanzoai/ROCm:{MATRIX}": "0057200cf168b3be6f0b84de67199ff760272f12",
    ":".join(BETWEEN): "4ec7862fe44074131edb2e126b9a3051fe748a25",
    ":".join(LAST): "fff7efbd0c870e1bfba278faa91d517996b7a33a",
    ":".join(INSTINCT): "8eb3b622ad34bf76fed627993f002750bd632890",
    f"{ECOSYSTEM}:{MIGRAPHX}": "58d78bbc159cf1034dd984cdc09e776b84b287ab",
    f"{DOCS}:{COMPONENTS[0]}": "f47eb2f8ba97787da0cfd5166d1afbf42956fd9d",
}
"""Texts that were read at one commit; others are cited at their newest."""
MISPRINTS = {
    ("HIP", "10.1.0", "10.1.0"): "",
    ("HIP", "7.1.0", "7.1.25414"): "7.1.25424",
    ("HIP", "6.0.0", "6.1.32830"): "6.0.32830",
    ("HIP", "6.0.2", "6.1.32831"): "6.0.32831",
}
"""(library, ROCm, what the table prints) -> what the released package is called: hip-runtime-amd_7.1.25424.70100;
empty: not taken (the table of 10.1 prints the release's number for HIP's own, as that of 10.0 did at first)."""
HIP_VERSIONS = (
    ("VERSION", r"^(\d+)$"),
    ("bin/hipvars.pm", r'^\$HIP_BASE_VERSION_M\w+ = "(\d+)";'),
)
"""Files of HIP that hold its version at a tag, and how each number stands in them."""
DISTRIBUTIONS = {
    "Ubuntu": "ubuntu",
    "RHEL": "rhel",
    "SLES": "sles",
    "CentOS": "centos",
    "Oracle Linux": "oracle",
    "Debian": "debian",
    "Azure Linux": "azurelinux",
    "Rocky Linux": "rocky",
}
CORE = (LEGACY, "docs/compatibility/include/core-sdk-components-linux.rst")
READ = {"10.1.0": "2026-11-22", "10.0.0": "2026-11-22", "7.14.1": "2026-11-22"}
"""ROCm -> the day its install page was read."""
PAGE, DOCKER = (
    "docs/frameworks/pytorch/include/rocm{}-pip-install.rst",
    "docs/frameworks/pytorch/include/rocm{}-docker.rst",
)
LIBRARIES = (
    "Composable Kernel",
    "HIP",
    "MIOpen",
    "RCCL",
    "hipBLAS",
    "hipBLASLt",
    "hipCUB",
    "hipFFT",
    "hipRAND",
    "hipSOLVER",
    "hipSPARSE",
    "hipSPARSELt",
    "MIGraphX",
    "MIVisionX",
    "rocAL",
    "rocBLAS",
    "rocDecode",
    "rocFFT",
    "rocJPEG",
    "rocPRIM",
    "rocRAND",
    "rocSOLVER",
    "rocSPARSE",
    "rocThrust",
    "rocWMMA",
    "hipTensor",
    "RPP",
)


@dataclass(frozen=True)
class Installed:
    """One command of an install page: what is installed from where, for a target (`all`: any) and a system."""

    rocm: str
    index: str
    target: str
    system: str
    torch: str
    torchvision: str
    torchaudio: str


def release_days(text: str) -> dict[str, str]:
    """ROCm version -> day of its release, from the list of versions."""
    found = {}
    for version, day in re.findall(r"\* - `(\d+\.\d+\.\d+) <[^>]*>`__\s+- (\w+ \d+, \d{4})", text):
        form = "%B %d, %Y" if len(day.split()[0]) > 3 or day.startswith("May") else "%b %d, %Y"
        found[version] = datetime.strptime(day, form).date().isoformat()
    return found


def products(text: str) -> dict[str, str]:
    """Product -> target, from the documentation's table of GPUs."""
    return {
        name.removeprefix("AMD ").strip('"'): gfx
        for name, gfx in re.findall(r"^  (AMD [^\n]+):\n    gfx: (gfx\w+)$", text, re.MULTILINE)
    }


def matrix(text: str) -> list[list[str]]:
    """Rows of a matrix of releases, its header first: a file of comma-separated values, or such a table in a page."""
    header = re.search(r"^ +:header: (\"?ROCm Version.+)$", text, re.MULTILINE)
    if header is not None:
        body = re.split(r"\n[ \t]*\n", text[header.end() :])[1].replace("|br|", "")
        text = f"{re.sub(r', +', ',', header[1])}\n{body}"
    return list(csv.reader(text.splitlines()))


def library_versions(snapshot: Snapshot) -> dict[tuple[str, str], tuple[str, str]]:
    """(library, ROCm) -> (version, text it was read in)."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for place in reversed(HISTORY):
        rows = matrix(snapshot.text(*place) or "")
        for row in rows[1:]:
            name = re.match(r"\s*:doc:`([^<`]+?) <", row[0]) if row else None
            for releases, version in zip(rows[0][1:], row[1:], strict=False):
                if name and name[1] in LIBRARIES and re.fullmatch(r"[\d.]+", version.strip()):
                    for rocm in map(str.strip, releases.split("/")):
                        said = MISPRINTS.get((name[1], rocm, version.strip()), version.strip())
                        found[name[1], rocm] = said, ":".join(place)
    text = snapshot.text(*CORE) or ""
    release = re.search(r"docs-(\d+\.\d+)/", text)
    for name, version in re.findall(r"`([A-Za-z ]+?) ([\d.]+) <", text):
        if release and name in LIBRARIES:
            found[name, f"{release[1]}.0"] = version, ":".join(CORE)
    for path in COMPONENTS:
        text = snapshot.text(DOCS, path) or ""
        release = re.search(r"rtd_version_slug: docs-([\d.]+)", text)
        for name, version in re.findall(r"^    ([^\s:][^:\n]*):\n      version: ([\d.]+)$", text, re.MULTILINE):
            if release and name in LIBRARIES:
                said = MISPRINTS.get((name, release[1], version), version)
                found[name, release[1]] = said, f"{DOCS}:{path}"
    page = re.search(r"Install MIGraphX ([\d.]+) via", snapshot.text(ECOSYSTEM, MIGRAPHX) or "")
    if page:
        found["MIGraphX", "7.14.0"] = page[1], f"{ECOSYSTEM}:{MIGRAPHX}"
    return {key: value for key, value in found.items() if value[0]}


def drivers(text: str) -> list[str]:
    """amdgpu drivers that an Instinct GPU's row names, newest first."""
    row = re.search(r"AMD Instinct MI300X:.*?amdgpu: \[([^\]]*)\]", text, re.DOTALL)
    return [name.strip().removeprefix("*amdgpu_").replace("_", ".") for name in row[1].split(",")] if row else []


def installed(text: str) -> list[Installed]:
    """Every pip command of an install page."""
    names = dict(re.findall(r"^\.\. \|(\w+)\| replace:: (\S+)$", text, re.MULTILINE))
    text = re.sub(r"\|(\w+)\|", lambda match: names.get(match[1], match[0]), text)
    found, rocm, target, system = [], "", "", ""
    for line in re.sub(r"\\\n\s*", " ", text).splitlines():
        chosen = re.match(r"\s*\.\. selected:: (rocm-ver|fam|gfx|os)=(\S+)", line)
        if chosen:
            rocm = chosen[2] if chosen[1] == "rocm-ver" else rocm
            target = chosen[2] if chosen[1] in ("fam", "gfx") else target
            system = chosen[2] if chosen[1] == "os" else system
        index = re.search(r"pip install --index-url (\S+)", line)
        pins = dict(re.findall(r'"(torch\w*)(?:\[[^\]]*\])?==([^"+]+)\+', line))
        if index and {"torch", "torchvision", "torchaudio"} <= set(pins):
            found.append(
                Installed(rocm, index[1], target, system, pins["torch"], pins["torchvision"], pins["torchaudio"])
            )
    return found


def images(text: str) -> list[str]:
    """Names of the images that a docker page pulls."""
    return list(dict.fromkeys(re.findall(r"rocm/pytorch:[\w.-]+", text)))


def rocm_at_tag(snapshot: Snapshot, rocm: str) -> str:
    """The version that TheRock's own file has at the tag of a ROCm release; empty where there is none."""
    for tag in (f"therock-{rocm}", f"therock-{rocm.removesuffix('.0')}"):
        says = re.search(r'"rocm-version": "([\d.]+)"', snapshot.text_at("ROCm/TheRock", "version.json", tag) or "")
        if says:
            return says[1]
    return ""


def _days(snapshot: Snapshot) -> Iterator[Claim]:
    days = release_days(snapshot.text(DOCS, VERSIONS) or "")
    for release in rocm_releases():
        name, where = f"ROCm {release.version}", "rocm_releases.toml"
        if release.stream == "preview":  # not in AMD's list of releases
            says = rocm_at_tag(snapshot, release.version) or None
            yield Claim(f"{name}: known, by its tag", where, release.version, says, "ROCm/TheRock:version.json")
        listed_there = release.stream == "preview" or any(w in release.source for w in ("versions.rst", "historical"))
        if release.date and listed_there:
            yield Claim(f"{name}: date", where, release.date, days.get(release.version), f"{DOCS}:{VERSIONS}")
    first = min((release.version for release in rocm_releases()), key=lambda v: tuple(map(int, v.split("."))))
    for version, day in days.items():
        if tuple(map(int, version.split("."))) >= tuple(map(int, first.split("."))):
            known = next((r.date for r in rocm_releases() if r.version == version), "unknown")
            yield Claim(f"ROCm {version}: known", "rocm_releases.toml", known, day, f"{DOCS}:{VERSIONS}")


def _products(snapshot: Snapshot) -> Iterator[Claim]:
    for name, gfx in products(snapshot.text(DOCS, GPUS) or "").items():
        said = listed(targets_of_product(name) or targets_of_processor(name)) or "unknown"
        yield Claim(f"product {name}", "targets, products.toml", said, gfx, f"{DOCS}:{GPUS}")


def hip_at_tag(snapshot: Snapshot, rocm: str) -> tuple[str, str]:
    """The version that HIP's own file of versions has at the tag of a ROCm release, and that file: all of it, or what
    its scripts fall back to before 5.5; empty where there is none."""
    for path, numbers in HIP_VERSIONS:
        found = re.findall(numbers, snapshot.text_at("ROCm/HIP", path, f"rocm-{rocm}") or "", re.MULTILINE)
        if found:
            return ".".join(found[:3]), f"ROCm/HIP:{path}"
    return "", ""


def _hip(snapshot: Snapshot) -> Iterator[Claim]:
    """Each release's HIP: by HIP's tag, where the snapshot has that, and by the table that names it."""
    versions = library_versions(snapshot)
    for release in rocm_releases():
        says, text = versions.get(("HIP", release.version), ("", ""))
        if says.startswith("6.1.3283"):  # what the matrix prints for 6.0; hipcc prints 6.0
            says = says.replace("6.1.", "6.0.")
        said = release.hip if release.hip.count(".") == 2 else ".".join(release.hip.split(".")[:2])

        def short(version: str, parts: int = said.count(".") + 1) -> str:
            return ".".join(version.split(".")[:parts])

        tagged, file = hip_at_tag(snapshot, release.version)
        name, where = f"ROCm {release.version}: HIP", "rocm_releases.toml"
        if tagged:
            yield Claim(f"{name}, by its tag", where, short(said, tagged.count(".") + 1), short(tagged), file)
        if says or not tagged:
            yield Claim(name, where, said, short(says) or None, text)


def systems(text: str) -> dict[tuple[str, str], set[str]]:
    """(ROCm, distribution) -> its releases, from the matrix of releases: the rows above that of architectures."""
    rows, found = matrix(text), dict[tuple[str, str], set[str]]()
    for row in rows[1:]:
        if ".. _architecture" in "".join(row[:2]):
            break
        for releases, cell in zip(rows[0][1:], row[1:], strict=False):
            said = re.match(r"([A-Za-z][A-Za-z ]*?) (\d.*)", re.sub(r"\[#[^\]]*\]_", "", cell).strip())
            if said is None or said[1] not in DISTRIBUTIONS:
                continue
            major = re.match(r"\d+", said[2])
            for rocm in map(str.strip, releases.split("/")):
                for version in map(str.strip, said[2].split(",")):
                    pack = re.search(r"SP(\d)$", version)  # `15 SP6, SP5`
                    name = f"{major[0]}.{pack[1]}" if pack and major else version
                    found.setdefault((rocm, DISTRIBUTIONS[said[1]]), set()).add(name)
    return found


def listed_systems(text: str) -> list[tuple[str, str, str]]:
    """(distribution, release, kernel) of a page that lists systems by cells, each once."""
    cell = r"^ +(?:\.\. matrix-cell:: )?([A-Z][A-Za-z ]*?) ([\d.]+) \((?:(\w+) )?kernel: (?:(UEK) )?([\d.-]+)\)$"
    found = dict.fromkeys(
        (DISTRIBUTIONS[name], version, " ".join(filter(None, (kernel, before or after))))
        for name, version, before, after, kernel in re.findall(cell, text, re.MULTILINE)
        if name in DISTRIBUTIONS
    )
    return sorted(found, key=lambda row: (row[0], tuple(map(int, row[1].split(".")))))


def _instinct(snapshot: Snapshot) -> Iterator[Claim]:
    rows = listed_systems(snapshot.text(*INSTINCT) or "")
    said: dict[str, set[str]] = {}
    for record in rocm_systems():
        if INSTINCT[1] in record.source:
            said.setdefault(record.distribution, set()).add(record.title)
    for name, titles in said.items():
        there = listed(f"{name} {version} (kernel {kernel})" for row, version, kernel in rows if row == name)
        claim, text = f"ROCm 7.14.0, Instinct, on {name}", ":".join(INSTINCT)
        yield Claim(claim, SYSTEMS_CSV.name, listed(titles), there or None, text)


def _systems(snapshot: Snapshot) -> Iterator[Claim]:
    said: dict[tuple[str, str], set[str]] = {}
    cited: dict[tuple[str, str], str] = {}
    for record in rocm_systems():
        if "historical" in record.source or LAST[1] in record.source:
            said.setdefault((record.rocm, record.distribution), set()).add(record.version)
            cited[record.rocm, record.distribution] = snapshot.cited(record.source)[0]
    tables = {":".join(place): systems(snapshot.text(*place) or "ROCm Version") for place in HISTORY}
    for (rocm, name), versions in said.items():
        text = next((place for place in tables if (rocm, name) in tables[place]), cited[rocm, name])
        says = tables.get(text, {}).get((rocm, name))
        claim = f"ROCm {rocm} on {name}"
        yield Claim(claim, SYSTEMS_CSV.name, listed(versions), None if says is None else listed(says), text)


def _drivers(snapshot: Snapshot) -> Iterator[Claim]:
    known = drivers(snapshot.text(DOCS, DRIVERS) or "")
    record = driver_of("10.0")
    said = record.known if record else "unknown"
    says = f"{known[-1]} to {known[0]}" if known else None
    yield Claim("driver for ROCm 10.0", "platforms.toml", said, says, f"{DOCS}:{DRIVERS}")


def _pages(snapshot: Snapshot) -> Iterator[Claim]:
    for rocm in sorted({build.rocm for build in amd_torch() if build.how == "index"}):
        path = PAGE.format(rocm)
        rows = installed(snapshot.text(ECOSYSTEM, path) or "")
        for system in ("linux", "windows"):
            for products_, mark in (("instinct", "gfx942"), ("radeon", "gfx1100")):
                if system == "windows" and products_ == "instinct":
                    continue
                builds = [
                    build
                    for build in amd_torch()
                    if build.rocm == rocm
                    and build.products in ("", products_)
                    and (not build.kinds or system in build.kinds)
                ]
                said = listed(version for build in builds for version in build.torch) or "none"
                chosen = [row for row in rows if row.system == system and row.target == mark]
                says = listed(row.torch.rpartition(".")[0] for row in chosen) or "none" if rows else None
                name = f"AMD's torch for ROCm {rocm}, {products_}, {system}"
                yield Claim(name, "platforms.toml", said, says, f"{ECOSYSTEM}:{path}")
        said = listed(build.index for build in amd_torch() if build.rocm == rocm)
        says = listed(row.index for row in rows) if rows else None
        yield Claim(f"AMD's index for ROCm {rocm}", "platforms.toml", said, says, f"{ECOSYSTEM}:{path}")


def _images(snapshot: Snapshot) -> Iterator[Claim]:
    """Every image of AMD's newest page is known, and every image that is known stands in the text it cites."""
    path, where = DOCKER.format("10.1.0"), "container_images.toml"
    known = {image.name: image for image in container_images()}
    for name in images(snapshot.text(ECOSYSTEM, path) or ""):
        yield Claim(f"image {name}", where, name if name in known else "unknown", name, f"{ECOSYSTEM}:{path}")
    for name, image in known.items():
        cited, text = snapshot.cited(image.source)
        if cited == f"{ECOSYSTEM}:{path}":
            continue
        there = text is not None and all(part in text for part in name.split(":"))
        composed = text is None or f"{name.partition(':')[0]}:$" in text  # its script puts the tag together
        yield Claim(f"image {name}", where, name, name if there else None if composed else "", cited)


def _cited(text: str) -> str:
    """The address of `repository:path`, at the commit it was read at."""
    repository, _, path = text.partition(":")
    return f"https://github.com/{repository}/blob/{READ_AT.get(text, 'HEAD')}/{path}"


def _write_systems(snapshot: Snapshot) -> int:
    """Add the systems of releases that rocm_systems.csv lacks; the number of rows added."""
    rows = [(r.rocm, r.family, r.distribution, r.version, r.kernel, r.source) for r in rocm_systems()]
    known = {row[0] for row in rows}
    new = [
        (rocm, "", name, version, "", _cited(":".join(place)))
        for place in HISTORY
        for (rocm, name), versions in systems(snapshot.text(*place) or "ROCm Version").items()
        for version in versions
        if rocm not in known
    ]
    if "7.14.0" not in known:
        there = listed_systems(snapshot.text(*INSTINCT) or "")
        new += [("7.14.0", "instinct", *row, _cited(":".join(INSTINCT))) for row in there]

    def order(row: tuple[str, ...]) -> tuple[object, ...]:
        numbers = tuple(tuple(map(int, re.findall(r"\d+", row[field]))) for field in (0, 3))
        return numbers[0], row[1], row[2], numbers[1]

    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(SYSTEMS_COLUMNS)
    writer.writerows(sorted({*rows, *new}, key=order))
    SYSTEMS_CSV.write_text(buffer.getvalue(), encoding="utf-8")
    return len(new)


def write(snapshot: Snapshot) -> str:
    """Rewrite the versions of libraries that the snapshot has a source for, add releases' systems; keep the others."""
    new = library_versions(snapshot)
    rows = {}
    for (name, rocm), (version, text) in new.items():
        rows[name, rocm] = version, _cited(text)
    for record in rocm_libraries.library_versions():
        rows.setdefault((record.library, record.rocm), (record.version, record.source))
    order = sorted(rows, key=lambda key: (key[0].lower(), tuple(map(int, key[1].split(".")))))
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(rocm_libraries.COLUMNS)
    writer.writerows((*key, *rows[key]) for key in order)
    LIBRARIES_CSV.write_text(buffer.getvalue(), encoding="utf-8")
    return (
        f"{LIBRARIES_CSV.name}: {len(new)} of {len(rows)} rows from sources; {_write_systems(snapshot)} systems added"
    )


def claims(snapshot: Snapshot) -> Iterator[Claim]:
    """Every claim that AMD's documentation decides."""
    for part in (_days, _products, _hip, _systems, _instinct, _drivers, _pages, _images):
        yield from part(snapshot)
