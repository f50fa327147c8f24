# SPDX-License-Identifier: Apache-2.0
"""Public CUDA programs through the port and the ISA executor: what compiles, links, runs, and passes its own check.

    python benchmarks/isa_programs.py FOLDER... [--half even|odd|both] [--targets gfx942,gfx1100] [--seconds 60]

FOLDER is a tree of CUDA programs (a checkout). It is ported to a scratch folder, and every folder of the port that
holds a main function is one program: built for the targets, and run on each without arguments. A program checks itself
when it prints a word of success or failure. Half: by the parity of sha256 of the program's path, so that one half can
be kept unseen while the other is worked on. One line a program, every failure with its cause. Exit 0.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from rocport.executor.amd import width_of
from rocport.executor.base import BuildError, BuildOptions, Limits, RunOptions, RunResult
from rocport.executor.isa.runtime.executor import IsaExecutor
from rocport.executor.program import ProgramError, load_program
from rocport.model import HANGING_S
from rocport.project.languages import KERNEL_SOURCES

_MAIN = re.compile(rb"\bint\s+main\s*\(")
_WRONG = re.compile(r"\b(?:FAIL(?:ED|S|URE)?|MISMATCH(?:ES|ED)?|INCORRECT|WRONG|ERROR)\b", re.IGNORECASE)
_NO_FAULT = re.compile(
    r"\b(?:0|no|none|without)\s+(?:\w+\s+){0,2}(?:fail|mismatch|error|wrong)\w*|error\w*\s*[:=]\s*0\b", re.I
)
_RIGHT = re.compile(r"\b(?:PASS(?:ED|ES)?|SUCCESS(?:FUL|FULLY)?|COMPLETED|CORRECT(?:LY)?|VERIFIED|OK)\b", re.IGNORECASE)


def even(name: str) -> bool:
    """The half a program belongs to."""
    return hashlib.sha256(name.encode()).digest()[-1] % 2 == 0


def programs(tree: Path) -> list[Path]:
    """Folders below `tree` with a source of device code and a main function."""
    found = set()
    for path in sorted(tree.rglob("*")):
        if path.suffix in (*KERNEL_SOURCES, ".cpp") and path.is_file() and _MAIN.search(path.read_bytes()):
            beside = [one for one in path.parent.iterdir() if one.suffix in KERNEL_SOURCES]
            if beside:
                found.add(path.parent)
    return sorted(found)


def verdict(result: RunResult) -> tuple[str, str]:
    """What a run showed, and why."""
    last = ([line for line in result.stderr.splitlines() if line.startswith("rocport:")] or [""])[-1][:160]
    text = _NO_FAULT.sub("", result.stdout)
    if result.timed_out:
        return "out of time", ""
    if result.status == 86:
        return "not translated", last
    if result.status < 0:
        return "crashed", f"signal {-result.status} {last}"
    if _WRONG.search(text):
        return "wrong", next(line for line in text.splitlines() if _WRONG.search(line)).strip()[:120] + f" {last}"
    if result.status:
        return "status", f"{result.status} {last or (result.stdout + result.stderr).strip()[-120:]}"
    return ("pass" if _RIGHT.search(text) else "ended"), ""


def main() -> int:
    """Port, build, run, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--half", choices=["even", "odd", "both"], default="both")
    parser.add_argument("--targets", default="gfx942,gfx1100")
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    targets = given.targets.split(",")
    executor = IsaExecutor()
    refusal = executor.probe().refusal
    if refusal:
        print(f"skipped: {refusal}")
        return 0
    counts: Counter[str] = Counter()
    for folder in given.folders:
        with tempfile.TemporaryDirectory(prefix="rocport-programs-") as scratch:
            out = Path(scratch) / "port"
            command = [sys.executable, "-m", "rocport", "port", str(folder), "--out", str(out), "--format", "concise"]
            ported = subprocess.run(command, capture_output=True, text=True, timeout=HANGING_S, check=False)
            if not out.is_dir():
                print(f"{folder.name}: not ported: {ported.stderr.strip()[-200:]}")
                continue
            for number, path in enumerate(programs(out)):
                name = f"{folder.name}/{path.relative_to(out)}"
                if given.half != "both" and even(name) != (given.half == "even"):
                    continue
                counts["programs"] += 1
                for line in _one(executor, path, Path(scratch) / str(number), targets, given.seconds, counts):
                    print(f"{name}: {line}", flush=True)
    total = counts["programs"]
    print(f"{total} programs ({given.half} half): {counts['compiles']} compile, {counts['links']} link")
    for target in targets:
        shown = {key.split(": ")[1]: n for key, n in counts.items() if key.startswith(target)}
        checked = sum(n for key, n in shown.items() if key not in ("ended",))
        print(f"{target}: {', '.join(f'{n} {key}' for key, n in sorted(shown.items()))}; {checked} gave a verdict")
    return 0


def _one(
    executor: IsaExecutor, path: Path, scratch: Path, targets: list[str], seconds: float, counts: Counter[str]
) -> list[str]:
    try:
        program = load_program(path)
        executable = executor.build(program, scratch, BuildOptions(optimize="-O2"))
    except ProgramError as error:
        return [f"no program: {error}"]
    except BuildError as error:
        links = "link failed" in str(error)
        counts["compiles"] += links
        return [f"not {'linked' if links else 'compiled'}: {str(error)[:220]}"]
    counts["compiles"] += 1
    counts["links"] += 1
    lines = []
    arguments = program.runs[0] if program.runs else ()
    for target in targets:
        options = RunOptions(width=width_of(target), target=target, limits=Limits(seconds=seconds))
        result = executor.run(executable, arguments, path, options)
        kind, why = verdict(result)
        counts[f"{target}: {kind}"] += 1
        lines.append(f"{target} {kind} in {result.seconds:.1f} s {why}".rstrip())
    return lines


if __name__ == "__main__":
    sys.exit(main())
