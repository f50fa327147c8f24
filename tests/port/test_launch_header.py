"""rocport_launch.h: a launch with attributes, against a HIP that writes down what it is asked for."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rocport.port import headers

HIP = r"""
#pragma once
#include <cstdio>
typedef int hipError_t;
typedef int *hipStream_t, *hipEvent_t, *hipFunction_t;
enum { hipSuccess = 0, hipErrorNotSupported = 801 };
enum hipLaunchAttributeID { hipLaunchAttributeCooperative = 2, hipLaunchAttributePriority = 8 };
struct hipAccessPolicyWindow { void *base_ptr; };
struct dim3 { unsigned x, y, z; constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {} };
inline int shown(const char *how, dim3 g, dim3 b, void **v, unsigned s) {
  std::printf("%s %u %u %u: %d %g\n", how, g.x, b.x, s, *(int *)v[0], *(double *)v[1]);
  return hipSuccess;
}
inline int hipLaunchKernel(const void *, dim3 g, dim3 b, void **v, unsigned s, hipStream_t) {
  return shown("plain", g, b, v, s);
}
inline int hipLaunchCooperativeKernel(const void *, dim3 g, dim3 b, void **v, unsigned s, hipStream_t) {
  return shown("cooperative", g, b, v, s);
}
inline int hipModuleLaunchKernel(hipFunction_t, int x, int, int, int b, int, int, unsigned s, hipStream_t,
                                 void **v, void **) {
  return shown("module", dim3(x), dim3(b), v, s);
}
inline int hipModuleLaunchCooperativeKernel(hipFunction_t, int x, int, int, int b, int, int, unsigned s, hipStream_t,
                                            void **v) {
  return shown("module cooperative", dim3(x), dim3(b), v, s);
}
inline int hipEventRecord(hipEvent_t, hipStream_t) { std::printf("event\n"); return hipSuccess; }
"""
PROGRAM = r"""
#include "rocport_launch.h"
void kernel(int n, const double x) {}
int main() {
  rocport::launch_attribute a[2] = {};
  a[0].id = rocport::launch_programmatic_stream_serialization;
  a[1].id = hipLaunchAttributePriority;
  rocport::launch_config c = {dim3(4), dim3(64), 16, nullptr, a, 2};
  std::printf("%d\n", rocport::launch_kernel_ex(&c, kernel, 3.7, 2));
  a[0].id = hipLaunchAttributeCooperative, a[0].val.cooperative = 1;
  a[1].id = rocport::launch_completion_event;
  std::printf("%d\n", rocport::launch_kernel_ex(&c, kernel, 5, 6.5f));
  a[1].id = rocport::launch_cluster_dimension, a[1].val.clusterDim = {2, 1, 1};
  std::printf("%d\n", rocport::launch_kernel_ex(&c, kernel, 5, 6.5f));
  int n = 8; double x = 9;
  void *values[] = {&n, &x};
  rocport::driver_launch_config d = {7, 1, 1, 32, 1, 1, 0, nullptr, nullptr, 0};
  std::printf("%d\n", rocport::driver_launch_kernel_ex(&d, nullptr, values, nullptr));
}
"""


def test_attributes_are_obeyed_passed_over_or_refused(tmp_path: Path) -> None:
    if shutil.which("g++") is None:
        pytest.skip("no g++")
    (tmp_path / "hip").mkdir()
    (tmp_path / "hip/hip_runtime_api.h").write_text(HIP)
    (tmp_path / "rocport_launch.h").write_bytes(headers.read("rocport_launch.h"))
    (tmp_path / "a.cpp").write_text(PROGRAM)
    subprocess.run(["g++", "-w", "-I.", "a.cpp", "-o", "a"], cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "a"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        *("plain 4 64 16: 3 2", "0"),
        *("cooperative 4 64 16: 5 6.5", "event", "0"),
        *("801",),
        *("module 7 32 0: 8 9", "0"),
    ]
