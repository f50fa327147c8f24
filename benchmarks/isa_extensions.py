# SPDX-License-Identifier: Apache-2.0
"""PyTorch extensions' own tests on their ports' machine code: what builds, and what passes, fails, is skipped and why.

    python benchmarks/isa_extensions.py --work DIR [--mirror DIR] [--width 64] [--only NAME ...] [--seconds 3600]
        [--keep] [--json FILE]

Each repository is fetched at its commit (`--mirror`: git directories `OWNER+NAME/repo`), ported, built by
`rocport run-extension --executor isa` and asked for its own tests, or for the part of them that the list below names.
A row is kept in DIR by what it depends on, rocport's sources among it (`--keep`: one of other sources stands, too, and
is said to be one), as are the objects of a build that was cut short: a run goes on where it stopped. What the tests
import besides PyTorch (scipy, einops, fast_soft_sort) is taken from PYTHONPATH. Exit 0.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rocport import api
from rocport.fleet.sources import Source, fetch
from rocport.model.digest import code_digest

_COUNTS = ("passed", "failed", "skipped", "errors")
_LAST = 6


@dataclass(frozen=True)
class Extension:
    """One repository and the part of its tests that is run; an empty `part`: all of them."""

    name: str
    commit: str
    tests: tuple[str, ...]
    part: str = ""
    environment: tuple[tuple[str, str], ...] = ()
    explained: tuple[tuple[str, str], ...] = ()
    """Words of a failed test's name, and why it fails."""


EXTENSIONS = (
    Extension("teddykoker/torchsort", "75df71db3122b1e5bdef1a659ad7708562a551d1", ("tests",)),
    Extension("pypi:warp-rnnt", "0.7.0", ("warp_rnnt/test.py",)),
    Extension("rusty1s/pytorch_scatter", "648dda3cf964731ffb4de11eafc445a83133eda4", ("test",)),
    Extension("rusty1s/pytorch_cluster", "3d1d9e3967c77c757a68d8aad37d0171e93018e2", ("test",)),
    # Of thousands: the smaller of two numbers of channels (and of three, the one that is no power of two), the widest
    # filter, one length that fills a block and one that does not, in all types.
    Extension(
        "Dao-AILab/causal-conv1d", "0d2252d161f25f7907bbd05985c08ab98d255874", ("tests",),
        "causal_conv1d[64-128-4 or causal_conv1d[64-151-4 or update[2064-4-4 or gather[2064-4-4 or varlen_states",
    ),
    # Of the lengths the shortest.
    Extension(
        "state-spaces/mamba", "e9594ce1c732d97440f0332fdc43170a2294dbfa", ("tests/ops/test_selective_scan.py",), "128",
        environment=(("MAMBA_KEEP_CUDA_BUILD", "TRUE"),),
    ),
)  # fmt: skip


def source_of(extension: Extension) -> Source:
    """Where it is fetched from: PyPI's sdist, or the commit of a repository."""
    kind, _, name = extension.name.rpartition(":")
    if kind:
        return Source(name, kind, name, extension.commit)
    return Source(extension.name, "git", f"https://github.com/{extension.name}", extension.commit)


def ported(extension: Extension, work: Path, mirror: Path | None) -> Path:
    """The folder of its port, by this rocport: where its text is the same, what was compiled of it stays of use."""
    source = source_of(extension)
    place = work / "port" / source.id
    tree = fetch(source, work, mirror)
    shutil.rmtree(place, ignore_errors=True)
    api.apply(api.port(tree, jobs=1), place)
    inner = [folder for folder in place.iterdir() if (folder / "setup.py").is_file()]
    return place if (place / "setup.py").is_file() else inner[0]


def read_counts(text: str) -> dict[str, int]:
    """What pytest says in its last line: `3 failed, 12 passed, 1 skipped in 4.2s`."""
    lines = [line for line in text.splitlines() if re.search(r"\d+ \w+.* in [\d.]+s", line)]
    said = {word.rstrip("s") + "s" * (word.startswith("error")): int(number)
            for number, word in re.findall(r"(\d+) (\w+)", lines[-1] if lines else "")}  # fmt: skip
    return {name: said.get(name, 0) for name in _COUNTS}


def tried(extension: Extension, folder: Path, width: int, seconds: float) -> dict[str, Any]:
    """Builds it and runs its tests: counts, the first failures, processor seconds, and where nothing ran the reason."""
    words = ["-m", "pytest", "-q", "-rfEs", "--tb=line", *extension.tests]
    words += ["-k", extension.part] if extension.part else []
    command = [
        sys.executable,
        "-m",
        "rocport",
        "run-extension",
        str(folder),
        "--executor",
        "isa",
        "--width",
        str(width),
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*command, "--timeout", str(seconds), "--", *words],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        env={**os.environ, **dict(extension.environment)},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = done.stdout + done.stderr
    counts = read_counts(done.stdout)
    launches = re.search(r"(\d+) kernel launches", said)
    units = re.search(r"building (\d+) units", said)
    failures = re.findall(r"^(?:FAILED|ERROR) (.*)$", said, re.MULTILINE)
    return {
        **counts,
        "status": done.returncode,
        "units": int(units[1]) if units else 0,
        "launches": int(launches[1]) if launches else 0,
        "cpu_seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime),
        "failures": failures,
        "skips": re.findall(r"^SKIPPED (.*)$", said, re.MULTILINE),
        "reason": "" if any(counts.values()) else " / ".join(said.strip().splitlines()[-_LAST:])[:1200],
    }


def main() -> int:
    """Fetch, port, build, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--mirror", type=Path)
    parser.add_argument("--width", type=int, choices=(32, 64), default=64)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    rows, sources = {}, code_digest(by_content=True)
    for extension in EXTENSIONS:
        if given.only and not any(word in extension.name for word in given.only):
            continue
        kept = given.work / f"{source_of(extension).id}-{given.width}.json"
        known = json.loads(kept.read_text()) if kept.is_file() else {}
        key = [extension.commit, list(extension.tests), extension.part]
        if known.get("key") != key or (known.get("sources") != sources and not given.keep):
            row = tried(extension, ported(extension, given.work, given.mirror), given.width, given.seconds)
            known = {"key": key, "sources": sources, "row": row}
            kept.write_text(json.dumps(known, indent=1))
        rows[extension.name] = {"commit": extension.commit, "part": extension.part, **known["row"]}
        show(extension, known["row"], "" if known["sources"] == sources else " (of other sources of rocport)")
    if given.json:
        given.json.write_text(json.dumps({"width": given.width, "extensions": rows}, indent=1) + "\n")
    return 0


def show(extension: Extension, row: dict[str, Any], note: str) -> None:
    """One line a repository, and its failures and skips with their reasons."""
    counts = ", ".join(f"{row[name]} {name}" for name in _COUNTS if row[name]) or f"nothing ran: {row['reason']}"
    part = f" (-k '{extension.part}')" if extension.part else ""
    spent = f"{row['units']} units, {row['launches']} launches, {row['cpu_seconds']} s of a processor"
    print(f"{extension.name}{part}: {counts}; {spent}{note}")
    for failure in row["failures"][:20]:
        why = next((why for words, why in extension.explained if words in failure), "not explained")
        print(f"    {failure[:200]}: {why}")
    for skip in row["skips"][:20]:
        print(f"    skipped {skip[:200]}")


if __name__ == "__main__":
    sys.exit(main())
