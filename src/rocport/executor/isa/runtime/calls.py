# SPDX-License-Identifier: Apache-2.0
"""The library that traces calls: a function around every one of the API's headers, loaded before the runtime.

It is made where a trace is asked for (ROCPORT_EXEC_TRACE) and lies beside the runtime's libraries. A build's shells and
compilers get it as well, so it does not need the runtime: that is looked for at a program's first call.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import MutableMapping
from pathlib import Path

from rocport.executor.isa.runtime.declarations import preprocessed, read_declarations, run_compiler
from rocport.executor.isa.runtime.library import HERE, LIBRARIES, build_libraries
from rocport.model.locks import locked
from rocport.toolchain import Toolchain

VARIABLE = "ROCPORT_EXEC_TRACE"
_WRITERS = (Path(__file__), Path(__file__).with_name("declarations.py"))
_NAME = f"librocport-calls-{hashlib.sha256(b''.join(one.read_bytes() for one in _WRITERS)).hexdigest()[:12]}.so"
"""By what writes it; calls.h is one of the headers that name the libraries' folder."""
_RUNTIME = f"lib{LIBRARIES[0].name}.so.{LIBRARIES[0].version}"
_STATUS = ("hipError_t", "hiprtcResult")
_NOT = frozenset({"hipGetLastError", "hipPeekAtLastError", "hipExtGetLastError"})
"""Their result is a state, not the call's own. Names that begin with `_` are the compiler's calls."""


def trace_calls(toolchain: Toolchain, environment: MutableMapping[str, str]) -> None:
    """Has the programs of this environment write their calls, where it asks for that.

    Raises:
        LibraryError: the library does not build.
    """
    if environment.get(VARIABLE):
        library = _build(toolchain)
        environment["LD_PRELOAD"] = os.pathsep.join([str(library), *filter(None, [environment.get("LD_PRELOAD")])])


def _build(toolchain: Toolchain) -> Path:
    folder = build_libraries(toolchain)
    library = folder / _NAME
    with locked(folder / "calls.lock"):
        if not library.is_file():
            scratch = Path(tempfile.mkdtemp(dir=folder.parent))
            try:
                source = scratch / "calls.cpp"
                source.write_text(_text(toolchain))
                command = [
                    str(toolchain.compiler), "-std=c++17", "-O0", "-fPIC", "-w", "-shared", "-fuse-ld=lld", f"-I{HERE}",
                    "-D__HIP_PLATFORM_AMD__=1", "-D__HIP_DISABLE_CPP_FUNCTIONS__=1", "-isystem", str(toolchain.include),
                    str(source), "-Wl,-z,lazy", "-ldl", "-o", str(scratch / _NAME),
                ]  # fmt: skip
                run_compiler(command, _NAME)
                (scratch / _NAME).rename(library)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
    return library


def _text(toolchain: Toolchain) -> str:
    """The source: one function a declaration, which calls the next one of its name."""
    headers = LIBRARIES[0].headers
    declared = read_declarations(preprocessed(toolchain, headers, "HIP's headers"), _STATUS)
    lines = [
        *(f"#include <{header}>" for header in headers),
        "#include <dlfcn.h>",
        '#include "calls.h"',
        # A plugin's runtime is the plugin's alone until it is opened for all.
        "static void *next_of(const char *name) {",
        f'  dlopen("{_RUNTIME}", RTLD_LAZY | RTLD_GLOBAL);',
        "  return dlsym(RTLD_NEXT, name);\n}",
        'extern "C" {',
    ]
    for one in declared:
        status, name, typed, passed = one.status, one.name, one.typed, one.passed
        if name in _NOT or name.startswith("_") or one.variadic:
            continue
        spelled = ", ".join(f'"{given}"' for _, given in one.parameters) or '""'
        says = "hipGetErrorName(result)" if status == "hipError_t" else "hiprtcGetErrorString(result)"
        lines.append(
            f"{status} {name}({typed}) {{\n"
            f'  static const auto next = reinterpret_cast<{status} (*)({typed})>(next_of("{name}"));\n'
            f'  calls::Call call("{name}");\n'
            f"  const {status} result = next({passed});\n"
            f"  static const char *const names[] = {{{spelled}}};\n"
            f"  call.end({says}, !result, names{', ' + passed if passed else ''});\n"
            "  return result;\n}"
        )
    return "\n".join([*lines, "}", ""])
