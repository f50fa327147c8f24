# SPDX-License-Identifier: Apache-2.0
"""A folder that build systems take for a ROCm installation, and the environment that names it.

`bin` holds stand-ins of ROCm's programs, `include` and `amdgcn` are the SDK's, `lib` our libraries with their CMake
packages, `llvm/bin` the SDK's clang with the folder as its ROCm.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rocport.executor.isa.runtime.hipcc import DEFAULT_TARGET, TARGET_VARIABLE
from rocport.executor.isa.runtime.library import LIBRARIES, SOURCE, build_libraries
from rocport.facts.targets import all_targets, canonical
from rocport.model import cache_folder
from rocport.toolchain import Toolchain, find

_HIP_VERSION = "6.4.43484"
_ROCM_VERSION = "6.4.3"
_VERSION_FILE = "HIP_VERSION_MAJOR=6\nHIP_VERSION_MINOR=4\nHIP_VERSION_PATCH=43484\n"
_TREE_VARIABLE = "ROCPORT_EXEC_TREE"
_CLANG_NAMES = ("clang++", "clang", "amdclang++", "amdclang")


def machine_toolchain() -> Toolchain:
    """The HIP compiler of the machine; inside `rocport exec` the one behind its ROCm folder.

    Raises:
        ToolchainError: there is none.
    """
    tree = os.environ.get(_TREE_VARIABLE)
    if not tree:
        return find()
    outside = {name: value for name, value in os.environ.items() if value != tree}
    folders = outside.get("PATH", os.defpath).split(os.pathsep)
    outside["PATH"] = os.pathsep.join(folder for folder in folders if not folder.startswith(tree))
    return find(environ=outside)


def rocm_tree(toolchain: Toolchain) -> Path:
    """The ROCm folder for this compiler, made when the cache lacks it.

    Raises:
        LibraryError: a library does not build.
    """
    libraries = build_libraries(toolchain)
    python = f"PYTHONPATH={shlex.quote(str(SOURCE))}${{PYTHONPATH:+:$PYTHONPATH}} exec {shlex.quote(sys.executable)}"
    described = repr(
        (str(libraries), str(toolchain.compiler), str(toolchain.root), python, Path(__file__).read_bytes())
    )
    folder = cache_folder() / "isa" / "rocm" / hashlib.sha256(described.encode()).hexdigest()[:20]
    if (folder / ".info" / "version").is_file():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=folder.parent))
    try:
        _fill(scratch, folder, toolchain, libraries, python)
        try:
            scratch.rename(folder)
        except OSError:  # another process was first
            if not (folder / ".info" / "version").is_file():
                raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return folder


def _fill(folder: Path, final: Path, toolchain: Toolchain, libraries: Path, python: str) -> None:
    for name in ("bin", "lib/cmake", "llvm/bin", "lib/llvm", ".info"):
        (folder / name).mkdir(parents=True)
    (folder / "include").symlink_to(toolchain.include)
    # clang asks this file for HIP's version, and takes the folder for none without it.
    (folder / "share" / "hip").mkdir(parents=True)
    (folder / "share" / "hip" / "version").write_text(_VERSION_FILE)
    (folder / "amdgcn").mkdir()
    (folder / "amdgcn" / "bitcode").symlink_to(toolchain.device_libs)
    (folder / "lib" / "llvm" / "bin").symlink_to("../../llvm/bin")
    for path in libraries.glob("lib*.so*"):
        (folder / "lib" / path.name).symlink_to(path)
    flags = f"--rocm-path={final} --rocm-device-lib-path={toolchain.device_libs} -isystem {toolchain.include}"
    flags += "".join(f" -D{define}" for define in toolchain.hip_defines)
    for name in _CLANG_NAMES:
        compiler = toolchain.compiler if name.endswith("++") else toolchain.compiler.with_name("clang")
        _script(folder / "llvm" / "bin" / name, f'exec {shlex.quote(str(compiler))} {flags} "$@"')
    for path in toolchain.compiler.parent.iterdir():
        target = folder / "llvm" / "bin" / path.name
        if not target.exists() and path.name.startswith(("ld", "lld", "clang-offload", "llvm-")):
            target.symlink_to(path)
    for name in ("amdgpu-arch", "offload-arch"):
        _script(folder / "llvm" / "bin" / name, f"echo ${{{TARGET_VARIABLE}:-{DEFAULT_TARGET}}}")
    for name in ("amdclang++", "amdclang"):
        (folder / "bin" / name).symlink_to(f"../llvm/bin/{name}")
    _script(folder / "bin" / "hipcc", f'{python} -m rocport hipcc "$@"')
    _script(folder / "bin" / "hipconfig", _hipconfig(final))
    enumerator = f"echo ${{{TARGET_VARIABLE}:-{DEFAULT_TARGET}}}"
    _script(folder / "bin" / "rocm_agent_enumerator", enumerator)
    _script(folder / "bin" / "rocminfo", _rocminfo())
    for package in ("hip", "hip-lang"):
        (folder / "lib" / "cmake" / package).mkdir()
        (folder / "lib" / "cmake" / package / f"{package}-config.cmake").write_text(_hip_cmake(package))
        (folder / "lib" / "cmake" / package / f"{package}-config-version.cmake").write_text(
            _version_cmake(_HIP_VERSION)
        )
    for library in LIBRARIES[1:]:
        package = library.name.lower()
        place = folder / "lib" / "cmake" / package
        place.mkdir()
        (place / f"{package}-config.cmake").write_text(_library_cmake(library.name, package))
        (place / f"{package}-config-version.cmake").write_text(_version_cmake(_ROCM_VERSION))
    for name in ("rocprim", "hipcub", "rocthrust"):
        place = folder / "lib" / "cmake" / name
        place.mkdir()
        (place / f"{name}-config.cmake").write_text(_headers_cmake(name))
        (place / f"{name}-config-version.cmake").write_text(_version_cmake(_ROCM_VERSION))
    (folder / ".info" / "version").write_text(f"{_ROCM_VERSION}\n")


def _script(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def _hipconfig(root: Path) -> str:
    return f"""case "$1" in
  --rocmpath|-R) printf %s {root} ;;
  --path|-p|--hippath) printf %s {root} ;;
  --hipclangpath|-l) printf %s {root}/llvm/bin ;;
  --platform|-P) printf amd ;;
  --compiler|-c) printf clang ;;
  --runtime|-r) printf rocclr ;;
  --version|-v) printf {_HIP_VERSION} ;;
  --cpp_config|-C) printf %s " -D__HIP_PLATFORM_AMD__= -I{root}/include" ;;
  *) echo "HIP version: {_HIP_VERSION}"; echo "HIP_PATH: {root}"; echo "ROCM_PATH: {root}"; echo "HIP_PLATFORM: amd" ;;
esac"""


def _rocminfo() -> str:
    wide = "|".join(f"{target.name}*" for target in all_targets() if target.wavefront == 64)
    return f"""target=${{{TARGET_VARIABLE}:-{DEFAULT_TARGET}}}
case $target in {wide}) wave=64 ;; *) wave=32 ;; esac
echo "ROCk module is not loaded: this is rocport's ISA executor"
echo "*******                  "
echo "Agent 1                  "
echo "*******                  "
echo "  Name:                    $target"
echo "  Marketing Name:          rocport ISA executor"
echo "  Device Type:             GPU"
echo "  Wavefront Size:          $wave"
echo "  Name:                    amdgcn-amd-amdhsa--$target" """


def _version_cmake(version: str) -> str:
    return f"""set(PACKAGE_VERSION "{version}")
if(PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE FALSE)
else()
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
  if(PACKAGE_FIND_VERSION STREQUAL PACKAGE_VERSION)
    set(PACKAGE_VERSION_EXACT TRUE)
  endif()
endif()
"""


_ROOT = 'get_filename_component(_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)\n'


def _hip_cmake(package: str) -> str:
    """The targets that projects name: hip::host, hip::device and hip::amdhip64, or hip-lang::device."""
    return (
        _ROOT
        + f"""set({package}_FOUND TRUE)
set(HIP_FOUND TRUE)
set(HIP_VERSION {_HIP_VERSION})
set(hip_VERSION {_HIP_VERSION})
set(HIP_PLATFORM amd)
set(HIP_COMPILER clang)
set(HIP_RUNTIME rocclr)
set(hip_INCLUDE_DIR "${{_root}}/include")
set(hip_INCLUDE_DIRS "${{_root}}/include")
set(HIP_INCLUDE_DIR "${{_root}}/include")
set(HIP_INCLUDE_DIRS "${{_root}}/include")
set(hip_LIB_INSTALL_DIR "${{_root}}/lib")
set(hip_BIN_INSTALL_DIR "${{_root}}/bin")
set(hip_HIPCC_EXECUTABLE "${{_root}}/bin/hipcc")
set(HIP_HIPCC_EXECUTABLE "${{_root}}/bin/hipcc")
set(hip_HIPCONFIG_EXECUTABLE "${{_root}}/bin/hipconfig")
if(NOT DEFINED GPU_TARGETS)
  set(GPU_TARGETS "$ENV{{{TARGET_VARIABLE}}}" CACHE STRING "AMD GPU targets to compile for")
endif()
set(_targets "${{GPU_TARGETS}}")
if(NOT "$ENV{{{TARGET_VARIABLE}}}" STREQUAL "")
  set(_targets "$ENV{{{TARGET_VARIABLE}}}")
endif()
if(NOT _targets)
  set(_targets {DEFAULT_TARGET})
endif()
foreach(_space hip hip-lang)
  if(NOT TARGET ${{_space}}::amdhip64)
    add_library(${{_space}}::amdhip64 SHARED IMPORTED)
    set_target_properties(${{_space}}::amdhip64 PROPERTIES
      IMPORTED_LOCATION "${{_root}}/lib/libamdhip64.so"
      INTERFACE_INCLUDE_DIRECTORIES "${{_root}}/include"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${{_root}}/include")
    add_library(${{_space}}::host INTERFACE IMPORTED)
    set_target_properties(${{_space}}::host PROPERTIES
      INTERFACE_LINK_LIBRARIES ${{_space}}::amdhip64
      INTERFACE_COMPILE_DEFINITIONS __HIP_PLATFORM_AMD__=1)
    add_library(${{_space}}::device INTERFACE IMPORTED)
    set_target_properties(${{_space}}::device PROPERTIES INTERFACE_LINK_LIBRARIES ${{_space}}::host)
  endif()
endforeach()
foreach(_target IN LISTS _targets)
  set_property(TARGET hip::device APPEND PROPERTY INTERFACE_COMPILE_OPTIONS
    "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-x hip --offload-arch=${{_target}}>")
  set_property(TARGET hip::device APPEND PROPERTY INTERFACE_LINK_OPTIONS
    "$<$<LINK_LANGUAGE:CXX>:SHELL:--hip-link --offload-arch=${{_target}}>")
endforeach()
set_property(TARGET hip-lang::device APPEND PROPERTY INTERFACE_LINK_OPTIONS "$<$<LINK_LANGUAGE:HIP>:--hip-link>")
if(NOT TARGET hiprtc::hiprtc)
  add_library(hiprtc::hiprtc INTERFACE IMPORTED)
  set_target_properties(hiprtc::hiprtc PROPERTIES INTERFACE_LINK_LIBRARIES hip::amdhip64)
endif()
if("{package}" STREQUAL "hip-lang")
  set(_CMAKE_HIP_DEVICE_RUNTIME_TARGET "hip-lang::device")
endif()
"""
    )


def _library_cmake(name: str, package: str) -> str:
    if name != package:
        namespace = name
    elif name.startswith(("roc", "hipblas", "hipsparse", "hipsolver")):
        namespace = f"roc::{name}"
    else:
        namespace = f"hip::{name}"
    return (
        _ROOT
        + f"""find_package(hip REQUIRED CONFIG PATHS "${{_root}}" NO_DEFAULT_PATH)
foreach(_name {namespace} roc::{name} hip::{name})
  if(NOT TARGET ${{_name}})
    add_library(${{_name}} SHARED IMPORTED)
    set_target_properties(${{_name}} PROPERTIES
      IMPORTED_LOCATION "${{_root}}/lib/lib{name}.so"
      INTERFACE_INCLUDE_DIRECTORIES "${{_root}}/include"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${{_root}}/include"
      INTERFACE_LINK_LIBRARIES hip::host)
  endif()
endforeach()
set({package}_FOUND TRUE)
set({package}_INCLUDE_DIRS "${{_root}}/include")
set({package}_LIBRARIES {namespace})
"""
    )


def _headers_cmake(name: str) -> str:
    needs = "" if name == "rocprim" else 'find_package(rocprim REQUIRED CONFIG PATHS "${_root}" NO_DEFAULT_PATH)\n'
    targets = {"rocprim": "roc::rocprim roc::rocprim_hip", "hipcub": "hip::hipcub", "rocthrust": "roc::rocthrust"}[name]
    return (
        _ROOT
        + f"""find_package(hip REQUIRED CONFIG PATHS "${{_root}}" NO_DEFAULT_PATH)
{needs}foreach(_name {targets})
  if(NOT TARGET ${{_name}})
    add_library(${{_name}} INTERFACE IMPORTED)
    set_target_properties(${{_name}} PROPERTIES
      INTERFACE_INCLUDE_DIRECTORIES "${{_root}}/include"
      INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${{_root}}/include"
      INTERFACE_LINK_LIBRARIES hip::host)
  endif()
endforeach()
set({name}_FOUND TRUE)
set({name}_INCLUDE_DIRS "${{_root}}/include")
"""
    )


def exec_environment(tree: Path, target: str, environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The environment in which `tree` is the machine's ROCm and `target` its only device."""

    def before(name: str, *folders: Path) -> str:
        return os.pathsep.join([*map(str, folders), *filter(None, [environ.get(name, "")])])

    name = canonical(target)
    return {
        **environ,
        TARGET_VARIABLE: name,
        _TREE_VARIABLE: str(tree),
        "PATH": before("PATH", tree / "bin", tree / "llvm" / "bin"),
        "LD_LIBRARY_PATH": before("LD_LIBRARY_PATH", tree / "lib"),
        "CMAKE_PREFIX_PATH": before("CMAKE_PREFIX_PATH", tree),
        **{variable: str(tree) for variable in ("ROCM_PATH", "ROCM_HOME", "HIP_PATH", "HIP_ROOT_DIR")},
        "HIP_PLATFORM": "amd",
        "HIP_COMPILER": "clang",
        "HIP_RUNTIME": "rocclr",
        "HIP_CLANG_PATH": str(tree / "llvm" / "bin"),
        "HIPCXX": str(tree / "llvm" / "bin" / "clang++"),
        "HIPARCHS": name,
        "PYTORCH_ROCM_ARCH": name,
        "ROCPORT_PYTHON": sys.executable,
    }
