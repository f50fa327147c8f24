"""Macros of Python and CMake builds, read without running them."""

from __future__ import annotations

import sys

from rocport.project import defines

SETUP = """
import os, torch
from torch.utils.cpp_extension import CUDA_HOME, CUDAExtension
define_macros = []
extra = {"cxx": ["-std=c++17"]}
if (torch.cuda.is_available() and CUDA_HOME is not None) or os.getenv("FORCE_CUDA", "0") == "1":
    define_macros += [("WITH_CUDA", None), ("LEVEL", "2")]
    extra["nvcc"] = ["-DNVDR_TORCH", "-DCUDA_HAS_FP16=1", "-O3"]
else:
    define_macros += [("CPU_ONLY", None)]
if os.getenv("DEBUG"):
    extra["cxx"].append("-DWITH_CHECKS")
if sys.platform == "win32":
    extra["cxx"] += ["-DNOMINMAX"]
if not torch.version.hip:
    extra["cxx"] += ["-DONLY_NVIDIA"]
def load():
    return torch.utils.cpp_extension.load(name="x", sources=["x.cu"], extra_cflags=["-DIN_LOAD"])
pair = ("NOT_A", "PAIR")
"""


def python_defines(text: str) -> list[str]:
    return list(defines.macros_of("setup.py", text).defines)


def python_undefines(text: str) -> list[str]:
    return list(defines.macros_of("setup.py", text).undefines)


def cmake_defines(text: str) -> list[str]:
    return list(defines.macros_of("CMakeLists.txt", text).defines)


def defines_without_cuda(path: str, text: str) -> list[str]:
    return list(defines.defines_without_cuda(path, text))


def test_python_builds() -> None:
    """nvdiffrast's -DNVDR_TORCH stands in setup.py, pytorch3d's WITH_CUDA in its define_macros."""
    assert python_defines(SETUP) == ["WITH_CUDA", "LEVEL=2", "NVDR_TORCH", "CUDA_HAS_FP16=1", "IN_LOAD"]


def test_a_condition_is_answered_part_by_part() -> None:
    """pytorch3d: `not force_no_cuda and torch.cuda.is_available() and gpu_home or force_cuda`."""
    text = "if (not force_no_cuda and torch.cuda.is_available() and home) or force_cuda:\n    macros += [('A', None)]\n"
    assert python_defines(text) == ["A"]
    assert python_defines("if CUDA_HOME is None:\n    f('-DB')\nelse:\n    f('-DC')\n") == ["C"]
    assert python_defines("if os.getenv('X') and ready:\n    f('-DB')\n") == []


def test_text_that_is_put_together_is_left_out() -> None:
    text = """
flags = ["-DA", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", "-DB=" + b, "-DC=%d" % c, "-DD={}".format(d)] + ["-DE"]
flags += ["-DF"] if torch.version.cuda else ["-DG"]
"""
    assert python_defines(text) == ["A", "E", "F"]


def test_macros_that_are_taken_back() -> None:
    """As a port writes it: torch defines the macro on ROCm, and the build wants half's operators."""
    text = "flags = ['-U__HIP_NO_HALF_OPERATORS__', '-DA'] if _IS_ROCM else ['-U__CUDA_NO_HALF_OPERATORS__']\n"
    assert (python_undefines(text), python_defines(text)) == (["__HIP_NO_HALF_OPERATORS__"], ["A"])


def test_a_file_of_python_2_or_deeper_than_python_follows_has_none() -> None:
    assert python_defines("print 'x'\n") == []
    assert python_defines(f"flags = {' + '.join(['b'] * 2000)}\n") == []


def test_cmake() -> None:
    text = """
# add_definitions(-DCOMMENTED)
add_definitions(-DALWAYS -DVALUE=3)
if(USE_CUDA)
  target_compile_definitions(lib PUBLIC WITH_GPU PRIVATE N=${COUNT})
else()
  add_compile_definitions(CPU_ONLY)
endif()
if(NOT USE_CUDA)
  add_compile_definitions(NO_CUDA)
endif()
if(BUILD_TESTS)
  add_compile_definitions(TESTS)
endif()
"""
    assert cmake_defines(text) == ["ALWAYS", "VALUE=3", "WITH_GPU"]


def test_flags_of_cmake_define_macros_too() -> None:
    text = """
    set(CMAKE_CXX_FLAGS "${CMAKE_CXX_FLAGS} -O2 -DA=1")
    set(CMAKE_CXX_FLAGS_DEBUG "-DNOT_A_DEBUG_BUILD")
    set(MESSAGE "-DNO_FLAG")
    string(APPEND CMAKE_HIP_FLAGS " -std=c++11 -DB")
    list(APPEND CUDA_NVCC_FLAGS "-arch=sm_70;-DC;-DD")
    target_compile_options(t PRIVATE -Wall -DE)
    set_target_properties(t PROPERTIES COMPILE_DEFINITIONS "F;G" CXX_STANDARD 17)
    """
    assert cmake_defines(text) == ["A=1", "B", "C", "D", "E", "F", "G"]


def test_the_branch_of_cmake_for_amd_is_taken() -> None:
    """cuda_memtest: ENABLE_NVML is 1 for CUDA, 0 in the else branch that links hip::device."""
    text = """
if(BACKEND STREQUAL "cuda")
  if(NVML_FOUND)
    target_compile_definitions(t PRIVATE "ENABLE_NVML=1")
  endif()
  add_definitions(-DFOR_CUDA)
else()
  target_link_libraries(t PRIVATE hip::device)
  target_compile_definitions(t PRIVATE "ENABLE_NVML=0")
endif()
if(USE_CUDA)
  add_definitions(-DA)
elseif(USE_HIP)
  add_definitions(-DB)
endif()
if(CUDA_FOUND)
  add_definitions(-DD)
elseif(HIP_FOUND)
  add_definitions(-DC)
endif()
"""
    assert cmake_defines(text) == ["ENABLE_NVML=0", "B", "C"]


def test_what_cmake_says_of_other_systems_is_left_out() -> None:
    text = (
        "if(MSVC OR APPLE)\nadd_definitions(-DA)\nelse()\nadd_definitions(-DB)\nendif()\n"
        "if(NOT WIN32)\nadd_definitions(-DC)\nelseif(UNIX)\nadd_definitions(-DD)\nendif()\n"
        "if(WIN32)\nadd_definitions(-DE)\nelseif(WITH_X)\nadd_definitions(-DF)\nelse()\nadd_definitions(-DG)\nendif()\n"
        "if(UNIX AND WITH_X)\nadd_definitions(-DH)\nelse()\nadd_definitions(-DI)\nendif()\n"
        "if(MSVC AND WITH_X)\nadd_definitions(-DJ)\nelse()\nadd_definitions(-DK)\nendif()\n"
    )
    assert defines.macros_of("CMakeLists.txt", text).defines == ("B", "C", "K")


def test_what_a_build_without_cuda_defines() -> None:
    """mmcv's setup.py gives MMCV_WITH_CUDA to ROCm builds, and where CMake finds CUDA a port asks for ROCm too."""
    assert defines_without_cuda("setup.py", SETUP)[0] == "WITH_CUDA"
    undecided = (
        "if kind == 'torch':\n    if torch.cuda.is_available():\n        define_macros += [('A', None)]\nsetup()\n"
    )
    assert (defines_without_cuda("setup.py", undecided), python_defines(undecided)) == (["A"], [])
    assert defines_without_cuda("train.py", "args = ['-DNAME']\n") == []
    assert defines_without_cuda("CMakeLists.txt", "if(USE_CUDA)\n  add_definitions(-DA)\nendif()\n") == ["A"]
    assert defines_without_cuda("CMakeLists.txt", "if(CUDA_FOUND)\n  add_definitions(-DA)\nendif()\n") == ["A"]
    assigned = "export CFLAGS += -DA\noverride CFLAGS += -DB\nF = '-DG' \"-DH=1\" '-DI\"\nexport X -DY\n"
    assert defines_without_cuda("Makefile", assigned) == ["A", "B", "G", "H=1"]
    configured = "ifeq ($(cuda),yes)\nF += -DA\nendif\nifeq ($(amdhip),yes)\nF += -DB\nelse\nF += -DC\nendif\n"
    assert defines_without_cuda("build/Makefile.in", configured) == ["B"]
    assert defines_without_cuda("Makefile", "ifeq ($(hip),no)\nF += -DA\nendif\n") == []
    assert defines_without_cuda("config.h.in", "#define X 1\n#cmakedefine A\n#  cmakedefine01 B\n") == ["A", "B"]
    assert defines_without_cuda("Makefile", "FLAGS += -O2 -DWITH_CUDA\nifdef X\nFLAGS += -DY\nendif\n") == ["WITH_CUDA"]


def test_what_is_taken_out_of_pytorch_s_list_for_hip_is_undefined() -> None:
    taken = 'ext.COMMON_HIPCC_FLAGS[:] = [f for f in ext.COMMON_HIPCC_FLAGS if "__HIP_NO_HALF_" not in f]\n'
    assert python_undefines(taken) == ["__HIP_NO_HALF_OPERATORS__", "__HIP_NO_HALF_CONVERSIONS__"]
    one = "ext.COMMON_HIPCC_FLAGS.remove('-D__HIP_NO_HALF_CONVERSIONS__=1')\n"
    assert python_undefines(one) == ["__HIP_NO_HALF_CONVERSIONS__"]
    loop = "for f in ['-D__HIP_NO_HALF_OPERATORS__=1']:\n    ext.COMMON_HIPCC_FLAGS.remove(f)\n"
    assert python_undefines(loop) == ["__HIP_NO_HALF_OPERATORS__"]
    hidden = f'__import__("a.b", fromlist=["x"]).{taken.removeprefix("ext.")}'
    assert len(python_undefines(hidden)) == 2
    assert python_undefines("e.COMMON_HIPCC_FLAGS.append('-D__HIP_NO_HALF_CONVERSIONS__=1')\n") == []
    assert python_undefines("# COMMON_HIPCC_FLAGS keeps __HIP_NO_HALF_CONVERSIONS__\nx = 1\n") == []
    assert python_undefines("ext.COMMON_NVCC_FLAGS.remove('-D__CUDA_NO_HALF_OPERATORS__')\n") == []


def test_variables_of_cmake_in_macros() -> None:
    """gunrock's `SM_TARGET=${CMAKE_HIP_ARCHITECTURES}` is the GPU, whatever the file's default for it."""
    text = """
set(SIZE 8 CACHE STRING "bytes")
set(TWICE 1)
set(TWICE 2)
if(USE_CUDA)
  add_definitions(-DSIZE=${SIZE} -DTWICE=${TWICE} -DHAVE_X=${HAVE_X} -DSHA="${SHA}")
  target_compile_definitions(a PRIVATE SM_TARGET=${CMAKE_HIP_ARCHITECTURES} OTHER=${GPU_TARGETS})
endif()
"""
    gpu = "${CMAKE_HIP_ARCHITECTURES}"
    assert cmake_defines(text) == ["SIZE=8", 'SHA=""', f"SM_TARGET={gpu}", f"OTHER={gpu}"]
    assert defines.macros_of("CMakeLists.txt", text).computed == ("TWICE",)


def test_a_text_that_a_variable_of_cmake_is_in_compiles_whatever_it_says() -> None:
    """Uni-Dock: `VERSION="v${PROJECT_VERSION}"`, and main.cpp did not compile without it."""
    text = (
        "project(\n  dock\n  VERSION 1.2.3\n  LANGUAGES CXX CUDA)\n"
        'add_compile_definitions(VERSION="v${PROJECT_VERSION}" NAME="${PROJECT_NAME}-${PROJECT_VERSION_MAJOR}")\n'
        'add_definitions(-DHASH=\\"${GIT_HASH}\\" "-DDATE=\\"${DATE}\\"" -DNUMBER=${NUMBER})\n'
    )
    assert cmake_defines(text) == ['VERSION="v1.2.3"', 'NAME="dock-1"', 'HASH=""', 'DATE=""']


def test_conditions_deeper_than_python_follows_have_no_macros() -> None:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)  # some packages raise it for the whole process
    try:
        assert cmake_defines("if(USE_CUDA)\n" * 2000 + "add_definitions(-DA)\n") == []
    finally:
        sys.setrecursionlimit(before)


def test_an_option_answers_by_its_default() -> None:
    """cuNSearch: `option(CUNSEARCH_USE_DOUBLE_PRECISION "..." ON)`."""
    text = (
        'option(DOUBLE "Doubles" ON)\noption(DEBUG_IT "Debug" OFF)\noption(WITH_CUDA "GPU" OFF)\n'
        "if(DOUBLE)\nadd_definitions(-DA)\nelse()\nadd_definitions(-DB)\nendif()\n"
        "if(NOT DEBUG_IT)\nadd_definitions(-DC)\nendif()\nif(DEBUG_IT)\nadd_definitions(-DD)\nendif()\n"
        "if(WITH_CUDA)\nadd_definitions(-DE)\nendif()\n"
    )
    assert cmake_defines(text) == ["A", "C", "E"]


def test_a_gpu_that_is_reached_by_opencl_is_not_ours() -> None:
    """LightGBM: USE_GPU is OpenCL's, USE_CUDA is what becomes ROCm's."""
    text = (
        "if(USE_GPU)\nfind_package(OpenCL REQUIRED)\nendif()\nif(USE_GPU)\nadd_definitions(-DUSE_GPU)\nendif()\n"
        "if(USE_CUDA)\nadd_definitions(-DUSE_CUDA)\nendif()\nif(GPU)\nadd_definitions(-DGPU)\nendif()\n"
    )
    assert cmake_defines(text) == ["USE_CUDA", "GPU"]


def test_macros_in_a_list_of_definitions() -> None:
    text = """
if(CORE_ENABLE_GPU)
  list(APPEND CORE_COMPILE_DEFS CORE_CUDA_PROFILING CORE_GPU=1 ${OTHER})
endif()
list(APPEND SOURCES a.cu)
list(REMOVE_ITEM CORE_COMPILE_DEFS NOT_THIS)
"""
    assert cmake_defines(text) == ["CORE_CUDA_PROFILING", "CORE_GPU=1"]


def test_a_makefiles_recipes_say_flags_that_all_of_them_share() -> None:
    """A rule for each compiler (OP2's), another for each variant of a program, lines that only link, and what stands
    in a conditional."""
    nvcc = "%+cuda.o: %.cu\n\t$(NVCC) $(FLAGS) -DOP2_CUDA -c $< -o $@\n"
    hipcc = "%+hip.o: %.cu\n\t@$(HIPCC) $(FLAGS) -DOP2_HIP -c $< -o $@\n"
    link = "all:\n\tnvcc $^ -DLINKED -o $@\n"
    host = "%.o: %.cpp\n\t$(CXX) -DHOST -c $< -o $@\n"
    variants = "a: a.cu\n\t-$(CUDA)/bin/nvcc -DN=4 -DCAST \\\n\t  a.cu -o a\nb: a.cu\n\tnvcc -DN=4 $< -o b\n"
    told = {text: defines.macros_of("Makefile", text).defines for text in (nvcc + link + host, nvcc + hipcc, variants)}
    assert list(told.values()) == [("OP2_CUDA",), ("OP2_HIP",), ("N=4",)]
    assert defines.macros_of("Makefile", f"D = -DA -DOP2_CUDA\nifdef X\n{nvcc}endif\n{host}").defines == (
        "A",
        "OP2_CUDA",
    )


def test_a_header_that_may_lie_there_decides_nothing() -> None:
    """flash-attention's setup.py asks for a header of PyTorch before 1.8, whose name has CUDA in it."""
    asked = 'if os.path.exists(os.path.join(torch_dir, "include", "ATen", "CUDAGeneratorImpl.h")):\n    f = ["-DOLD"]\n'
    assert python_defines(asked) == []
    assert python_defines("if os.path.exists(CUDA_HOME):\n    f = ['-DA']\n") == ["A"]
