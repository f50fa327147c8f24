# SPDX-License-Identifier: Apache-2.0
"""Public CUDA programs through the port and the ISA executor: what compiles, links, runs, and passes its own check.

    python benchmarks/isa_programs.py --work DIR [--mirror DIR] [--half tuned|looked|aside|fresh|odd] [--units N]
        [--minutes M] [--seconds 60] [--patience 8] [--targets gfx942,gfx1100] [--only TEXT ...] [--part 1/2] [--keep]
        [--json FILE]

The programs are those of isa_programs.toml: public repositories, each at its commit, fetched as benchmarks/real.py does
(`--mirror`: git directories `OWNER+NAME/repo`). Each repository is ported once, each program built for the targets with
rocport's runtime and run on each, in the list's sizes. They are taken in the order of sha256 of their names, so that a
run cut short (`--units`, `--minutes`) is a fair sample. A program checks itself when it prints a word of success or of
failure. One that does not link because this machine lacks a library that is not ROCm's (OpenGL, GLUT, MPI, EGL, X11,
Vulkan, NVML: the undefined symbols say so) is counted apart, as one whose header is missing is: it does not compile.

A run may take the processor time that two cores have in `--seconds`: the kernel counts it (RLIMIT_CPU), so that other
work on the machine puts no program out of time; by the clock it may take `--patience` times as long. The translation of
kernels is another process and does not count there; the seconds printed are of a processor, with it.

The halves: `tuned` and `looked` are those of the first list, the second of them tuned on only after its one look;
`aside` is a list written down after that, on which nothing is tuned. A second list has halves of its own: `fresh`,
tuned on, and `odd`, set aside.

What failed is explained in isa_programs.toml, by cause. Own defects of a program, and what its target, or a machine of
one device without a display, cannot have, no port and no executor can mend: the share of checks is given with them and
without them. What is not explained is named.

A program whose own assertion fails in a kernel ends by SIGABRT, as with ROCm's runtime: it is counted as one that ran
(`asserted`), its check as not passed. A sample of NVIDIA's that ends with its status for "not on this machine" ran and
has no check here (`waived`). Where the README beside a program prints what it puts out ("example output", as NVIDIA's
library samples do), the words are compared, and counted apart: `as documented`, `not as documented`.

Results lie in DIR/programs, one file a program; one that was measured with the same sources of rocport is not measured
again, with `--keep` neither one that was measured with others (how many is said). One line a program; failures with
their cause, and what isa_programs.toml explains of it. Exit 0.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from real import Repository, obtain

from rocport.executor.amd import width_of
from rocport.executor.base import BuildError, BuildOptions, RunOptions, RunResult
from rocport.executor.isa.runtime.executor import IsaExecutor
from rocport.executor.limits import Limits
from rocport.executor.program import Program, ProgramError, load_program
from rocport.facts._toml import read_toml
from rocport.model import HANGING_S
from rocport.model.digest import code_digest
from rocport.project.languages import KERNEL_SOURCES
from rocport.scan.revision import RevisionError

LIST = Path(__file__).with_name("isa_programs.toml")
_MAIN = re.compile(rb"\b(?:int|void|auto)\s+main\s*\(|^\s*main\s*\(", re.MULTILINE)
_WRONG = re.compile(r"\b(?:FAIL(?:ED|S|URE)?|MISMATCH(?:ES|ED)?|INCORRECT|WRONG|ERROR)\b", re.IGNORECASE)
_NO_FAULT = re.compile(
    r"\b(?:0|no|none|without)\s+(?:\w+\s+){0,2}(?:fail|mismatch|error|wrong)\w*"
    r"|(?:error|fail|mismatch)\w*\s*[:=]\s*0\b(?!\.0*[1-9])"
    r"|error(?:\s+amount)?\s*[:=]\s*[-+]?\d+\.\d+(?:e[-+]?\d+)?"
    r"|non-matching [^\n]*: 0\b|errors?\s*\([^)\n]*\)\s*[:=]"
    r"|(?:max(?:imum)?|relative|abs(?:olute)?|rms|l[12])[- ]?(?:norm |rms |relative )?error",
    re.IGNORECASE,
)
_RIGHT = re.compile(
    r"\b(?:PASS(?:ED|ES)?|SUCCESS(?:FUL|FULLY)?|SUCCEED(?:ED|S)|COMPLETED|CORRECT(?:LY)?|VERIFIED|OK|MATCH(?:ES)?)\b"
    r"|non-matching [^\n]*: 0\b",
    re.IGNORECASE,
)
_CHECKS = re.compile(rb"pass(?:ed)?\b|fail|success|mismatch|correct|match|error at|verif", re.IGNORECASE)
_UNSERVED = re.compile(r"^rocport: (.+?) is not served", re.MULTILINE)
_UNMATCHED = re.compile(r"non-matching [^\n]*: [1-9]", re.IGNORECASE)
_OTHERS = re.compile(r"undefined symbol: (?:gl|GL|egl|MPI_|vk|X[A-Z]|nvml|ompi_)")
_DOCUMENTED = re.compile(r"example output:?\s*```[^\n]*\n(.*?)```", re.IGNORECASE | re.DOTALL)
_CORES = 2
_ENDED = ("pass", "ended", "wrong", "status", "out of time", "asserted", "waived")
_UNCHECKED = ("ended", "waived")
_ASSERTED = "a trap: an assertion failed"
_WAIVED = re.compile(r"\b(?:required|waiv\w+|not supported|no capable|need(?:s|ed)? at least)\b", re.IGNORECASE)
_NOT_OURS = ("program", "hardware", "library", "data")
"""Causes of isa_programs.toml that neither the port nor the executor can mend."""
_HALVES = {
    "tuned": "tuned",
    "looked": "tuned since its one look",
    "aside": "set aside",
    "fresh": "second list, tuned",
    "odd": "second list, set aside",
}
_AS = {None: "", True: ", as documented,", False: ", not as documented,"}
_EXIT_WAIVED = 2
"""What NVIDIA's samples end with where the machine has not what they show (Common/helper_string.h)."""


@dataclass(frozen=True)
class Listed:
    """One program of the list: a folder or a file of a repository."""

    repository: Repository
    path: str
    arguments: tuple[str, ...] | None
    flags: tuple[str, ...]
    cut: tuple[tuple[str, str, str], ...] = ()
    """Files, what each holds and what it is to hold instead."""
    aside: bool | str = False
    """Nothing is tuned on it; "odd": nor on those whose sha256 is odd."""

    def shorten(self, tree: Path) -> None:
        """Make the cut in a tree, once."""
        for name, old, new in self.cut:
            file = tree / name
            file.write_text(file.read_text().replace(old, new))

    @property
    def name(self) -> str:
        return f"{self.repository.name}/{self.path}"

    @property
    def half(self) -> str:
        """One of `_HALVES`."""
        odd = bool(hashlib.sha256(self.name.encode()).digest()[-1] & 1)
        if self.aside:
            return "aside" if self.aside is True else "odd" if odd else "fresh"
        return "looked" if odd else "tuned"

    @property
    def rank(self) -> str:
        return hashlib.sha256(self.name.encode()).hexdigest()


def listed(work: Path, mirror: Path | None) -> Iterator[Listed]:
    """The programs of the list; what cannot be fetched is said and left out."""
    for raw in read_toml(LIST)["source"]:
        repository = Repository(raw["name"], raw["each"], raw["commit"])
        try:
            tree = obtain(repository, work, mirror)
        except (OSError, subprocess.CalledProcessError, RevisionError) as error:
            print(f"{repository.name}: not fetched: {error}")
            continue
        for path in programs(tree, raw["under"], raw["each"], raw.get("checked", False)):
            if path in raw.get("leave", {}) or not re.search(raw.get("only", ""), path):
                continue
            arguments = raw.get("arguments", {}).get(path)
            flags = (*raw.get("compile", ()), *raw.get("flags", {}).get(path, ()))
            cut = tuple((file, *words) for file, words in raw.get("cut", {}).items() if Path(file).is_relative_to(path))
            yield Listed(
                repository, path, None if arguments is None else tuple(arguments), flags, cut, raw.get("aside", False)
            )


def programs(tree: Path, under: Sequence[str], each: str, checked: bool = False) -> list[str]:
    """Folders or files below `under` with device code and a main function; `checked`: and with a word of a check."""
    found = set()
    for path in sorted(one for folder in under for one in (tree / folder).rglob("*")):
        if not path.is_file() or path.suffix not in (*KERNEL_SOURCES, ".cpp", ".c"):
            continue
        text = path.read_bytes()
        if not _MAIN.search(text) or (checked and not _CHECKS.search(text)):
            continue
        if each == "file" and path.suffix in KERNEL_SOURCES:
            found.add(path)
        elif each == "folder" and any(one.suffix in KERNEL_SOURCES for one in path.parent.rglob("*")):
            found.add(path.parent)
    return sorted(path.relative_to(tree).as_posix() for path in found)


def ported(repository: Repository, tree: Path, work: Path, key: str, keep: bool) -> Path:
    """The port of a repository, made where there is none of these sources of rocport (with `keep`, none at all)."""
    out = work / "ported" / repository.folder
    mark = out.with_suffix(".key")
    if out.is_dir() and mark.is_file() and (keep or mark.read_text() == key):
        return out
    shutil.rmtree(out, ignore_errors=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "rocport", "port", str(tree), "--out", str(out), "--format", "concise"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=HANGING_S, check=False)
    if not out.is_dir():
        raise ProgramError(f"not ported: {done.stderr.strip()[-200:]}")
    mark.write_text(key)
    return out


def verdict(result: RunResult) -> tuple[str, str]:
    """What a run showed, and why."""
    last = ([line for line in result.stderr.splitlines() if line.startswith("rocport:")] or [""])[-1][:200]
    text = _NO_FAULT.sub("", result.stdout)
    if result.timed_out:
        return "out of time", last
    if result.status == 86:
        return "not translated", last
    if result.status < 0 and _ASSERTED in last:
        return "asserted", last
    if result.status == _EXIT_WAIVED and _WAIVED.search(text):
        return "waived", text.strip().splitlines()[-1][:120]
    if result.status < 0:
        return "crashed", f"signal {-result.status} {last}"
    for lines in (_UNMATCHED, _WRONG):
        if lines.search(text):
            return "wrong", next(line for line in text.splitlines() if lines.search(line)).strip()[:120] + f" {last}"
    if result.status:
        return "status", f"{result.status} {last or (result.stdout + result.stderr).strip()[-160:]}"
    return ("pass" if _RIGHT.search(result.stdout) else "ended"), ""


def documented(folder: Path) -> list[str]:
    """Words of the output that the README of a folder prints; none where it prints none, or not one alone."""
    readme = folder / "README.md"
    found = _DOCUMENTED.findall(readme.read_text(encoding="utf-8", errors="replace")) if readme.is_file() else []
    return found[0].split() if len(found) == 1 else []


def measure(one: Listed, place: Path, scratch: Path, targets: list[str], limits: Limits) -> dict[str, Any]:
    """Build and run one program of a port; the row that is kept.

    A file that does not link and is the only program of its folder is built with the folder's other sources.
    """
    row: dict[str, Any] = {"name": one.name, "half": one.half}
    executor = IsaExecutor()
    began = time.monotonic()
    try:
        try:
            program, executable = _built(one, place / one.path, scratch)
        except BuildError as error:
            whole = (place / one.path).parent
            alone = one.repository.kind == "file" and len(programs(whole, ["."], "file")) == 1
            if "link failed" not in str(error) or not alone:
                raise
            program, executable = _built(one, whole, scratch)
    except ProgramError as error:
        return row | {"step": "program", "cause": str(error)[:240]}
    except BuildError as error:
        step = "compile" if "link failed" not in str(error) else "library" if _OTHERS.search(str(error)) else "link"
        return row | {"step": step, "cause": str(error)[:300]}
    row |= {"step": "run", "build_seconds": round(time.monotonic() - began, 1), "runs": {}}
    arguments = one.arguments if one.arguments is not None else program.runs[0] if program.runs else ()
    folder = program.folder
    beside = place / one.path
    expected = documented(beside if beside.is_dir() else beside.parent)
    for target in targets:
        before = os.times()
        result = executor.run(executable, arguments, folder, RunOptions(width_of(target), target=target, limits=limits))
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        kind, why = verdict(result)
        row["runs"][target] = {
            "verdict": kind,
            "cause": why,
            "seconds": round(result.seconds, 1),
            "processor": round(spent, 1),
            "said": result.stdout[-20000:],
            "documented": expected == result.stdout.split() if expected else None,
            "unserved": _UNSERVED.findall(result.stderr),
        }
    return row


def _built(one: Listed, path: Path, scratch: Path) -> tuple[Program, Path]:
    program = load_program(path)
    units = tuple(replace(unit, flags=(*unit.flags, *one.flags)) for unit in program.units)
    program = replace(program, units=units)
    return program, IsaExecutor().build(program, scratch, BuildOptions(optimize="-O2"))


def _fits(known: dict[str, Any], targets: list[str], seconds: float) -> bool:
    """Whether a kept result is one of these targets and this limit, or would have been the same within it."""
    if not known or known["run"][0] != targets:
        return False
    runs = known["row"].get("runs", {}).values()
    return all("said" in run and _same_within(run, known["run"][1], seconds) for run in runs)


def _same_within(run: dict[str, Any], limit: float, seconds: float) -> bool:
    """Whether a run of one limit ends the same within another: the time that is kept has the translation in it."""
    late = run["verdict"] == "out of time"
    return (
        limit == seconds
        or (late if limit > seconds else not late)
        or (not late and run["processor"] <= _CORES * seconds)
    )


def line(row: dict[str, Any]) -> str:
    """One row in words."""
    if row["step"] != "run":
        return f"{row['name']}: no {row['step']}: {row['cause']}"
    runs = [
        f"{t} {run['verdict']}{_AS[run.get('documented')]} {run['processor']} s {run['cause']}".rstrip()
        for t, run in row["runs"].items()
    ]
    return f"{row['name']}: {'; '.join(runs)}"


def summary(rows: Sequence[dict[str, Any]], targets: Sequence[str], causes: Mapping[str, str]) -> list[str]:
    """The shares that count, of one half."""
    compiles = [row for row in rows if row["step"] in ("link", "run")]
    links = [row for row in compiles if row["step"] == "run"]
    lacking = f"{sum(row['step'] == 'library' for row in rows)} lack a library of the machine"
    said = [f"{len(rows)} programs, {len(compiles)} compile, {len(links)} link, {lacking}"]
    for target in targets:
        ended = {row["name"]: row["runs"][target]["verdict"] for row in links}
        found = Counter(ended.values())
        ran = sum(found[kind] for kind in _ENDED)
        failed = {name: causes.get(name, "") for name, kind in ended.items() if kind not in ("pass", *_UNCHECKED)}
        compared = [row["runs"][target].get("documented") for row in links]
        ours = sum(cause not in _NOT_OURS for cause in failed.values())
        said.append(
            f"{target}: link and run {_share(ran, len(compiles))} ({found['out of time']} of them out of time), "
            f"own check passed {_share(found['pass'], found['pass'] + len(failed))}, of those that can pass here "
            f"{_share(found['pass'], found['pass'] + ours)} (" + _counted(found) + ")"
        )
        if same := [one for one in compared if one is not None]:
            said.append(f"  as documented {_share(sum(same), len(same))}")
        said.append(f"  checks failed: {_counted(Counter(cause or 'unexplained' for cause in failed.values()))}")
        said += [f"  unexplained: {name}" for name, cause in failed.items() if not cause]
    broken = {row["name"]: row["step"] for row in rows if row["step"] != "run"}
    said.append(f"not built: {_counted(Counter(causes.get(name, 'unexplained') for name in broken))}")
    said += [f"  unexplained, no {step}: {name}" for name, step in broken.items() if name not in causes]
    return said


def _counted(found: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(found.items())) or "none"


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {part / whole:.3f}" if whole else "none"


def main() -> int:
    """Fetch, port, build, run, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True, help="folder for trees, ports and results")
    parser.add_argument("--mirror", type=Path, help="folder of git directories OWNER+NAME/repo")
    parser.add_argument("--half", choices=list(_HALVES))
    parser.add_argument("--units", type=int, default=0, help="at most N programs (of the half)")
    parser.add_argument("--minutes", type=float, default=0, help="start no program after M minutes")
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of one run on two cores")
    parser.add_argument("--patience", type=float, default=40.0, help="how many times as long it may take by the clock")
    parser.add_argument("--targets", default="gfx942,gfx1100")
    parser.add_argument("--only", nargs="*", default=[], metavar="TEXT", help="programs whose name holds one")
    parser.add_argument("--part", default="1/1", metavar="I/N", help="every Nth program, from the Ith")
    parser.add_argument("--keep", action="store_true", help="take results and ports of other sources of rocport")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    targets = given.targets.split(",")
    refusal = IsaExecutor().probe().refusal
    if refusal:
        print(f"skipped: {refusal}")
        return 0
    work = given.work.resolve()
    results = work / "programs"
    results.mkdir(parents=True, exist_ok=True)
    explained = {row["program"]: row for row in read_toml(LIST)["explained"]}
    key = code_digest(by_content=True)
    every = list(listed(work, given.mirror))
    chosen = [
        one
        for one in sorted(every, key=lambda one: one.rank)
        if (not given.half or one.half == given.half)
        and (not given.only or any(text in one.name for text in given.only))
    ]
    chosen = chosen[: given.units] if given.units else chosen
    first, every_nth = map(int, given.part.split("/"))
    chosen = chosen[first - 1 :: every_nth]
    print(f"{len(every)} programs listed, {len(chosen)} chosen")
    began = time.monotonic()
    limits = Limits(seconds=given.seconds * given.patience, processor_seconds=math.ceil(_CORES * given.seconds))
    rows: list[dict[str, Any]] = []
    older = 0
    for one in chosen:
        kept = results / (one.name.replace("/", "+") + ".json")
        known = json.loads(kept.read_text()) if kept.is_file() else {}
        fits = _fits(known, targets, given.seconds)
        if fits and (given.keep or known.get("key") == key):
            row = known["row"] | {"half": one.half}
            older += known["key"] != key
        elif given.minutes and time.monotonic() - began > 60 * given.minutes:
            continue
        else:
            scratch = work / "build" / hashlib.sha256(one.name.encode()).hexdigest()[:12]
            try:
                place = ported(one.repository, obtain(one.repository, work, given.mirror), work, key, given.keep)
                one.shorten(place)
                row = measure(one, place, scratch, targets, limits)
            except ProgramError as error:
                row = {"name": one.name, "half": one.half, "step": "port", "cause": str(error)}
            shutil.rmtree(scratch, ignore_errors=True)
            kept.write_text(json.dumps({"key": key, "run": [targets, given.seconds], "row": row}, indent=1))
        rows.append(row)
        why = explained.get(one.name)
        print(line(row) + (f" [{why['cause']}: {why['why']}]" if why else ""), flush=True)
    if older:
        print(f"{older} of {len(rows)} results are of other sources of rocport")
    causes = {name: row["cause"] for name, row in explained.items()}
    for half, title in _HALVES.items():
        of_half = [row for row in rows if row["half"] == half]
        for number, said in enumerate(summary(of_half, targets, causes) if of_half else ()):
            print(f"{title + ': ' if not number else '  '}{said}")
    refused = Counter(
        name
        for row in rows
        for name in {name for run in row.get("runs", {}).values() for name in run.get("unserved", ())}
    )
    print(f"functions that refused: {', '.join(f'{name} ({n})' for name, n in refused.most_common()) or 'none'}")
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
