"""Places that look like a question and ask nothing of anybody on ROCm."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport import api
from rocport.model import Applicability, Finding


def _open(tree: Path, **files: str) -> list[Finding]:
    """The REVIEW and MANUAL findings of a tree; `__` in a name is a `/`, the last `_` a dot."""
    for name, text in files.items():
        path = tree / ".".join(name.replace("__", "/").rsplit("_", 1))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    findings = api.scan(tree, jobs=1).findings
    return [finding for finding in findings if finding.applicability is not Applicability.SAFE]


_MAMBA = "from mamba_ssm.ops import scan\n"


@pytest.mark.parametrize(("build", "asked"), [("mamba__setup_py", False), ("other__setup_py", True)])
def test_a_package_that_a_project_of_the_tree_builds_is_its_own(tmp_path: Path, build: str, asked: bool) -> None:
    (tmp_path / "mamba" / "mamba_ssm").mkdir(parents=True)
    (tmp_path / "mamba" / "mamba_ssm" / "__init__.py").write_text("")
    requires = "setup(install_requires=['mamba-ssm'])\n"
    files = {build: "setup()\n", "train_py": _MAMBA, "top__setup_py": requires, "requirements_txt": "mamba-ssm\n"}
    found = {finding.rule for finding in _open(tmp_path, **files)}
    assert found == ({"cuda-only-import", "setup-requirement", "cuda-requirement"} if asked else set())


_SETUP = """\
from torch.utils.cpp_extension import CUDA_HOME
def get_cuda_bare_metal_version(home):
    return run([home + "/bin/nvcc", "-V"])
def warns():
    if CUDA_HOME is not None:
        return
    warnings.warn("asked for, but nvcc was not found")
if CUDA_HOME is not None:
    version = get_cuda_bare_metal_version(CUDA_HOME)
    if version < Version("11.6"):
        raise RuntimeError("only supported on CUDA 11.6: is nvcc missing?")
"""


def test_an_extension_of_the_tree_is_its_own_however_it_is_imported(tmp_path: Path) -> None:
    text = "from importlib import import_module\na = import_module('lamb_cuda')\nb = import_module('other_cuda')\n"
    built = "setup(ext_modules=[CUDAExtension(name='lamb_cuda', sources=['a.cu'])])\n"
    found = _open(tmp_path, m_py=text, setup_py=built, a_cu="int f();\n")
    assert [(item.rule, item.line) for item in found] == [("cuda-only-import", 3)]


def test_a_probe_behind_a_test_that_stays_closed_asks_once(tmp_path: Path) -> None:
    found = [(finding.rule, finding.line) for finding in _open(tmp_path, setup_py=_SETUP)]
    assert found == [("cuda-home", 5)]  # the one test that the port opens for ROCm


def test_a_test_of_cuda_home_with_a_refusal_beside_it_is_one(tmp_path: Path) -> None:
    refuses = _SETUP + 'else:\n    raise RuntimeError("an NVIDIA GPU is required")\n'
    found = {(finding.rule, finding.line) for finding in _open(tmp_path, setup_py=refuses)}
    assert {("cuda-home", 8), ("vendor-message", 13)} <= found


@pytest.mark.parametrize(
    ("more", "asked"),
    [
        ("", False),
        ("EXPECT_NEAR(h[0], 0.145468f, 1e-6);", True),
        ("if (h[0] != 0.145468f) fail();", True),
        ("if (n == 2) fail();", False),
        ("float golden = h[0];", True),
    ],
)
def test_numbers_of_a_seed_are_asked_about_where_they_may_be_recorded(tmp_path: Path, more: str, asked: bool) -> None:
    makes = "curandGenerator_t g; curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT);"
    rules = {finding.rule for finding in _open(tmp_path, a_cu=f"void f(float *h, int n) {{ {makes} {more} }}\n")}
    assert ("random-sequence" in rules) is asked


def test_declarations_that_lack_one_library_are_one_decision(tmp_path: Path) -> None:
    header = (
        "#include <cudnn.h>\ninline int f(cudnnStatus_t s) { return s == CUDNN_STATUS_SUCCESS; }\n"
        "inline void g(cudnnTensorDescriptor_t *t) { cudnnCreateTensorDescriptor(t); }\n"
    )
    causes = {finding.cause for finding in _open(tmp_path, u_h=header, a_cu='#include "u.h"\n')}
    assert len(causes) == 1


def test_the_tests_of_a_library_that_the_tree_carries_along_are_built_by_nobody(tmp_path: Path) -> None:
    files = {f"extern__fmt__{folder}__CMakeLists_txt": "find_package(CUDA)\n" for folder in ("test", "src")}
    assert {finding.path for finding in _open(tmp_path, **files)} == {"extern/fmt/src/CMakeLists.txt"}


def test_a_library_without_a_counterpart_is_one_decision_in_make_and_in_sources(tmp_path: Path) -> None:
    files = {"Makefile": "x: x.cu\n\tnvcc x.cu -lcudnn\n", "a.cu": "void f(cudnnHandle_t h) { cudnnDestroy(h); }\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    found = {
        finding.path: finding.cause for finding in _open(tmp_path) if finding.applicability is Applicability.MANUAL
    }
    assert set(found) == {"Makefile", "a.cu"} and len(set(found.values())) == 1


def test_each_package_of_a_line_is_a_decision_of_its_own(tmp_path: Path) -> None:
    files = {"pyproject_toml": '[project]\ndependencies = ["cudf", "cupy"]\n', "m_py": "import cudf\n"}
    found = [(finding.path, finding.cause) for finding in _open(tmp_path, **files)]
    assert sorted(found) == [
        ("m.py", "package cudf"),
        ("pyproject.toml", "package cudf"),
        ("pyproject.toml", "package cupy"),
    ]


_SMI = "import shutil, subprocess\n"


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("if shutil.which('nvidia-smi'):\n    subprocess.run(['nvidia-smi'])\n", False),
        ("def f():\n    if not shutil.which('nvidia-smi'):\n        return\n    run('nvidia-smi -L')\n", False),
        ("smi = shutil.which('nvidia-smi')\nif smi:\n    subprocess.run([smi, '-L'])\n", False),
        ("if not shutil.which('nvidia-smi'):\n    raise RuntimeError('no GPU')\nrun('nvidia-smi')\n", True),
        ("has_gpu = shutil.which('nvidia-smi') is not None\n", True),
        ("if shutil.which('nvidia-smi'):\n    devices = 8\n", True),
        ("subprocess.run(['nvidia-smi'])\n", True),
    ],
)
def test_a_tool_that_runs_only_where_it_was_found_asks_nothing(tmp_path: Path, text: str, asked: bool) -> None:
    assert ("nvidia-tool" in {finding.rule for finding in _open(tmp_path, m_py=_SMI + text)}) is asked


def test_a_comment_behind_a_command_of_cmake_is_no_command(tmp_path: Path) -> None:
    text = "project(a CUDA)\nset(CMAKE_CUDA_ARCHITECTURES 86) # 52 72\nadd_library(b b.cu) # all\n"
    found = _open(tmp_path, CMakeLists_txt=text, b_cu="__global__ void k() {}\n")
    assert found and all(finding.applicability is Applicability.REVIEW for finding in found)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("void f() { long t = clock(); }\n", False),
        ("__global__ void k() {}\nvoid f() { long t = clock(); }\n", True),
        ("#include <time.h>\n__global__ void k() {}\nvoid f() { long t = clock(); }\n", False),
        ("__global__ void k(long *t) { *t = clock(); }\n", True),
    ],
)
def test_a_clock_of_a_file_without_device_code_is_the_c_librarys(tmp_path: Path, text: str, asked: bool) -> None:
    assert any("clock" in finding.message for finding in _open(tmp_path, a_cu=text)) is asked


def test_a_name_declared_again_in_an_inner_block_says_nothing_of_the_outer_one(tmp_path: Path) -> None:
    kernel = (
        "__global__ void k(float *g, float *s, int n, int rows) {\n"
        "  int col = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "  for (int row = blockIdx.z; row < rows; ++row) {\n    for (int c = col; c < n; ++c) {\n"
        "      __syncthreads();\n      float rows = s[threadIdx.x];\n      g[c] = rows;\n    }\n  }\n}\n"
    )
    assert [(item.rule, item.line) for item in _open(tmp_path, a_cu=kernel)] == [("divergent-barrier", 4)]


def test_the_tables_of_cudas_samples_decide_nothing_on_amd(tmp_path: Path) -> None:
    ask = "int major = 0, minor = 0; cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);"
    cores = "int n = major == 9999 ? 1 : _ConvertSMVer2Cores(major, minor);"
    assert _open(tmp_path, a_cu=f"int f() {{ {ask} if (major < 1) return 0; {cores} return n; }}\n") == []
    assert _open(tmp_path, a_cu=f"int f() {{ {ask} {cores} return major >= 9 ? n : 0; }}\n") != []


def test_a_copy_of_cudas_header_declares_what_it_declares(tmp_path: Path) -> None:
    header = "typedef int CUresult;\nCUresult cuMemcpy(unsigned long d, unsigned long s, unsigned long n);\n"
    rules = {finding.rule for finding in _open(tmp_path, api_h=header, a_cu='#include "api.h"\n')}
    assert "header-declaration" not in rules


def test_a_profiler_that_nobody_asks_whether_it_started_asks_nobody(tmp_path: Path) -> None:
    text = "#include <cuda_profiler_api.h>\nvoid f() {{ {call}; }}\n"
    assert _open(tmp_path, a_cu=text.format(call="cudaProfilerStart()")) == []
    assert _open(tmp_path, a_cu=text.format(call="CHECK(cudaProfilerStart())")) != []


@pytest.mark.parametrize(("include", "asked"), [("<cuda.h>", False), ('"cuda.h"', True)])
def test_a_header_in_brackets_is_not_one_deep_in_another_part_of_the_tree(
    tmp_path: Path, include: str, asked: bool
) -> None:
    files = {"tools__a_cu": f"#include {include}\n", "src__net__yolo__src__cuda_h": "int blas_handle();\n"}
    assert bool(_open(tmp_path, **files)) is asked


def test_a_copy_of_a_header_of_cudas_is_one_decision(tmp_path: Path) -> None:
    body = '// Copyright NVIDIA Corporation\n__device__ void f() { asm("bra L;"); asm("brx.idx %r, t;"); }\n'
    (tmp_path / "cuda_fp16.h").write_text(body)
    assert len({item.cause for item in _open(tmp_path)}) == 1
    assert len({item.cause for item in _open(tmp_path, own_h=body)}) > 1


def test_the_name_that_a_program_is_made_with_is_no_file(tmp_path: Path) -> None:
    text = 'void f(nvrtcProgram *p, const char *s) {{ {call}(p, s, "k.cu", 0, 0, 0); }}\n'
    assert not any(
        item.rule == "name-in-string" for item in _open(tmp_path, a_cpp=text.format(call="nvrtc_create_program"))
    )
    assert any(item.rule == "name-in-string" for item in _open(tmp_path, a_cpp=text.format(call="read_kernel")))


def test_a_makefile_that_another_program_writes_is_one_decision(tmp_path: Path) -> None:
    text = (
        "# Generated by qmake (3.1)\nI = -I/usr/local/cuda/include\n"
        "a.o: a.cu \\\n\t\t/usr/local/cuda/include/cuda.h\n\tnvcc $(I) a.cu\n"
    )
    (tmp_path / "Makefile").write_text(text)
    assert len({item.cause for item in _open(tmp_path)}) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("try:\n    n = run(['nvidia-smi', '--query-gpu=name'])\nexcept Exception:\n    n = ''\n", ""),
        ("n = run(['nvidia-smi', '--query-gpu=name'])\n", "NVIDIA's management tools"),
        ("try:\n    run(['nvidia-smi'])\nexcept OSError:\n    gpu = False\n", "NVIDIA's management tools"),
        ("lib = load('libcudart.so')\n", "libcudart.so: a library of CUDA's"),
    ],
)
def test_a_number_to_show_is_not_asked_about_and_a_library_is_called_one(tmp_path: Path, text: str, said: str) -> None:
    found = [item.message for item in _open(tmp_path, m_py=text) if item.rule == "nvidia-tool"]
    assert bool(found) is bool(said) and all(message.startswith(said) for message in found)


def test_a_macro_with_arguments_takes_no_name_that_is_not_called(tmp_path: Path) -> None:
    macro = "#define CUDA_SUCCESS(x) ((x) == cudaSuccess)\n"
    assert _open(tmp_path, a_cu=macro + "bool f(int *p) { return CUDA_SUCCESS(cudaFree(p)); }\n") == []


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("assert key, 'NVIDIA API key is required for TXT2KG'\n", False),
        ("raise ImportError('nvidia-physicsnemo is required for this data source')\n", False),
        ("raise RuntimeError('an NVIDIA GPU is required')\n", True),
    ],
)
def test_a_message_about_a_service_or_a_package_refuses_nobody(tmp_path: Path, text: str, asked: bool) -> None:
    assert ("vendor-message" in {finding.rule for finding in _open(tmp_path, m_py=text)}) is asked


def test_a_test_that_is_skipped_without_a_package_imports_it_for_nobody_else(tmp_path: Path) -> None:
    text = "@{mark}\ndef test_to_cugraph():\n    import cugraph\n"
    assert _open(tmp_path, test_m_py=text.format(mark="withPackage('cudf', 'cugraph')")) == []
    assert _open(tmp_path, test_m_py=text.format(mark="parametrize('directed', [True])")) != []


def test_what_autoconf_writes_and_a_profiler_behind_a_directive_ask_nothing(tmp_path: Path) -> None:
    (tmp_path / "configure.sh").write_text("# Generated by GNU Autoconf 2.69\ncase $cc in\nnvcc*) nvcc a.cu;;\nesac\n")
    assert _open(tmp_path, a_cu="void f() {\n#ifdef X\n#endif\n  cudaProfilerStart();\n}\n") == []


@pytest.mark.parametrize(
    ("keys", "asked"),
    [
        (("v100", "v500", "t850"), False),
        (("v10", "t10"), False),
        (("a100", "h100"), True),
        (("V100-SXM2-16GB", "Tesla T4"), True),
        (("NVIDIA A10G", "A100", "winds"), True),
    ],
)
def test_a_table_of_winds_is_none_of_products(tmp_path: Path, keys: tuple[str, ...], asked: bool) -> None:
    text = "T = {" + ", ".join(f"'{key}': 1" for key in keys) + "}  # A100, v100, h100, T4\n"
    assert ("gpu-name-table" in {finding.rule for finding in _open(tmp_path, m_py=text)}) is asked


_INSTALLED = """\
from torch.utils.cpp_extension import CUDA_HOME
def installed_cuda_version():
    return check_output(["/usr/local/cuda/bin/nvcc", "-V"])
if {test}:
    {body}
"""
_BESIDE = "CUDA_HOME is not None and installed_cuda_version()[0] >= 11"


@pytest.mark.parametrize(
    ("test", "body", "asked"),
    [
        (_BESIDE, "caps += ';8.0'", False),
        (_BESIDE, "ext_modules.append(fused())", True),
        (_BESIDE, "use_cuda = True", True),
        ("installed_cuda_version()[0] >= 11", "caps += ';8.0'", True),
        ("CUDA_HOME is not None", "caps += ';8.0'", True),
    ],
)
def test_a_toolkit_asked_behind_its_folder_stays_closed(tmp_path: Path, test: str, body: str, asked: bool) -> None:
    found = _open(tmp_path, setup_py=_INSTALLED.format(test=test, body=body))
    assert any(finding.line == 4 for finding in found) is asked
    # The port once had ROCm pass the first test, and the function behind it raised.
    assert "and" not in test or not any(finding.edits for finding in found if finding.line == 4)


_GREATEST = """\
int f(int n) {{ int best = 0; cudaDeviceProp p;
  for (int i = 0; i < n; i++) {{ cudaGetDeviceProperties(&p, i); best = {larger}(best, p.major); }}
  for (int i = 0; i < n; i++) {{ cudaGetDeviceProperties(&p, i); if (best > 2 && p.major == best) return i; }}
  {more} return 0; }}
"""


@pytest.mark.parametrize(
    ("larger", "more", "asked"),
    [
        ("MAX", "", False),
        ("std::max", "", False),
        ("MAX", "if (best >= 8) g();", True),
        ("max", "h(best);", True),
        ("pick", "", True),
    ],
)
def test_the_greatest_number_of_all_devices_decides_nothing(
    tmp_path: Path, larger: str, more: str, asked: bool
) -> None:
    rules = {finding.rule for finding in _open(tmp_path, a_cpp=_GREATEST.format(larger=larger, more=more))}
    assert ("compute-capability" in rules) is asked


_ATOMIC = """\
__device__ inline {kind} atomicMax(float* result, float value){{
  unsigned* p = (unsigned*)result; unsigned old = *p, assumed;
  do {{ assumed = old; old = atomicCAS(p, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed)))); }}
  while (old != assumed); {ends}
}}
"""
_RANDOM = "void f() {{ curandGenerator_t g; {check}(curandCreateGenerator(&g, 100)); }} // what is expected\n"
_NOBODY = {
    "t1_py": "assert out.is_cuda, 'The output must reside on a CUDA device'\n",
    "t2_py": "if x.device.type != 'cuda':\n    raise ValueError('TensorRT only supports CUDA devices')\n",
    "t3_py": "raise ImportError('APEX is needed, please refer to https://www.github.com/nvidia/apex.')\n",
    "t4_py": "fig.suptitle(f'Kernels {name} (sm_89 Ada)')\n",
    "t5_py": "candidates = [root / f'cu{major}']\n",
    "t6_py": "import torch\ninfo = {'torch_cuda_version': torch.version.cuda or 'unavailable'}\n",
    "t7_py": "import torch\ninfo['cuda'] = torch.version.cuda\nother = info['name'].upper()\nx.to('cuda')\n",
    "test_t8_py": "mark = pytest.mark.skipif(platform.machine() not in ('x86_64', 'AMD64'), reason='needs AVX2')\n",
    "a1_cu": _ATOMIC.format(kind="void", ends="return;"),
    "a2_cu": _ATOMIC.format(kind="float", ends="return __int_as_float(old);"),
    "v1_cu": 'void f(Map &i) { std::cout << "v" << CUDART_VERSION; i["v"] = CUDART_VERSION; }\n',
    "v2_cu": "#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)\nint x;\n#endif\n",
    "r1_cu": _RANDOM.format(check="CHECK_CURAND"),
}
_SOMEBODY = {
    "t1_py": "assert out.is_cuda, 'An NVIDIA CUDA device with nvcc is required'\n",
    "t2_py": "if not supported():\n    raise ValueError('only CUDA devices are supported')\n",
    "t3_py": "raise ImportError('nvcc is needed, see https://developer.download.com/toolkit')\n",
    "t4_py": "build(f'-O3 {name} -arch=sm_89 -lineinfo')\n",
    "t5_py": "wheel = wheels / f'cu{major}'\n",
    "t6_py": "import torch\ninfo = {'cuda': torch.version.cuda}\nmajor = info['cuda'].split('.')[0]\n",
    "t7_py": "import torch\ninfo['cuda'] = torch.version.cuda\nmajor = info['cuda'].split('.')[0]\n",
    "test_t8_py": "mark = pytest.mark.skipif(IS_AMD, reason='not there yet')\n",
    "t9_py": "if platform.machine() == 'AMD64':\n    subprocess.run(['nvcc', '-V'])\n",
    "Dockerfile_cuda": "FROM --platform=linux/amd64 nvidia/cuda:12.4.1-devel-ubuntu22.04\n",
    "a1_cu": _ATOMIC.format(kind="float", ends="return value;"),
    "a2_cu": _ATOMIC.format(kind="float", ends=""),
    "v1_cu": "bool f(int built) { return built == CUDART_VERSION; }\n",
    "v2_cu": "#if !(defined(__clang__) && !defined(__CUDACC__))\nint x;\n#endif\n",
    "t10_py": "import os, torch\nos.environ['CUDA_VERSION'] = torch.version.cuda\n",
    "t11_py": "import torch\nrun(['make'], env={'CUDA_VERSION': torch.version.cuda})\n",
    "v4_cu": "#if !defined(__clang__) && !defined(__CUDA_ARCH__)\nint x;\n#endif\n",
    "v3_cu": "#if !defined(__clang__) || !defined(__CUDACC__)\nint x;\n#endif\n",
    "r1_cu": _RANDOM.format(check="CHECK_EQ"),
}


def test_what_stops_nobody_and_only_shows_is_left_alone(tmp_path: Path) -> None:
    assert _open(tmp_path, **_NOBODY) == []


def test_the_neighbours_of_what_stops_nobody_are_named(tmp_path: Path) -> None:
    found = {finding.path.replace(".", "_") for finding in _open(tmp_path, **_SOMEBODY)}
    assert found == set(_SOMEBODY)


@pytest.mark.parametrize(
    ("text", "build", "asked"),
    [
        ("#if defined(HOOK)\n# include HOOK\n#endif\n", "", False),
        ("#ifdef HOOK\n#include HOOK\n#endif\n", "add_definitions(-DHOOK=MINE)\n", True),
        ("#if !defined(HOOK)\n#include HOOK\n#endif\n", "", True),
        ("#ifdef OTHER\n#include HOOK\n#endif\n", "", True),
    ],
)
def test_a_header_that_only_who_defines_its_macro_includes(tmp_path: Path, text: str, build: str, asked: bool) -> None:
    found = _open(tmp_path, a_hpp=text, CMakeLists_txt=f"project(x CXX)\n{build}")
    assert ("include-header" in {item.rule for item in found}) is asked


@pytest.mark.parametrize(
    ("switch", "files", "asked"),
    [
        ("#ifdef BY_HAND", {}, False),
        ("#if defined(BY_HAND)", {}, False),
        ("#ifdef BY_HAND", {"CMakeLists_txt": "project(x CXX)\nadd_definitions(-DBY_HAND)\n"}, True),
        ("#ifdef BY_HAND", {"b_h": "#if N\n#define BY_HAND 1\n#endif\n"}, True),
        ("#if N > 2", {}, True),
        ("#if N\n#define BY_HAND\n#endif\n#ifdef BY_HAND", {}, True),
    ],
)
def test_a_word_made_nothing_behind_a_switch_that_nobody_sets(
    tmp_path: Path, switch: str, files: dict[str, str], asked: bool
) -> None:
    text = f"{switch}\n#define __device__\n#endif\n__device__ int f(int a) {{ return a; }}\n"
    assert ("own-name" in {item.rule for item in _open(tmp_path, a_cu=text, **files)}) is asked


_JETSON = """\
def provenance():
    release = Path("{file}")
    if {test}:
        raise RuntimeError("this runner requires NVIDIA Jetson Linux")
    return run(["/usr/local/cuda/bin/nvcc", "--version"])
"""


@pytest.mark.parametrize(
    ("file", "test", "asked"),
    [
        ("/etc/nv_tegra_release", "not release.is_file()", {"vendor-message"}),
        ("/etc/nv_tegra_release", "release.is_file()", {"vendor-message", "nvcc-probe"}),
        ("/etc/os-release", "not release.is_file()", {"vendor-message", "nvcc-probe"}),
    ],
)
def test_what_stands_behind_a_refusal_of_all_but_jetson_is_named_by_the_refusal(
    tmp_path: Path, file: str, test: str, asked: set[str]
) -> None:
    text = _JETSON.format(file=file, test=test.replace("release.", "tegra_release." if "tegra" in file else "release."))
    assert {finding.rule for finding in _open(tmp_path, m_py=text)} == asked


@pytest.mark.parametrize(
    ("guard", "answer"),
    [
        ("#if CUDA_VERSION >= 10010\nbool f() { return true; }\n#endif\n", False),
        ("#if CUDA_VERSION >= 10010\nbool f() { return true; }\n#else\nbool f() { return false; }\n#endif\n", True),
        ("#if CUDA_VERSION >= 10010\n#ifndef A_H\n#define A_H\nint f();\n#endif\n#endif\n", False),
        ("#if CUDA_VERSION >= 10010\n#define HAS_IT 1\n#endif\n", True),
        ("#if CUDA_VERSION >= 11010\nbool f() { return true; }\n#endif\n", True),
    ],
)
def test_a_guard_alone_that_every_toolkit_for_sm_80_passes_leaves_nothing_out(
    tmp_path: Path, guard: str, answer: bool
) -> None:
    assert ("platform-conditional" in {item.rule for item in _open(tmp_path, a_cu=guard)}) is answer
