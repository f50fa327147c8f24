"""A HIP compiler with its headers and device libraries, and the command lines it takes."""

from __future__ import annotations

import functools
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from rocport.model import HANGING_S, HipVersion, VersionError

Kind = Literal["rocm", "wheels", "distribution", "sdk"]
Mode = Literal["device", "host", "syntax", "object"]
Language = Literal["hip", "c++", "c"]

_SYNC_BUILTINS = "HIP_ENABLE_WARP_SYNC_BUILTINS=1"
_SYNC_BUILTINS_SINCE_HIP = 7
# Where the bitcode of the device libraries lies below a ROCm root or a clang resource folder: the legacy place, that of
# the TheRock builds (ROCm 7.9 and later), and the resource folder (https://github.com/ROCm/TheRock/issues/3213).
BITCODE_FOLDERS = (
    "amdgcn/bitcode",
    "lib/llvm/amdgcn/bitcode",
    "lib/llvm/lib/clang/*/lib/amdgcn/bitcode",
    "lib/llvm/lib/clang/*/amdgcn/bitcode",
    "llvm/lib/clang/*/lib/amdgcn/bitcode",
    "llvm/lib/clang/*/amdgcn/bitcode",
)


class ToolchainError(Exception):
    """No usable HIP compiler; the message names every place looked at, what was missing there, and the next step."""


@dataclass(frozen=True)
class Toolchain:
    """One HIP compiler. Built by `rocport.toolchain.find`."""

    kind: Kind
    compiler: Path
    """clang++ (or amdclang++) with the AMDGPU target."""
    compiler_version: str
    """First line of `--version`."""
    clang_major: int
    hip_version: HipVersion | None
    """What the headers declare; None where they do not say."""
    rocm_version: str
    """The ROCm release, empty where the installation does not say: HIP's version is another number."""
    root: Path
    """What is passed as --rocm-path."""
    include: Path
    """The folder that holds `hip/hip_runtime.h`."""
    device_libs: Path
    """The folder that holds `ocml.bc`."""

    @property
    def hip_defines(self) -> tuple[str, ...]:
        """Macros for HIP source: the 6.x headers declare the _sync intrinsics only on request; 7 always does."""
        old = self.hip_version is not None and self.hip_version.major < _SYNC_BUILTINS_SINCE_HIP
        return (_SYNC_BUILTINS,) if old else ()

    def summary(self) -> str:
        """How a result of this compiler is described: `clang 19 + HIP 6.4 headers`."""
        hip = f"HIP {self.hip_version.major}.{self.hip_version.minor}" if self.hip_version else "HIP"
        name = "amdclang" if self.kind in ("rocm", "wheels") else "clang"
        return f"{name} {self.clang_major} + {hip} headers ({self.kind})"

    def describe(self) -> dict[str, Any]:
        """The fields as JSON values."""
        return {
            "kind": self.kind,
            "compiler": str(self.compiler),
            "version": self.compiler_version,
            "hip": str(self.hip_version) if self.hip_version else None,
            "rocm": self.rocm_version or None,
            "include": str(self.include),
            "device_libs": str(self.device_libs),
        }

    def targets(self) -> Mapping[str, str]:
        """gfx target -> why it cannot be compiled for; empty text: it can.

        Asked of the compiler (`--print-supported-cpus`) and of the device libraries (their `oclc_isa_version_*.bc`).
        """
        from rocport.facts.targets import target_names

        cpus = supported_cpus(self.compiler)
        reasons = {}
        for name in target_names():
            bitcode = self.device_libs / f"oclc_isa_version_{name.removeprefix('gfx')}.bc"
            if name not in cpus:
                reasons[name] = f"clang {self.clang_major} does not know it; a newer one is needed"
            elif not bitcode.exists() and "generic" not in name:
                reasons[name] = f"the device libraries hold no {bitcode.name}; newer ones are needed"
            else:
                reasons[name] = ""
        return reasons

    def compile_command(
        self,
        source: Path | str,
        target: str | None = None,
        *,
        mode: Mode,
        language: Language = "hip",
        includes: Sequence[Path | str] = (),
        system_includes: Sequence[Path | str] = (),
        defines: Sequence[str] = (),
        std: str | None = None,
        extra: Sequence[str] = (),
        output: Path | str | None = None,
        depfile: Path | str | None = None,
        optimize: str = "-O3",
    ) -> list[str]:
        """The command line that compiles one source file.

        `device`: code object (an ELF file) of one target. `host`: host object, without device code. `syntax`: the host
        pass, or the device pass of a target, without code generation. `object`: host object with the target's code
        object in it. `defines` are written `NAME` or `NAME=VALUE`. `language` other than `hip` is host code that
        includes HIP headers; `device` and `object` need `hip` and a target. Raises ValueError for a combination that
        makes no sense.
        """
        if mode in ("device", "object") and (target is None or language != "hip"):
            raise ValueError(f"mode {mode!r} compiles HIP for one gfx target, got {target=} {language=}")
        command = [str(self.compiler), "-x", language]
        if language == "hip":
            command += [f"--rocm-path={self.root}", f"--rocm-device-lib-path={self.device_libs}"]
            if target is not None:
                command.append(f"--offload-arch={target}")
        command += [f"-std={std}"] if std else []
        command.append("-D__HIP_PLATFORM_AMD__=1")
        command += [f"-D{define}" for define in defines]
        command += [f"-I{folder}" for folder in includes]
        for folder in (*system_includes, self.include):
            command += ["-isystem", as_path(folder)]
        if mode == "device":
            command += ["--offload-device-only", "--no-gpu-bundle-output", optimize, "-c"]
        elif mode == "syntax":
            if language == "hip":
                command.append("--offload-host-only" if target is None else "--offload-device-only")
            command.append("-fsyntax-only")
        elif mode == "host":
            command += ["--offload-host-only"] if language == "hip" else []
            command += [optimize, "-c"]
        else:
            command += [optimize, "-c"]
        if depfile is not None:
            command += ["-MD", "-MF", str(depfile)]
        command += extra
        command.append(as_path(source))
        if output is not None and mode != "syntax":
            command += ["-o", str(output)]
        return command


def as_path(path: Path | str) -> str:
    """A path as an argument that no program takes for an option (`--config=x.cu`) or a response file (`@x.cu`)."""
    text = str(path)
    return f"./{text}" if text.startswith(("-", "@")) else text


def run(command: Sequence[str | Path]) -> str:
    """Output of a short command; empty when it fails, cannot be started or hangs."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=HANGING_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr if done.returncode == 0 else ""


@functools.cache
def supported_cpus(compiler: Path) -> frozenset[str]:
    """Processor names the compiler's AMDGPU target knows; empty when it has none."""
    text = run([compiler, "--target=amdgcn-amd-amdhsa", "-nogpulib", "-x", "c", "/dev/null", "--print-supported-cpus"])
    return frozenset(re.findall(r"^\s+(gfx[0-9a-z-]+)\s*$", text, re.M))


def compiler_version(compiler: Path) -> tuple[str, int]:
    """(first line of --version, clang's major version); ("", 0) when it cannot be run or is not clang."""
    text = run([compiler, "--version"])
    match = re.search(r"clang version (\d+)", text)
    return (text.splitlines()[0].strip(), int(match[1])) if match else ("", 0)


@functools.cache
def system_folders(compiler: Path) -> tuple[str, ...]:
    """Where the compiler looks for `#include <...>` of C++ when the command line names no folder."""
    text = run([compiler, "-x", "c++", "-E", "-v", "/dev/null"])
    _, _, rest = text.partition("#include <...> search starts here:\n")
    listed, _, _ = rest.partition("End of search list.")
    return tuple(line.strip() for line in listed.splitlines() if line.strip())


def hip_version(include: Path) -> HipVersion | None:
    """The version that `hip/hip_version.h` defines."""
    try:
        text = (include / "hip" / "hip_version.h").read_text(errors="replace")
    except OSError:
        return None
    number = dict(re.findall(r"#define\s+HIP_VERSION_(MAJOR|MINOR|PATCH)\s+(\d+)", text))
    try:
        return HipVersion.parse(f"{number['MAJOR']}.{number['MINOR']}.{number.get('PATCH', '0')}")
    except (KeyError, VersionError):
        return None


def find_device_libs(folders: Sequence[Path], clang_major: int | None = None) -> Path | None:
    """The first folder that holds the device libraries; of several LLVM versions the newest that this clang reads."""
    for folder in folders:
        for pattern in BITCODE_FOLDERS:
            found = [path for path in folder.glob(pattern) if (path / "ocml.bc").exists()]
            found.sort(key=_llvm_major)
            if clang_major is not None:
                found = [path for path in found if _llvm_major(path) <= clang_major]
            if found:
                return found[-1]
    return None


def _llvm_major(path: Path) -> int:
    """The LLVM version in a path such as /usr/lib/llvm-17/lib/clang/17/amdgcn/bitcode; 0 where there is none."""
    match = re.search(r"/(?:llvm-|clang/)(\d+)", str(path))
    return int(match[1]) if match else 0
