"""rocport, hipify-perl and torch.utils.hipify on real packages: what compiles, what is left silently wrong, how fast.

    python benchmarks/translate.py [--packages a,b] [--units N] [--targets gfx942,gfx1100] [--out RESULTS.json]

Every tool gets the same files. Every output is compiled by the same code (`rocport verify --level build
--syntax-only`), host pass and one device pass a target. The counter of silent warp sites reads the outputs only and is
the same for all three. Speed is the wall time of the whole process over the bytes of the files the tools are given,
printed as ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import packages
from silent import silent_sites

from rocport.model.verification import Status
from rocport.project.tree import read_project
from rocport.toolchain import find
from rocport.verify.build import BuildOptions, VerifyError, verify

SUFFIXES = {".cu", ".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".inc", ".c", ".cc", ".cpp", ".cxx"}
TOOLS = ("rocport", "hipify-perl", "torch.utils.hipify")


@dataclass
class Output:
    """What one tool made of one package."""

    root: Path
    names: dict[str, str]
    """Path of each source -> path of its translation."""
    seconds: float
    status: dict[str, str] = field(default_factory=dict)
    """Unit (source path) -> ok, fail, skip or crash."""
    findings: dict[str, set[int]] = field(default_factory=dict)
    manual: set[str] = field(default_factory=set)
    silent: int = 0
    error: str = ""


def stage(source: Path, folder: Path) -> tuple[Path, int]:
    """Copy the C, C++ and CUDA files that have anything to do with CUDA; their bytes."""
    total = 0
    for path in sorted(source.rglob("*")):
        if path.suffix not in SUFFIXES or not path.is_file() or path.is_symlink():
            continue
        data = path.read_bytes()
        if path.suffix not in (".cu", ".cuh") and not any(
            word in data for word in (b"cuda", b"CUDA", b"__global__", b"__device__", b"cublas", b"nccl")
        ):
            continue
        target = folder / path.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        total += len(data)
    return folder, total


def complete(source: Path, out: Path) -> None:
    """Add the headers the tools were not given: what they include must resolve."""
    for path in source.rglob("*"):
        if path.suffix in SUFFIXES and path.is_file():
            target = out / path.relative_to(source)
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)


def run_rocport(staged: Path, out: Path) -> Output:
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "rocport", "port", str(staged), "--out", str(out), "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 1):
        return Output(out, {}, seconds, error=done.stderr[-300:])
    report = json.loads(done.stdout)
    output = Output(out, {item["source"]: item["output"] for item in report["files"] if item["source"]}, seconds)
    for item in report["findings"]:
        output.findings.setdefault(item["path"], set()).add(item["line"])
        if item["applicability"] == "manual":
            output.manual.add(item["path"])
    return output


def run_perl(script: Path, staged: Path, out: Path) -> Output:
    names = {}
    start = time.perf_counter()
    for path in sorted(staged.rglob("*")):
        if not path.is_file():
            continue
        relative = path.relative_to(staged)
        target = out / relative
        target.parent.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["perl", str(script), str(path)], capture_output=True, check=False)
        target.write_bytes(done.stdout if done.returncode == 0 else path.read_bytes())
        names[relative.as_posix()] = relative.as_posix()
    return Output(out, names, time.perf_counter() - start)


_TORCH = """
import json, os, sys
from torch.utils.hipify.hipify_python import hipify
source, out, extension = sys.argv[1:]
result = hipify(project_directory=source, output_directory=out, includes=[os.path.join(source, "*")],
                extensions=(".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".in", ".hpp", ".hh", ".inl", ".hxx"),
                is_pytorch_extension=bool(int(extension)), show_detailed=False)
print("NAMES" + json.dumps({k: v.hipified_path for k, v in result.items()}))
"""


def run_torch(staged: Path, out: Path, extension: bool) -> Output:
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", _TORCH, str(staged), str(out), str(int(extension))],
        capture_output=True,
        text=True,
        check=False,
        errors="replace",
    )
    seconds = time.perf_counter() - start
    line = next((line for line in done.stdout.splitlines() if line.startswith("NAMES")), None)
    if line is None:
        return Output(out, {}, seconds, error=done.stderr.strip()[-300:])
    names = {}
    for key, value in json.loads(line[5:]).items():
        inside = [Path(key).relative_to(base) for base in (staged, out) if Path(key).is_relative_to(base)]
        if inside and value and Path(value).is_relative_to(out):
            names[inside[0].as_posix()] = Path(value).relative_to(out).as_posix()
    return Output(out, names, seconds)


def units_of(source: Path, limit: int, include: Path) -> list[str]:
    """The .cu units of a package, every k-th when there are more than the limit."""
    units = [unit.path for unit in read_project(source, include).units() if unit.path.endswith(".cu")]
    step = max(1, -(-len(units) // limit))
    return units[::step]


def compile_output(output: Output, units: Iterable[str], targets: tuple[str, ...], cache: Path) -> None:
    wanted = {output.names.get(unit, unit): unit for unit in units}
    output.status = dict.fromkeys(wanted.values(), "crash" if output.error else "missing")
    try:
        result = verify(output.root, BuildOptions(targets, cache=cache, syntax_only=True, only=frozenset(wanted)))
    except VerifyError as error:
        output.error = output.error or str(error)
        return
    for path, status in result.paths().items():
        output.status[wanted[path]] = {Status.OK: "ok", Status.FAIL: "fail", Status.SKIP: "skip"}[status]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packages", default=",".join(packages.PACKAGES))
    parser.add_argument("--units", type=int, default=12, help="at most this many units a package")
    parser.add_argument("--tools", default=",".join(TOOLS), help="hipify-perl takes seconds a file")
    parser.add_argument("--targets", default="gfx942,gfx1100")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--no-build", action="store_true", help="translate and count only")
    arguments = parser.parse_args()
    targets = tuple(arguments.targets.split(","))
    toolchain = find()
    script = packages.fetch_hipify_perl()
    rows = []
    with tempfile.TemporaryDirectory(prefix="translate-") as scratch:
        for name in arguments.packages.split(","):
            try:
                source = packages.fetch(name, packages.PACKAGES[name])
            except Exception as error:
                print(f"{name}: skipped: {error}", file=sys.stderr)
                continue
            rows.append(measure(name, source, Path(scratch) / name, script, arguments, targets, toolchain.include))
            shutil.rmtree(Path(scratch) / name)
    report(rows, toolchain.summary(), targets, tools_of(arguments))
    if arguments.out:
        machine = {"cpu": platform.processor() or platform.machine(), "cores": os.cpu_count()}
        body = {"machine": machine, "toolchain": toolchain.summary(), "targets": targets, "packages": rows}
        arguments.out.write_text(json.dumps(body, indent=1) + "\n")


def tools_of(arguments: argparse.Namespace) -> tuple[str, ...]:
    return tuple(tool for tool in TOOLS if tool in arguments.tools.split(","))


def measure(
    name: str,
    source: Path,
    scratch: Path,
    script: Path,
    arguments: argparse.Namespace,
    targets: tuple[str, ...],
    include: Path,
) -> dict[str, object]:
    print(f"{name}: translating", file=sys.stderr)
    staged, size = stage(source, scratch / "in")
    extension = any(
        b"torch/extension.h" in path.read_bytes() or b"ATen/" in path.read_bytes()
        for path in staged.rglob("*")
        if path.is_file()
    )
    runs = {
        "rocport": lambda: run_rocport(staged, scratch / "rocport"),
        "hipify-perl": lambda: run_perl(script, staged, scratch / "perl"),
        "torch.utils.hipify": lambda: run_torch(staged, scratch / "torch", extension),
    }
    outputs = {tool: runs[tool]() for tool in tools_of(arguments)}
    units = [] if arguments.no_build else units_of(source, arguments.units, include)
    row: dict[str, object] = {"package": name, "bytes": size, "units": units, "tools": {}}
    for tool, output in outputs.items():
        output.silent = sum(
            silent_sites(
                (output.root / translated).read_bytes(),
                output.findings.get(path, set()) if tool == "rocport" else set(),
                (staged / path).read_bytes() if (staged / path).is_file() else b"",
            )
            for path, translated in output.names.items()
            if (output.root / translated).is_file() and Path(path).suffix in SUFFIXES
        )
        if units:
            print(f"{name}: compiling what {tool} made", file=sys.stderr)
            complete(source, output.root)
            compile_output(output, units, targets, packages.cache_folder() / "objects")
        row["tools"][tool] = {  # type: ignore[index]
            "seconds": round(output.seconds, 3),
            "status": output.status,
            "silent": output.silent,
            "manual": sorted(output.manual),
            "error": output.error,
        }
    return row


def report(rows: list[dict[str, object]], compiler: str, targets: tuple[str, ...], tools: tuple[str, ...]) -> None:
    print(f"units that compile for {' and '.join(targets)}, host and device ({compiler}); silent warp sites; MB/s\n")
    print(f"{'package':28}" + "".join(f"{tool:>30}" for tool in tools))
    totals = {tool: [0, 0, 0, 0.0] for tool in tools}
    size = 0
    for row in rows:
        line = f"{row['package']:28}"
        size += int(str(row["bytes"]))
        for tool in tools:
            item = row["tools"][tool]  # type: ignore[index]
            ok = sum(status == "ok" for status in item["status"].values())
            count = len(item["status"])
            speed = int(str(row["bytes"])) / 1e6 / item["seconds"]
            line += f"{ok:>10}/{count:<4}{item['silent']:>6}{speed:>9.2f}"
            totals[tool] = [
                a + b for a, b in zip(totals[tool], (ok, count, item["silent"], item["seconds"]), strict=True)
            ]
        print(line)
    line = f"{'all':28}"
    for tool in tools:
        ok, count, silent, seconds = totals[tool]
        line += f"{ok:>10}/{count:<4}{silent:>6}{size / 1e6 / seconds:>9.2f}"
    print(line)
    print()
    for peer in tools[1:]:
        wins = losses = 0
        lost: list[str] = []
        for row in rows:
            mine = row["tools"]["rocport"]["status"]  # type: ignore[index]
            theirs = row["tools"][peer]["status"]  # type: ignore[index]
            for unit in mine:
                wins += mine[unit] == "ok" and theirs.get(unit) != "ok"
                if mine[unit] != "ok" and theirs.get(unit) == "ok":
                    losses += 1
                    lost.append(f"{row['package']}/{unit}")
        ratio = totals[peer][3] / totals["rocport"][3]
        print(
            f"rocport against {peer}: {wins} units only ours compile, {losses} only theirs; {ratio:.1f} times as fast"
        )
        for unit in lost:
            print(f"  lost: {unit}")
    plain = failing = 0
    for row in rows:
        item = row["tools"]["rocport"]  # type: ignore[index]
        for unit, status in item["status"].items():
            if unit not in item["manual"]:
                plain += 1
                failing += status != "ok"
    if plain:
        print(f"units with no MANUAL finding of their own: {plain - failing} of {plain} compile")


if __name__ == "__main__":
    main()
