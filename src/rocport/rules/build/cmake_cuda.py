"""CMake that asks for CUDA: `find_package(CUDAToolkit)`, `enable_language(CUDA)`, `CUDA::cublas`, `CMAKE_CUDA_*`.
There is no CUDA toolkit on a ROCm machine, so configuring stops. What the maintainers of real projects did: an option
(`USE_ROCM`, `USE_HIP`), `enable_language(HIP)`, `find_package(hip)`, `hip::` and `roc::` targets, the `.cu` files with
`LANGUAGE HIP`, and `CMAKE_HIP_ARCHITECTURES` for the arch list. Right when a branch for HIP stands beside it; a command
in a branch that asks for HIP or ROCm is left alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import replace

from rocport.facts.lookup import counterpart, link_triggers, package_triggers
from rocport.model import Applicability, Context, Edit, Example, Finding, Rule, Severity
from rocport.project.build import BuildSource
from rocport.project.cmake import CMakeCommand
from rocport.rules.build import cmake_gate, cmake_reach
from rocport.rules.build.common import ARCH_FLAG, BY_HAND, NOTHING, NVIDIA_TOOLS, cuda_library, found, nvcc_flag
from rocport.syntax.amd import is_amd_path, names_amd

_TARGET = re.compile(r"(?<![\w:])[A-Za-z_]\w*::\w+")
_LISTED = re.compile(
    r"(?i)\$\{?(?:CUDA|CUDNN|CUBLAS|CUDAToolkit|CUDAT?K)_\w*(?:LIBRAR|INCLUDE|CUBLAS|CUDART|TOOLKIT|ROOT|VERSION|ARCH)\w*\}?|\$\{CUDAToolkit_\w+\}|\bCUDAToolkit_\w+|\bCUDA_TOOLKIT_ROOT_DIR\b|\$\{CUDA_VERSION\}"
)
_FLAGS = re.compile(
    r"CMAKE_CUDA_(?:FLAGS|HOST_COMPILER|COMPILER\w*|STANDARD|ARCHITECTURES\w*|SEPARABLE)\w*|CUDA_NVCC_FLAGS|CUDA_ARCH(?:ITECTURES|_LIST|_FLAGS)|CUDA_SEPARABLE_COMPILATION|CUDA_(?:PTX|CUBIN|FATBIN|OPTIX)_COMPILATION|CUDA_RESOLVE_DEVICE_SYMBOLS|CUDA_PROPAGATE_HOST_FLAGS|COMPUTE_CAPABILIT"
)
_FINDS_CUDA = re.compile(
    r"(?:^|/)Find(?:CUDA|cuda|CUDNN|cuDNN|CuDNN|NCCL|Nccl|CUB|NVTX|NvToolsExt|TensorRT)\w*\.cmake$"
    r"|(?:^|/)(?:select_compute_arch|run_nvcc|make2cmake|parse_cubin)\.cmake$"
)
"""Modules that look for CUDA, and copies of CMake's own: who calls them is named."""
_OF_CUDA = re.compile(r"\$<COMPILE_LANG(?:UAGE|_AND_ID):CUDA\b")
_WARNS = re.compile(r"\$<\$<COMPILE_LANG(?:UAGE|_AND_ID):CUDA>:(?:SHELL:)?(?:--W\w+|-Xcompiler[ =]/\w+)>")
"""One option that asks nvcc for a warning, or is for MSVC alone: it compiles nothing otherwise."""
_NOTHING = re.compile(r"\bCUDA_(?:SEPARABLE_COMPILATION\s+(?:OFF|FALSE|0)|RESOLVE_DEVICE_SYMBOLS\s+\w+)\b")
"""Properties set to what they are without CUDA, or that say nothing without CUDA_SEPARABLE_COMPILATION."""
_ARCHITECTURES = re.compile(r"\bCUDA_ARCHITECTURES(?:\s+(?:\"[^\"]*\"|[^\s\"]+)|\s*\Z)")
"""A property that HIP does not read: its targets have CMAKE_HIP_ARCHITECTURES."""
_EXPORTED = re.compile(r"\bPROPERTY\s+(?:EXPORT_PROPERTIES|CMAKE_CUDA_\w+)\s")
"""What a target tells those that import it, under names of the project's own."""
_LINKER = re.compile(r"(?:(?:APPEND|PREPEND|REMOVE_ITEM)\s+)?CMAKE_CUDA_(?:HOST_)?IMPLICIT_LINK_\w+\s")
"""What nvcc links by itself, as CMake found it out."""
_DONE = "CUDA in CMake"
"""The cause of what has been written for HIP beside a command: one build to look at, however many commands it has."""
_APART = "_COMPILATION: nvcc only"
"""What makes other objects of the sources is looked at for itself."""
_LEFT = "CUDA in CMake, by hand"
"""The cause of what the port does not write: one build to write a branch for, however many commands it has."""
_RUN_BY = frozenset({"add_custom_command", "add_custom_target", "execute_process", "exec_program", "find_program"})
_TOOL = re.compile(
    rf"(?:.*/)?(?:{'|'.join(map(re.escape, sorted(NVIDIA_TOOLS)))})(?:\.exe)?|\$\{{CUDA(?:Toolkit)?_NVCC_EXECUTABLE\}}"
)
_TOOL_FIX = "where USE_ROCM is set: hipcc (--genco for a code object), rocm_agent_enumerator or amd-smi in its place"
_OWN_TARGETS = re.compile(r"(?!CMAKE_)\w*(?:COMPUTE_CAPABILIT|CUDA_ARCH)\w*\s")
"""A variable of the project's that holds NVIDIA's targets: what is given them is named."""
_OWN = re.compile(r"\s*(\w+)\s+[\"']?[\w.;-]+[\"']?\s*\Z")
_PACKAGE = re.compile(r"^\s*(?:CUDA\w*|CUDNN|cuDNN|NCCL|CUDA11|cub|CUB|Thrust|CUTLASS|NvidiaCutlass|nvtx\d*)\b")
_OLD = frozenset(
    {
        "cuda_add_library",
        "cuda_add_executable",
        "cuda_select_nvcc_arch_flags",
        "cuda_compile",
        "cuda_include_directories",
        "cuda_add_cublas_to_target",
        "cuda_add_cufft_to_target",
        "cuda_wrap_srcs",
        "cuda_compile_ptx",
    }
)
_IF = re.compile(
    r"(?i)(?:^|[\s(])(?:NOT\s+)?\"?\$?\{?(?:\w*(?:USE|ENABLE|WITH|BUILD|HAVE)_(?:CUDA|NVIDIA|CUDNN)\w*|CUDA(?:Toolkit)?_FOUND|BUILD_CUDA|CUDA_VERSION|CMAKE_CUDA_COMPILER\w*)\b|STREQUAL\s+\"?cuda\"?|COMPUTE_BACKEND"
)

RULE = Rule(
    name="cmake-cuda",
    summary="CMake asks for the CUDA toolkit",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=frozenset({"cmake"}),
    triggers=link_triggers()
    | package_triggers()
    | {b".cu", b"add_subdirectory", b"CUDA", b"CCCL", b"NCCL", b"Thrust", b"cutlass", b"nvtx", b"gencode", b"_GPU"}
    | {name.encode() for name in NVIDIA_TOOLS},
    phase=4,
    holds="every ROCm release; CMake has the HIP language since 3.21",
    examples=(
        Example(
            "find_package(CUDAToolkit REQUIRED)\n",
            contains=(
                "if(USE_ROCM)\n  find_package(hip REQUIRED)\nelse()\n  find_package(CUDAToolkit REQUIRED)\nendif()\n",
            ),
            path="CMakeLists.txt",
        ),
        Example(
            "project(x)\nfind_package(CUDA REQUIRED)\ncuda_add_library(x a.cu)\n",
            contains=("  enable_language(HIP)\n  find_package(hip REQUIRED)\n",),
            path="CMakeLists.txt",
        ),
        Example("enable_language(CUDA)\n", contains=("  enable_language(HIP)\nelse()\n",), path="CMakeLists.txt"),
        Example(
            "cmake_minimum_required(VERSION 3.21)\nproject(x LANGUAGES CXX CUDA)\n"
            "set_source_files_properties(a.cpp PROPERTIES LANGUAGE CUDA)\n",
            contains=("set_source_files_properties(a.cpp PROPERTIES LANGUAGE HIP)",),
            path="CMakeLists.txt",
        ),
        Example(
            "cmake_minimum_required(VERSION 3.21)\nproject(x LANGUAGES CXX CUDA)\n",
            contains=(
                "project(x LANGUAGES CXX HIP)",
                "option(USE_ROCM ",
                "set(CMAKE_HIP_ARCHITECTURES gfx90a ",
                "function(rocm_sources target)",
            ),
            path="CMakeLists.txt",
        ),
        Example(
            "target_link_libraries(x PRIVATE CUDA::cublas CUDA::cudart)\n",
            contains=("find_package(hipblas REQUIRED)", "target_link_libraries(x PRIVATE roc::hipblas hip::host)"),
            path="CMakeLists.txt",
        ),
        Example(
            'set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} --use_fast_math --threads 4")\n',
            contains=('set(CMAKE_HIP_FLAGS "${CMAKE_HIP_FLAGS} -fgpu-flush', 'rounded-divide-sqrt")\nelse()'),
            path="CMakeLists.txt",
        ),
        Example("set(CMAKE_CUDA_ARCHITECTURES 80)\n", contains=("if(NOT USE_ROCM)\n  set(",), path="CMakeLists.txt"),
        Example(
            "target_compile_options(x PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr>)\n",
            contains=("if(NOT USE_ROCM)\n  target_compile_options(",),
            path="CMakeLists.txt",
        ),
        Example(
            "cuda_add_library(x a.cu)\n", contains=("add_library(x a.cu)\n  rocm_sources(x)",), path="CMakeLists.txt"
        ),
        Example(
            "add_library(x STATIC\n  a.cu b.cpp)\nenable_language(CUDA)\n",
            contains=("b.cpp)\nif(USE_ROCM)\n  rocm_sources(x)\nendif()\n",),
            path="CMakeLists.txt",
        ),
        Example(
            "list(APPEND LIBS ${CUDA_CUBLAS_LIBRARIES})\n",
            contains=("  find_package(hipblas REQUIRED)\n  list(APPEND LIBS roc::hipblas)\nelse()",),
            path="CMakeLists.txt",
        ),
        Example(
            'set(CMAKE_CUDA_FLAGS "${CMAKE_CUDA_FLAGS} -t 8 \\\n'
            ' -gencode=arch=compute_70,code=\\\\\\"sm_70,compute_70\\\\\\" \\\n")\n',
            contains=('set(CMAKE_HIP_FLAGS "${CMAKE_HIP_FLAGS}")',),
            path="CMakeLists.txt",
        ),
        Example(
            "set(languages ${languages} CUDA)\nproject(x ${languages})\n",
            contains=("if(USE_ROCM)\n  set(languages ${languages} HIP)\nelse()",),
            path="CMakeLists.txt",
        ),
        Example(
            "find_library(NCCL_LIBRARY NAMES nccl libnccl nccl_static HINTS ${NCCL_HOME}/lib)\n"
            "find_path(NCCL_INCLUDE_DIR nccl.h)\nfind_library(CUDA_LIB libcuda cuda)\n",
            contains=(
                "find_library(NCCL_LIBRARY NAMES rccl HINTS ${NCCL_HOME}/lib)",
                "find_path(NCCL_INCLUDE_DIR rccl/rccl.h)",
                "find_library(CUDA_LIB amdhip64)",
            ),
            path="CMakeLists.txt",
        ),
        Example(
            "find_library(BLAS_LIB NAMES cublas openblas ${EXTRA_BLAS} HINTS /opt)\n"
            'find_path(INC "cuda_runtime.h" my.h PATHS /opt)\nfind_library(FFT HINTS /opt NAMES ${OWN} cufft)\n',
            contains=(
                "find_library(BLAS_LIB NAMES hipblas openblas ${EXTRA_BLAS} HINTS /opt)",
                'find_path(INC "hip/hip_runtime.h" my.h PATHS /opt)',
                "find_library(FFT HINTS /opt NAMES ${OWN} hipfft)",
            ),
            path="CMakeLists.txt",
        ),
        Example(
            "find_library(CUDNN_LIBRARY NAMES ${CUDNN_LIBNAME} cudnn)\nfind_path(CUDNN_INCLUDE_DIR cudnn.h)\n",
            absent=("MIOpen",),
            path="CMakeLists.txt",
        ),
        Example(
            "set(LANGS CXX CUDA)\nforeach(one IN LISTS LANGS)\n  enable_language(${one})\nendforeach()\n",
            contains=("  set(LANGS CXX HIP)\nelse()",),
            path="CMakeLists.txt",
        ),
        Example(
            "target_link_libraries(x PRIVATE NCCL::NCCL cublas)\n",
            contains=("target_link_libraries(x PRIVATE roc::rccl roc::hipblas)",),
            path="CMakeLists.txt",
        ),
        Example(
            "target_link_libraries(x CUDA::cublas cutensor)\n",
            contains=("  target_link_libraries(x roc::hipblas)\n",),
            path="CMakeLists.txt",
        ),
        Example(
            "set(CUDA_VERSION 12)\ninclude_directories(${CUDA_VERSION} ${CUDA_INCLUDE_DIRS})\n", path="CMakeLists.txt"
        ),
        Example(
            "set_source_files_properties(src/CUDA/a.cpp CUDA.cpp PROPERTIES\n  LANGUAGE CUDA\n"
            '  COMPILE_OPTIONS "--use_fast_math;-lineinfo;-O3")\n',
            contains=(
                "set_source_files_properties(src/CUDA/a.cpp CUDA.cpp PROPERTIES\n",
                'LANGUAGE HIP\n  COMPILE_OPTIONS "-fgpu-flush-denormals-to-zero;',
                ';-O3")\nelse()',
            ),
            path="CMakeLists.txt",
        ),
        Example(
            'cmake_minimum_required(VERSION 3.21)\nproject(CUDA DESCRIPTION "for CUDA" LANGUAGES CUDA)\n'
            "set_property(SOURCE CUDA/CUDA.cpp PROPERTY LANGUAGE CUDA)\n",
            contains=(
                "set_property(SOURCE CUDA/CUDA.cpp PROPERTY LANGUAGE HIP)",
                'project(CUDA DESCRIPTION "for CUDA" LANGUAGES HIP)',
            ),
            path="CMakeLists.txt",
        ),
        Example(
            'set(CUDA_NVCC_FLAGS "${CUDA_NVCC_FLAGS};-gencode arch=compute_70,code=sm_70;-O2;-Xptxas -v")\n',
            contains=('  set(CMAKE_HIP_FLAGS "${CMAKE_HIP_FLAGS} -O2")\nelse()',),
            path="CMakeLists.txt",
        ),
        Example(
            "set(CUDA_NVCC_FLAGS_RELEASE ${MORE} -O3;-lineinfo CACHE STRING x)\n",
            contains=(
                '  set(CMAKE_HIP_FLAGS_RELEASE "${MORE} -O3" CACHE STRING x)\n',
                '  string(REPLACE ";" " " CMAKE_HIP_FLAGS_RELEASE "${CMAKE_HIP_FLAGS_RELEASE}")\n',
            ),
            path="CMakeLists.txt",
        ),
        Example("add_custom_command(OUTPUT k.ptx COMMAND ${CUDA_NVCC_EXECUTABLE} -ptx k.cu)\n", path="CMakeLists.txt"),
        Example("execute_process(COMMAND nvidia-smi -L OUTPUT_VARIABLE GPUS)\n", path="CMakeLists.txt"),
        Example("set_target_properties(k PROPERTIES CUDA_PTX_COMPILATION ON)\n", path="CMakeLists.txt"),
        Example(
            "if(USE_ROCM)\n  set(EXTRA a.cc)\nendif()\nset(GPU_SOURCES a.cu)\nadd_library(x ${GPU_SOURCES} ${EXTRA})\n",
            contains=("rocm_sources(x)",),
            path="CMakeLists.txt",
        ),
        Example("if(CUDA_FOUND)\nendif()\n", contains=("if(USE_ROCM OR CUDA_FOUND)",), path="CMakeLists.txt"),
        Example("set(CUDA_TOOLKIT_ROOT_DIR ${CUDAToolkit_ROOT})\n", path="CMakeLists.txt"),
        Example("include_directories(${CUDA_TOOLKIT_ROOT_DIR}/include)\n", path="CMakeLists.txt"),
    ),
    clean=(
        Example("set_target_properties(a PROPERTIES CUDA_SEPARABLE_COMPILATION OFF)\n", path="CMakeLists.txt"),
        Example('set_property(TARGET a PROPERTY CUDA_ARCHITECTURES "80;90")\n', path="CMakeLists.txt"),
        Example("set(CMAKE_CUDA_RUNTIME_LIBRARY Shared)\n", path="CMakeLists.txt"),
        Example("set(CUDA_TOOLKIT_ROOT_DIR /usr/local/cuda-10.2)\n", path="CMakeLists.txt"),
        Example('list(APPEND CMAKE_CUDA_HOST_IMPLICIT_LINK_LIBRARIES "cudart")\n', path="CMakeLists.txt"),
        Example("set_target_properties(a PROPERTIES CUDA_RESOLVE_DEVICE_SYMBOLS ON)\n", path="CMakeLists.txt"),
        Example(
            'target_compile_options(a PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:-Xcompiler /bigobj>")\n'
            'target_compile_options(a PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:--Wreorder>")\n',
            path="CMakeLists.txt",
        ),
        Example(
            "set(CUDA_COMPUTE_CAPABILITY 60)\n"
            "set_target_properties(a PROPERTIES CUDA_ARCHITECTURES ${CUDA_COMPUTE_CAPABILITY})\n",
            path="CMakeLists.txt",
        ),
        Example("list(APPEND nvcc_flags -gencode arch=compute_80)\n", path="cmake/select_compute_arch.cmake"),
        Example('set(CUDA_ARCH "61")\nadd_definitions(-DARCH=${CUDA_ARCH})\n', path="CMakeLists.txt"),
        Example(
            "if(USE_ROCM)\n  enable_language(HIP)\nelse()\n  enable_language(CUDA)\nendif()\n", path="CMakeLists.txt"
        ),
        Example(
            "if(BUILD_CUDA)\n  enable_language(CUDA)\nelseif(BUILD_HIP)\n  enable_language(HIP)\nendif()\n",
            path="CMakeLists.txt",
        ),
        Example("find_library(CUDA_CUDART cudart HINTS ${CUDAToolkit_ROOT})\n", path="cmake/FindCUDAToolkit.cmake"),
        Example(
            "if(USE_ROCM)\n  set(GPU_SOURCES hip/a.hip)\nelse()\n  set(GPU_SOURCES a.cu)\nendif()\n"
            "add_library(x ${GPU_SOURCES})\n",
            path="CMakeLists.txt",
        ),
        Example('option(USE_CUDA "build for CUDA" ON)\n# find_package(CUDA)\n', path="CMakeLists.txt"),
        Example("find_library(M_LIBRARY m)\nfind_path(HALF_INCLUDE half.hpp)\n", path="CMakeLists.txt"),
        Example("project(x CXX)\nset(LANGUAGES_DOCUMENTED C CUDA Fortran)\n", path="CMakeLists.txt"),
        Example('if(INTEL)\n  set(CMAKE_C_FLAGS "-O3 -restrict")\nendif()\n', path="CMakeLists.txt"),
        Example('add_custom_target(nvcc_free COMMENT "no nvcc here" DEPENDS nvcc.md)\n', path="CMakeLists.txt"),
        Example("add_library(cuda_helpers src/cuda/helpers.cc)\n", path="CMakeLists.txt"),
        Example("if(BUILD_TEST AND BUILD_GPU)\nendif()\n# CUDA\n", path="CMakeLists.txt"),
        Example("project(x CXX)\ninclude()\nfind_package()\n# CUDA\n", path="CMakeLists.txt"),
    ),
    sources=(
        "https://cmake.org/cmake/help/latest/prop_tgt/HIP_ARCHITECTURES.html",
        "https://rocm.docs.amd.com/en/docs-6.0.0/conceptual/cmake-packages.html",
    ),
)


def check(source: BuildSource, context: Context) -> Iterator[Finding]:
    if is_amd_path(source.path) or _FINDS_CUDA.search(source.path):
        return
    above = cmake_gate.roots(source, context)
    own = frozenset(
        command.words[0]
        for command in source.commands
        if (command.name == "set" and _OWN.match(command.arguments))
        or (command.name in ("add_library", "foreach") and command.words)
    )
    languages = cmake_gate.project_languages(source)
    unreached, nvccs = cmake_reach.unreached(source.commands), cmake_reach.for_nvcc(source.commands)
    for command in source.commands:
        if command.gated or names_amd(command.arguments) or command.at in unreached:
            continue
        tool = _runs(command)
        message = f"{tool}: a program of NVIDIA's, not there on ROCm" if tool else _what(command, own)
        if cmake_gate.adds_language(command, languages):
            message = "adds CUDA to the languages"
        if not message and cmake_gate.links_driver(source, command, context):
            message = "cuda: a CUDA library"
        builds = not message and cmake_gate.builds(source, command) and not _followed(source, command)
        if message or builds:
            item = found(
                RULE,
                source,
                command,
                message or "its .cu sources are compiled as CUDA",
                fix=_TOOL_FIX
                if tool
                else "beside it for HIP: enable_language(HIP), hip:: and roc:: targets, CMAKE_HIP_ARCHITECTURES",
            )
            # A template (x.cmake.in) is no CMake yet: what stands for @NAME@ in it is not known.
            made: tuple[Edit, ...] = ()
            if not source.path.endswith(".in"):
                made = (
                    cmake_gate.sources_edits(source, command, context)
                    if builds
                    else cmake_gate.edits(source, command, context, languages)
                )
            library, advice, whole = cmake_gate.by_hand(command)
            cause = (whole or f"{library} in CMake") if library and library in item.message else ""
            if made:
                done = "" if item.message.endswith(_APART) else _DONE
                yield replace(item, edits=made, applicability=Applicability.REVIEW, cause=cause or done)
            elif not (item.message.endswith("nvcc only") and cmake_reach.assigned(command) in nvccs):
                yield replace(item, cause=cause or ("" if item.message.endswith(_APART) else _LEFT))
            if library and (made or not cause):
                by_hand = found(RULE, source, command, f"{library}: {BY_HAND}", fix=advice or NOTHING)
                yield replace(by_hand, cause=cause or whole)
        elif command is above and (made := cmake_gate.prelude(source, context)):
            item = found(RULE, source, command, "folders below compile CUDA sources: the option for HIP stands here")
            yield replace(item, edits=made, applicability=Applicability.SAFE)


_LANGUAGE = re.compile(r"\bLANGUAGE\s+\"?CUDA\b")


def _followed(source: BuildSource, command: CMakeCommand) -> bool:
    """True where the next command already asks for ROCm: an earlier port has been here."""
    behind = bisect_right(source.commands, command.at, key=lambda other: other.at)
    later = source.commands[behind : behind + 1]
    return bool(later) and later[0].name == "if" and names_amd(later[0].arguments)


def _runs(command: CMakeCommand) -> str:
    """The program of NVIDIA's that a command runs or looks for; empty where there is none."""
    words = command.words if command.name in _RUN_BY else ()
    return next((word for word in words if _TOOL.fullmatch(word)), "")


def _what(command: CMakeCommand, own: frozenset[str]) -> str:
    """Why a command breaks without CUDA; empty when it does not. `own`: variables the file gives a value, and its
    targets."""
    name, arguments = command.name, _NOTHING.sub("", command.arguments)
    if name in ("set_property", "set_target_properties", "get_property", "get_target_property"):
        arguments = _ARCHITECTURES.sub("", arguments)
    words = arguments.split()
    if (name == "set" and words[:1] == ["CUDA_PROPAGATE_HOST_FLAGS"]) or _LINKER.match(arguments):
        return ""
    finds = bool(words) and name in ("find_package", "include")
    if finds and (_PACKAGE.match(arguments) or counterpart("package", words[0])):
        return f"{name}({words[0]}): no CUDA toolkit on ROCm"
    if name in cmake_gate.FINDS:
        names = cmake_gate.sought(name, arguments)
        return next((f"{name}({word}): not there on ROCm" for word in names), "")
    if name == "enable_language" and "CUDA" in words:
        return "enable_language(CUDA): no nvcc on ROCm"
    if name == "check_language" and "CUDA" in words:
        return "check_language(CUDA): no nvcc on ROCm"
    if name == "project" and "CUDA" in words:
        return "project(... CUDA): no nvcc on ROCm"
    if name in _OLD:
        return f"{name}: a command of CMake's CUDA module"
    if name in ("if", "elseif"):
        return "this condition has no HIP branch" if _IF.search(arguments) else ""
    if name in ("message", "option", "endif", "else", "endforeach", "function", "macro", "endfunction", "endmacro"):
        return ""
    if name in ("set_source_files_properties", "set_property") and _LANGUAGE.search(arguments):
        return "LANGUAGE CUDA: no nvcc on ROCm"
    for target in _TARGET.findall(arguments):
        if target.startswith("CUDA::") or (target not in own and counterpart("cmake", target) is not None):
            return f"{target}: a target of CUDA's"
    if name == "set_property" and _EXPORTED.search(arguments):
        return ""
    if name == "set" and _OWN_TARGETS.match(arguments):
        arguments = arguments.removeprefix(words[0])
    flag = nvcc_flag(arguments) or ARCH_FLAG.search(arguments) or _FLAGS.search(arguments)
    if flag:
        return f"{flag[0].strip().removesuffix('_REQUIRED')}: nvcc only"
    if name in cmake_gate.COMPILE and _OF_CUDA.search(_WARNS.sub("", arguments)):
        return "options of CUDA's files alone: HIP's would go without"
    # Who reads a variable of FindCUDA's is asked; the one that is set to a path says nothing to HIP.
    given = _LISTED.match(arguments) if name == "set" and words[1:] else None
    read = _LISTED.finditer(arguments, given.end() if given else 0)
    listed = next((match for match in read if match[0].strip("${}") not in own), None)
    if listed:
        return f"{listed[0]}: empty without the CUDA toolkit"
    if name.startswith(("target_link", "link_", "set", "list")):
        library, _ = cuda_library(arguments)
        if library:
            return f"{library}: a CUDA library"
    return ""
