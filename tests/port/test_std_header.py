"""rocport_std.h: every name that the rule keeps compiles for AMD GPUs, and computes what the standard library does."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocport.executor.base import BuildOptions, Limits, RunOptions
from rocport.executor.cpu import CpuExecutor
from rocport.executor.program import load_program
from rocport.port import headers
from rocport.rules.cuda.standard_library import NAMES, OUTSIDE
from rocport.toolchain import ToolchainError, find

PROGRAM = r"""
#include <hip/hip_runtime.h>
#include "rocport_std.h"
#include <cstdio>
__global__ void k(float *x, int *n, float *sum) {
  const int t = threadIdx.x;
  cuda::std::array<float, 3> a{1.0f, 2.0f, 4.0f};
  const auto pair = cuda::std::make_tuple(t, cuda::std::min(t, 7));
  cuda::std::complex<float> c(t, 1.0f);
  c = c * cuda::std::conj(c);
  x[t] = cuda::std::sqrt(static_cast<float>(t)) + a[t % 3] + cuda::std::get<1>(pair) + c.real();
  x[t] += cuda::std::floor(t / 2);
  cuda::atomic_ref<int, cuda::thread_scope_device>(n[0]).fetch_add(t, cuda::memory_order_relaxed);
  cuda::atomic_ref<int, cuda::thread_scope_block>(n[1]).fetch_max(t);
  ++cuda::atomic_ref<int>(n[2]);
  cuda::atomic_ref<float, cuda::thread_scope_device>(*sum).fetch_add(0.5f);
  if (cuda::std::isnan(cuda::std::numeric_limits<float>::quiet_NaN()) && !cuda::std::isinf(1.0f)) x[t] += 1;
}
int main() {
  float *x, *sum, host[128], total;
  int *n, counts[3];
  hipMalloc(&x, sizeof host), hipMalloc(&n, sizeof counts), hipMalloc(&sum, 4);
  hipMemset(n, 0, sizeof counts), hipMemset(sum, 0, 4);
  k<<<1, 128>>>(x, n, sum);
  hipMemcpy(host, x, sizeof host, hipMemcpyDeviceToHost);
  hipMemcpy(counts, n, sizeof counts, hipMemcpyDeviceToHost);
  hipMemcpy(&total, sum, 4, hipMemcpyDeviceToHost);
  bool right = counts[0] == 127 * 64 && counts[1] == 127 && counts[2] == 128 && total == 64.0f;
  right = right && cuda::ceil_div(7, 2) == 4;
  for (int t = 0; t < 128; ++t) {
    const float want = std::sqrt(float(t)) + float(1 << t % 3) + std::min(t, 7) + (float(t) * t + 1) + t / 2 + 1;
    right = right && std::fabs(host[t] - want) <= 1e-5f * want;
  }
  std::printf(right ? "PASS\n" : "FAIL\n");
  return !right;
}
"""


@pytest.mark.parametrize("target", ["gfx942", "gfx1100"])
def test_every_name_is_there(target: str, tmp_path: Path) -> None:
    try:
        toolchain = find()
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {error}")
    unit = tmp_path / "names.hip"
    unit.write_text(
        '#include "rocport_std.h"\nnamespace inside {\n'
        + "".join(f"using cuda::std::{name.decode()};\n" for name in sorted(NAMES))
        + "}\nnamespace outside {\n"
        + "".join(f"using cuda::{name.decode()};\n" for name in sorted(OUTSIDE))
        + "}\n"
    )
    (tmp_path / "rocport_std.h").write_bytes(headers.read("rocport_std.h"))
    command = toolchain.compile_command(
        unit, target, mode="device", output=tmp_path / "a.o", optimize="-O0", extra=["-w", "-std=c++17"]
    )
    done = subprocess.run(command, capture_output=True, text=True, timeout=3600)
    assert done.returncode == 0, done.stderr[-4000:]


def test_it_computes_what_the_standard_library_does(tmp_path: Path) -> None:
    executor = CpuExecutor()
    capability = executor.probe()
    if not capability.usable:
        pytest.skip(capability.refusal)
    (tmp_path / "a.hip").write_text(PROGRAM)
    (tmp_path / "rocport_std.h").write_bytes(headers.read("rocport_std.h"))
    executable = executor.build(load_program(tmp_path / "a.hip"), tmp_path / "b", BuildOptions(optimize="-O1"))
    for width in (32, 64):
        result = executor.run(executable, (), tmp_path, RunOptions(width=width, limits=Limits(seconds=3600)))
        assert result.ok and result.stdout.strip() == "PASS", result.stdout + result.stderr
