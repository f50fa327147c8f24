"""The headers that stand for those of CUDA's samples: compiled for the device, and run on the host."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from rocport.port import headers
from rocport.toolchain import Toolchain

DEVICE = """\
#include "rocport_samples.h"
#include "rocport_samples_math.h"
__global__ void k(float3* a, uint4* u, int2* i) {
  float3 v = normalize(a[0]) * 2.0f + cross(a[1], make_float3(1.0f)) - 0.5f;
  v += make_float3(make_float4(v, 1.0f));
  v = lerp(3.0f * v / 2.0f, clamp(v, 0.0f, 1.0f), lerp(0.0f, 1.0f, 0.5f));
  v = -reflect(fminf(fabs(v), floorf(v)), a[2]);
  a[0] = smoothstep(v, v, fracf(v));
  u[0] = make_uint4(make_float4(v, length(v)));
  i[0] = max(i[1], make_int2(3));
}
int main(int argc, const char** argv) {
  float* p;
  int device = findCudaDevice(argc, argv);
  checkCudaErrors(hipMalloc(&p, 4));
  getLastCudaError("malloc");
  return device + gpuGetMaxGflopsDeviceId();
}
"""
# No runtime is there: the calls the header makes are answered here, so that failing ones can be asked for.
HOST = """\
#include "rocport_samples.h"
#include <assert.h>
extern "C" {
hipError_t hipGetLastError() { return hipSuccess; }
const char* hipGetErrorName(hipError_t) { return "hipErrorOutOfMemory"; }
const char* hipGetErrorString(hipError_t) { return "out of memory"; }
hipError_t hipGetDeviceCount(int* n) { *n = 2; return hipSuccess; }
hipError_t hipSetDevice(int) { return hipSuccess; }
hipError_t hipGetDeviceProperties(hipDeviceProp_t* p, int) { memset(p, 0, sizeof *p); return hipSuccess; }
hipError_t hipDeviceGetAttribute(int* v, hipDeviceAttribute_t, int device) { *v = 10 + device; return hipSuccess; }
}
int main(int argc, const char** argv) {
  assert(checkCmdLineFlag(argc, argv, "n") && !checkCmdLineFlag(argc, argv, "m") && checkCmdLineFlag(argc, argv, "v"));
  assert(!checkCmdLineFlag(argc, argv, "nam"));
  assert(getCmdLineArgumentInt(argc, argv, "n") == 12 && getCmdLineArgumentInt(argc, argv, "m") == 0);
  assert(getCmdLineArgumentFloat(argc, argv, "f") == 0.5f);
  char* text = nullptr;
  assert(getCmdLineArgumentString(argc, argv, "name", &text) && !strcmp(text, "a b"));
  unsigned value = 7;
  assert(getCmdLineArgumentValue(argc, argv, "n", &value) && value == 12);
  assert(gpuGetMaxGflopsDeviceId() == 1 && findCudaDevice(argc, argv) == 1 && gpuDeviceInit(5) == -5);
  StopWatchInterface* timer = nullptr;
  assert(sdkCreateTimer(&timer) && sdkGetTimerValue(&timer) == 0.0f);
  sdkStartTimer(&timer);
  const std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begun < std::chrono::milliseconds(2)) {}
  sdkStopTimer(&timer);
  const float taken = sdkGetTimerValue(&timer);
  assert(taken >= 2.0f && sdkGetTimerValue(&timer) == taken && sdkGetAverageTimerValue(&timer) == taken);
  sdkResetTimer(&timer);
  assert(sdkGetTimerValue(&timer) == 0.0f && sdkDeleteTimer(&timer) && timer == nullptr);
  const float a[2] = {1, 2}, b[2] = {1, 2.5f};
  assert(sdkCompareL2fe(a, a, 2, 1e-6f) && !sdkCompareL2fe(a, b, 2, 1e-2f));
  checkCudaErrors(hipSuccess);
  checkCudaErrors(hipErrorOutOfMemory);
  return 0;
}
"""


FOLDER = Path(headers.__file__).parent


@pytest.mark.parametrize("standard", ["c++14", "c++20"])
def test_a_program_compiles_for_the_device(toolchain: Toolchain, tmp_path: Path, standard: str) -> None:
    unit = tmp_path / "unit.hip"
    unit.write_text(DEVICE)
    command = [str(toolchain.compiler), "-x", "hip", f"-std={standard}", "--offload-arch=gfx942", "-fsyntax-only"]
    paths = [f"--rocm-path={toolchain.root}", f"--rocm-device-lib-path={toolchain.device_libs}", f"-I{FOLDER}"]
    done = subprocess.run(
        [*command, *paths, "-isystem", str(toolchain.include), "-w", str(unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_what_the_functions_do_on_the_host(toolchain: Toolchain, tmp_path: Path) -> None:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("g++ is not installed")
    unit, program = tmp_path / "unit.cpp", tmp_path / "unit"
    unit.write_text(HOST)
    command = [
        compiler,
        "-std=c++14",
        "-w",
        "-D__HIP_PLATFORM_AMD__",
        f"-I{FOLDER}",
        "-isystem",
        str(toolchain.include),
    ]
    built = subprocess.run([*command, str(unit), "-o", str(program)], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    arguments = ["--n=12", "-f=0.5", "-v", "--name=a b"]
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert 'code=2(hipErrorOutOfMemory) "hipErrorOutOfMemory"' in done.stderr
