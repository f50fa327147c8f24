# SPDX-License-Identifier: Apache-2.0
"""The functions that a library's C headers declare, with their parameters, as the preprocessor gives them."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from rocport.model import HANGING_S
from rocport.toolchain import Toolchain


class LibraryError(Exception):
    """A library cannot be built; the message holds the compiler's words."""


@dataclass(frozen=True)
class Declaration:
    """One function: its result's type, its name, and the declaration and the name of each parameter."""

    status: str
    name: str
    parameters: tuple[tuple[str, str], ...]
    variadic: bool

    @property
    def typed(self) -> str:
        return ", ".join(one for one, _ in self.parameters)

    @property
    def passed(self) -> str:
        return ", ".join(name for _, name in self.parameters)


def preprocessed(toolchain: Toolchain, headers: Sequence[str], what: str) -> str:
    """The headers' text as C++, without HIP's C++ functions."""
    command = [
        str(toolchain.compiler), "-x", "c++", "-std=c++17", "-E", "-P", "-D__HIP_PLATFORM_AMD__=1",
        "-D__HIP_DISABLE_CPP_FUNCTIONS__=1", "-isystem", str(toolchain.include), "-",
    ]  # fmt: skip
    return run_compiler(command, what, "".join(f"#include <{header}>\n" for header in headers))


_ATTRIBUTE = r"(?:__attribute__\s*\(\([^;{}]*?\)\)\s*)?"
_PARAMETERS = r"\(((?:[^();{}]|\((?:[^()]|\([^()]*\))*\))*)\)"
"""With parentheses in parentheses, as in `hipStream_t stream = ((hipStream_t)2)`."""


def read_declarations(text: str, statuses: Sequence[str]) -> list[Declaration]:
    """Every function that returns one of these types, in order, the last declaration of a name."""
    pattern = rf"\b({'|'.join(statuses)})\s+{_ATTRIBUTE}(\w+)\s*{_PARAMETERS}\s*{_ATTRIBUTE};"
    found: dict[str, Declaration] = {}
    for status, name, inside in re.findall(pattern, text):
        parameters = [_without_default(one) for one in _split(inside)]
        names = [_name_of(one, number) for number, one in enumerate(parameters)]
        named = tuple((_named(one, given), given) for one, given in zip(parameters, names, strict=True))
        found[name] = Declaration(status, name, named, any("..." in one for one in parameters))
    return list(found.values())


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


def run_compiler(command: Sequence[str], what: str, stdin: str | None = None) -> str:
    """Standard output of a compiler or linker. Raises LibraryError with its words."""
    what = f"a library of the ISA runtime does not build: {what}"
    done = finished(command, what, LibraryError, stdin)
    if done.returncode:
        raise LibraryError(f"{what}\n{done.stderr.strip()[-3000:]}")
    return done.stdout


def finished(
    command: Sequence[str], what: str, error: type[Exception], stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    """What a compiler or linker says, in English, whatever its status. Raises `error` where it does not end."""
    try:
        return subprocess.run(
            list(command), input=stdin, capture_output=True, text=True, errors="replace", timeout=HANGING_S,
            check=False, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    except subprocess.TimeoutExpired as hanging:
        raise error(
            f"{what}: {command[0]} took over {hanging.timeout:.0f} s and was stopped; run again on a machine that is "
            "less busy"
        ) from hanging
