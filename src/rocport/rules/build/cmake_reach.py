"""What of a CMakeLists.txt a build for ROCm never gets to, and which variables hold words for nvcc alone."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rocport.project.cmake import VARIABLE, CMakeCommand
from rocport.rules.build import cmake_gate

_NVCC = re.compile(r"\"?(?:\$\{)?CMAKE_CUDA_COMPILER_ID\}?\"?\s+(?:STREQUAL|MATCHES)\b")
_PROBES = frozenset(
    """
    set list string file execute_process message if elseif else endif foreach endforeach try_run try_compile unset
    target_compile_options add_compile_options separate_arguments math get_filename_component
    """.split()  # noqa: SIM905 - a table to read
)
"""What asks nvcc, or tells it, something: what a build without nvcc does without."""
_TO_NVCC = re.compile(r"\$<COMPILE_LANG(?:UAGE|_AND_ID):CUDA\b|\s*(?:APPEND\s+)?(?:CMAKE_CUDA_FLAGS|CUDA_NVCC_FLAGS)")
_ASSIGNS = frozenset({"set", "list", "string"})


def unreached(commands: Sequence[CMakeCommand]) -> frozenset[int]:
    """The commands, by their place, in branches that ROCm never takes, with the conditions in front of them: those for
    nvcc by its name that only ask or tell it something, and those for a library that nothing takes the place of."""
    missing = {
        item.words[0]
        for item in commands
        if item.name in cmake_gate.FINDS and item.words and cmake_gate.by_hand(item)[0]
    }
    found: set[int] = set()
    for condition, body in branches(commands):
        words = condition.words
        alone = "OR" not in words and "NOT" not in words
        nvcc = _NVCC.match(condition.arguments) is not None and all(item.name in _PROBES for item in body)
        if alone and (nvcc or not missing.isdisjoint(word.strip("${}") for word in words)):
            found.update(item.at for item in (condition, *body))
    return frozenset(found)


def branches(commands: Sequence[CMakeCommand]) -> Iterator[tuple[CMakeCommand, list[CMakeCommand]]]:
    """Each `if` and `elseif` with the commands of its branch."""
    opened: list[tuple[CMakeCommand | None, list[CMakeCommand]]] = []
    for item in commands:
        if item.name in ("elseif", "else", "endif") and opened:
            condition, body = opened.pop()
            if condition is not None:
                yield condition, body
        if item.name in ("if", "elseif", "else"):
            opened.append((None if item.name == "else" else item, []))
            continue
        for _, body in opened:
            body.append(item)


def for_nvcc(commands: Sequence[CMakeCommand]) -> frozenset[str]:
    """The variables of a file that only nvcc sees: in its flags, in expressions for CUDA's files, one in another."""
    uses: dict[str, list[CMakeCommand]] = {}
    for item in commands:
        for name in set(VARIABLE.findall(item.arguments)):
            uses.setdefault(name, []).append(item)
    found: set[str] = set()
    while True:
        more = {
            name
            for name, items in uses.items()
            if name not in found and all(_tells_nvcc(item, found | {name}) for item in items)
        }
        more = {name for name in more if any(assigned(item) != name for item in uses[name])}
        if not more:
            return frozenset(found)
        found |= more


def assigned(item: CMakeCommand) -> str:
    """The variable a command gives words to; empty for others."""
    words = item.words
    if item.name not in _ASSIGNS or not words:
        return ""
    return words[0] if item.name == "set" else words[1] if len(words) > 1 and words[0] in ("APPEND", "PREPEND") else ""


def _tells_nvcc(item: CMakeCommand, known: set[str]) -> bool:
    return (
        assigned(item) in known
        or (item.name in _ASSIGNS and _TO_NVCC.match(item.arguments) is not None)
        or (item.name in cmake_gate.COMPILE and _TO_NVCC.search(item.arguments) is not None)
    )
