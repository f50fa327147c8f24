# SPDX-License-Identifier: Apache-2.0
"""An NVIDIA GPU: HIP source compiled by nvcc. Good for golden vectors and for a second opinion on arithmetic; blind to
everything that only shows at a wavefront of 64, and none of AMD's instructions are run.

HIP's own headers for NVIDIA are used where they are found (`$HIP_PATH/include/hip/nvidia_detail`). Otherwise the
program's HIP names are given their CUDA spelling by a header that is written for it from the facts on symbols.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from rocport.executor.amd import compile_program, rocm_roots, run_plain
from rocport.executor.base import BuildError, BuildOptions, Capability, Level, RunOptions, RunResult
from rocport.executor.program import Program, for_hosts
from rocport.facts import symbols
from rocport.model import HANGING_S
from rocport.syntax.includes import include_names, spelled_includes

_NAME = re.compile(r"\b(?:__)?(?:hip|HIP|HIPBLAS)\w+\b")
_OF_HIP = re.compile(r"(?:hip|hipblas|hipcub)\b")
# HIP header -> the CUDA header that serves it.
HEADERS = {
    "hip/hip_runtime.h": "cuda_runtime.h",
    "hip/hip_runtime_api.h": "cuda_runtime.h",
    "hip/hip_fp16.h": "cuda_fp16.h",
    "hip/hip_bf16.h": "cuda_bf16.h",
    "hip/hip_bfloat16.h": "cuda_bf16.h",
    "hip/hip_fp8.h": "cuda_fp8.h",
    "hip/hip_complex.h": "cuComplex.h",
    "hip/hip_cooperative_groups.h": "cooperative_groups.h",
    "hipblas/hipblas.h": "cublas_v2.h",
    "hipblas.h": "cublas_v2.h",
    "hipcub/hipcub.hpp": "cub/cub.cuh",
}
# HIP's wave operations without a mask, and what has another form in CUDA.
_SHIMS = Path(__file__).with_name("hip_on_cuda.h")
_DEFAULT_BUILD = BuildOptions()
_DEFAULT_RUN = RunOptions()


@cache
def _cuda_of() -> dict[str, str]:
    """HIP name -> CUDA name: of several that of the runtime API which is spelled alike, else the first that is no
    driver API's."""
    names: dict[str, str] = {}

    def order(cuda: str, hip: str, library: str) -> tuple[bool, bool, str]:
        return (library == "driver", cuda.lower() != hip.lower().replace("hip", "cuda", 1), cuda)

    table = symbols.load().identifiers
    candidates = sorted((s for s in table.values() if s.hip), key=lambda s: order(s.cuda, s.hip, s.library))
    for symbol in candidates:
        names.setdefault(symbol.hip, symbol.cuda)
    return names


def find_nvcc() -> Path | None:
    """nvcc on the PATH, below `$CUDA_HOME`, `$CUDA_PATH`, or in /usr/local/cuda."""
    found = shutil.which("nvcc")
    if found:
        return Path(found)
    named = [Path(value) for name in ("CUDA_HOME", "CUDA_PATH") if (value := os.environ.get(name))]
    return next(
        (root / "bin" / "nvcc" for root in (*named, Path("/usr/local/cuda")) if (root / "bin" / "nvcc").is_file()), None
    )


def find_devices() -> tuple[tuple[str, str], ...]:
    """(name, compute capability without a dot) of each GPU that nvidia-smi lists; empty without a driver."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return ()
    try:
        done = subprocess.run(
            [tool, "--query-gpu=name,compute_cap", "--format=csv,noheader"],
            capture_output=True, text=True, timeout=HANGING_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ()
    if done.returncode:
        return ()
    rows = (line.rsplit(",", 1) for line in done.stdout.splitlines() if "," in line)
    return tuple((name.strip(), capability.strip().replace(".", "")) for name, capability in rows)


def nvidia_headers() -> Path | None:
    """The include folder of a HIP that has the NVIDIA platform."""
    for root in rocm_roots():
        if (root / "include" / "hip" / "nvidia_detail").is_dir():
            return root / "include"
    return None


def write_headers(program: Program, folder: Path) -> None:
    """Headers under HIP's names for what the program's own files use.

    Raises:
        BuildError: it includes a HIP library that has no CUDA counterpart here.
    """
    texts = _own_texts(program)
    words = {word for text in texts for word in _NAME.findall(text)}
    included = {name for text in texts for name in include_names(text.encode()) if _OF_HIP.match(name)}
    unknown = sorted(name for name in included if name not in HEADERS)
    if unknown:
        raise BuildError(f"{program.name}: no CUDA counterpart of {', '.join(unknown)}", missing=tuple(unknown))
    known = _cuda_of()
    names = [f"#define {word} {known[word]}" for word in sorted(words) if word in known]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "rocport_names.h").write_text("\n".join((_SHIMS.read_text(), *names, "")))
    for hip in {"hip/hip_runtime.h", *included}:
        path = folder / hip
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#pragma once\n#include <{HEADERS[hip]}>\n#include "rocport_names.h"\n')


def _own_texts(program: Program) -> list[str]:
    """The units and the files beside them that they include by name."""
    waiting = [unit.source for unit in program.units]
    seen: dict[Path, str] = {}
    while waiting:
        path = waiting.pop()
        if path in seen or not path.is_file():
            continue
        seen[path] = path.read_text(errors="replace")
        waiting += [(path.parent / name).resolve() for name, quoted in spelled_includes(seen[path].encode()) if quoted]
    return list(seen.values())


class NvidiaExecutor:
    """The NVIDIA GPU of this machine."""

    name = "nvidia"

    def probe(self) -> Capability:
        """nvcc and a device."""
        nvcc, devices = find_nvcc(), find_devices()
        if not devices:
            return self._refuse("no NVIDIA GPU: nvidia-smi lists none")
        if nvcc is None:
            return self._refuse("no nvcc: install the CUDA toolkit, or set CUDA_HOME")
        headers = nvidia_headers()
        how = f"HIP's NVIDIA headers in {headers}" if headers else "names from rocport's facts"
        return Capability(
            self.name, (32,), (), Level.SOURCE, detail=f"{devices[0][0]}; {nvcc}; {how}; blind to wavefront width 64"
        )

    def _refuse(self, why: str) -> Capability:
        return Capability(self.name, level=Level.SOURCE, refusal=why)

    def build(
        self,
        program: Program,
        folder: Path,
        options: BuildOptions = _DEFAULT_BUILD,
        architecture: str | None = None,
    ) -> Path:
        """With nvcc, for `architecture` (`sm_90`) or the device that is here.

        Raises:
            BuildError: it does not build, or there is no nvcc.
        """
        nvcc = find_nvcc()
        if nvcc is None:
            raise BuildError("no nvcc: install the CUDA toolkit, or set CUDA_HOME")
        folder.mkdir(parents=True, exist_ok=True)
        executable = folder / "program"
        devices = find_devices()
        target = architecture or (f"sm_{devices[0][1]}" if devices else "native")
        headers = nvidia_headers()
        if headers is None:
            write_headers(program, folder / "include")
            headers = folder / "include"
        command = [
            str(nvcc), "-x", "cu", "-std=c++17", f"-arch={target}", options.optimize, "--expt-relaxed-constexpr",
            "--extended-lambda", "-Wno-deprecated-gpu-targets", "-D__HIP_PLATFORM_NVIDIA__=1", f"-I{headers}",
        ]  # fmt: skip
        flags = dict.fromkeys(flag for unit in program.units for flag in for_hosts(unit.flags))
        command += [*flags, *(str(unit.source) for unit in program.units), *program.link, "-o", str(executable)]
        return compile_program(command, program, executable)

    def run(
        self, executable: Path, arguments: Sequence[str], cwd: Path, options: RunOptions = _DEFAULT_RUN
    ) -> RunResult:
        """On the device: order, poison and hazards of `options` are not looked at.

        Raises:
            ValueError: a wavefront of 64 is asked for.
        """
        if options.width != 32:
            raise ValueError(f"an NVIDIA GPU has warps of 32 lanes; width {options.width} needs another executor")
        return run_plain([str(executable), *arguments], cwd, options)
