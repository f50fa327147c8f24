"""Atomics on integers and vectors that HIP lacks: beside HIP's own overloads, and only what they name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rocport.port import headers

PROGRAM = r"""
#include <hip/hip_runtime.h>
#include "rocport_compat.h"
#include <cstdio>
template <class T> __device__ void add(T *place, T value) {
  T old = *place, seen;
  do {
    seen = old;
    old = atomicCAS(place, seen, T(seen + value));
  } while (old != seen);
}
__global__ void bits(long long *a, float4 *b) {
  atomicAnd(a, ~(1ll << (32 + threadIdx.x % 4)));
  atomicOr(a + 1, 1ll << (threadIdx.x % 40)), atomicXor(a + 2, (long long)threadIdx.x << 40);
  rocport::atomicAdd_block(b, make_float4(1, 2, 3, 4));
}
__global__ void k(unsigned short *a, unsigned *b) {
  add<unsigned short>(&a[threadIdx.x % 2], threadIdx.x), add<unsigned>(b, 1u);
  __syncthreads();
  if (threadIdx.x == 0) a[3] = atomicCAS(&a[2], 5, 9);
}
int main() {
  unsigned short *a, host[4] = {0, 65000, 5, 7};
  unsigned *b, count = 0;
  hipMalloc(&a, 8), hipMalloc(&b, 4);
  hipMemcpy(a, host, 8, hipMemcpyHostToDevice), hipMemcpy(b, &count, 4, hipMemcpyHostToDevice);
  k<<<1, 128>>>(a, b);
  hipMemcpy(host, a, 8, hipMemcpyDeviceToHost), hipMemcpy(&count, b, 4, hipMemcpyDeviceToHost);
  std::printf("%d %d %d %d %u\n", host[0], host[1], host[2], host[3], count);
  long long *c, wide[3] = {-1, 0, 5};
  float4 *v, sum = make_float4(0, 0, 0, 1);
  hipMalloc(&c, 24), hipMalloc(&v, 16);
  hipMemcpy(c, wide, 24, hipMemcpyHostToDevice), hipMemcpy(v, &sum, 16, hipMemcpyHostToDevice);
  bits<<<1, 64>>>(c, v);
  hipMemcpy(wide, c, 24, hipMemcpyDeviceToHost), hipMemcpy(&sum, v, 16, hipMemcpyDeviceToHost);
  std::printf("%llx %llx %lld %g %g\n", wide[0], wide[1], wide[2], sum.x, sum.w);
}
"""


def _written(folder: Path) -> Path:
    (folder / "a.hip").write_text(PROGRAM)
    for name in headers.closure(frozenset({"rocport_compat.h"})):
        (folder / name).write_bytes(headers.read(name))
    return folder / "a.hip"


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
def test_it_compiles(target: str, tmp_path: Path, compiles: Callable[..., Path]) -> None:
    compiles(_written(tmp_path), target)


def test_it_exchanges_one_half_of_a_word(tmp_path: Path, outputs: Callable[..., list[str]]) -> None:
    odd = (65000 + sum(range(1, 128, 2))) % 65536
    expected = f"{sum(range(0, 128, 2))} {odd} 9 5 128\nfffffff0ffffffff ffffffffff 5 64 257"
    assert outputs(_written(tmp_path)) == [expected] * 2
