"""The ISA executor: instruction forms, speed, translation times, and every Triton kernel as machine code against eager.

python benchmarks/isa.py forms|speed|translate|warp|kernels [gfx942 gfx1100 ...] [--out benchmarks/results/isa.jsonl]

`kernels` runs every call of rocport.ops.codegen, each at the smallest size that makes the very kernels (name,
signature, constants, options) that it makes at full size. It is resumable: cases that --out holds are not run again.
`--half`: labels are halved by their CRC-32. Exit code 1 where a bar is missed or a result differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))
import numpy as np

from rocport.executor.isa import Module, load
from rocport.facts.targets import load_target
from rocport.toolchain import find

BARS = {"saxpy": 1e9, "shuffles": 2e8, "lds": 2e8}
"""Lane-instructions a second on one core."""
HIP = """
#include <hip/hip_runtime.h>
extern "C" {
__global__ void saxpy(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}
__global__ void shuffles(int n, const int* x, int* o) {
  int v = x[threadIdx.x];
  for (int k = 0; k < n; k++) { v += __shfl_xor(v, 1); v ^= __shfl_down(v, 3); v += __shfl(v, k & 31); }
  o[threadIdx.x] = v;
}
__global__ void lds(int n, const int* x, int* o) {
  __shared__ int s[256];
  int v = x[threadIdx.x];
  for (int k = 0; k < n; k++) {
    s[threadIdx.x] = v; __syncthreads();
    v += s[(threadIdx.x * 7 + k) & 255]; __syncthreads();
  }
  o[threadIdx.x] = v;
}
}
"""
HOST = """
extern "C" void saxpy(int n, float a, const float* __restrict x, float* __restrict y) {
  for (int i = 0; i < n; i++) y[i] = a * x[i] + y[i];
}
"""


def compiled(target: str, text: str = HIP, include: Path | None = None) -> bytes:
    toolchain = find()
    with tempfile.TemporaryDirectory() as folder:
        source, output = Path(folder) / "k.hip", Path(folder) / "k.co"
        source.write_text(text)
        extra = [f"-I{include}"] if include else []
        command = toolchain.compile_command(source, target, mode="device", output=output, extra=extra)
        subprocess.run(command, check=True)
        return output.read_bytes()


def host_loop(n: int, x: np.ndarray, y: np.ndarray, folder: Path) -> Callable[[], float]:
    """The same as a loop of the host's compiler: a call runs it and gives its seconds."""
    import ctypes

    source, output = folder / "h.cpp", folder / "h.so"
    source.write_text(HOST)
    command = [str(find().compiler), "-O2", "-march=native", "-w", "-shared", "-fPIC", str(source), "-o", str(output)]
    subprocess.run(command, check=True)
    function = ctypes.CDLL(str(output)).saxpy

    def run() -> float:
        start = time.perf_counter()
        function(n, ctypes.c_float(2), ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(y.ctypes.data))
        return time.perf_counter() - start

    return run


REPEATS = 60
"""Runs of which the fastest counts: short ones, so that one falls between other work; operands stay in caches."""


def speed(targets: list[str]) -> Iterator[dict[str, Any]]:
    """The fastest of many runs; the host's loop takes turns with the kernel."""
    n = 1 << 17
    x, y = np.ones(n, "f4"), np.ones(n, "f4")
    with tempfile.TemporaryDirectory() as folder:
        host = host_loop(n, x, y, Path(folder))
        for target in targets:
            module = load(compiled(target), target)
            small, out = np.arange(256).astype("i4"), np.zeros(256, "i4")
            runs: dict[str, Callable[[int], Any]] = {
                "saxpy": lambda threads, m=module: m.launch(
                    "saxpy", (8,), (256,), [np.int32(n), np.float32(2), x, y], threads=threads
                ),
                "shuffles": lambda threads, m=module: m.launch(
                    "shuffles", (8,), (256,), [np.int32(500), small, out], threads=threads
                ),
                "lds": lambda threads, m=module: m.launch(
                    "lds", (8,), (256,), [np.int32(500), small, out], threads=threads
                ),
            }
            for name, run in runs.items():
                run(1)
                rates: dict[str, Any] = {}
                for label, threads in (("one core", 1), ("all cores", 0)):
                    took, loops = [], []
                    for _ in range(REPEATS):
                        took.append(run(threads))
                        if name == "saxpy":
                            loops.append(host())
                    best = min(took, key=lambda r: r.seconds)
                    rates[label] = round(best.lane_instructions / best.seconds / 1e6)
                    if threads == 1:
                        wave = module.kernel(name).use.wavefront
                        rates["ns an instruction"] = round(best.seconds * 1e9 * wave / best.lane_instructions, 1)
                    if loops and threads == 1:
                        rates["times slower than a host loop"] = round(best.seconds / min(loops), 1)
                yield {
                    "bench": "speed", "target": target, "kernel": name, "million lane-instructions a second": rates,
                    "bar": BARS[name] / 1e6, "met": rates["one core"] * 1e6 >= BARS[name],
                }  # fmt: skip


def translation(targets: list[str]) -> Iterator[dict[str, Any]]:
    """Translate and compile with an empty cache, kernel after kernel; then again with the cache."""
    script = (
        "import json,os,sys\nfrom rocport.executor.isa import load\nfrom pathlib import Path\n"
        "m=load(Path(sys.argv[1]),sys.argv[2])\n"
        "for k in m.code.kernels:\n a=os.times()\n d=m.translated(k)\n b=os.times()\n"
        " print(json.dumps([k,d.steps,d.compiled,d.seconds,sum(b[:4])-sum(a[:4])]))\n"
    )
    for target in targets:
        with tempfile.TemporaryDirectory() as folder:
            code = Path(folder) / "k.co"
            code.write_bytes(compiled(target, (ROOT / "tests/executor/isa/kernels.hip").read_text()))
            environment = os.environ | {"ROCPORT_CACHE": folder, "PYTHONPATH": str(ROOT / "src")}
            passes = []
            for _ in range(2):
                done = subprocess.run(
                    [sys.executable, "-c", script, str(code), target], env=environment, capture_output=True, text=True,
                    check=True,
                )  # fmt: skip
                passes.append([json.loads(line) for line in done.stdout.splitlines()])
        cold, warm = ([row[3] for row in rows] for rows in passes)
        processor = [row[4] for row in passes[0]]
        yield {
            "bench": "translate", "target": target, "kernels": len(cold), "steps": sum(r[1] for r in passes[0]),
            "cold seconds, median": round(float(np.median(cold)), 3), "cold seconds, worst": round(max(cold), 3),
            "of a processor, median": round(float(np.median(processor)), 3), "worst": round(max(processor), 3),
            "cached milliseconds, median": round(float(np.median(warm)) * 1e3, 2),
            "load": round(os.getloadavg()[0], 1),
            "met": float(np.median(cold)) < 1 and max(cold) < 5 and float(np.median(warm)) < 0.01,
        }  # fmt: skip


def forms(targets: list[str]) -> Iterator[dict[str, Any]]:
    """Instructions met in the kernels of the tests, and where their translations come from."""
    for target in targets:
        met: dict[str, str] = {}
        for text in (HIP, (ROOT / "tests/executor/isa/kernels.hip").read_text()):
            module = load(compiled(target, text), target)
            for name in module.code.kernels:
                met |= module.translated(name).origins
        count = Counter(met.values())
        yield {
            "bench": "forms", "target": target, "met": len(met), **count,
            "untranslated": sorted(k for k, how in met.items() if how == "untranslated"),
        }  # fmt: skip


def warp(targets: list[str], cases: int = 200) -> Iterator[dict[str, Any]]:
    """rocport_warp.h's shuffles, votes, matches and reductions as machine code, each in both warps of a block of 64."""
    sys.path.insert(0, str(ROOT / "tests" / "port"))
    import warp_program as program

    drawn = program.draw(cases)
    owners = np.array([owner for each, _ in drawn for owner in each], "i4")
    values = np.array([value for _, each in drawn for value in each], "i8").astype("i4")
    moved = np.array(program.moved(), "i4")
    answers = np.array([program.answers(o, v, lane) for o, v in drawn for lane in range(32)], "u4")
    for target in targets:
        module = load(compiled(target, program.HIP_KERNELS, ROOT / "src/rocport/port/headers"), target)
        got = np.zeros((2, moved.size), "i4")
        module.launch("shuffles", (1,), (64,), [got])
        asked = np.zeros((2, cases * 32, program.RESULTS), "u4")
        module.launch("operations", (1,), (64,), [np.int32(cases), owners, values, asked])
        differ = int((got != moved).sum()) + int((asked[:, :, : program.ANSWERED] != answers).sum())
        yield {
            "bench": "warp", "target": target, "shuffles": got.size, "others": 2 * answers.size, "differ": differ,
            "met": differ == 0,
        }  # fmt: skip


def kernels(targets: list[str], done: set[tuple[str, str]], half: str) -> Iterator[dict[str, Any]]:
    """Every kernel of codegen's calls, at the smallest size that makes the same kernels as the full one."""
    import torch

    from rocport.ops import codegen
    from rocport.runtime.machine import Platform

    sys.path.insert(0, str(ROOT / "benchmarks"))
    from isa_cases import cases, first_half

    def wanted(label: str) -> bool:
        return half == "all" or first_half(label) == (half == "first")

    for target in targets:
        known = {
            codegen.key(launch): launch for launch in codegen.launches(Platform("rocm", target=load_target(target)))
        }
        modules: dict[bytes, Module] = {}
        origins: dict[str, str] = {}

        def run(compiled: Any, name: str, grid: tuple[int, ...], values: list[Any]) -> None:
            data = compiled.asm["hsaco"]
            if data not in modules:
                modules[data] = load(data, target)
            module = modules[data]
            origins.update(module.translated(name).origins)
            kernel = module.kernel(name)
            given = [v.data_ptr() if isinstance(v, torch.Tensor) else v for v in values]
            given += [None] * (sum(not a.kind.startswith("hidden_") for a in kernel.arguments) - len(given))
            given = [np.float32(v) if isinstance(v, float) else v for v in given]
            threads = compiled.metadata.num_warps * kernel.descriptor.wave
            module.launch(name, grid, (threads,), given, dynamic_lds=compiled.metadata.shared)

        right: set[Any] = set()
        for size, call in cases(target, lambda label: wanted(label) and (target, label) not in done):
            if not wanted(call.label) or (target, call.label) in done:
                continue
            start, before = time.perf_counter(), time.process_time()
            row: dict[str, Any] = {
                "bench": "kernels", "target": target, "case": call.label, "size": size,
                "half": "first" if first_half(call.label) else "second",
            }  # fmt: skip
            try:
                with codegen.executing(target, run) as made:
                    results = _tensors(call.run())
                expected = _tensors(call.eager())
                error = max(_apart(a, b, call.limit) for a, b in zip(results, expected, strict=True))
                row |= {
                    "kernels": sorted({launch.name for launch in made}), "relative error": error,
                    "known": sorted({zlib.crc32(repr(codegen.key(launch)).encode()) for launch in made
                                     if codegen.key(launch) in known}),
                    "met": error <= call.limit,
                }  # fmt: skip
                if row["met"]:
                    right |= {codegen.key(launch) for launch in made} & set(known)
            except Exception as error:
                row |= {"error": f"{type(error).__name__}: {error}"[:300], "met": False}
            row["seconds"] = round(time.perf_counter() - start, 1)
            row["of a processor"] = round(time.process_time() - before, 1)
            row["forms"] = len(origins)
            yield row
        yield {
            "bench": "kernels of this run", "target": target, "known": len(known), "right": len(right),
            "untranslated": sorted(k for k, how in origins.items() if how == "untranslated"),
        }  # fmt: skip


def counted(rows: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What all rows of --out come to: kernels of the operators that ran and are right, by target and half."""
    for target in sorted({r["target"] for r in rows}):
        last = {r["case"]: r for r in rows if r["target"] == target}.values()
        ran = {k for r in last for k in r.get("known", [])}
        wrong = {k for r in last if not r["met"] for k in r.get("known", [])}
        halves = {
            half: f"{sum(r['met'] for r in last if r['half'] == half)} of {sum(r['half'] == half for r in last)}"
            for half in ("first", "second")
        }
        yield {"bench": "kernels counted", "target": target, "kernels": len(ran), "wrong": len(wrong), "cases": halves}


def _tensors(result: Any) -> list[Any]:
    """The parts of a packed matrix, or the tensors of a result."""
    parts = getattr(result, "parts", None)
    if parts is not None:
        return [part for part in parts if part is not None]
    return list(result) if isinstance(result, (tuple, list)) else [result]


def _apart(a: Any, b: Any, limit: float) -> float:
    """The relative error of a result; where the same bits are wanted, the share of elements that differ."""
    if limit == 0:
        return float(((a != b) & ~((a != a) & (b != b))).double().mean())
    a, b = a.double(), b.double()
    return float((a - b).norm() / b.norm().clamp_min(1e-30))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["forms", "speed", "translate", "kernels", "warp"])
    parser.add_argument("targets", nargs="*", default=["gfx942", "gfx1100"])
    parser.add_argument("--half", choices=["first", "second", "all"], default="all", help="of the kernels' cases")
    parser.add_argument("--out", type=Path, help="append JSON lines there")
    arguments = parser.parse_args()
    done: set[tuple[str, str]] = set()
    rows: list[dict[str, Any]] = []
    if arguments.out and arguments.out.exists():
        rows = [json.loads(line) for line in arguments.out.read_text(encoding="utf-8").splitlines()]
        done = {(r["target"], r["case"]) for r in rows if r["bench"] == "kernels" and r["met"]}
    benches: dict[str, Callable[[], Iterator[dict[str, Any]]]] = {
        "forms": lambda: forms(arguments.targets),
        "speed": lambda: speed(arguments.targets),
        "translate": lambda: translation(arguments.targets),
        "warp": lambda: warp(arguments.targets),
        "kernels": lambda: kernels(arguments.targets, done, arguments.half),
    }
    missed = 0
    for row in benches[arguments.what]():
        missed += row.get("met") is False
        print(json.dumps(row), flush=True)
        rows.append(row)
        if arguments.out:
            with arguments.out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
    if arguments.what == "kernels":
        for row in counted([row for row in rows if row["bench"] == "kernels"]):
            print(json.dumps(row), flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
