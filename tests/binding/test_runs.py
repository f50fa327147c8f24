"""A program whose names are its own, ported and run on the CPU at both widths: it computes what CUDA computes."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport import api
from rocport.executor.base import BuildOptions, RunOptions
from rocport.executor.cpu import CpuExecutor
from rocport.executor.program import load_program

SOURCE = r"""
#include <cuda_runtime.h>
#include <cstdio>
#include "lanes.h"
static int live = 0;
static cudaError_t traced(void **p, size_t n) { ++live; return (cudaMalloc)(p, n); }
#define cudaMalloc(p, n) traced((void **)(p), (n))
#define WARP_OP(op) __device__ int warp_##op(int v, int d) { return __shfl_##op##_sync(0xffffffffu, v, d); }
WARP_OP(down)
WARP_OP(xor)
struct Plan { int warpSize; __host__ __device__ int threads() const { return 4 * warpSize; } };
namespace mine { __device__ int __ballot(int v) { return v + 1; } __device__ int f(int v) { return __ballot(v); } }
template <int warpSize> __device__ int twice() { return 2 * warpSize; }
__device__ int __any(int p) { return p ? 7 : 5; }
__device__ int steps(int v) {
#include "steps.def"
  return v;
}
__global__ void k(int *o) {
  int t = threadIdx.x;
  o[t] = __shfl(t, 3);
  o[64 + t] = t % warpSize;
  o[128 + t] = warp_down(t, 1);
  o[192 + t] = warp_xor(t, 16);
  o[256 + t] = mine::f(t);
  o[320 + t] = twice<5>() + Plan{3}.threads();
  o[384 + t] = __any(t & 1);
  o[448 + t] = steps(1);
}
int main() {
  cudaDeviceProp prop;
  cudaGetDeviceProperties(&prop, 0);
  int warpSize = prop.warpSize;
  int *d, h[512];
  cudaMalloc(&d, sizeof(h));
  k<<<1, 2 * warpSize>>>(d);
  cudaMemcpy(h, d, sizeof(h), cudaMemcpyDeviceToHost);
  for (int t = 0; t < 64; ++t) {
    int want[8] = {t / 16 * 16 + 3, t % 32, t % 32 == 31 ? t : t + 1, t ^ 16, t + 1, 22, t & 1 ? 7 : 5, 32};
    for (int i = 0; i < 8; ++i)
      if (h[64 * i + t] != want[i]) return printf("FAIL %d at %d: %d, not %d\n", i, t, h[64 * i + t], want[i]), 1;
  }
  printf(live == 1 ? "PASS\n" : "FAIL: the project's own macro was passed by\n");
  return live == 1 ? 0 : 1;
}
"""
LANES = "#pragma once\n#define __shfl(v, l) __shfl_sync(0xffffffffu, v, l, 16)\n"
STEPS = "for (int o = 16; o; o /= 2) v += __shfl_xor_sync(0xffffffffu, v, o);\n"


@pytest.fixture(scope="module")
def executable(executor: CpuExecutor, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("names")
    for name, text in (("main.cu", SOURCE), ("lanes.h", LANES), ("steps.def", STEPS)):
        (folder / "cuda" / name).parent.mkdir(exist_ok=True)
        (folder / "cuda" / name).write_text(text)
    api.apply(api.port(folder / "cuda"), folder / "hip")
    build = folder / "build"
    build.mkdir()
    return executor.build(load_program(folder / "hip" / "main.cu"), build, BuildOptions())


@pytest.mark.parametrize("width", [32, 64])
def test_a_program_with_names_of_its_own_computes_the_same(executor: CpuExecutor, executable: Path, width: int) -> None:
    result = executor.run(executable, (), executable.parent, RunOptions(width=width))
    assert result.ok, result.stdout + result.stderr
    assert result.stdout.splitlines()[-1] == "PASS"
