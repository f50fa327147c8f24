# SPDX-License-Identifier: Apache-2.0
"""Finds the host C++ compiler and Thrust, and keeps the executor's runtime compiled in a cache.

One compiler everywhere: the clang that builds HIP for the targets (ROCm's, the SDK's) also builds for the host, so that
a run says the same on every machine. Any other is used only where it is named, or where no HIP compiler is installed.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from rocport.model import HANGING_S, cache_folder
from rocport.model.locks import locked
from rocport.toolchain import ToolchainError
from rocport.toolchain import find as find_toolchain

HERE = Path(__file__).resolve().parent
INCLUDE = HERE / "include"
RUNTIME = HERE / "lib"


class CompilerError(Exception):
    """No usable compiler, or the runtime did not compile; the message says what to do."""


@dataclass(frozen=True)
class HostCompiler:
    """A C++ compiler for the host."""

    path: str
    kind: str
    """`clang` or `gcc`."""
    version: tuple[int, ...]
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def env(self) -> dict[str, str]:
        """Environment to run it with."""
        return {**os.environ, **dict(self.environment), "LC_ALL": "C"}

    @cached_property
    def base_flags(self) -> tuple[str, ...]:
        """Flags that the execution model needs.

        Frame pointers: the scheduler compares call paths. No sibling calls, threaded jumps, unswitched loops or merged
        tails: lanes are matched by call site, so a call must neither be copied nor merged with another. No PIE: report
        addresses are the file's own. No strict aliasing: device code puns types freely. No contraction: so that a
        program's host reference and its kernels round alike. What is built runs here: this machine's instructions.
        """
        flags = [
            "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-fno-strict-aliasing", "-fno-pie",
            "-fno-delete-null-pointer-checks",
            "-ffp-contract=off", "-fno-math-errno", "-march=native",
            # DWARF 4: addr2line of binutils 2.40 finds no inlined calls behind version 5's range lists.
            "-fwrapv", "-w", "-pthread", "-g1", "-gdwarf-4",
        ]  # fmt: skip
        if self.kind == "clang":
            flags += ["-Wno-everything"]
            if self.version >= (17,):
                flags.append("-fconvergent-functions")
        else:
            flags += [
                "-fno-thread-jumps", "-fno-unswitch-loops", "-fno-split-loops", "-fno-ipa-icf", "-fno-crossjumping",
                "-fno-tree-tail-merge", "-fno-partial-inlining", "-fno-ipa-cp-clone", "-fno-split-paths",
                "-fno-reorder-blocks", "-fno-reorder-blocks-and-partition", "-fno-version-loops-for-strides",
                "-fpermissive",
            ]  # fmt: skip
        return tuple(flags)


def find_compiler(name: str | None = None) -> HostCompiler:
    """The host compiler: `name`, `$ROCPORT_HOST_CXX`, else the HIP compiler's clang, else clang++ (15 or newer) or g++
    (12 or newer) on PATH.

    Raises:
        CompilerError: none is there, or the named one is not.
    """
    asked = name or os.environ.get("ROCPORT_HOST_CXX")
    if asked:
        found = _describe(asked)
        if found is None:
            raise CompilerError(f"{asked}: not a C++ compiler that can be run; set ROCPORT_HOST_CXX to clang++ or g++")
        return found
    candidates = [
        *_hip_compiler(),
        "clang++",
        *(f"clang++-{version}" for version in range(22, 14, -1)),
        "g++",
        *(f"g++-{v}" for v in range(15, 11, -1)),
    ]
    oldest = {"clang": (15,), "gcc": (12,)}
    for candidate in candidates:
        found = _describe(candidate)
        if found is not None and found.version >= oldest[found.kind]:
            return found
    raise CompilerError(
        "no host C++ compiler: the CPU executor needs clang++ 15 or g++ 12, or newer; next: `rocport sdk install` (no "
        "root needed), or install one (package clang or g++), or name it in ROCPORT_HOST_CXX"
    )


def _hip_compiler() -> list[str]:
    """The clang that builds HIP here, where there is one that also finds a C++ standard library."""
    try:
        path = str(find_toolchain().compiler)
    except ToolchainError:
        return []
    command = [path, "-x", "c++", "-fsyntax-only", "-"]
    try:
        done = subprocess.run(
            command, input="#include <cmath>\n", capture_output=True, text=True, timeout=HANGING_S, check=False
        )
    except OSError:
        return []
    return [path] if done.returncode == 0 else []


def _describe(name: str) -> HostCompiler | None:
    path = shutil.which(name)
    if path is None:
        return None
    try:
        shown = subprocess.run(
            [path, "-dM", "-E", "-x", "c++", "/dev/null"],
            capture_output=True,
            text=True,
            timeout=HANGING_S,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    macros = dict(line.split(" ", 2)[1:] for line in shown.stdout.splitlines() if line.count(" ") >= 2)
    if "__clang_major__" in macros:
        return HostCompiler(path, "clang", (int(macros["__clang_major__"]), int(macros.get("__clang_minor__", "0"))))
    if "__GNUC__" in macros:
        return HostCompiler(path, "gcc", (int(macros["__GNUC__"]), int(macros.get("__GNUC_MINOR__", "0"))))
    return None


def thrust_include() -> list[Path]:
    """Folders to add for <thrust/...>: NVIDIA's CCCL, whose plain C++ backend runs everything on the host.

    Looked for in `$ROCPORT_THRUST`, in the `nvidia-cuda-cccl` wheel, in a CUDA toolkit and in
    the distribution's headers.
    Empty when there is none: programs that use Thrust then do not compile.
    """
    named = os.environ.get("ROCPORT_THRUST")
    roots = [Path(named)] if named else []
    for scheme in {sysconfig.get_paths()["purelib"], sysconfig.get_paths()["platlib"]}:
        nvidia = Path(scheme) / "nvidia"
        roots += [*sorted(nvidia.glob("cu*/include/cccl"), reverse=True), nvidia / "cuda_cccl" / "include"]
        roots += sorted(nvidia.glob("cu*/include"), reverse=True)
    for toolkit in (os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"):
        if toolkit:
            roots += [Path(toolkit) / "include" / "cccl", Path(toolkit) / "include"]
    roots += [Path("/usr/include")]
    for root in roots:
        if (root / "thrust" / "version.h").is_file():
            return [] if root == Path("/usr/include") else [root]
    return []


def executor_cache() -> Path:
    """Where compiled parts are kept."""
    return cache_folder() / "executor"


def runtime_objects(compiler: HostCompiler, *, flags: tuple[str, ...] = (), width: int = 64) -> list[Path]:
    """The runtime's object files for these flags, compiled when the cache lacks them.

    Raises:
        CompilerError: a file of the runtime does not compile (the compiler's own words are in the message).
    """
    sources = sorted(RUNTIME.glob("*.cpp"))
    digest = hashlib.sha256()
    for part in [*sources, *sorted(RUNTIME.glob("*.h")), *sorted(INCLUDE.rglob("*"))]:
        if part.is_file():
            digest.update(part.name.encode() + part.read_bytes())
    command = [
        compiler.path, "-std=gnu++17", "-O2", *compiler.base_flags, "-DRPX_RUNTIME", f"-DRPX_DEFAULT_WAVE={width}",
        *flags,
    ]  # fmt: skip
    digest.update(repr((command, compiler.version, sys.platform)).encode())
    folder = executor_cache() / digest.hexdigest()[:20]
    objects = [folder / f"{source.stem}.o" for source in sources]
    if all(path.is_file() for path in objects):
        return objects
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder), ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for failure in pool.map(partial(_compile_part, command, compiler), sources, objects):
            if failure:
                raise CompilerError(f"the executor's runtime does not compile {failure}")
    return objects


def _compile_part(command: Sequence[str], compiler: HostCompiler, source: Path, target: Path) -> str:
    """Compiles a file of the runtime where that is still to do; else what went wrong."""
    if target.is_file():
        return ""
    unfinished = target.with_suffix(".partial")
    done = subprocess.run(
        [*command, "-I", str(INCLUDE), "-c", str(source), "-o", str(unfinished)],
        capture_output=True, text=True, timeout=HANGING_S, check=False, env=compiler.env,
    )  # fmt: skip
    if done.returncode:
        return f"({source.name}):\n{done.stderr.strip()[-2000:]}"
    unfinished.replace(target)
    return ""
