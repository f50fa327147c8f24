"""setup.py of real packages under a simulated ROCm and a simulated CUDA torch: the original, and the port of it.

    python benchmarks/configure.py [--packages a,b] [--units N] [--target gfx942] [--out RESULTS.json]

For each package four builds of `setup.py build_ext`: torch is the CPU wheel, told in a child process to be a ROCm or a
CUDA build; hipcc and nvcc are stand-ins that note their command line (hipcc's flags are shown to a real clang first).
The port is `rocport port --layout both`: one tree for both platforms.

ported, CUDA: `same` when the arguments of setup() and every compiler command are those of the original.
ROCm: how far it gets; commands of hipcc; of the smallest N units the share that the SDK's clang compiles to machine
code for the target, with the flags the build passed. Where a setup.py never calls hipcc although torch is a ROCm build,
it says `no GPU sources`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import packages

from rocport import api
from rocport.model import cache_folder
from rocport.toolchain import find
from rocport.toolchain.compiler import Toolchain
from rocport.verify.torch_headers import TorchHeaders, find_torch, torch_headers

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "simulated"))
from machine import Build, Machine


@dataclass(frozen=True)
class Case:
    """One package: arguments and environment its own documentation asks for when it is built for a GPU."""

    version: str
    arguments: tuple[str, ...] = ()
    environ: tuple[tuple[str, str], ...] = ()
    rocm_environ: tuple[tuple[str, str], ...] = ()
    """What its documentation asks for on ROCm only."""
    absent: tuple[str, ...] = ()
    """Sources the sdist leaves out: an empty kernel stands there, so that the setup.py can be looked at."""


CASES = {
    "causal-conv1d": Case("1.5.3.post1", environ=(("HIP_ARCHITECTURES", "gfx942"),)),
    "mamba-ssm": Case("2.2.6.post3", environ=(("HIP_ARCHITECTURES", "gfx942"),)),
    "fast-hadamard-transform": Case(
        "1.0.4.post1",
        absent=("csrc/fast_hadamard_transform.cpp", "csrc/fast_hadamard_transform_cuda.cu"),
    ),
    "torch-scatter": Case("2.1.2"),
    "torch-sparse": Case("0.6.18"),
    "torch-cluster": Case("1.6.3"),
    "torch-spline-conv": Case("1.2.2"),
    "gsplat": Case("1.5.3"),
    "torchsort": Case("0.1.10"),
    "warp-rnnt": Case("0.7.0"),
    "MinkowskiEngine": Case("0.5.4", ("--blas=openblas", "--force_cuda")),
    "auto-gptq": Case("0.7.1", rocm_environ=(("ROCM_VERSION", "7.2"),)),
    "mmcv": Case("2.2.0", environ=(("MMCV_WITH_OPS", "1"), ("FORCE_CUDA", "1"))),
}


def compiles(
    command: Sequence[str], tree: Path, toolchain: Toolchain, torch: TorchHeaders, target: str, timeout_s: int = 600
) -> str:
    """Compile one unit for the device with the flags of the build; the first error, or empty."""
    flags: list[str] = []
    words = iter(command[1:])
    for word in words:
        if word in ("-o", "-MF"):
            next(words)
        elif word not in ("-c", "-MD", "-MMD", "-fno-gpu-rdc") and not word.startswith("--offload-arch"):
            flags.append(word)
    source = next(word for word in flags if word.endswith((".hip", ".cu")))
    flags.remove(source)
    # The staged ROCm headers of torch come before the CPU wheel's; a ROCm wheel would have them in that place.
    includes = [word for folder in torch.includes for word in ("-isystem", str(folder))]
    prefix = str(find_torch())
    flags = [word for word in flags if not word.startswith(f"-I{prefix}")]
    full = [
        str(toolchain.compiler),
        *("-x", "hip", f"--offload-arch={target}", f"--rocm-path={toolchain.root}"),
        f"--rocm-device-lib-path={toolchain.device_libs}",
        *("--offload-device-only", "--no-gpu-bundle-output", "-w"),
        *flags,
        *includes,
        *("-isystem", str(toolchain.include), "-c", source, "-o", "/dev/null"),
    ]
    try:
        done = subprocess.run(
            full, cwd=tree, capture_output=True, text=True, errors="replace", timeout=timeout_s, check=False
        )
    except subprocess.TimeoutExpired:
        return f"{Path(source).name}: not compiled after {timeout_s} s"
    errors = [line for line in done.stderr.splitlines() if "error:" in line]
    return "" if done.returncode == 0 else (errors or done.stderr.splitlines() or ["no message"])[0]


def units(build: Build, tree: Path) -> list[tuple[str, ...]]:
    """The commands of hipcc, smallest source first."""

    def size(command: tuple[str, ...]) -> int:
        sources = [Path(word) for word in command if word.endswith((".hip", ".cu"))]
        return (tree / sources[0]).stat().st_size

    return sorted(build.compiled("hipcc"), key=size)


def ours(command: Sequence[str], tree: Path) -> bool:
    """True when a command compiles a file of the mirror that torch's hipify has left alone."""
    source = next(Path(word) for word in command if word.endswith((".hip", ".cu")))
    return (tree / source).resolve().is_relative_to((tree / "hip").resolve())


def measure(name: str, case: Case, count: int, target: str, scratch: Path) -> dict[str, object]:
    """The four builds of one package."""
    (source,) = (path for path in packages.fetch(name, case.version).iterdir() if path.is_dir())
    original, ported = scratch / "original", scratch / "ported"
    toolchain = find()
    torch_folder = find_torch()
    assert torch_folder is not None, "the benchmark needs torch"
    torch = torch_headers(torch_folder, cache_folder())
    shutil.copytree(source, original, symlinks=True)
    for path in case.absent:
        (original / path).parent.mkdir(parents=True, exist_ok=True)
        (original / path).write_text(
            "#include <cuda_runtime.h>\n__global__ void k() {}\n" if path.endswith(".cu") else ""
        )
    started = time.perf_counter()
    api.apply(api.port(original, api.Settings(layout="both"), jobs=1), ported)
    row: dict[str, object] = {"package": f"{name} {case.version}", "port_s": round(time.perf_counter() - started, 1)}
    builds: dict[str, Build] = {}
    for what, tree in (("original", original), ("ported", ported)):
        for platform in ("cuda", "rocm"):
            work = scratch / f"{what}-{platform}" / "tree"
            shutil.copytree(tree, work, symlinks=True)
            machine = Machine(scratch / f"{what}-{platform}" / "machine", platform, toolchain.compiler)
            environ = case.environ + (case.rocm_environ if platform == "rocm" else ())
            build = machine.build(work, case.arguments, dict(environ))
            builds[f"{what} {platform}"] = build
            cell: dict[str, object] = {"error": build.error()}
            if platform == "rocm":
                found = units(build, work)
                failed = [error for unit in found[:count] if (error := compiles(unit, work, toolchain, torch, target))]
                cell |= {"units": len(found), "tried": min(count, len(found)), "failed": failed}
                cell["ours"] = sum(ours(unit, work) for unit in found) if what == "ported" else 0
            else:
                cell["units"] = len(build.compiled("nvcc"))
            row[f"{what} {platform}"] = cell
    same = plain(builds["original cuda"], scratch) == plain(builds["ported cuda"], scratch)
    row["same"] = same
    return row


def plain(build: Build, scratch: Path) -> str:
    """What is compared of a CUDA build, without the folders of this run."""
    text = json.dumps(build.comparable(), sort_keys=True)
    for what in ("original", "ported"):
        text = text.replace(str(scratch / f"{what}-cuda"), "RUN")
    return text


def shown(cell: dict[str, object]) -> str:
    if cell["error"]:
        return f"fails: {str(cell['error'])[:70]}"
    if "tried" not in cell:
        return f"{cell['units']} nvcc"
    if not cell["units"]:
        return "no GPU sources"
    tried, failed = int(str(cell["tried"])), len(list(cell["failed"]))  # type: ignore[call-overload]
    own = f", {cell['ours']} ours" if cell["ours"] else ""
    return f"{cell['units']} hipcc{own}, {tried - failed} of {tried} compile"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", default=",".join(CASES))
    parser.add_argument("--units", type=int, default=2, help="units to compile of each package [2]")
    parser.add_argument("--target", default="gfx942")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = []
    for name in options.packages.split(","):
        with tempfile.TemporaryDirectory(prefix="rocport-configure-") as scratch:
            row = measure(name, CASES[name], options.units, options.target, Path(scratch))
        rows.append(row)
        print(row["package"])
        for what in ("original cuda", "original rocm", "ported cuda", "ported rocm"):
            note = ("  same as the original" if row["same"] else "  DIFFERS") if what == "ported cuda" else ""
            cell = row[what]
            assert isinstance(cell, dict)
            print(f"  {what:14} {shown(cell)}{note}")
            for error in cell.get("failed", ()):
                print(f"  {'':14} {error[-160:]}")
        sys.stdout.flush()
    if options.out:
        options.out.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
