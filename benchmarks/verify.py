#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which level of verification catches planted defects, without an AMD GPU, and what it says of the unmutated programs.

    python benchmarks/verify.py [--only CLASS] [--levels scan,build,functional,watch] [--executor NAME] [--csv FILE]
                                [--work DIR] [--minutes M] [--right]

The defects are in plants.toml: one-line mutations of our self-checking programs and of the port of examples/rowstats.
Levels: `scan` (a finding that the right program does not have), `build` (it no longer compiles for gfx942 and gfx1100,
or has a new finding; needs the SDK), `32` and `64` (level functional at that width), `watch` (both widths, accesses
watched). `--executor isa` or `source` asks that one alone; by default the machine code, with the source beside it.
The defects are taken in the order of sha256 of their names, so that a run that `--minutes` cuts short is a fair sample;
with `--work` a defect that was asked about with the same sources of rocport is not asked about again.
`--right` looks at the right programs only: every verdict that is not `pass`, and every grave hazard, is a false alarm.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from click.testing import CliRunner

from rocport.cli import cli
from rocport.executor.base import BuildOptions, Executor
from rocport.executor.choice import MACHINE, SOURCE, Choice
from rocport.executor.cpu import CpuExecutor
from rocport.executor.isa.runtime.executor import IsaExecutor
from rocport.executor.program import Program
from rocport.facts._toml import read_toml
from rocport.facts.targets import wave_target
from rocport.model.digest import code_digest
from rocport.verify.functional import FunctionalOptions, ProgramResult, Verdict, verify_program

HERE = Path(__file__).resolve().parent
PROGRAMS = HERE.parent / "tests" / "executor" / "programs"
ROWSTATS = HERE.parent / "examples" / "rowstats"
PORTED = "port:"
LEVELS = ("scan", "build", "functional", "watch")
COLUMNS = ("scan", "build", "32", "64", "watch")
# Classes of which every defect has to be caught.
REQUIRED = ("wave-width", "uninitialised", "never-launched", "stride", "race-at-one-width", "rounding-order")


@dataclass(frozen=True)
class Plant:
    """One defect: a text that occurs once in a right program, and what it becomes."""

    kind: str
    file: str
    find: str
    replace: str

    @property
    def name(self) -> str:
        """Short, for the table."""
        return f"{self.file.removeprefix(PORTED)}: {' '.join(self.find.split())[:44]}"

    @property
    def rank(self) -> str:
        """What its place in the order and its file are named by."""
        return hashlib.sha256(repr(self).encode()).hexdigest()


@dataclass
class Outcome:
    """What each level said."""

    plant: Plant
    caught: dict[str, str] = field(default_factory=dict)
    """Level -> how it was reported; empty: not caught. A level that was not tried is missing."""

    @property
    def found(self) -> bool:
        return any(self.caught.values())


class _Keeping:
    """Builds a program once for all the runs that ask for the same build."""

    def __init__(self, executor: Executor, folder: Path) -> None:
        self._build, self._folder = executor.build, folder
        self._built: dict[tuple[tuple[str, ...], BuildOptions], Path] = {}

    def build(self, program: Program, _folder: Path, options: BuildOptions = BuildOptions()) -> Path:  # noqa: B008
        """As the executor's, below a folder that outlives the run."""
        key = (tuple(str(unit.source) for unit in program.units), options)
        if key not in self._built:
            self._built[key] = self._build(program, self._folder / str(len(self._built)), options)
        return self._built[key]


@dataclass(frozen=True)
class Executors:
    """The two that level functional takes, each keeping what it built."""

    machine: IsaExecutor | None
    source: CpuExecutor | None

    @classmethod
    def below(cls, folder: Path, name: str = "") -> Executors:
        """Those that `name` means (`isa`, `source`; empty: both), building below `folder`."""
        machine = IsaExecutor() if name in ("", MACHINE) else None
        source = CpuExecutor() if name in ("", SOURCE, "source") else None
        for executor in (machine, source):
            if executor is not None:
                kept = _Keeping(executor, folder / executor.name)
                executor.build = kept.build  # type: ignore[method-assign]
        return cls(machine, source)

    def choice(self, widths: tuple[int, ...]) -> Choice:
        """For the targets that stand for these widths."""
        targets = tuple(wave_target(width).name for width in widths)
        machine = (self.machine, replace(self.machine.probe(), targets=targets)) if self.machine else None
        return Choice(machine, (self.source, self.source.probe()) if self.source else None)


def plants() -> list[Plant]:
    """All planted defects."""
    return [Plant(p["class"], p["file"], p["find"], p["replace"]) for p in read_toml(HERE / "plants.toml")["plant"]]


def port_rowstats(folder: Path) -> Path:
    """The port of examples/rowstats with the program that checks it; returns that program."""
    subprocess.run(
        [sys.executable, "-m", "rocport", "port", str(ROWSTATS), "--out", str(folder)],
        capture_output=True,
        check=False,
    )
    return folder / "check" / "check.cu"


def right_program(file: str, folder: Path) -> tuple[Path, Path]:
    """A copy of the right program below `folder`: (the program, the file that is mutated)."""
    if file.startswith(PORTED):
        program = port_rowstats(folder)
        return program, folder / file.removeprefix(PORTED)
    folder.mkdir()
    for name in (file, "check.h"):
        shutil.copy(PROGRAMS / name, folder)
    return folder / file, folder / file


def mutate(path: Path, plant: Plant) -> None:
    """Plants the defect.

    Raises:
        ValueError: the text does not occur exactly once.
    """
    text = path.read_text()
    if text.count(plant.find) != 1:
        raise ValueError(f"{plant.file}: expected once, found {text.count(plant.find)} times: {plant.find!r}")
    path.write_text(text.replace(plant.find, plant.replace))


def functional(executors: Executors, program: Path, widths: tuple[int, ...], watch: bool) -> ProgramResult:
    """Level functional."""
    options = FunctionalOptions(widths=widths, optimize="-O1", timeout_s=120, watch=watch)
    return verify_program(executors.choice(widths), program, options)


def report(result: ProgramResult) -> str:
    """How a result is reported; empty when it passes."""
    if result.verdict is Verdict.PASS:
        return ""
    kinds = sorted({hazard.kind for hazard in result.hazards if hazard.grave})
    return f"{result.verdict.value}" + (f" ({', '.join(kinds)})" if kinds else "")


def scan_findings(path: Path) -> Counter[str]:
    """Rules that `rocport scan` reports, with how often. It reads CUDA sources: the text is given to it as one."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / path.with_suffix(".cu").name
        shutil.copy(path, copy)
        done = CliRunner().invoke(cli, ["scan", str(copy), "--format", "json"])
    try:
        found = json.loads(done.stdout)["findings"]
    except (ValueError, KeyError):
        return Counter()
    return Counter(str(finding.get("rule")) for finding in found)


def build_findings(program: Path) -> Counter[str]:
    """What level build says of one program: `fail`, or the codes of its findings; `skipped` without a compiler."""
    done = subprocess.run(
        [sys.executable, "-m", "rocport", "verify", "--level", "build", str(program), "--format", "json", "--no-cache",
         "-I", str(program.parent), "-D", "HIP_ENABLE_WARP_SYNC_BUILTINS"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    try:
        units = json.loads(done.stdout)["units"]
    except (ValueError, KeyError):
        return Counter(["skipped"])
    found: Counter[str] = Counter()
    for unit in units:
        if unit["status"] == "fail":
            found["fail"] += 1
        found.update(finding["code"] for finding in unit["findings"])
    return found


@cache
def of_right(file: str) -> tuple[Counter[str], Counter[str]]:
    """What scan and build say of the right program."""
    with tempfile.TemporaryDirectory(prefix="rocport-right-") as folder:
        program, changed = right_program(file, Path(folder) / "right")
        return scan_findings(changed), build_findings(program)


def try_plant(plant: Plant, levels: tuple[str, ...], scratch: Path, name: str = "") -> Outcome:
    """Plants one defect and asks every level."""
    outcome = Outcome(plant)
    program, changed = right_program(plant.file, scratch / "planted")
    mutate(changed, plant)
    if "scan" in levels:
        outcome.caught["scan"] = ", ".join(scan_findings(changed) - of_right(plant.file)[0])
    if "build" in levels:
        outcome.caught["build"] = ", ".join(build_findings(program) - of_right(plant.file)[1])
    executors = Executors.below(scratch / "built", name)
    if "functional" in levels:
        for width in (32, 64):
            outcome.caught[str(width)] = report(functional(executors, program, (width,), False))
    if "watch" in levels:
        outcome.caught["watch"] = report(functional(executors, program, (32, 64), True))
    return outcome


def right_ones(folder: Path, name: str = "") -> Iterator[tuple[str, ProgramResult]]:
    """Every right program with its accesses watched, at both widths."""
    executors = Executors.below(folder / "built", name)
    for program in (*sorted(PROGRAMS.glob("*.hip")), port_rowstats(folder / "port")):
        yield program.name, functional(executors, program, (32, 64), True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="one class")
    parser.add_argument("--levels", default=",".join(LEVELS))
    parser.add_argument("--executor", default="", choices=["", MACHINE, SOURCE, "source"])
    parser.add_argument("--csv", type=Path)
    parser.add_argument("--work", type=Path, help="folder where answers are kept")
    parser.add_argument("--minutes", type=float, default=0, help="ask about no new defect after M minutes")
    parser.add_argument("--right", action="store_true", help="only the right programs: false alarms")
    arguments = parser.parse_args()
    if arguments.right:
        return false_alarms(arguments.executor)
    levels = tuple(arguments.levels.split(","))
    outcomes: list[Outcome] = []
    print(f"{'class':18} {'defect':72} " + " ".join(f"{column:>6}" for column in COLUMNS) + "  reported as")
    # What an answer rests on: rocport, this file, and the programs that defects are planted in.
    rests_on = [Path(__file__), *sorted(PROGRAMS.rglob("*")), *sorted(ROWSTATS.rglob("*"))]
    texts = b"\0".join(path.read_bytes() for path in rests_on if path.is_file())
    key = [
        code_digest(by_content=True) if arguments.work else "",
        hashlib.sha256(texts).hexdigest(),
        list(levels),
        arguments.executor,
    ]
    began = time.monotonic()
    for plant in sorted(plants(), key=lambda plant: plant.rank):
        if arguments.only and plant.kind != arguments.only:
            continue
        kept = arguments.work / f"{plant.rank[:16]}.json" if arguments.work else None
        outcome = answered(kept, plant, key)
        if outcome is None:
            if arguments.minutes and time.monotonic() - began > 60 * arguments.minutes:
                continue
            with tempfile.TemporaryDirectory(prefix="rocport-plant-") as scratch:
                outcome = try_plant(plant, levels, Path(scratch), arguments.executor)
            if kept:
                kept.parent.mkdir(parents=True, exist_ok=True)
                kept.write_text(json.dumps({"key": key, "caught": outcome.caught}))
        outcomes.append(outcome)
        marks = " ".join(
            f"{'-' if column not in outcome.caught else 'yes' if outcome.caught[column] else 'no':>6}"
            for column in COLUMNS
        )
        said = next((outcome.caught[c] for c in ("watch", "64", "32", "build", "scan") if outcome.caught.get(c)), "")
        print(f"{plant.kind:18} {plant.name:72} {marks}  {said}", flush=True)
    if arguments.csv:
        write_csv(arguments.csv, outcomes)
    return summary(outcomes)


def answered(kept: Path | None, plant: Plant, key: Sequence[object]) -> Outcome | None:
    """What was kept of a defect that was asked about in the same way."""
    known = json.loads(kept.read_text()) if kept and kept.is_file() else {}
    return Outcome(plant, known["caught"]) if known.get("key") == key else None


def summary(outcomes: list[Outcome]) -> int:
    """Prints caught / planted for each class; 1 when a class that has to be caught is not."""
    print()
    missed = False
    for kind in dict.fromkeys(outcome.plant.kind for outcome in outcomes):
        of_kind = [outcome for outcome in outcomes if outcome.plant.kind == kind]
        caught = sum(outcome.found for outcome in of_kind)
        missed |= caught < len(of_kind) and kind in REQUIRED
        by_level = ", ".join(
            f"{column} {sum(bool(outcome.caught.get(column)) for outcome in of_kind)}" for column in COLUMNS
        )
        print(f"{kind:18} {caught} of {len(of_kind)}   ({by_level})")
    print(f"{'all':18} {sum(outcome.found for outcome in outcomes)} of {len(outcomes)}")
    return int(missed)


def write_csv(path: Path, outcomes: list[Outcome]) -> None:
    """One row a defect. What an earlier run wrote of other defects, and of levels not tried now, is kept."""

    def key(plant: Plant) -> tuple[str, str, str]:
        return plant.kind, plant.file, " ".join(plant.find.split())

    rows: dict[tuple[str, ...], dict[str, str]] = {}
    if path.is_file():
        with path.open(newline="") as stream:
            rows = {(row["class"], row["file"], row["mutated"]): row for row in csv.DictReader(stream)}
    for outcome in outcomes:
        rows[key(outcome.plant)] = {**rows.get(key(outcome.plant), {}), **outcome.caught}
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["class", "file", "mutated", *COLUMNS])
        for plant in plants():
            known = rows.get(key(plant), {})
            writer.writerow([*key(plant), *(known.get(column, "not tried") for column in COLUMNS)])


def false_alarms(executor: str = "") -> int:
    """Prints what is said of right programs."""
    alarms = count = 0
    with tempfile.TemporaryDirectory(prefix="rocport-right-") as folder:
        for name, result in right_ones(Path(folder), executor):
            count += 1
            said = report(result)
            if said:
                alarms += 1
                print(f"{name}: {said}: {result.reason}")
    print(f"{alarms} false alarms in {count} right programs")
    return int(alarms > 0)


if __name__ == "__main__":
    sys.exit(main())
