"""Small CUDA programs with their answers, ported and run as machine code of both wavefront widths: right, named, wrong.

    python benchmarks/adversarial.py [--round NAME] [--half looked-at|aside] [--show] [CASE...]
    python benchmarks/adversarial.py --originals       # where nvcc and an NVIDIA GPU are: are the answers CUDA's?

Every file adversarial/ROUND.txt holds cases, each written with its answer before anything was run:

    #### name                 its half: the first byte of sha1(name) is even for the half that may be looked at
    = a line CUDA prints      several in order; with neither kind of line it prints "same"
    ! words                   a line of the source with these words may have a REVIEW or MANUAL instead; where no line
    ...                       says what is printed it must have one
    ---- another/file         further files of the case; `show.h` is beside each

A case is right when its port prints the answer on gfx942 and gfx1100, named when it does not but one of the places
named has a finding, else wrong. Of the half set aside only counts are printed; --show names them, and spends it.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rocport import api
from rocport.executor.base import BuildError, BuildOptions, RunOptions
from rocport.executor.isa.runtime.executor import IsaExecutor
from rocport.executor.limits import Limits
from rocport.executor.program import ProgramError, load_program
from rocport.facts.targets import wave_target
from rocport.model import Applicability, Finding

FOLDER = Path(__file__).with_suffix("")
PROCESSOR_SECONDS = 60
"""Of a run, on all cores: a busy machine puts nothing out of time, and what hangs is spinning."""
NVCC = ("nvcc", "-std=c++17", "-arch=native", "--extended-lambda", "--expt-relaxed-constexpr", "-o", "app", "main.cu")
UNBUILT = "not built by this toolkit"
LIBRARIES = ("-lcublas", "-lcufft", "-lcurand", "-lcusolver", "-lcusparse", "-lnvrtc", "-lcuda")


@dataclass(frozen=True)
class Case:
    """A program, and what is right for it."""

    name: str
    files: dict[str, str]
    prints: tuple[str, ...]
    places: tuple[str, ...]

    @property
    def aside(self) -> bool:
        return hashlib.sha1(self.name.encode(), usedforsecurity=False).digest()[0] % 2 == 1


@dataclass(frozen=True)
class Verdict:
    """`kind` is right, loud (right, and something is REVIEW or MANUAL), named or wrong."""

    case: Case
    kind: str
    why: str
    findings: tuple[str, ...]


def cases(text: str) -> Iterator[Case]:
    """The cases of one table."""
    for block in text.split("#### ")[1:]:
        name, _, body = block.partition("\n")
        prints, places, path = [], [], "main.cu"
        files: dict[str, str] = {}
        for line in body.splitlines():
            if line.startswith("= "):
                prints.append(line[2:])
            elif line.startswith("! "):
                places.append(line[2:])
            elif line.startswith("---- "):
                path = line[5:]
            else:
                files[path] = files.get(path, "") + line + "\n"
        yield Case(name, files, tuple(prints if prints or places else ("same",)), tuple(places))


def judge(case: Case, executor: IsaExecutor) -> Verdict:
    """Port one case, run it at both widths, compare."""
    with tempfile.TemporaryDirectory(prefix="rocport-adversarial-") as name:
        folder = Path(name)
        _write(case, folder / "cuda")
        patch = api.port(folder / "cuda")
        api.apply(patch, folder / "hip")
        loud = [item for item in patch.findings if item.applicability is not Applicability.SAFE]
        why = _run(case, folder, executor) if case.prints else "it has to be named"
    said = tuple(f"{item.path}:{item.line}: {item.rule} ({item.applicability.value}): {item.message}" for item in loud)
    kind = ("loud" if loud else "right") if not why else "named" if _named(case, loud) else "wrong"
    return Verdict(case, kind, why, said)


def _write(case: Case, folder: Path) -> None:
    for path, text in {"show.h": (FOLDER / "show.h").read_text(), **case.files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def original(case: Case) -> str:
    """What is wrong with a case's answer, by nvcc and the NVIDIA GPU here; empty where it is CUDA's."""
    with tempfile.TemporaryDirectory(prefix="rocport-original-") as name:
        folder = Path(name)
        _write(case, folder)
        commands: list[tuple[str, ...]] = [("make", "-s", "app"), ("make", "-s", "run")]
        if "Makefile" not in case.files:
            commands = [(*NVCC, *LIBRARIES), ("./app",)]
        for command in commands if case.prints else commands[:1]:
            try:
                ended = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600)
            except subprocess.TimeoutExpired:
                return f"{command[0]}: out of time"
            if ended.returncode and command is commands[0]:
                return f"{UNBUILT}: {(ended.stderr + ended.stdout)[-600:]}"
        if not case.prints:
            return ""
        got = tuple(line.rstrip() for line in ended.stdout.splitlines())
    return "" if got == case.prints else f"status {ended.returncode}: {' / '.join(got)[:300]!r}, not {case.prints}"


def originals(only: Sequence[str], rounds: Sequence[str] | None = None) -> int:
    """Check the answers of all cases, or of those of some rounds; 1 where one is not CUDA's."""
    if missing := next((tool for tool in ("nvcc", "nvidia-smi") if not shutil.which(tool)), None):
        sys.exit(f"--originals needs nvcc and an NVIDIA GPU: no {missing} is on PATH")
    tables = [table for table in sorted(FOLDER.glob("*.txt")) if not rounds or table.stem in rounds]
    asked = [case for table in tables for case in cases(table.read_text())]
    asked = [case for case in asked if not only or case.name in only]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        said = dict(zip((case.name for case in asked), pool.map(original, asked), strict=True))
    for name, why in said.items():
        if why:
            print(f"  {name}: {why}")
    unbuilt = sum(why.startswith(UNBUILT) for why in said.values())
    right = sum(not why for why in said.values())
    wrong = len(said) - right - unbuilt
    print(f"{right} of {len(said)} answers are what CUDA prints, {wrong} are not; {unbuilt} {UNBUILT}")
    return int(bool(wrong))


def _named(case: Case, loud: Sequence[Finding]) -> bool:
    texts = {path: text.splitlines() for path, text in case.files.items()}
    return any(
        place in line
        for item in loud
        for line in texts.get(item.path, [])[item.line - 1 : max(item.line, item.end_line)]
        for place in case.places
    )


def _run(case: Case, folder: Path, executor: IsaExecutor) -> str:
    """What is wrong with the run; empty where nothing is."""
    (folder / "build").mkdir()
    try:
        program = load_program(folder / "hip" if "Makefile" in case.files else folder / "hip" / "main.cu")
        executable = executor.build(program, folder / "build", BuildOptions())
    except (BuildError, ProgramError) as error:
        return f"does not build: {error}"
    for width in (64, 32):
        options = RunOptions(width=width, poison=0xFF, limits=Limits(seconds=1800, processor_seconds=PROCESSOR_SECONDS))
        result = executor.run(executable, (), folder / "hip", options)
        got = tuple(line.rstrip() for line in result.stdout.splitlines())
        if got != case.prints:
            how = "out of time" if result.timed_out else f"status {result.status}" if result.status else ""
            return f"at width {width}: {how} {' / '.join(got)[:200]!r} {result.stderr.strip()[-300:]}"
    return ""


def main() -> int:
    """Judge and count; 1 where a case is wrong."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("only", nargs="*", metavar="CASE")
    options.add_argument("--round", action="append", help="the table; default: all")
    options.add_argument("--half", choices=("looked-at", "aside"), help="default: both")
    options.add_argument("--show", action="store_true", help="name the cases of the half set aside, too")
    options.add_argument(
        "--originals", action="store_true", help="with nvcc, on the NVIDIA GPU here: check the answers"
    )
    given = options.parse_args()
    if given.originals:
        return originals(given.only, given.round)
    executor = IsaExecutor(wave_target(64).name, wave_target(32).name)
    if refusal := executor.probe().refusal:
        sys.exit(refusal)
    wrong = 0
    for table in sorted(FOLDER.glob("*.txt")):
        if given.round and table.stem not in given.round:
            continue
        for aside, half in ((False, "looked-at"), (True, "aside")):
            if given.half not in (None, half):
                continue
            begin, counts = time.perf_counter(), Counter[str]()
            for case in cases(table.read_text()):
                if case.aside is not aside or (given.only and case.name not in given.only):
                    continue
                verdict = judge(case, executor)
                counts[verdict.kind] += 1
                if verdict.kind != "right" and (given.show or not aside):
                    print(f"  {verdict.kind} {case.name}: {verdict.why}")
                    for line in verdict.findings:
                        print(f"    {line}", flush=True)
            total = sum(counts.values())
            wrong += counts["wrong"]
            print(
                f"{table.stem}, {half}: {total - counts['wrong']} of {total} right or named; {counts['right']} right, "
                f"{counts['loud']} right beside a REVIEW or MANUAL, {counts['named']} named, {counts['wrong']} wrong "
                f"({time.perf_counter() - begin:.0f} s)",
                flush=True,
            )
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
