"""Level build, with the real compiler."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.facts.dates import dated
from rocport.model.manifest import NAME
from rocport.model.verification import HOST, Status, UnitResult, Verification
from rocport.toolchain import ToolchainError, find
from rocport.verify import build, torch_headers

GOOD = """#include <hip/hip_runtime.h>
#include "scale.h"
__global__ void scale(float* x) { __shared__ float s[64]; s[threadIdx.x] = x[threadIdx.x]; __syncthreads();
  x[threadIdx.x] = SCALE * s[63 - threadIdx.x]; }
void run(float* x) { scale<<<1, 64>>>(x); }
"""
# Left as CUDA on purpose: what a port that forgot a call looks like.
BAD = """#include <hip/hip_runtime.h>
#include "rocport_warp.h"
__global__ void k(int* x) { *x = 1; }
void run(int* x) { cudaFree(x); }
"""
SOURCE_OF_BAD = """__global__ void k(int* x) { *x = 1; }
void run(int* x) { cudaFree(x); }
"""
# 300 live values with a workgroup of 1024 do not fit the registers.
SPILLS = """#include <hip/hip_runtime.h>
__global__ void __launch_bounds__(1024) big(float* a) {
  float r[300];
  #pragma unroll
  for (int i = 0; i < 300; i++) r[i] = a[i * 64 + threadIdx.x];
  __syncthreads();
  #pragma unroll
  for (int i = 0; i < 300; i++) a[i * 32 + threadIdx.x] = r[i] * r[299 - i] + r[(i * 7) % 300];
}
"""


@pytest.fixture(scope="module", autouse=True)
def _compiler() -> None:
    try:
        find()
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {error}")


@pytest.fixture
def options(tmp_path: Path) -> build.BuildOptions:
    return build.BuildOptions(targets=("gfx942",), jobs=2, cache=tmp_path / "cache")


def tree(root: Path, **files: str) -> Path:
    for name, text in files.items():
        path = root / name.replace("__", ".").replace("_in_", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def by_target(verification: Verification, path: str) -> dict[str, UnitResult]:
    return {unit.target: unit for unit in verification.units if unit.path == path}


def test_compiles_host_and_device_and_reads_the_kernels(tmp_path: Path, options: build.BuildOptions) -> None:
    root = tree(tmp_path / "t", k__hip=GOOD, scale__h="#define SCALE 2.0f\n")
    verification = build.verify(root, replace(options, targets=("gfx942", "gfx1100")))
    units = by_target(verification, "k.hip")
    assert {target: unit.status for target, unit in units.items()} == dict.fromkeys(
        (HOST, "gfx942", "gfx1100"), Status.OK
    )
    kernel = units["gfx942"].kernels[0]
    assert (kernel.name, kernel.lds_bytes, kernel.wavefront, kernel.scratch_bytes) == ("_Z5scalePf", 256, 64, 0)
    assert kernel.vgprs > 0 and kernel.sgprs > 0
    assert units["gfx1100"].kernels[0].wavefront == 32
    assert units[HOST].kernels == ()
    assert "not run" in verification.how and "gfx942, gfx1100" in verification.how


def test_syntax_only_sees_both_passes_and_makes_no_code(tmp_path: Path, options: build.BuildOptions) -> None:
    device_error = "#ifdef __HIP_DEVICE_COMPILE__\nstatic_assert(sizeof(int) == 8);\n#endif\n"
    (tmp_path / "good.hip").write_text("#include <hip/hip_runtime.h>\n__global__ void k(int* x) { *x = 1; }\n")
    (tmp_path / "bad.hip").write_text("#include <hip/hip_runtime.h>\n" + device_error)
    verification = build.verify(tmp_path, replace(options, syntax_only=True))
    found = {(unit.path, unit.target): unit for unit in verification.units}
    assert found["good.hip", "gfx942"].status is Status.OK
    assert found["good.hip", "gfx942"].kernels == ()
    assert found["bad.hip", HOST].status is Status.OK
    assert found["bad.hip", "gfx942"].status is Status.FAIL
    assert "syntax" in verification.how


def write_manifest(root: Path, records: list[dict[str, str]]) -> None:
    """The manifest of a port of `../t`."""
    files = [{**record, "source_sha256": "", "output_sha256": ""} for record in records]
    text = json.dumps({"schema": 1, "version": "0", "options": {}, "files": files, "source_root": "../t"})
    (root / NAME).write_text(text)


def test_error_is_placed_in_the_cuda_source_and_explained(tmp_path: Path, options: build.BuildOptions) -> None:
    source = tree(tmp_path / "t", bad__cu=SOURCE_OF_BAD)
    root = tree(tmp_path / "t-hip", bad__cu=BAD, rocport_warp__h="")
    records = [
        {"source": "bad.cu", "output": "bad.cu", "status": "translated"},
        {"source": "", "output": "rocport_warp.h", "status": "generated"},
    ]
    write_manifest(root, records)
    verification = build.verify(root, options)
    assert verification.failed
    for unit in by_target(verification, "bad.cu").values():
        (error,) = unit.errors
        assert (error.path, error.line) == ("bad.cu", 4)
        assert (error.original_path, error.original_line) == ("bad.cu", 2)
        assert "cudaFree" in error.message and "hipFree" in error.explanation
    assert source.exists()


def test_source_line_is_unknown_without_the_source(tmp_path: Path, options: build.BuildOptions) -> None:
    root = tree(tmp_path / "elsewhere", bad__cu=BAD, rocport_warp__h="")
    records = [{"source": "src/bad.cu", "output": "bad.cu", "status": "translated"}]
    write_manifest(root, records)
    (error,) = by_target(build.verify(root, options), "bad.cu")["gfx942"].errors
    assert (error.original_path, error.original_line) == ("src/bad.cu", None)


def test_error_inside_a_library_header_is_placed_where_the_tree_asked(
    tmp_path: Path, options: build.BuildOptions
) -> None:
    text = "#include <hip/hip_runtime.h>\n#include <memory>\nstruct A { A(int); };\nauto p = std::make_unique<A>();\n"
    root = tree(tmp_path / "t", k__hip=text)
    unit = by_target(build.verify(root, options), "k.hip")[HOST]
    assert (unit.errors[0].path, unit.errors[0].line) == ("k.hip", 4)
    assert unit.errors[0].within == "bits/unique_ptr.h"


def test_instruction_of_inline_assembly_is_named(tmp_path: Path, options: build.BuildOptions) -> None:
    text = "#include <hip/hip_runtime.h>\n__global__ void k(unsigned* a) {\n  unsigned r;\n"
    text += '  asm volatile("mov.u32 %0, %%laneid;" : "=r"(r));\n  a[0] = r;\n}\n'
    (error,) = by_target(build.verify(tree(tmp_path / "t", k__hip=text), options), "k.hip")["gfx942"].errors
    assert error.line == 4
    assert error.message == "invalid instruction: mov.u32"
    assert "PTX" in error.explanation


def test_register_spills_are_a_finding_and_no_failure(tmp_path: Path, options: build.BuildOptions) -> None:
    root = tree(tmp_path / "t", k__hip=SPILLS)
    unit = by_target(build.verify(root, options), "k.hip")["gfx942"]
    assert unit.status is Status.OK
    assert unit.kernels[0].vgpr_spills > 0
    (finding,) = unit.findings
    assert finding.code == "register-spill"
    assert f"spills {unit.kernels[0].vgpr_spills} VGPRs" in finding.message and "1024" in finding.message


def test_lds_over_the_limit_fails_and_says_the_limit(tmp_path: Path, options: build.BuildOptions) -> None:
    text = "#include <hip/hip_runtime.h>\n__global__ void k(int* a, int i) { __shared__ int s[20000]; s[i] = a[i];\n"
    root = tree(tmp_path / "t", k__hip=text + "__syncthreads(); a[0] = s[i + 1]; }\n")
    units = by_target(build.verify(root, options), "k.hip")
    assert units[HOST].status is Status.OK
    assert units["gfx942"].status is Status.FAIL
    assert "80000 bytes of LDS" in units["gfx942"].errors[0].explanation


def test_a_function_without_its_return_is_a_finding_and_its_kernel_fails(
    tmp_path: Path, options: build.BuildOptions
) -> None:
    """nvcc keeps such a kernel; clang's has no instruction. A kernel that is meant to be empty has one."""
    (tmp_path / "a.hip").write_text(
        "#include <hip/hip_runtime.h>\n"
        "__device__ int next(int x) { x += 1; }\n"
        "__global__ void broken(int *p) { *p = next(*p); }\n"
    )
    (tmp_path / "b.hip").write_text("#include <hip/hip_runtime.h>\n__global__ void empty(int *p) {}\n")
    result = {unit.path: unit for unit in build.verify(tmp_path, options).units if unit.target != HOST}
    assert [finding.code for finding in result["a.hip"].findings] == ["kernel-without-code", "undefined-behaviour"]
    assert "a.hip:2: non-void function" in result["a.hip"].findings[1].message
    assert result["a.hip"].status is Status.FAIL
    assert (result["b.hip"].status, result["b.hip"].findings) == (Status.OK, ())


def test_second_run_is_cached_until_a_header_changes(tmp_path: Path, options: build.BuildOptions) -> None:
    root = tree(tmp_path / "t", k__hip=GOOD, scale__h="#define SCALE 2.0f\n")
    first = build.verify(root, options)
    second = build.verify(root, options)
    assert not any(unit.cached for unit in first.units)
    assert all(unit.cached for unit in second.units)
    assert [unit.kernels for unit in second.units] == [unit.kernels for unit in first.units]
    (root / "scale.h").write_text("#define SCALE missing\n")
    third = build.verify(root, options)
    assert third.failed and not any(unit.cached for unit in third.units)


def test_failure_is_cached_until_it_is_mended(tmp_path: Path, options: build.BuildOptions) -> None:
    root = tree(tmp_path / "t", bad__cu=BAD, rocport_warp__h="")
    first, second = build.verify(root, options), build.verify(root, options)
    assert all(unit.cached for unit in second.units)
    assert [unit.errors for unit in second.units] == [unit.errors for unit in first.units]
    (root / "bad.cu").write_text(BAD.replace("cudaFree", "(void)hipFree"))
    assert not build.verify(root, options).failed


def test_damaged_cache_entries_are_compiled_again(tmp_path: Path, options: build.BuildOptions) -> None:
    root = tree(tmp_path / "t", k__hip=GOOD, scale__h="#define SCALE 2.0f\n")
    build.verify(root, options)
    for number, entry in enumerate(sorted((tmp_path / "cache").rglob("*.json"))):
        text = entry.read_text()
        entry.write_text(text[: len(text) // 2] if number % 2 else '{"files": {}, "result": {"code": 0}}')
    again = build.verify(root, options)
    assert not again.failed and not any(unit.cached for unit in again.units)


def test_cache_of_one_tree_says_nothing_of_another(tmp_path: Path, options: build.BuildOptions) -> None:
    build.verify(tree(tmp_path / "a", k__hip=GOOD, scale__h="#define SCALE 2.0f\n"), options)
    other = build.verify(tree(tmp_path / "b", k__hip=GOOD, scale__h="#define SCALE nonsense\n"), options)
    assert other.failed and not any(unit.cached for unit in other.units)


def test_time_limit(tmp_path: Path, options: build.BuildOptions) -> None:
    root = tree(tmp_path / "t", k__hip=GOOD, scale__h="#define SCALE 2.0f\n")
    verification = build.verify(root, replace(options, timeout_s=0.01))
    assert {unit.status for unit in verification.units} == {Status.FAIL}
    assert "did not compile within 0.01 s" in verification.units[0].reason


def test_units_that_no_build_file_names_are_left_out_and_counted(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And what could not be tried is no ok: 33 of 40 units of gunrock were skipped, exit 0."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    root = tree(tmp_path / "t", k__hip=GOOD, scale__h="#define SCALE 1\n", third_party_in_x_in_bad__cu=BAD)
    (root / "Makefile").write_text("k.o: k.hip\n")
    asked = ["verify", str(root), "--target", "gfx942", "--syntax-only"]
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 0, done.output
    assert "1 source that no build file names was left out (1 in third_party/x): --all-units" in done.output
    assert CliRunner().invoke(cli, [*asked, "--all-units"]).exit_code == 1
    (root / "k.hip").write_text("#include <nowhere/to_be_found.h>\n" + GOOD)
    done = CliRunner().invoke(cli, asked)
    assert done.exit_code == 1
    assert "nothing verified" in done.output


def test_missing_third_party_header_is_skipped_never_passed(tmp_path: Path, options: build.BuildOptions) -> None:
    root = tree(tmp_path / "t", k__hip="#include <hip/hip_runtime.h>\n#include <acme/acme.h>\n")
    verification = build.verify(root, options)
    assert {unit.status for unit in verification.units} == {Status.SKIP}
    assert "<acme/acme.h> is not on this machine" in verification.units[0].reason
    assert verification.summary()["ok"] == 0


def test_a_header_that_was_missing_is_seen_once_it_is_there(tmp_path: Path, options: build.BuildOptions) -> None:
    root, elsewhere = tmp_path / "tree", tmp_path / "elsewhere"
    root.mkdir()
    elsewhere.mkdir()
    (root / "a.hip").write_text("#include <hip/hip_runtime.h>\n#include <third/party.h>\nint a = PARTY;\n")
    options = replace(options, includes=(elsewhere,), syntax_only=True)
    assert {unit.status for unit in build.verify(root, options).units} == {Status.SKIP}
    (elsewhere / "third").mkdir()
    (elsewhere / "third" / "party.h").write_text("#define PARTY 1\n")
    assert {unit.status for unit in build.verify(root, options).units} == {Status.OK}


def test_last_includes_are_looked_at_behind_the_tree(tmp_path: Path, options: build.BuildOptions) -> None:
    elsewhere = tmp_path / "elsewhere"
    tree(elsewhere, third__h="#define PARTY 2\n", own__h="#error not this one\n")
    root = tree(tmp_path / "t", k__hip='#include <third.h>\n#include "own.h"\nint a = PARTY;\n', own__h="")
    options = replace(options, last_includes=(elsewhere,), syntax_only=True)
    assert {unit.status for unit in build.verify(root, options).units} == {Status.OK}


def test_a_macro_that_names_the_gpu_has_the_name_of_the_target(tmp_path: Path, options: build.BuildOptions) -> None:
    """gunrock: target_compile_definitions(... SM_TARGET=${CMAKE_HIP_ARCHITECTURES}), pasted to a name."""
    text = "#define P(a) Q(a)\n#define Q(a) sm_##a\nenum { sm_gfx942, sm_gfx1100 };\nint a = P(SM_TARGET);\n"
    root = tree(tmp_path / "t", k__hip=text)
    (root / "CMakeLists.txt").write_text("add_definitions(-DSM_TARGET=${CMAKE_HIP_ARCHITECTURES})\nproject(a)\n")
    options = replace(options, targets=("gfx942", "gfx1100"), syntax_only=True)
    verification = build.verify(root, options)
    assert {unit.status for unit in verification.units} == {Status.OK}


def test_host_sources_of_an_extension_have_the_macros_of_python_s_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    for flags, expected in (("-DNDEBUG -g -O3", ("NDEBUG",)), ("-g", ()), (None, ())):
        monkeypatch.setattr(torch_headers.sysconfig, "get_config_var", lambda name, flags=flags: flags)
        assert torch_headers._of_python() == expected


def test_cuda_header_left_behind_is_a_failure(tmp_path: Path, options: build.BuildOptions) -> None:
    root = tree(tmp_path / "t", k__cu="#include <cuda_runtime.h>\n")
    verification = build.verify(root, options)
    assert verification.failed
    assert "hip/hip_runtime.h" in verification.units[0].errors[0].explanation


def test_torch_extension_without_torch_is_skipped(
    tmp_path: Path, options: build.BuildOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "find_torch", lambda: None)
    root = tree(tmp_path / "t", k__hip="#include <torch/extension.h>\n#include <hip/hip_runtime.h>\n")
    verification = build.verify(root, options)
    assert {(unit.status, unit.reason) for unit in verification.units} == {
        (Status.SKIP, "torch is not installed, its headers are needed")
    }


def test_device_code_across_units_is_not_an_error_in_a_relocatable_build(
    tmp_path: Path, options: build.BuildOptions
) -> None:
    text = "#include <hip/hip_runtime.h>\nextern __device__ int f(int);\n__global__ void k(int* a) { *a = f(3); }\n"
    root = tree(tmp_path / "t", k__hip=text)
    refused = by_target(build.verify(root, options), "k.hip")["gfx942"]
    assert refused.status is Status.FAIL and "undefined" in refused.errors[0].message
    tree(root, Makefile="CXXFLAGS = -fgpu-rdc\n")
    assert by_target(build.verify(root, options), "k.hip")["gfx942"].status is Status.OK


def test_host_source_gets_the_host_pass_only(tmp_path: Path, options: build.BuildOptions) -> None:
    text = "#include <hip/hip_runtime_api.h>\nint count() { int n; (void)hipGetDeviceCount(&n); return n; }\n"
    root = tree(tmp_path / "t", host__cpp=text, other__cpp="int main() { return 0; }\n")
    verification = build.verify(root, options)
    assert [(unit.path, unit.target, unit.status) for unit in verification.units] == [("host.cpp", HOST, Status.OK)]


def test_host_sources_compile_as_the_host_s_compiler_takes_them(tmp_path: Path, options: build.BuildOptions) -> None:
    """A number that is narrowed (GCC warns), and C that has blocks for clang where GCC has nested functions."""
    include = "#include <hip/hip_runtime_api.h>\n"
    narrowed = include + "struct V { float x; };\nV f(double d) { return V{d}; }\n"
    block = include + "extern int sort(int (^less)(int, int));\n"
    root = tree(tmp_path / "t", a__cpp=narrowed, b__c=block)
    assert {unit.status for unit in build.verify(root, options).units} == {Status.OK}


def test_a_header_of_cxx_in_a_c_source_is_a_failure(tmp_path: Path, options: build.BuildOptions) -> None:
    include = "#include <hip/hip_runtime_api.h>\n"
    root = tree(tmp_path / "t", a__c=f"{include}#include <cstring>\n", b__c=f"{include}#include <nobody/has.h>\n")
    found = {unit.path: unit.status for unit in build.verify(root, options).units}
    assert found == {"a.c": Status.FAIL, "b.c": Status.SKIP}


def test_unavailable_target_is_refused_with_those_available(tmp_path: Path, options: build.BuildOptions) -> None:
    root = tree(tmp_path / "t", k__hip=GOOD)
    with pytest.raises(build.VerifyError, match=r"cannot compile for gfx601: no such gfx target is known.*gfx942"):
        build.verify(root, replace(options, targets=("gfx601",)))


def test_command_json_follows_the_schema(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
    root = tree(tmp_path / "t", bad__cu=BAD, rocport_warp__h="", k__hip=GOOD, scale__h="#define SCALE 1\n")
    result = CliRunner().invoke(cli, ["verify", str(root), "--target", "gfx942", "--format", "json"])
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert {"schema", "level", "root", "targets", "how", "units", "not_named", "summary"} == set(report)
    assert {(unit["path"], unit["target"], unit["status"]) for unit in report["units"]} == {
        ("bad.cu", "host", "fail"),
        ("bad.cu", "gfx942", "fail"),
        ("k.hip", "host", "ok"),
        ("k.hip", "gfx942", "ok"),
    }
    error = next(unit for unit in report["units"] if unit["status"] == "fail")["errors"][0]
    assert set(error) == {
        "path",
        "line",
        "column",
        "message",
        "original_path",
        "original_line",
        "explanation",
        "within",
        "included",
        "notes",
        "fixits",
    }
    assert report["summary"]["units"] == 2 and report["summary"]["ok"] == report["summary"]["fail"] == 1


def test_command_text_says_what_the_claim_rests_on(tmp_path: Path) -> None:
    root = tree(tmp_path / "t", k__hip=GOOD, scale__h="#define SCALE 1\n")
    result = CliRunner().invoke(cli, ["verify", str(root), "--target", "gfx942", "--no-cache"])
    assert result.exit_code == 0, result.output
    assert "ok: 1 of 1 translation units compile; 1 kernels" in result.stdout
    assert "cross-compiled for gfx942" in result.stdout and "not run" in result.stdout
    assert "\033" not in result.stdout and result.stderr == dated() + "\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["missing"], "no such file or folder"),
        (["empty"], "no translation unit found"),
        (["empty", "--target", "gfx9999"], "gfx9999"),
        (["empty", "--target", ","], "name at least one"),
    ],
)
def test_bad_usage_is_exit_2(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    result = CliRunner().invoke(cli, ["verify", *arguments])
    assert result.exit_code != 0 and message in result.output
    assert "Traceback" not in result.output


def test_interrupt_ends_the_compilers_and_leaves_nothing(tmp_path: Path) -> None:
    """Twice, as `timeout -s INT` and impatient people do."""
    root = tree(tmp_path / "t", **{f"k{number}__hip": GOOD for number in range(40)}, scale__h="#define SCALE 1\n")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "rocport", "verify", str(root), "--no-cache", "-j2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(scratch)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    while process.poll() is None and not any(scratch.glob("rocport-*/*")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=3600)
    assert process.returncode == 130 and stdout == ""
    assert "interrupted" in stderr and "Traceback" not in stderr
    assert not any(scratch.iterdir())


@pytest.mark.slow
def test_pytorch_extension_with_the_headers_a_rocm_wheel_has(
    tmp_path: Path, options: build.BuildOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    if torch_headers.find_torch() is None or torch_headers.python_include() is None:
        pytest.skip("needs torch and Python.h")
    text = """#include <ATen/core/Tensor.h>
#include <ATen/hip/HIPContextLight.h>
#include <c10/hip/HIPGuard.h>
#include <c10/hip/HIPException.h>
__global__ void twice(float* x) { x[threadIdx.x] *= 2; }
void run(at::Tensor x) {
  c10::cuda::CUDAGuard guard(x.device());
  twice<<<1, 64, 0, c10::cuda::getCurrentCUDAStream()>>>(x.mutable_data_ptr<float>());
  C10_CUDA_KERNEL_LAUNCH_CHECK();
}
"""
    root = tree(tmp_path / "t", k__hip=text)
    verification = build.verify(root, options)
    assert not verification.failed, verification.units
    assert verification.summary()["ok"] == 1
    assert verification.units[1].kernels[0].name == "_Z5twicePf"
