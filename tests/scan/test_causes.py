"""What one change settles is one cause, however many sites and messages it has; all of them are findings."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport import api
from rocport.model import Applicability, Report

_OF_ONE_CAUSE = {
    "tma": (
        "k.cu",
        "__device__ void f(unsigned bar, unsigned long long *p) {\n"
        '  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(bar));\n'
        '  asm volatile("barrier.cluster.arrive.release;");\n'
        '  asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;"\n'
        '               :: "l"(p), "r"(bar));\n}\n',
    ),
    "descriptors": (
        "k.cu",
        "#include <cuda.h>\nvoid f(CUtensorMap *m) { CUtensorMapSwizzle s = CU_TENSOR_MAP_SWIZZLE_NONE; g(m, s); }\n",
    ),
    "pasted": (
        "k.cu",
        "#include <cuda.h>\n#define LOAD(x) x##_fn = get(#x)\n"
        "void f() {\n  LOAD(cuInit);\n  LOAD(cuModuleUnload);\n}\n",
    ),
    "solver": (
        "k.cu",
        "#include <cusolverSp.h>\nvoid f() {\n  cusolverSpXcsrpermHost(a);\n  cusolverSpXcsrsymrcmHost(b);\n}\n",
    ),
    "capability": (
        "k.cu",
        "#include <cuda_runtime.h>\nint f(cudaDeviceProp p, int *n) {\n"
        "  cudaDeviceGetAttribute(n, cudaDevAttrComputeCapabilityMajor, 0);\n  return p.major >= 8;\n}\n",
    ),
    "links": (
        "setup.py",
        'a = CUDAExtension("a", ["a.cu"], libraries=["cublas"])\n'
        'b = CUDAExtension("b", ["b.cu"], libraries=["cufft"])\n',
    ),
    "cmake": (
        "CMakeLists.txt",
        "project(x CXX)\nset(FLAGS -gencode arch=compute_70,code=sm_70)\ncuda_wrap_srcs(x PTX files a.cu)\n",
    ),
    "environment": (
        "environment.yml",
        "dependencies:\n  - cudatoolkit=11.6\n  - torchaudio=0.10.0=py39_cu102\n  - pip\n",
    ),
    "wheels": ("requirements.txt", "mykernels-cu12\nmyops-cu12\n"),
}


@pytest.mark.parametrize("case", _OF_ONE_CAUSE)
def test_one_change_is_one_cause(tmp_path: Path, case: str) -> None:
    name, text = _OF_ONE_CAUSE[case]
    (tmp_path / name).write_text(text, encoding="utf-8")
    report = Report("scan", "", (), tuple(api.scan(tmp_path).findings))
    sites = [site for cause in report.causes for site in cause.sites]
    assert len({(site.line, site.message) for site in sites}) > 1, sites
    assert len(report.causes) == 1, [[site.message for site in cause.sites] for cause in report.causes]


_BRANCHES = """\
#include <cuda_runtime.h>
#ifdef WITH_HIP
{amd}
#elif defined(WITH_CUDA)
void f() {{ cudaGLUnmapBufferObject(0); }}
#define OP(f) cublas##f##_v2
#endif
"""


@pytest.mark.parametrize(("amd", "folded"), [("void f() { unmap(0); }", True), ("#error not for AMD", False)])
def test_what_has_a_branch_for_amd_beside_it_is_settled_there(tmp_path: Path, amd: str, folded: bool) -> None:
    (tmp_path / "k.cu").write_text(_BRANCHES.format(amd=amd), encoding="utf-8")
    loud = [one for one in api.scan(tmp_path).findings if one.applicability is not Applicability.SAFE]
    here = [one for one in loud if one.rule in ("api-identifier", "pasted-name")]
    assert len(here) == 2
    assert [one.message.startswith("a branch for AMD stands beside this one; here, ") for one in here] == [folded] * 2
    assert (len({one.cause for one in here}) == 1) is folded


@pytest.mark.parametrize(
    "files",
    [
        {
            ".gitmodules": '[submodule "c"]\n\tpath = c\n\turl = https://github.com/NVIDIA/cutlass.git\n',
            "a.cu": "using Shape = cutlass::gemm::GemmShape<1, 1, 1>;\n",
            "setup.py": "CUDAExtension('a', ['a.cu'], extra_compile_args={'nvcc': ['-I/root/cutlass']})\n",
        },
        {"requirements.txt": "faiss-gpu\n", "a.py": "import faiss\nr = faiss.StandardGpuResources()\n"},
    ],
)
def test_a_library_is_one_cause_in_all_files_that_name_it(tmp_path: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    (cause,) = Report("scan", "", (), tuple(api.scan(tmp_path).findings)).causes
    assert {site.path for site in cause.sites} == set(files)
