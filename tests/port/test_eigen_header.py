"""rocport_eigen.h: a class made of HIP's half finds its logarithm beside that of bfloat16."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from rocport.port import headers

DEVICE = r"""
#include <hip/hip_runtime.h>
#include <hip/hip_bf16.h>
#include "rocport_eigen.h"
struct Base : public __half_raw { __device__ Base(const __half_raw& h) : __half_raw(h) {} };
struct Half : Base { __device__ Half(const __half& h) : Base(__half_raw(h)) {} };
__device__ Half log_of(const Half& a) { return Half(::hlog(a)); }
template <class A, class B> struct Same { static const bool value = false; };
template <class A> struct Same<A, A> { static const bool value = true; };
__global__ void k(Half *h, __half *g, __hip_bfloat16 *b) {
  h[0] = log_of(h[1]);
  g[0] = hlog(g[1]);
  b[0] = hlog(b[1]);
  static_assert(Same<decltype(hlog(b[1])), __hip_bfloat16>::value, "bfloat16's own");
}
"""


def test_device_code_compiles(tmp_path: Path, compiles: Callable[..., Path]) -> None:
    (tmp_path / "a.hip").write_text(DEVICE)
    (tmp_path / "rocport_eigen.h").write_bytes(headers.read("rocport_eigen.h"))
    compiles(tmp_path / "a.hip", "gfx942", "-S")
