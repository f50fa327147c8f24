"""Costs of the CPU executor, and how it does on a folder of programs.

python benchmarks/executor.py                     the microbenchmark, for each compiler and width
python benchmarks/executor.py FOLDER [--build]    every program below FOLDER: built, run, right (or only built)
"""

from __future__ import annotations

import argparse
import platform
import tempfile
from collections import Counter
from pathlib import Path

from rocport.executor.base import BuildError, BuildOptions, RunOptions
from rocport.executor.choice import SOURCE, choose
from rocport.executor.compiler import CompilerError, find_compiler
from rocport.executor.cpu import CpuExecutor
from rocport.executor.program import ProgramError, load_program
from rocport.verify.functional import FunctionalOptions, find_programs, verify_program

HERE = Path(__file__).resolve().parent


def costs() -> None:
    """Prints nanoseconds of processor time for each compiler and width."""
    print(f"machine: {platform.processor() or platform.machine()}")
    for name in ("clang++", "clang++-19", "g++"):
        try:
            executor = CpuExecutor(find_compiler(name))
        except CompilerError:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            program = load_program(HERE / "executor.hip")
            executable = executor.build(program, Path(scratch), BuildOptions())
            for width in (32, 64):
                result = executor.run(executable, (), HERE, RunOptions(width=width))
                print(f"{name} wave{width}: " + ", ".join(result.stdout.splitlines()))


def programs(folder: Path, build_only: bool, timeout_s: float) -> None:
    """Prints a line a program, then the counts."""
    executor = CpuExecutor()
    counts: Counter[str] = Counter()
    for path in find_programs(folder):
        if build_only:
            try:
                with tempfile.TemporaryDirectory() as scratch:
                    executor.build(load_program(path), Path(scratch), BuildOptions(optimize="-O1"))
                verdict, reason = "built", ""
            except (BuildError, ProgramError) as error:
                verdict, reason = "not built", str(error)
        else:
            result = verify_program(choose(SOURCE), path, FunctionalOptions(timeout_s=timeout_s))
            verdict, reason = result.verdict.value, result.reason
        counts[verdict] += 1
        print(f"{verdict:10} {path.name} {reason[:160]}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.most_common()))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--build", action="store_true", help="only build")
    parser.add_argument("--timeout", type=float, default=60)
    options = parser.parse_args()
    if options.folder:
        programs(options.folder, options.build, options.timeout)
    else:
        costs()


if __name__ == "__main__":
    main()
