# SPDX-License-Identifier: Apache-2.0
"""The library that traces calls: a function around every one of the API's headers, loaded before the runtime.

It is made where a trace is asked for (ROCPORT_EXEC_TRACE) and lies beside the runtime's libraries.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import MutableMapping
from pathlib import Path

from rocport.executor.isa.runtime.library import HERE, LIBRARIES, build_libraries, run_compiler
from rocport.model.locks import locked
from rocport.toolchain import Toolchain

VARIABLE = "ROCPORT_EXEC_TRACE"
_NAME = f"librocport-calls-{hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]}.so"
"""By what writes it; calls.h is one of the headers that name the libraries' folder."""
_STATUS = ("hipError_t", "hiprtcResult")
_NOT = frozenset({"hipGetLastError", "hipPeekAtLastError", "hipExtGetLastError"})
"""Their result is a state, not the call's own. Names that begin with `_` are the compiler's calls."""
_FUNCTION = re.compile(
    rf"\b({'|'.join(_STATUS)})\s+(\w+)\s*\(((?:[^();{{}}]|\([^()]*\))*)\)\s*(?:__attribute__\S+\s*)?;"
)


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
                    str(source), f"-L{folder}", "-lamdhip64", "-Wl,-rpath,$ORIGIN", "-ldl",
                    "-o", str(scratch / _NAME),
                ]  # fmt: skip
                run_compiler(command, _NAME)
                (scratch / _NAME).rename(library)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
    return library


def _text(toolchain: Toolchain) -> str:
    """The source: one function a declaration, which calls the next one of its name."""
    headers = "".join(f"#include <{header}>\n" for header in LIBRARIES[0].headers)
    command = [
        str(toolchain.compiler), "-x", "c++", "-std=c++17", "-E", "-P", "-D__HIP_PLATFORM_AMD__=1",
        "-D__HIP_DISABLE_CPP_FUNCTIONS__=1", "-isystem", str(toolchain.include), "-",
    ]  # fmt: skip
    declared = _FUNCTION.findall(run_compiler(command, "HIP's headers", headers))
    lines = [headers, "#include <dlfcn.h>", '#include "calls.h"', 'extern "C" {']
    for status, name, text in {one[1]: one for one in declared}.values():
        parameters = [_without_default(one) for one in _split(text)]
        if name in _NOT or name.startswith("_") or any("..." in one for one in parameters):
            continue
        names = [_name_of(one, number) for number, one in enumerate(parameters)]
        passed = ", ".join(names)
        typed = ", ".join(_named(one, name) for one, name in zip(parameters, names, strict=True))
        spelled = ", ".join(f'"{one}"' for one in names) or '""'
        says = "hipGetErrorName(result)" if status == "hipError_t" else "hiprtcGetErrorString(result)"
        lines.append(
            f"{status} {name}({typed}) {{\n"
            f'  static const auto next = reinterpret_cast<{status} (*)({typed})>(dlsym(RTLD_NEXT, "{name}"));\n'
            f'  calls::Call call("{name}");\n'
            f"  const {status} result = next({passed});\n"
            f"  static const char *const names[] = {{{spelled}}};\n"
            f"  call.end({says}, !result, names{', ' + passed if passed else ''});\n"
            "  return result;\n}"
        )
    return "\n".join([*lines, "}", ""])


def _split(text: str) -> list[str]:
    """Parameters, at the commas that no parenthesis holds."""
    parts, depth, begin = [], 0, 0
    for at, char in enumerate(text):
        depth += (char == "(") - (char == ")")
        if char == "," and not depth:
            parts.append(text[begin:at])
            begin = at + 1
    parts.append(text[begin:])
    found = [" ".join(part.split()) for part in parts]
    return [] if found in (["void"], [""]) else found


def _without_default(parameter: str) -> str:
    return parameter.partition("=")[0].strip()


_POINTER_NAME = re.compile(r"\(\s*\*\s*(\w*)\s*\)")
_LAST = re.compile(r"(\w+)\s*((?:\[[^\]]*\]\s*)*)$")
_WORDS = frozenset({"int", "unsigned", "char", "long", "size_t", "float", "double", "void", "const", "short", "bool"})
"""What ends a type: `unsigned int`. `unsigned flags` has a name."""


def _name_of(parameter: str, number: int) -> str:
    """The parameter's name, one of its place where it has none."""
    pointer = _POINTER_NAME.search(parameter)
    if pointer:
        return pointer[1] or f"argument{number}"
    last = _LAST.search(parameter)
    before = parameter[: last.start()].strip() if last else ""
    if last is None or before in ("", "const", "struct", "enum") or last[1] in _WORDS:
        return f"argument{number}"
    return last[1]


def _named(parameter: str, name: str) -> str:
    """The parameter with that name."""
    if re.search(rf"\b{re.escape(name)}\b", parameter):
        return parameter
    if _POINTER_NAME.search(parameter):
        return _POINTER_NAME.sub(f"(*{name})", parameter, count=1)
    return f"{parameter} {name}"
