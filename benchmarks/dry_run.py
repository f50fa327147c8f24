"""Do the build files of real repositories, ported, ask for a ROCm build that can be?

    python benchmarks/dry_run.py --work DIR [--mirror DIR] [--only NAME ...] [--half tuned|aside] [--listed 1|2|3]
        [--sample N] [--files N] [--json FILE]

The repositories are those of real.toml. Each build file that the port changed is asked for its commands, confined, and
nothing is compiled: a Makefile by `make -n`; a CMakeLists.txt with `project` is configured with the SDK's clang as HIP
compiler and empty packages in place of ROCm's libraries; a setup.py runs under a torch that is told to be a ROCm build,
with compilers that note their command line. `--files N` takes at most N build files of a repository: those whose path
has the smallest SHA-256.

A build file passes when it is read to its end and each command that compiles a GPU source calls hipcc or clang for a
source that exists, with flags that clang takes, no CUDA library and no CUDA target. One that asks for what this machine
or the repository lacks, or that compiles no GPU source, is not judged; the reasons are counted.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import real

from rocport.facts.lookup import counterpart
from rocport.facts.symbols import libraries
from rocport.model.manifest import NAME, Manifest
from rocport.project.make import MAKEFILES, placed_commands
from rocport.sandbox import confine, why_not
from rocport.toolchain import Toolchain, find
from rocport.verify.torch_headers import find_torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "simulated"))
from machine import Machine

LIMIT_S = 240
_GPU_SOURCE = (".cu", ".hip")
_COMPILERS = ("hipcc", "nvcc", "clang++", "amdclang++", "g++", "gcc", "cc", "c++")
# What this machine lacks, or the repository as it is cloned; nothing of the port's doing.
_LACKING = (
    r"No module named '?[\w.]+",
    r'Could not find a package configuration file provided by "\w+"',
    r"Could NOT find \w+",
    r"No package '[\w.+-]+' found",
    r"\"?[\w./+-]+\"?\s+which\s+is\s+not\s+an\s+existing\s+directory",
    r"[Rr]equires PyTorch [^\n]*",
    r"'pip', [^\n]*'wheel'",
    r"The source directory\s+\S+\s+does not contain a CMakeLists.txt",
    r"(?:git|submodule)[^\n]*(?:fail|not found|did not)[^\n]*",
    r"does not exist[^\n]*submodule[^\n]*",
    r"Failed to (?:clone|download)[^\n]*",
    r"Could not resolve host[^\n]*",
    r"CMake [\d.]+ or higher is required",
    r"include could not find (?:requested|load) file:\s+\S+",
    r"\w+: command not found",
    r"mpicc|mpicxx",
)
PACKAGE = """\
set({name}_FOUND TRUE)
foreach(target {targets})
  if(NOT TARGET ${{target}})
    add_library(${{target}} INTERFACE IMPORTED)
  endif()
endforeach()
"""


@dataclass(frozen=True)
class Outcome:
    """What became of one build file: `passes`, `fails` or `not judged`, and why."""

    path: str
    kind: str
    verdict: str
    why: str = ""
    commands: int = 0


def build_files(port: Path) -> list[tuple[str, str]]:
    """(kind, path) of the build files that the port changed; of CMake's, those with a project of their own."""
    manifest = Manifest.parse((port / NAME).read_text(encoding="utf-8"))
    found: set[tuple[str, str]] = set()
    for path, record in manifest.files.items():
        name = Path(path).name
        if record.status == "translated" and name in MAKEFILES:
            found.add(("make", path))
        elif name == "setup.py" and (record.status == "translated" or "CUDAExtension" in _text(port / path)):
            found.add(("setup.py", path))
        elif record.status == "translated" and (name == "CMakeLists.txt" or name.endswith(".cmake")):
            found.add(("cmake", _project_of(port, path)))
    projects = {Path(path).parent for kind, path in found if kind == "cmake"}
    return sorted(
        (kind, path) for kind, path in found if kind != "cmake" or not projects & set(Path(path).parent.parents)
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""


def _project_of(port: Path, path: str) -> str:
    """The nearest CMakeLists.txt above, or the file itself, that has `project`."""
    folder = Path(path).parent
    for place in (folder, *folder.parents):
        lists = port / place / "CMakeLists.txt"
        if lists.is_file() and re.search(r"^\s*project\s*\(", lists.read_text(errors="replace"), re.M | re.I):
            return (place / "CMakeLists.txt").as_posix()
    return path


def asked(command: Sequence[str], folder: Path, scratch: Path, **variables: str) -> tuple[int, str]:
    """Exit code and output of a confined command that may write below `scratch` only."""
    hidden = ("MAKEFLAGS", "CC", "CXX", "ROCM_PATH", "HIP_PATH", "PYTHONPATH")
    base = {name: value for name, value in os.environ.items() if name not in hidden}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=base | {"LC_ALL": "C", "HOME": str(scratch), "TMPDIR": str(scratch)} | variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=LIMIT_S,
            check=False,
            start_new_session=True,
            preexec_fn=confine([scratch]),
        )
    except subprocess.TimeoutExpired:
        return 124, f"error: not done after {LIMIT_S} s"
    return done.returncode, done.stdout


def wrong(words: Sequence[str], folder: Path, toolchain: Toolchain) -> str:
    """What is wrong with a command that compiles a GPU source; empty where nothing is."""
    program = Path(words[0]).name
    if program not in ("hipcc", "amdclang++") and Path(words[0]).resolve() != toolchain.compiler.resolve():
        return f"{program} compiles a GPU source"
    for word in words[1:]:
        if re.search(r"(?:sm|compute)_\d\d", word) and not word.startswith("-D"):
            return f"a CUDA target: {word}"
        linked = counterpart("link", word[2:]) if word.startswith("-l") else None
        if linked is not None:
            return f"a CUDA library: {word}"
    sources = [word for word in words[1:] if word.endswith(_GPU_SOURCE)]
    if missing := [source for source in sources if not (folder / source).is_file()]:
        return f"no such source: {missing[0]}"
    skipped, flags = False, []
    for word in words[1:]:
        if skipped or word in ("-o", "-MF", "-MT", "-MQ") or word.endswith((*_GPU_SOURCE, ".o", ".a", ".so")):
            skipped = not skipped and word in ("-o", "-MF", "-MT", "-MQ")
            continue
        flags.append(word)
    given = [] if any(word.startswith("--offload-arch") for word in flags) else ["--offload-arch=gfx942"]
    check = [toolchain.compiler, "-###", "-x", "hip", *given, "-nogpulib", "-nogpuinc", *flags, "-c", sources[0]]
    done = subprocess.run(check, cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    return errors[0].partition("error: ")[2] if done.returncode != 0 and errors else ""


def _said(output: str) -> str:
    """What a build tool says is wrong: its first line of an error, with the text below for CMake's."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for at, line in enumerate(lines):
        if line.startswith("CMake Error"):
            return " ".join(lines[at : at + 3])
    telling = [line for line in lines if re.search(r"rror\b|\*\*\*|No rule", line)]
    return (telling[-1:] or lines[-1:] or ["no message"])[0]


def judged(
    path: str, kind: str, code: int, output: str, commands: Sequence[tuple[list[str], Path]], toolchain: Toolchain
) -> Outcome:
    """The verdict on one build file from what it printed and the commands that compile a GPU source."""
    for words, folder in commands:
        if reason := wrong(words, folder, toolchain):
            return Outcome(path, kind, "fails", reason, len(commands))
    if code != 0:
        for pattern in _LACKING:
            if match := re.search(pattern, output):
                return Outcome(path, kind, "not judged", " ".join(match[0].split()), len(commands))
        return Outcome(path, kind, "fails", _said(output)[:200], len(commands))
    if not commands:
        return Outcome(path, kind, "not judged", "no command compiles a GPU source")
    return Outcome(path, kind, "passes", "", len(commands))


def make(path: str, port: Path, scratch: Path, toolchain: Toolchain, environ: Mapping[str, str]) -> Outcome:
    """`make -n` of one Makefile."""
    folder = (port / path).parent
    stub = scratch / "bin" / "hipcc"
    stub.parent.mkdir(parents=True)
    stub.write_text("#!/bin/sh\nexit 0\n")
    stub.chmod(0o755)
    search = f"{stub.parent}:{os.environ['PATH']}"
    command = ["make", "-n", "-B", "-w", "-f", Path(path).name]
    code, output = asked(
        command, folder, scratch, PATH=search, ROCM_PATH=str(scratch), HIP_PATH=str(scratch), **environ
    )
    commands = [
        (words, where)
        for words, where in placed_commands(output, folder)
        if Path(words[0]).name in _COMPILERS and any(word.endswith(_GPU_SOURCE) for word in words[1:])
    ]
    return judged(path, "make", code, output, commands, toolchain)


def _packages(folder: Path, include: Path) -> Path:
    """Empty packages and libraries in the place of ROCm's, with the targets that the facts know, and real headers."""
    targets: dict[str, set[str]] = {"hip": {"hip::host", "hip::device", "hip::amdhip64"}, "hip-lang": set()}
    targets["hip-lang"] = {"hip-lang::device", "hip-lang::host"}
    for library in libraries().values():
        for target, package in library.find.items():
            targets.setdefault(package, set()).add(target)
    for name, names in targets.items():
        place = folder / "lib" / "cmake" / name
        place.mkdir(parents=True, exist_ok=True)
        text = PACKAGE.format(name=name, targets=" ".join(sorted(names)))
        (place / f"{name}-config.cmake").write_text(text)
        version = "set(PACKAGE_VERSION 99)\nset(PACKAGE_VERSION_COMPATIBLE TRUE)\n"
        (place / f"{name}-config-version.cmake").write_text(version)
    for name in sorted({hip for library in libraries().values() for hip in library.link.values() if hip}):
        (folder / "lib" / f"lib{name}.so").touch()
    (folder / "include").symlink_to(include)
    return folder


def cmake(path: str, port: Path, scratch: Path, toolchain: Toolchain, environ: Mapping[str, str]) -> Outcome:
    """The CMake project of one folder, configured in a copy of the tree that it may write."""
    tree = scratch / "tree"
    shutil.copytree(port, tree, symlinks=True)
    folder = (tree / path).parent
    rocm = _packages(scratch / "rocm", toolchain.include)
    prefixes = [str(rocm), *([str(torch)] if (torch := find_torch()) is not None else [])]
    flags = f"--rocm-path={toolchain.root} --rocm-device-lib-path={toolchain.device_libs} -isystem {toolchain.include}"
    command = [
        *("cmake", "-S", str(folder), "-B", str(scratch / "build"), "-Wno-dev"),
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
        f"-DCMAKE_PREFIX_PATH={';'.join(prefixes)}",
        f"-DCMAKE_HIP_COMPILER={toolchain.compiler}",
        f"-DCMAKE_HIP_COMPILER_ROCM_ROOT={rocm}",
        f"-DCMAKE_HIP_FLAGS={flags}",
        "-DCMAKE_TRY_COMPILE_TARGET_TYPE=STATIC_LIBRARY",
    ]
    code, output = asked(command, folder, scratch, ROCM_PATH=str(rocm), **environ)
    written = scratch / "build" / "compile_commands.json"
    rows = json.loads(written.read_text()) if written.is_file() else []
    commands = [
        (shlex.split(row["command"]), Path(row["directory"])) for row in rows if row["file"].endswith(_GPU_SOURCE)
    ]
    return judged(path, "cmake", code, output, commands, toolchain)


def setup(path: str, port: Path, scratch: Path, toolchain: Toolchain, environ: Mapping[str, str]) -> Outcome:
    """One setup.py under a simulated ROCm build of torch, in a copy of the tree that it may write."""
    tree = scratch / "tree"
    shutil.copytree(port, tree, symlinks=True)
    told = [sys.executable, __file__, "--setup", str((tree / path).parent), "--machine", str(scratch / "machine")]
    _, output = asked(told, scratch, scratch, PYTHONPATH=os.environ.get("PYTHONPATH", ""), **environ)
    try:
        build = json.loads(output.splitlines()[-1])
    except (ValueError, IndexError):
        return Outcome(path, "setup.py", "fails", output.strip()[-200:])
    commands = []
    for words in build["commands"]:
        if words[0] in ("hipcc", "nvcc") and "-c" in words:
            commands.append((words, (tree / path).parent))
    return judged(path, "setup.py", build["code"], build["output"], commands, toolchain)


def _inside(folder: Path, machine: Path) -> None:
    """What the confined child of `setup` does: the build, told in one line of JSON."""
    build = Machine(machine, "rocm").build(folder, timeout_s=LIMIT_S - 30)
    print(json.dumps({"code": build.code, "output": build.output, "commands": build.commands}))


KINDS = {"make": make, "cmake": cmake, "setup.py": setup}


def measure(repository: real.Repository, arguments: argparse.Namespace, toolchain: Toolchain) -> list[Outcome]:
    """The build files of one repository's port, each judged."""
    tree = real.obtain(repository, arguments.work, arguments.mirror)
    port = arguments.work / "port" / repository.folder
    if not (port / NAME).is_file():
        command = [sys.executable, "-m", "rocport", "port", str(tree), "--out", str(port), "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 1):
            return [Outcome(".", "port", "fails", done.stderr.strip()[-200:])]
    files = build_files(port)
    wanted = real.sample([path for _, path in files], arguments.files)
    outcomes = []
    for kind, path in files:
        if path in wanted:
            with tempfile.TemporaryDirectory(prefix="rocport-dry-") as scratch:
                outcomes.append(KINDS[kind](path, port, Path(scratch).resolve(), toolchain, repository.environ))
    return outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, help="folder for trees and ports; a port that is there is taken")
    parser.add_argument("--mirror", type=Path, help="folder of git directories OWNER+NAME/repo")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--half", choices=("tuned", "aside"))
    parser.add_argument("--listed", type=int, choices=(1, 2, 3))
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="N repositories, the same in every run")
    parser.add_argument("--files", type=int, default=0, metavar="N", help="at most N build files a repository")
    parser.add_argument("--json", type=Path, help="write the rows here")
    parser.add_argument("--setup", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--machine", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.setup is not None:
        _inside(arguments.setup, arguments.machine)
        return
    if arguments.work is None:
        parser.error("--work DIR is needed")
    if reason := why_not():
        sys.exit(f"build files run programs of their own, and nothing can be confined here: {reason}")
    toolchain = find()
    listed = [
        repository
        for repository in real.repositories()
        if (not arguments.only or {repository.name, repository.name.split("/")[1]} & set(arguments.only))
        and (not arguments.half or repository.aside == (arguments.half == "aside"))
        and arguments.listed in (None, repository.listed)
    ]
    rows: list[dict[str, Any]] = []
    for repository in real.drawn(listed, arguments.sample):
        for outcome in measure(repository, arguments, toolchain):
            rows.append({"repository": repository.name, "aside": repository.aside, **asdict(outcome)})
            why = "" if repository.aside else outcome.why
            print(f"{outcome.verdict:10} {outcome.kind:8} {repository.name}: {outcome.path}  {why}", flush=True)
    for aside in (False, True):
        verdicts = Counter(row["verdict"] for row in rows if row["aside"] is aside)
        if judgeable := verdicts["passes"] + verdicts["fails"]:
            share = f"{verdicts['passes']} of {judgeable} pass ({verdicts['passes'] / judgeable:.2f})"
            print(f"{'set aside' if aside else 'tuned'}: {share}, {verdicts['not judged']} not judged")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
