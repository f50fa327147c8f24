"""`rocport port --build` ends with what compiles; verify knows the layout for both platforms."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.model.verification import HOST, Diagnostic, Status, UnitResult, Verification
from rocport.toolchain import ToolchainError, find

KERNEL = """#include <cuda_runtime.h>
__global__ void k(float *p) { p[threadIdx.x] = __ldcs(p); }
void f(float *p) { k<<<1, 64>>>(p); cudaDeviceSynchronize(); }
"""


@pytest.fixture(autouse=True)
def compiler(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        find(None)
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {error}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))  # HIP's header, once for all


def test_port_ends_with_what_compiles(tmp_path: Path) -> None:
    source = tmp_path / "t"
    source.mkdir()
    (source / "k.cu").write_text(KERNEL + "int sum(int *p) { return std::accumulate(p, p + 3, 0); }\n")
    (source / "bad.cu").write_text(KERNEL + "#error not today\n")
    (source / "Makefile").write_text("all:\n\tnvcc k.cu -o k\n")
    both = ["--layout", "both"]
    done = CliRunner().invoke(cli, ["port", str(source), "--out", str(tmp_path / "o"), "--build", *both])
    assert "1 of 1 units of your build compile (1 of them by 1 repairs); 0 edits remain" in done.output, done.output
    assert "1 source that no build file names: left out" in done.output
    assert done.exit_code == 0
    same = ["verify", str(tmp_path / "o"), "--level", "nvidia-unchanged", "--original", str(source)]
    assert CliRunner().invoke(cli, same).exit_code == 0


def test_what_is_left_is_a_finding_of_the_port(tmp_path: Path) -> None:
    source = tmp_path / "t"
    source.mkdir()
    (source / "k.cu").write_text("__global__ void k() {}\nint f() { return nobody_knows(); }\n")
    done = CliRunner().invoke(cli, ["port", str(source), "--out", str(tmp_path / "o"), "--build", "--format", "json"])
    report = json.loads(done.stdout)
    schema = json.loads((resources.files("rocport.report") / "schemas" / "port.json").read_text())
    jsonschema.validate(report, schema)
    (error,) = (one for one in report["findings"] if one["rule"] == "compiler-error")
    assert (error["path"], error["line"]) == ("k.cu", 2)
    assert "nobody_knows" in error["message"]
    assert report["build"]["said"] == "0 of 1 units of your build compile; 1 edits remain"
    assert done.exit_code == 1


def test_refused_ptx_stops_only_units_whose_kernels_reach_it(tmp_path: Path) -> None:
    source = tmp_path / "t"
    source.mkdir()
    (source / "ptx.cuh").write_text(
        "__device__ inline void mma(float *a) {\n"
        '  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0}, {%1}, {%2}, {%3};"\n'
        '    : "=f"(a[0]) : "f"(a[1]), "f"(a[2]), "f"(a[3]));\n}\n'
    )
    (source / "without.cu").write_text('#include "ptx.cuh"\n__global__ void k(float *a) { *a = 1; }\n')
    (source / "with.cu").write_text('#include "ptx.cuh"\n__global__ void reaches(float *a) { mma(a); }\n')
    out = tmp_path / "o"
    CliRunner().invoke(cli, ["port", str(source), "--out", str(out)])
    done = CliRunner().invoke(cli, ["verify", str(out), "--target", "gfx942", "--syntax-only"])
    assert "1 of 2 translation units compile, 1 fail" in done.output, done.output
    assert "ptx_without_a_translation" in done.output and "without.cu" not in done.output


def test_the_layout_for_both_compiles_its_translations(tmp_path: Path) -> None:
    source = tmp_path / "t"
    source.mkdir()
    (source / "k.cu").write_text(KERNEL)
    both = tmp_path / "both"
    ported = CliRunner().invoke(cli, ["port", str(source), "--layout", "both", "--out", str(both)])
    assert ported.exit_code == 0, ported.output
    asked = ["verify", str(both), "--target", "gfx942", "--syntax-only", "--format", "json"]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    assert '"hip/k.hip"' in done.stdout
    assert '"k.cu"' not in done.stdout


def test_causes_are_those_that_unlock_most() -> None:
    def failed(path: str, *messages: str) -> UnitResult:
        errors = tuple(Diagnostic("a.h", number, 1, message) for number, message in enumerate(messages, 1))
        return UnitResult(path, HOST, Status.FAIL, errors=errors)

    units = (
        failed("1.cu", "x", "y"),
        failed("2.cu", "x", "y"),
        failed("3.cu", "z"),
        UnitResult("4.cu", HOST, Status.OK),
    )
    causes = Verification("build", "t", ("gfx942",), "", units).causes()
    assert [(cause.message, cause.place, cause.units, cause.alone) for cause in causes] == [
        ("z", "a.h:1", 1, 1),
        ("x", "a.h:1", 2, 0),
        ("y", "a.h:2", 2, 0),
    ]
