"""Which ROCm libraries bitsandbytes' wheels hold, for which targets, and how one is chosen.

From the wheels themselves (`wheels/bitsandbytes-*.whl` in the snapshot), else from its build and its loader.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from fact_sources.claim import Claim, listed
from fact_sources.snapshot import Snapshot
from rocport.doctor.probes.codeobjects import read_library
from rocport.facts.packages import package
from rocport.facts.targets import all_targets, canonical

REPOSITORY = "bitsandbytes-foundation/bitsandbytes"
WORKFLOW, LOADER = ".github/workflows/python-package.yml", "bitsandbytes/cextension.py"
WHERE = "packages/bitsandbytes.toml"


def built(workflow: str) -> list[str]:
    """ROCm versions (`7.2`) that the workflow builds a Linux library for."""
    job = re.search(
        r"^  build-rocm:.*?rocm_version:\s*(\[[^\]]*\]|(?:\n\s+- [^\n]*)+)", workflow, re.DOTALL | re.MULTILINE
    )
    return [".".join(version.split(".")[:2]) for version in re.findall(r"\d+\.\d+(?:\.\d+)?", job[1])] if job else []


def carried(wheel: Path) -> dict[str, set[str]]:
    """ROCm library (`714`) in a wheel -> targets of its code objects."""
    found = {}
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        for name in archive.namelist():
            library = re.search(r"libbitsandbytes_rocm(\d+)\.so$", name)
            if library:
                path = Path(archive.extract(name, folder))
                found[library[1]] = {canonical(target) for target in read_library(path).targets}
    return found


def _wheels(snapshot: Snapshot) -> dict[str, dict[str, set[str]]]:
    """version -> what its Linux wheel carries, for every wheel in the snapshot."""
    files = sorted((snapshot.folder / "wheels").glob("bitsandbytes-*manylinux*x86_64.whl"))
    return {file.name.split("-")[1]: carried(file) for file in files}


def claims(snapshot: Snapshot) -> Iterator[Claim]:
    """Libraries and their choice by release; targets in each library of the newest wheel."""
    wheels = _wheels(snapshot)
    for record in package("bitsandbytes").wheels:
        version = max((v for v in wheels if _within(v, record.since, record.until)), default="")
        said = listed(build.replace(".", "") for build in record.builds)
        if version:
            says, text = listed(wheels[version]), f"wheels/bitsandbytes-{version}"
        else:
            workflow = snapshot.text_at(REPOSITORY, WORKFLOW, record.since)
            says = listed(build.replace(".", "") for build in built(workflow)) if workflow else None
            text = f"{REPOSITORY}:{WORKFLOW}"
        yield Claim(f"bitsandbytes {record.since}: libraries", WHERE, said, says, text)
        loader = snapshot.text(REPOSITORY, LOADER, version or record.since)
        choice = None if loader is None else "nearest" if "same major" in loader else "exact"
        yield Claim(f"bitsandbytes {record.since}: choice", WHERE, record.choice, choice, f"{REPOSITORY}:{LOADER}")
    newest = package("bitsandbytes").wheels[-1]
    version = max((v for v in wheels if _within(v, newest.since, newest.until)), default="")
    for target in all_targets():
        for record in target.library("bitsandbytes"):
            said = listed(name.removeprefix("rocm") for name in record.builds) or "none"
            has = [library for library, targets in wheels.get(version, {}).items() if target.name in targets]
            says = (listed(has) or "none") if version else None
            yield Claim(f"{target.name}: bitsandbytes", "targets", said, says, f"wheels/bitsandbytes-{version}")


def _within(version: str, since: str, until: str) -> bool:
    parts = [tuple(map(int, text.split("."))) for text in (version, since, until or "999")]
    return parts[1] <= parts[0] < parts[2]
