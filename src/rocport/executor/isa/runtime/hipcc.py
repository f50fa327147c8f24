# SPDX-License-Identifier: Apache-2.0
"""The compiler driver: hipcc's command line, clang's work, our libraries.

What hipcc adds to clang's line (https://github.com/ROCm/llvm-project/tree/amd-staging/amd/hipcc, `hipBin_amd.h`): C++
sources are HIP, -O3 where no level is named, device functions are inlined, the HIP runtime is linked.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rocport.facts.targets import wave_target
from rocport.toolchain import Toolchain

DEFAULT_TARGET = wave_target(64).name
TARGET_VARIABLE = "ROCPORT_EXEC_TARGET"
_HIP_SUFFIXES = frozenset([".hip", ".cu", ".cuh", ".cpp", ".cc", ".cxx", ".C", ".c++"])
# Options whose value is the next word.
_PAIRED = frozenset(
    [
        *("-o", "-I", "-L", "-l", "-D", "-U", "-x", "-MF", "-MT", "-MQ", "-include", "-isystem", "-iquote"),
        *("-Xclang", "-mllvm", "-Xlinker", "-Xcompiler", "-idirafter", "-imacros", "-z", "-rpath", "-T", "-target"),
        *("--offload-arch", "--amdgpu-target", "-isysroot", "-u", "-Xoffload-linker", "-Xarch_device", "-Xarch_host"),
    ]
)
_NO_LINK = frozenset(["-c", "-S", "-E", "-M", "-MM", "--genco", "-fsyntax-only", "--cuda-device-only",
                      "--offload-device-only"])  # fmt: skip
_ASKS = frozenset(["--version", "-v", "-###", "--help", "-print-targets", "-dumpversion", "-dumpmachine"])


@dataclass(frozen=True)
class Command:
    """What to run, and what to say first."""

    words: tuple[str, ...]
    notes: tuple[str, ...] = ()


@dataclass
class _Line:
    """One command line, taken apart."""

    words: list[str]
    targets: list[str]
    links: bool = True
    compiles: bool = False
    optimizes: bool = False
    inputs: int = 0


def _read(arguments: Sequence[str]) -> _Line:
    """Takes hipcc's line apart. C++ sources get `-x hip`, unless the line names a language."""
    line = _Line([], [])
    language = ""
    forced = False
    index = 0
    while index < len(arguments):
        word = arguments[index]
        value = arguments[index + 1] if word in _PAIRED and index + 1 < len(arguments) else None
        index += 1 if value is None else 2
        if word in ("--offload-arch", "--amdgpu-target") and value is not None:
            line.targets += value.split(",")
        elif word.startswith(("--offload-arch=", "--amdgpu-target=", "--cuda-gpu-arch=")):
            line.targets += word.partition("=")[2].split(",")
        elif word == "--genco":
            line.words.append("--offload-device-only")
            line.links = False
        elif (word == "-x" and value is not None) or (word.startswith("-x") and len(word) > 2):
            language = value or word[2:]
            line.words += [word] if value is None else [word, value]
            line.compiles |= language == "hip"
        elif value is not None:
            line.words += [word, value]
        elif word.startswith("-"):
            line.links &= word not in _NO_LINK
            line.optimizes |= word.startswith("-O") or word == "-g0"
            line.words.append(word)
        else:
            line.inputs += 1
            suffix = Path(word).suffix
            if not language and suffix in _HIP_SUFFIXES:
                line.compiles = True
                line.words += ["-x", "hip", word] if not forced else [word]
                forced = True
            else:
                line.words += ["-x", "none", word] if forced else [word]
                forced = False
    return line


def openmp_folder(toolchain: Toolchain) -> list[Path]:
    """The folder of the compiler's libomp; none where it has none."""
    folder = toolchain.compiler.parent.parent / "lib"
    return [folder] if (folder / "libomp.so").exists() else []


def hipcc_command(
    arguments: Sequence[str], toolchain: Toolchain, libraries: Path | None, environ: Mapping[str, str] = os.environ
) -> Command:
    """The clang command that hipcc's arguments stand for.

    `libraries` is the folder of `build_libraries`; None: nothing is linked. Where ROCPORT_EXEC_TARGET names a target,
    code is made for that one alone, whatever the line names: it is what runs here.
    """
    line = _read(arguments)
    notes = []
    wanted = environ.get(TARGET_VARIABLE, "")
    targets = [target for target in line.targets if target]
    if wanted:
        named = {target.partition(":")[0] for target in targets}
        if named and wanted not in named:
            notes.append(f"built for {wanted} (--target), where the command line names {', '.join(sorted(named))}")
        targets = [wanted]
    elif not targets:
        targets = [environ.get("HCC_AMDGPU_TARGET") or DEFAULT_TARGET]
    asks = not line.inputs and any(word in _ASKS for word in line.words)
    command = [str(toolchain.compiler)]
    if not asks:
        rdc = "-fgpu-rdc" in line.words
        if line.compiles or rdc or "--hip-link" in line.words:
            command += [f"--rocm-path={toolchain.root}", f"--rocm-device-lib-path={toolchain.device_libs}"]
            command += [f"--offload-arch={target}" for target in targets]
        command += ["-D__HIP_PLATFORM_AMD__=1", "-isystem", str(toolchain.include)]
        named = {word.removeprefix("-D").partition("=")[0] for word in line.words}
        command += [f"-D{define}" for define in toolchain.hip_defines if define.partition("=")[0] not in named]
        if line.compiles and not line.optimizes:
            command.append("-O3")
        if line.compiles and "-O0" not in line.words:
            command += ["-mllvm", "-amdgpu-early-inline-all=true", "-mllvm", "-amdgpu-function-calls=false"]
    command += line.words
    if line.links and line.inputs and libraries is not None:
        command += ["-fuse-ld=lld", f"-L{libraries}", f"-Wl,-rpath,{libraries}"]
        if line.compiles:
            command.append("--hip-link")
        if "-fopenmp" in line.words:
            # clang finds the library beside itself; the program would not.
            command += [f"-Wl,-rpath,{folder}" for folder in openmp_folder(toolchain)]
        if "-no-hip-rt" not in line.words:
            command += ["-lamdhip64", "-lpthread", "-lm", "-ldl"]
        command = [word for word in command if word != "-no-hip-rt"]
    return Command(tuple(command), tuple(notes))
