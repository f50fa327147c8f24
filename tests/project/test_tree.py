"""Which files are translation units, and where their includes are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport.project.tree import read_project
from rocport.project.unit import Unit


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def units(root: Path, files: dict[str, str], changed: frozenset[str] = frozenset()) -> dict[str, Unit]:
    write(root, files)
    return {unit.path: unit for unit in read_project(root).units(changed)}


def test_files_that_others_include_are_no_units(tmp_path: Path) -> None:
    found = units(tmp_path, {"a.cu": '#include "b.cu"\n', "b.cu": "", "c.hip": "", "d.cuh": ""})
    assert list(found) == ["a.cu", "c.hip"]


def test_host_sources_count_when_they_reach_a_gpu_header_or_were_edited(tmp_path: Path) -> None:
    files = {
        "direct.cpp": "#include <hip/hip_runtime.h>\n",
        "through.cc": '#include "mid.h"\n',
        "mid.h": "#  include <hipblas/hipblas.h>\n",
        "left.c": "#include <cuda_runtime.h>\n",
        "torch.cpp": "#include <ATen/hip/HIPContext.h>\n",
        "edited.cpp": "",
        "plain.cpp": "#include <vector>\n#include <rocksdb/db.h>\n",
    }
    found = units(tmp_path, files, frozenset({"edited.cpp"}))
    assert list(found) == ["direct.cpp", "edited.cpp", "left.c", "through.cc", "torch.cpp"]
    assert (found["left.c"].language, found["direct.cpp"].language) == ("c", "c++")
    assert found["torch.cpp"].torch and not found["direct.cpp"].torch


def test_cpp_that_holds_kernels_is_compiled_as_hip(tmp_path: Path) -> None:
    files = {"main.cpp": '#include <hip/hip_runtime.h>\n#include "k.h"\n', "k.h": "__global__ void k();\n"}
    assert units(tmp_path, files)["main.cpp"].language == "hip"


def test_include_folders_are_inferred_from_where_the_headers_lie(tmp_path: Path) -> None:
    files = {
        "src/deep/a.cu": '#include <proj/x.h>\n#include "util/y.h"\n#include "near.h"\n',
        "src/deep/near.h": "",
        "headers/proj/x.h": "",
        "lib/util/y.h": "",
    }
    unit = units(tmp_path, files)["src/deep/a.cu"]
    assert unit.includes[0] == "headers"
    assert unit.quote_includes == ("lib",)


def test_nearest_of_two_headers_with_one_name(tmp_path: Path) -> None:
    files = {
        "one/src/a.cu": '#include "inc/common.h"\n',
        "one/lib/inc/common.h": "",
        "two/lib/inc/common.h": "",
    }
    assert units(tmp_path, files)["one/src/a.cu"].quote_includes == ("one/lib",)


def test_standard_headers_are_not_taken_from_the_tree(tmp_path: Path) -> None:
    found = units(tmp_path, {"a.cu": "#include <string.h>\n#include <vector>\n", "compat/string.h": "", "x/vector": ""})
    assert found["a.cu"].includes == (".",)


def test_headers_of_the_sdk_are_not_taken_from_the_tree(tmp_path: Path) -> None:
    """A CUDA project that vendors Thrust: its copy is CUDA's."""
    write(tmp_path / "t", {"a.cu": "#include <thrust/sort.h>\n", "third_party/thrust/sort.h": ""})
    write(tmp_path / "sdk", {"thrust/sort.h": ""})
    (unit,) = read_project(tmp_path / "t", tmp_path / "sdk").units()
    assert unit.includes == (".",)
    assert unit.headers == ("thrust/sort.h",)


def test_build_files_name_folders_macros_and_standard(tmp_path: Path) -> None:
    files = {
        "p/a.cu": "",
        "p/inc/x.h": "",
        "common/y.h": "",
        "p/Makefile": (
            "CFLAGS := $(EXTRA) -std=c++20 -DUSE_HALF -DN=4 -DPATH=$(HOME) \\\n  -Iinc -I../common\n"
            "ifeq ($(DEBUG),yes)\nCFLAGS += -DDEBUG\nendif\n"
        ),
        "q/b.cu": "",
        "q/CMakeLists.txt": "target_include_directories(b PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/../common)\n",
        "r/c.cu": "",
        "r/csrc/z.h": "",
        "r/setup.py": "CUDAExtension('c', ['c.cu'], include_dirs=['csrc'], extra_compile_args=['-rdc=true'])\n",
    }
    found = units(tmp_path, files)
    assert found["p/a.cu"].includes[:2] == ("p/inc", "common")
    assert found["p/a.cu"].defines == ("USE_HALF", "N=4")
    assert found["p/a.cu"].standard == 20
    assert found["q/b.cu"].includes[0] == "common" and found["q/b.cu"].defines == ()
    assert found["r/c.cu"].includes[0] == "r/csrc"
    assert found["r/c.cu"].relocatable and not found["q/b.cu"].relocatable


def test_what_setup_py_names_gets_the_flags_of_pytorch_without_its_headers(tmp_path: Path) -> None:
    files = {
        "setup.py": "kind = CUDAExtension\nsetup(ext_modules=[kind('a', ['csrc/a.cu', 'csrc/b.cu'])])\n",
        "csrc/a.cu": "#include <torch/extension.h>\n",
        "csrc/b.cu": "__global__ void k() {}\n",
        "csrc/bind.cpp": '#include "kernel.h"\n',
        "csrc/kernel.h": "#ifdef __CUDACC__\n__global__ void k();\n#endif\n",
        "bench/c.cu": "__global__ void k() {}\n",
    }
    files["setup.py"] = files["setup.py"].replace("'csrc/b.cu'", "'csrc/b.cu', 'csrc/bind.cpp'")
    found = units(tmp_path, files)
    assert [path for path, unit in found.items() if unit.extension] == ["csrc/a.cu", "csrc/b.cu", "csrc/bind.cpp"]
    assert found["csrc/bind.cpp"].language == "c++"
    assert not found["csrc/b.cu"].torch


def test_include_folder_beside_the_tree(tmp_path: Path) -> None:
    write(tmp_path, {"common/y.h": "", "p/a.cu": "#include <y.h>\n", "p/Makefile": "CFLAGS = -I../common\n"})
    (unit,) = read_project(tmp_path / "p").units()
    assert unit.includes[0] == "../common"


def test_odd_trees_are_read_without_complaint(tmp_path: Path) -> None:
    write(
        tmp_path,
        {"a.cu": '#include "a.cu"\n', "cycle1.h": '#include "cycle2.h"\n', "cycle2.h": '#include "cycle1.h"\n'},
    )
    (tmp_path / "b.cu").write_bytes(b'\xff\xfe\x00#include <\xff>\n#include "cycle1.h"\n')
    (tmp_path / "gone.cu").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to(".")
    (tmp_path / "folder.cu").mkdir()
    assert [unit.path for unit in read_project(tmp_path).units()] == ["a.cu", "b.cu"]


def test_an_inferred_folder_never_shadows_the_system(tmp_path: Path) -> None:
    """ccminer's compat/ has ccminer-config.h, which sources want, beside headers for Windows."""
    files = {
        "a.cu": "#include <my-config.h>\n#include <stdint.h>\n",
        "b.cu": "#include <plain/x.h>\n",
        "compat/my-config.h": "",
        "compat/stdint.h": "#error for Windows\n",
        "lib/plain/x.h": "",
    }
    found = units(tmp_path, files)
    assert (found["a.cu"].includes, found["a.cu"].quote_includes) == ((".",), ("compat",))
    assert found["a.cu"].last_includes == ("compat",)
    assert (found["b.cu"].includes, found["b.cu"].last_includes) == (("lib", "."), ())
    (tmp_path / "Makefile").write_text("CXXFLAGS = -Icompat\n")
    named = next(unit for unit in read_project(tmp_path).units() if unit.path == "a.cu")
    assert (named.includes[0], named.last_includes) == ("compat", ())


def test_what_stands_in_for_a_compilers_header_is_not_taken_where_meson_names_it(tmp_path: Path) -> None:
    files = {
        "a.cu": "#include <stdatomic.h>\n",
        "inc/x.h": "",
        "compat/gcc/stdatomic.h": "",
        "meson.build": "if not cc.check_header('stdatomic.h')\n  d = include_directories('compat/gcc')\nendif\n"
        "e = include_directories('inc')\n",
    }
    unit = units(tmp_path, files)["a.cu"]
    assert (unit.includes, unit.last_includes) == (("inc", "."), ())


def test_a_source_that_cmake_makes_a_string_of_is_no_unit_of_the_build(tmp_path: Path) -> None:
    files = {
        "a.cu": "",
        "text.cu": "",
        "ptx.cu": "",
        "CMakeLists.txt": "add_library(a a.cu)\n"
        "add_custom_command(OUTPUT text.h COMMAND ${CMAKE_COMMAND} -DSOURCE=text.cu -P txt2str.cmake)\n"
        "add_custom_command(OUTPUT k.ptx COMMAND ${CUDA_NVCC_EXECUTABLE} -ptx ptx.cu)\n",
    }
    assert {path for path, unit in units(tmp_path, files).items() if unit.named} == {"a.cu", "ptx.cu"}


@pytest.mark.parametrize(
    ("of_amd", "named"),
    [
        pytest.param("file(GLOB S hip/*.cpp)", {"hip/h.cpp", "b.cu"}, id="it names sources of its own"),
        pytest.param("hipify(a.list)", {"a.cu", "b.cu"}, id="it takes CUDA's, translated"),
    ],
)
def test_a_branch_for_cuda_beside_one_for_amd_names_no_unit(tmp_path: Path, of_amd: str, named: set[str]) -> None:
    """relion: its CUDA sources were compiled, and failed, beside the branch for AMD that takes their place."""
    files = {
        "a.cu": "",
        "b.cu": "",
        "hip/h.cpp": "__global__ void k() {}\n",
        "CMakeLists.txt": f"if(CUDA_FOUND)\n  if(X)\n    file(GLOB S a.cu)\n  endif()\nelseif(HIP_FOUND)\n  {of_amd}\n"
        "endif()\nif(CUDA_FOUND)\n  add_library(b b.cu)\nendif()\n",
    }
    assert {path for path, unit in units(tmp_path, files).items() if unit.named} == named


def test_a_build_for_amd_says_its_macros_of_the_sources_of_cuda_that_it_takes(tmp_path: Path) -> None:
    """whisper.cpp: ggml-hip's CMake takes ggml-cuda's sources with GGML_USE_HIP, and they failed without it."""
    takes = 'file(GLOB S "../ggml-cuda/*.cu")\nadd_compile_definitions({})\n'
    files = {
        "src/ggml-cuda/a.cu": "",
        "src/other/b.cu": "",
        "src/ggml-hip/CMakeLists.txt": takes.format("USE_HIP"),
        "src/ggml-musa/CMakeLists.txt": takes.format("USE_MUSA"),
    }
    found = units(tmp_path, files)
    assert [found[path].defines for path in ("src/ggml-cuda/a.cu", "src/other/b.cu")] == [("USE_HIP",), ()]


def test_headers_that_flags_read_first_are_the_units(tmp_path: Path) -> None:
    """bladebit: `$<${is_cuda}:--pre-include pch.h>`; what it includes is the unit's, too."""
    files = {
        "CMakeLists.txt": "add_executable(a a.cu)\ntarget_compile_options(a PRIVATE $<$<X>:--pre-include pch.h>)\n",
        "a.cu": "__global__ void k() {}\n",
        "src/pch.h": "#include <types.h>\n",
        "lib/types.h": "",
    }
    unit = units(tmp_path, files)["a.cu"]
    assert unit.forced == ("src/pch.h",)
    assert "lib" in unit.includes


def test_a_makefile_of_a_test_says_nothing_of_an_extension(tmp_path: Path) -> None:
    """fp6_llm: its Makefile builds the same source with -DNO_PYTORCH."""
    files = {
        "setup.py": "from torch.utils.cpp_extension import CUDAExtension\nCUDAExtension('a', ['a.cu'])\n",
        "Makefile": "FLAGS := -DNO_PYTORCH\na.o: a.cu\n\tnvcc $(FLAGS) -c a.cu\n",
        "a.cu": "__global__ void k() {}\n",
        "b.cu": "__global__ void k() {}\n",
    }
    found = units(tmp_path, files)
    assert (found["a.cu"].defines, found["b.cu"].defines) == ((), ("NO_PYTORCH",))
