# SPDX-License-Identifier: Apache-2.0
"""Functions of a BLAS over batches and with 64-bit sizes, made of the plain ones that a library serves.

`hipblasDgemvBatched` takes arrays of pointers where `hipblasDgemv` takes pointers, `hipblasDgemvStridedBatched` a
stride after each of them, both the number of matrices; `hipblasDgemv_64` takes 64-bit sizes. rocBLAS spells `_batched`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rocport.executor.isa.runtime.declarations import Declaration

_BATCHED = re.compile(r"(?:Strided)?Batched|(?:_strided)?_batched")
_COUNTS = frozenset({"batchCount", "batch_count"})
_RESULTS = frozenset({"result", "results"})
"""One of each matrix, in an array, of which a plain function takes the address of one."""
_SIZE = re.compile(r"int64_t\s+\w+")


@dataclass(frozen=True)
class _Parameter:
    """A parameter's name and type: the words besides `const`, and how many pointers deep."""

    name: str
    declared: str
    words: str
    depth: int

    @property
    def stride(self) -> bool:
        return self.words in ("hipblasStride", "rocblas_stride")


def derived(declared: Sequence[Declaration], served: Collection[str], refusal: int) -> dict[str, str]:
    """C++ of each function that is declared, not served, and can be made of one that is; by name.

    refusal: the status for a 64-bit size that the plain function cannot take.
    """
    known = {one.name: one for one in declared}
    found: dict[str, str] = {}
    for one in declared:
        base = known.get(_BATCHED.sub("", one.name))
        if one.name not in served and base is not None and base is not one and base.name in served:
            _keep(found, one, _over_batches(one, base))
    for one in declared:
        base = known.get(one.name.removesuffix("_64"))
        lacking = one.name not in served and one.name not in found
        if lacking and base is not None and base is not one and (base.name in served or base.name in found):
            _keep(found, one, _narrowed(one, base, refusal))
    return found


def source_file(headers: Sequence[str], functions: Mapping[str, str]) -> str:
    """The file that holds them."""
    lines = [f"#include <{header}>" for header in ("initializer_list", *headers)]
    lines.append("namespace rt { int unserved(const char *what); }")
    return "\n".join([*lines, 'extern "C" {', *functions.values(), "}", ""])


def _keep(found: dict[str, str], one: Declaration, body: str) -> None:
    if body:
        found[one.name] = f"{one.status} {one.name}({one.typed}) {{ {body} }}"


def _read(one: Declaration) -> list[_Parameter]:
    parameters = []
    for typed, name in one.parameters:
        words = re.sub(rf"\b(?:const|{re.escape(name)})\b|[*\[\]]", " ", typed)
        depth = typed.count("*") + typed.count("[")
        parameters.append(_Parameter(name, typed, " ".join(words.split()), depth))
    return parameters


def _over_batches(one: Declaration, base: Declaration) -> str:
    """Empty where the parameters do not correspond."""
    counts = [name for _, name in one.parameters if name in _COUNTS]
    given: list[tuple[_Parameter, str]] = []
    for parameter in _read(one):
        if not parameter.stride:
            given += [(parameter, "")] if parameter.name not in _COUNTS else []
            continue
        pointers = [k for k, (before, _) in enumerate(given) if before.depth]
        if not pointers:
            return ""
        given[pointers[-1]] = (given[pointers[-1]][0], parameter.name)
    plain = _read(base)
    if len(counts) != 1 or len(given) != len(plain):
        return ""
    passed = []
    for (parameter, stride), wanted in zip(given, plain, strict=True):
        if parameter.words != wanted.words:
            return ""
        text = parameter.name
        if parameter.depth == wanted.depth + 1:
            text = f"{text}[rpx_i]"
        elif parameter.depth != wanted.depth or (wanted.words == "void" and (stride or text in _RESULTS)):
            return ""
        elif stride:
            text = f"{text} + rpx_i * {stride}"
        elif text in _RESULTS:
            text = f"{text} + rpx_i"
        passed.append(_cast(wanted, text))
    call = f"{base.name}({', '.join(passed)})"
    return (
        f"for (long long rpx_i = 0; rpx_i < {counts[0]}; ++rpx_i) if (const auto rpx_bad = {call}) return rpx_bad; "
        f"return static_cast<{one.status}>(0);"
    )


def _narrowed(one: Declaration, base: Declaration, refusal: int) -> str:
    wide, plain = _read(one), _read(base)
    if len(wide) != len(plain):
        return ""
    passed, sizes = [], []
    for parameter, wanted in zip(wide, plain, strict=True):
        if _SIZE.fullmatch(parameter.declared) and wanted.words in ("int", "rocblas_int") and not wanted.depth:
            sizes.append(parameter.name)
            passed.append(f"static_cast<int>({parameter.name})")
        elif parameter.words == wanted.words and parameter.depth == wanted.depth:
            passed.append(_cast(wanted, parameter.name))
        else:
            return ""
    check = (
        f"for (int64_t rpx_n : {{{', '.join(sizes)}}}) if (rpx_n != static_cast<int>(rpx_n)) "
        f'return rt::unserved("{one.name} with a size beyond 32 bits"), static_cast<{one.status}>({refusal}); '
    )
    return f"{check if sizes else ''}return {base.name}({', '.join(passed)});"


def _cast(wanted: _Parameter, text: str) -> str:
    """The argument as the plain function's pointer: `const` may stand in another place."""
    if not wanted.depth or "[" in wanted.declared:
        return text
    return f"({re.sub(rf'{re.escape(wanted.name)}$', '', wanted.declared).strip()})({text})"
