"""What each kind of file is read as, and what happens to files that are not what their name says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rocport import api
from rocport.model import Context, Problem
from rocport.project.languages import language_of
from rocport.scan.engine import index_tree, scan_file
from rocport.scan.plan import plan


def _rules(path: str, text: str) -> list[tuple[str, int]]:
    findings = scan_file(path, text.encode(), language_of(path), Context())
    assert isinstance(findings, list)
    return [(item.rule, item.line) for item in findings]


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.cu", "cuda"),
        ("setup.py", "python"),
        ("src/Makefile.bkp", "other"),
        ("make.inc", "make"),
        ("src/Makefile.def", "make"),
        ("common.mak", "make"),
        ("make.def.cu", "cuda"),
        ("train.slurm", "shell"),
        ("Pipfile", "toml"),
        ("CMakeLists.txt", "cmake"),
        ("cmake/x.cmake", "cmake"),
        ("requirements/dev.txt", "requirements"),
        ("requirements_gpu.txt", "requirements"),
        ("docs/notes.txt", "other"),
        ("Dockerfile.dev", "docker"),
        ("Makefile-vllm", "make"),
        ("docker-compose.yml", "yaml"),
        ("setup.cfg", "toml"),
        ("n.ipynb", "notebook"),
        ("README.md", "other"),
        ("src/meson.build", "meson"),
        ("lib/BUILD", "bazel"),
        ("tools/build", "other"),
        ("defs.bzl", "bazel"),
        ("MANIFEST.in", "manifest"),
        ("csrc/ops.hip", "hip"),
        (".gitmodules", "gitmodules"),
        ("docker/.env.sample", "shell"),
    ],
)
def test_language_of(path: str, language: str) -> None:
    assert language_of(path) == language


def test_a_notebook_is_reported_at_its_own_lines() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["import pynvml\n"]},
        {"cell_type": "code", "source": ["%matplotlib inline\n", "import pynvml\n", "x = 'ä'"], "outputs": []},
    ]
    text = json.dumps({"cells": cells, "nbformat": 4}, indent=1)
    (found,) = _rules("n.ipynb", text)
    assert found[0] == "nvidia-tool"
    assert "import pynvml" in text.split("\n")[found[1] - 1]
    assert found[1] > text.split("\n").index(next(line for line in text.split("\n") if "matplotlib" in line))


def _notebook(*cells: list[str]) -> list[tuple[str, str]]:
    """Rule and text of the line of each finding."""
    body = [{"cell_type": "code", "source": [f"{line}\n" for line in cell], "outputs": []} for cell in cells]
    text = json.dumps({"cells": body, "nbformat": 4}, indent=1)
    return [
        (found[0], json.loads(text.split("\n")[found[1] - 1].strip(" ,")).strip()) for found in _rules("n.ipynb", text)
    ]


def test_the_shell_of_a_notebook_is_read() -> None:
    found = _notebook(["!nvidia-smi"], ["x = 1", "%pip install cupy-cuda12x"], ["%%bash", "set -e", "nvcc -o a a.cu"])
    assert [line for _, line in found] == ["!nvidia-smi", "%pip install cupy-cuda12x", "nvcc -o a a.cu"]


def test_a_cell_that_is_a_cuda_source_is_named_where_it_asks_for_cuda() -> None:
    kernel = "__global__ void f(int *x) { *x = __shfl_sync(0xffffffff, *x, 0); }"
    found = _notebook(
        ["%%cu", "#include <cstdio>", kernel], ["%%writefile b.cu", kernel], ["%%writefile c.txt", kernel]
    )
    assert [line for _, line in found] == ["%%cu", kernel, kernel]


def test_python_2_is_a_problem_and_not_a_crash() -> None:
    problem = scan_file("a.py", b"import pynvml\nprint 'x'\n", "python", Context())
    assert isinstance(problem, Problem)
    assert "line 2" in problem.message


def test_latin_1_and_crlf_are_read() -> None:
    data = "# -*- coding: latin-1 -*-\r\n# \u00e4\r\nimport pynvml\r\n".encode("latin-1")
    findings = scan_file("a.py", data, "python", Context())
    assert isinstance(findings, list)
    (finding,) = findings
    assert finding.line == 3
    assert data[finding.span.start : finding.span.end] == b"import pynvml"


def test_spans_are_bytes() -> None:
    data = "s = 'äöü'; import pynvml\n".encode()
    findings = scan_file("a.py", data, "python", Context())
    assert isinstance(findings, list)
    assert data[findings[0].span.start : findings[0].span.end] == b"import pynvml"


@pytest.mark.parametrize(
    "text",
    [
        "x = x.cuda()\ny = torch.zeros(3, device='cuda')\n",
        "if torch.cuda.is_available():\n    torch.cuda.synchronize()\n",
        "dist.init_process_group(backend='nccl')\n",
        "with torch.autocast('cuda', dtype=torch.bfloat16):\n    pass\n",
        "torch.backends.cudnn.benchmark = True\ntorch.backends.cuda.matmul.allow_tf32 = True\n",
        "total = torch.cuda.get_device_properties(0).total_memory\n",
        "try:\n    f()\nexcept torch.cuda.OutOfMemoryError:\n    pass\n",
        "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'\n",
        "from torch.utils.cpp_extension import BuildExtension, CUDAExtension\n"
        "CUDAExtension('a', ['a.cu'], extra_compile_args={'nvcc': ['-O3', '-std=c++17']})\n",
        "if x.device.type == 'cuda' and x.is_cuda:\n    pass\n",
        "print(torch.cuda.get_device_name(0))\n",
        "@triton.jit\ndef k(x):\n    pass\n",
        "@pytest.mark.skipif(not torch.cuda.is_available(), reason='no GPU')\ndef test():\n    pass\n",
        "s = torch.cuda.current_stream().cuda_stream\ng = torch.cuda.nvtx.range_push('a')\n",
    ],
)
def test_what_works_on_rocm_unchanged_stays_silent(text: str) -> None:
    assert _rules("setup.py", "import torch\n" + text) == []


def test_the_plan_leaves_out_kernels_where_there_are_none(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("import torch\nf = torch.compile(f, mode='max-autotune')\n")
    tree = api.read(tmp_path)
    findings = api.scan(tree).findings
    phases = plan(tree, findings)
    assert [phase.number for phase in phases if phase.applies] == [0, 1, 6, 8]
    assert "compile-mode" in phases[6].reason
    (tmp_path / "k.cu").write_text("__global__ void k() {}\n")
    tree = api.read(tmp_path)
    assert [phase.number for phase in plan(tree, ()) if phase.applies] == [0, 1, 2, 3, 4, 8]


def test_the_plan_lists_shuffles_under_the_warp_width(tmp_path: Path) -> None:
    kernel = "__global__ void k(float* x) { x[0] = __shfl_down_sync(0xffffffff, x[0], 16); }\n"
    (tmp_path / "k.cu").write_text(kernel)
    tree = api.read(tmp_path)
    phases = plan(tree, api.scan(tree).findings)
    assert phases[3].sites == 1 and "warp-shuffle-sync 1" in phases[3].reason


def test_ptx_that_the_port_translates_keeps_no_extension_from_building(tmp_path: Path) -> None:
    asm = '__device__ void f() {{ unsigned r; asm volatile("{}" : "=r"(r)); }}\n'
    (tmp_path / "lane.cu").write_text(asm.format("mov.u32 %0, %%laneid;"))
    (tmp_path / "group.cu").write_text(asm.format("wgmma.fence.sync.aligned;"))
    (tmp_path / "gemm.cu").write_text("#include <cutlass/gemm.h>\n")
    assert index_tree(api.read(tmp_path)).ptx_sources == {"group.cu", "gemm.cu"}


def test_macros_of_headers_say_what_device_code_is(tmp_path: Path) -> None:
    (tmp_path / "hd.h").write_text("#ifdef __CUDACC__\n#define HD __host__ __device__\n#else\n#define HD\n#endif\n")
    (tmp_path / "fn.h").write_text('#include "hd.h"\n#define FN HD inline\n#define N 4\n')
    lock = "FN void take(int *l) { while (atomicCAS(l, 0, 1) != 0); }\n"
    (tmp_path / "a.cu").write_text('#include "fn.h"\n' + lock)
    (tmp_path / "b.cu").write_text("#define FN\n" + lock)
    index = index_tree(api.read(tmp_path))
    assert set(index.marks) == {b"HD", b"FN"} and index.marks_of("a.cu").keys() == {b"HD", b"FN"}
    assert not index.marks_of("b.cu")
    found = [(item.path, item.line) for item in api.scan(tmp_path).findings if item.rule == "warp-spinlock"]
    assert found == [("a.cu", 2)]


def test_a_macro_of_two_branches_is_read_from_the_one_compiled(tmp_path: Path) -> None:
    (tmp_path / "a.h").write_text(
        '#if CUDART_VERSION >= 11000\n#define A "add"\n#else\n#define A "sub"\n#endif\n'
        '#ifdef FAST\n#define B "add"\n#else\n#define B "sub"\n#endif\n#define C 1\n#undef C\n#define C 1\n'
        "#define D 1\n#undef D\n#define D 2\n"
    )
    assert index_tree(api.read(tmp_path)).macros == {b"A": b'"add"', b"B": b"", b"C": b"1", b"D": b""}
