"""Rewrite src/rocport/facts/enum_numbers.csv and the headers made of it.

    python tools/refresh_enum_numbers.py --cuda DIR     # the table, from CUDA's headers and those of the installed SDK
    python tools/refresh_enum_numbers.py                # the headers alone, from the table

DIR is an include folder of CUDA 12 with the libraries' headers. A type is taken where two of its enumerators or more
have other numbers in HIP.
"""

from __future__ import annotations

import argparse
import csv
import io
import re
from collections.abc import Iterator
from pathlib import Path

from rocport.facts.enum_numbers import ENUM_NUMBERS, Renumbered, renumbered
from rocport.facts.lookup import counterpart
from rocport.port import headers
from rocport.toolchain.sdk import sdk_path

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_ENUM = re.compile(r"\benum\s+((?:\w+\s+)*)\{([^{}]*)\}\s*(\w*)\s*;", re.DOTALL)
_ALIAS = re.compile(r"\btypedef\s+enum\s+(\w+)\s+(\w+)\s*;")
# Flags are numbers in both. A type with a few late enumerators of other numbers is left out: numbers of it are mostly
# those that both have.
_SHARE = 0.15
_HIP = (
    "hip",
    "hipblas",
    "hipblas-common",
    "hipblaslt",
    "hiprand",
    "hipsolver",
    "hipsparse",
    "hipfft",
    "rccl",
    "miopen",
)
# The header of the port with the conversions of a library's types, and what it includes for the types.
OURS = {
    "hipblas": ("rocport_hipblas_numbers.h", '"rocport_hipblas.h"'),
    "hiprand": ("rocport_hiprand_numbers.h", '"rocport_hiprand.h"'),
    "hipsolver": ("rocport_hipsolver_numbers.h", "<hipsolver/hipsolver.h>"),
}


def enums(text: str) -> Iterator[tuple[str, dict[str, int]]]:
    """(name, enumerator -> number) of every enum of a header; of each of its names."""
    text = _COMMENT.sub("", text)
    found: dict[str, dict[str, int]] = {}
    for head, body, behind in _ENUM.findall(text):
        numbers: dict[str, int] = {}
        number = -1
        for member in body.split(","):
            name, _, value = (part.strip() for part in member.partition("="))
            value = value.strip("() ")
            if not name:
                continue
            if value and not re.fullmatch(r"-?(?:0x[0-9a-fA-F]+|\d+)", value):
                number = numbers.get(value, number + 1)
            else:
                number = int(value, 0) if value else number + 1
            numbers[name] = number
        for name in {behind, *head.split()[-1:]} - {""}:
            found[name] = numbers
    for name, alias in _ALIAS.findall(text):
        if name in found:
            found[alias] = found[name]
    yield from found.items()


def table(cuda: Path) -> Iterator[tuple[str | int, ...]]:
    include = sdk_path() / "include"
    there: dict[str, tuple[dict[str, int], str]] = {}
    for folder in _HIP:
        for path in sorted((include / folder).rglob("*.h")):
            for name, numbers in enums(path.read_text(encoding="utf-8", errors="replace")):
                there.setdefault(name, (numbers, folder.removesuffix("-common")))
    here = (item for path in sorted(cuda.glob("*.h")) for item in enums(path.read_text("utf-8", errors="replace")))
    for name, numbers in sorted(dict(here).items()):
        row = counterpart("symbol", name)
        if row is None or row.hip not in there or "flags" in name:
            continue
        hips, folder = there[row.hip]
        pairs = [(one, number, other.hip) for one, number in numbers.items() if (other := counterpart("symbol", one))]
        pairs = [pair for pair in pairs if pair[2] in hips]
        moved = {number: hip for _, number, hip in pairs if number != hips[hip]}
        if len(moved) > 1 and len(moved) > len(pairs) * _SHARE:
            apart = len(pairs) * 2 > len(numbers) and not any(
                number in moved and moved[number] != hip for hip, number in hips.items()
            )
            head = name, row.hip, folder, "yes" if apart else "no"
            yield from ((*head, one, number, hip, hips[hip]) for one, number, hip in pairs)


def header(library: str) -> str:
    """The conversions of the types of one library whose numbers are apart."""
    name, included = OURS[library]
    guard = name.upper().replace(".", "_")
    # A type has one conversion, under however many names CUDA and HIP have it.
    types = {item.prefix: item for item in renumbered().values() if item.header == library and item.apart}
    return f"""\
// {name} - enumerators from CUDA's numbers, which are others in HIP.
// SPDX-License-Identifier: Apache-2.0
//
// A number of HIP's stays as it is: none means one enumerator in CUDA and another in HIP. One that is neither stays,
// too, and the library refuses it. Written by tools/refresh_enum_numbers.py of rocport.
#ifndef {guard}
#define {guard}

#include {included}

#ifndef ROCPORT_FROM_CUDA
#define ROCPORT_FROM_CUDA
namespace rocport {{
template <class E>
struct cuda_numbers;
template <class E, class N>
constexpr E from_cuda(N number) {{
  return cuda_numbers<E>::take(static_cast<long long>(number));
}}
}}  // namespace rocport
#endif

namespace rocport {{
{"".join(_conversion(item) for item in types.values())}
}}  // namespace rocport

#endif  // {guard}
"""


def _conversion(item: Renumbered) -> str:
    cases = {number.cuda_number: number.hip for number in item.numbers if number.cuda_number != number.hip_number}
    lines = "".join(f"           : number == {number} ? {hip}\n" for number, hip in cases.items())
    return f"""
template <>
struct cuda_numbers<{item.hip}> {{
  static constexpr {item.hip} take(long long number) {{
    return {lines.strip().removeprefix(": ")}
           : static_cast<{item.hip}>(number);
  }}
}};
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cuda", type=Path)
    options = parser.parse_args()
    if options.cuda:
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        writer.writerow(["type", "hip_type", "header", "apart", "cuda", "cuda_number", "hip", "hip_number"])
        writer.writerows(table(options.cuda))
        ENUM_NUMBERS.write_text(buffer.getvalue(), encoding="utf-8")
        renumbered.cache_clear()
    for library, (name, _) in OURS.items():
        (Path(headers.__file__).parent / name).write_text(header(library), encoding="utf-8")


if __name__ == "__main__":
    main()
