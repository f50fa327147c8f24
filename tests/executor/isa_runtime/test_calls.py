# SPDX-License-Identifier: Apache-2.0
"""The trace of calls and launches that ROCPORT_EXEC_TRACE asks for."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from rocport.executor.isa.runtime.calls import VARIABLE, trace_calls
from rocport.executor.isa.runtime.declarations import _name_of, _named, _split, read_declarations
from rocport.executor.isa.runtime.executor import IsaExecutor
from rocport.executor.isa.runtime.library import HERE
from rocport.model import HANGING_S
from rocport.toolchain import Toolchain

from .conftest import HipCompile

_SOURCE = """
#include <hip/hip_runtime.h>
__global__ void axpy(float a, float *y, int n) { if (threadIdx.x < n) y[threadIdx.x] += a; }
int main() {
  float *y;
  (void)hipMalloc((void **)&y, 400);
  (void)hipMemset(y, 0, 400);
  axpy<<<2, 64>>>(2.5f, y + 3, -7);
  hipTextureObject_t texture;
  hipResourceDesc what{};
  hipTextureDesc how{};
  (void)hipCreateTextureObject(&texture, &what, &how, nullptr);
  return hipFree(y);
}
"""


def test_calls_launches_and_refusals_are_lines(hip: HipCompile, toolchain: Toolchain, tmp_path: Path) -> None:
    refusal = IsaExecutor().probe().refusal
    if refusal:
        pytest.skip(refusal)
    source = tmp_path / "traced.hip"
    source.write_text(_SOURCE)
    environment = {**os.environ, VARIABLE: str(tmp_path / "calls.jsonl")}
    trace_calls(toolchain, environment)
    maps = subprocess.run(["cat", "/proc/self/maps"], capture_output=True, text=True, check=True, env=environment)
    assert "rocport-calls" in maps.stdout and "libamdhip64" not in maps.stdout and not maps.stderr  # a build's tool
    done = subprocess.run(
        [hip(source, "-O1")], capture_output=True, text=True, timeout=HANGING_S, check=False, env=environment
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "calls.jsonl").read_text().splitlines()]
    assert [line.get("call", "kernel") for line in lines] == [
        "hipMalloc", "hipMemset", "kernel", "hipLaunchKernel", "hipCreateTextureObject", "hipFree",
    ]  # fmt: skip
    allocated, filled, kernel, launched, texture, _ = lines
    assert allocated["arguments"]["size"] == 400 and allocated["result"] == "hipSuccess"
    at = allocated["arguments"]["ptr"]["value"]
    assert filled["arguments"] == {"dst": at, "value": 0, "sizeBytes": 400}
    assert (kernel["kernel"], kernel["grid"], kernel["block"]) == ("axpy", [2, 1, 1], [64, 1, 1])
    number, pointer, count = kernel["arguments"]
    assert number["bits"] == "0x40200000" and count["integer"] == -7
    assert pointer == {"pointer": hex(int(at, 16) + 12), "byte": 12, "of": 400}
    assert kernel["instructions"] > 0
    assert launched["arguments"]["dimBlocks"] == [64, 1, 1]
    assert texture["result"] == "hipErrorNotSupported"


def test_parameters_are_split_and_named() -> None:
    text = "int (*resize)(int, void*), const void* const* list[], size_t, unsigned int flags"
    parameters = _split(text)
    names = [_name_of(one, number) for number, one in enumerate(parameters)]
    assert names == ["resize", "list", "argument2", "flags"]
    assert _named("size_t", "argument2") == "size_t argument2"
    assert _split("void") == []


@pytest.mark.parametrize(
    ("declared", "parameters"),
    [
        ('s_t f(void) __attribute__((deprecated("why")));', []),
        ('s_t __attribute__((visibility("default")))\nf(g_t g,\n  size_t n);', ["g_t g", "size_t n"]),
        ("s_t f(e_t e, hipStream_t stream = ((hipStream_t)2));", ["e_t e", "hipStream_t stream"]),
        ("s_t f(void (*call)(int (*)(int)), void* with);", ["void (*call)(int (*)(int))", "void* with"]),
    ],
)
def test_declarations_are_read(declared: str, parameters: list[str]) -> None:
    (found,) = read_declarations(f"int f(); typedef s_t (*p)(int);\n{declared}\ns_t g(int i) {{}}\n", ["s_t"])
    assert found.name == "f" and [one for one, _ in found.parameters] == parameters


def test_every_line_is_json_whatever_the_locale_and_the_bytes(toolchain: Toolchain, tmp_path: Path) -> None:
    """A locale's decimal point is stood in for by a function of its name, since few machines have such a locale."""
    source = tmp_path / "lines.cpp"
    source.write_text(
        r"""
#include <cstdarg>
#include "calls.h"
extern "C" int snprintf(char *to, size_t size, const char *format, ...) noexcept {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(to, size, format, arguments);
  for (char *c = to; std::strchr(format, 'g') && *c; ++c)
    if (*c == '.') *c = ',';
  return length;
}
int main() {
  const std::string text = calls::quoted("a\xff\x7f\n\""), took = calls::milliseconds(std::chrono::microseconds(12034));
  std::puts(("[" + text + ", " + took + ", " + calls::value(1.5f, true) + ", " + calls::value(-2e-20, true) + ", " +
             calls::value(INFINITY, true) + "]").c_str());
}
"""
    )
    program = tmp_path / "lines"
    command = [
        str(toolchain.compiler),
        "-std=c++17",
        "-w",
        f"-I{HERE}",
        str(source),
        "-lstdc++",
        "-lm",
        "-o",
        str(program),
    ]
    subprocess.run(command, check=True, timeout=HANGING_S)
    said = subprocess.run([program], capture_output=True, check=True, timeout=HANGING_S).stdout
    assert json.loads(said) == ['a\xff\x7f\n"', 12.034, 1.5, -2e-20, "inf"]
