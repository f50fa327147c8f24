# SPDX-License-Identifier: Apache-2.0
"""Every instruction form of AMD's tables through LLVM's assembler: does our decoder name what LLVM encoded?

    python benchmarks/isa_assembler.py [gfx942 gfx1100 ...] [--sample N] [--verbose]

For each operation of a target's table, operands are tried until the HIP compiler's assembler takes a line (an operation
of which it takes none is not the target's, or has operands that no pattern here has). What it encodes is decoded with
the tables and translated. `--sample N`: every N-th operation. Exit code 1: LLVM and the tables disagree on a name.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from rocport.executor.isa import library, tables
from rocport.executor.isa.emit import Untranslated
from rocport.executor.isa.forms import Mode
from rocport.executor.isa.program import translate_one
from rocport.executor.isa.pseudocode import PseudocodeError
from rocport.facts.targets import running

_GAP = 32
"""Bytes from one instruction to the next: more than any takes."""
_SCALAR = ("s2", "s[2:3]", "s[4:7]", "s[8:15]", "s[16:31]")
_VECTOR = ("v1", "v[2:3]", "v[4:6]", "v[8:11]")
_OFFSETS = ("", " offset:8")


def _product(*choices: Sequence[str]) -> list[str]:
    return [", ".join(word for word in words if word) for words in itertools.product(*choices)]


def _matrix() -> list[str]:
    found = []
    for register in ("a", "v"):
        for words in (3, 7, 15, 31):
            rows = f"{register}[0:{words}]"
            found += _product(
                [rows], ["v2", "v[2:3]", "v[2:5]", "v[2:9]"], ["v6", "v[6:7]", "v[10:13]", "v[10:17]"], [rows]
            )
    rows = "v[0:7]"
    found += _product([rows], ["v[8:11]", "v[8:15]", "v[8:9]"], ["v[16:19]", "v[16:23]", "v[16:17]"], [rows])
    return [
        *found,
        "a1, v2",
        "v1, a2",
        "a[0:1], v2, v3, a[0:1]",
        "v[0:1], v2, v3, v[0:1]",
        "v[0:1], v[2:3], v[4:5], v[0:1]",
    ]


def _small_floats() -> list[str]:
    """Conversions of 32 floats of 6 bits: wide rows on one side or on both."""
    wide = ("v[0:5]", "v[16:31]", "v[32:63]", "v[64:79]")
    return [f"{d}, {s}{more}" for d in wide for s in wide for more in (", v3", ", v3, v4", ", v[80:95], v4")]


_MEMORY = [
    *_product(_VECTOR, ["v[2:3]"], ["", "off"]), *_product(["v[2:3]"], _VECTOR, ["", "off"]),
    *_product(_VECTOR, ["off"]), *_product(["off"], _VECTOR),
    *_product(_VECTOR, ["v4"], ["off", "s2"]), *_product(["v4"], _VECTOR, ["off", "s2"]),
    *(f"{line} {bit}" for line in _product(_VECTOR[:2], ["v[2:3]"], _VECTOR, ["", "off"]) for bit in ("sc0", "glc")),
    *_product(_VECTOR[:2], ["v[2:3]"], _VECTOR, ["", "off"]), "", "v[2:3], off", "v4, s[2:3]",
]  # fmt: skip
_WIDE, _FOUR = _VECTOR[:2], ("v4", "v[4:5]")
_VOP3 = [line for n in (1, 2, 3) for line in _product(["v1", "v[2:3]", "s[2:3]", "s2", "v[8:11]"], *[_FOUR] * n)]
_DS = [
    line + offset
    for line in (
        *_product(_WIDE), *_product(_WIDE, _WIDE), *_product(_WIDE, _WIDE, _WIDE),
        *_product(_VECTOR, ["v4"], ["v5", "v[6:7]"], ["v8", "v[8:9]"]),
    )
    for offset in _OFFSETS
]  # fmt: skip
_PATTERNS: dict[str, list[str]] = {
    "SOP1": [*_product(_SCALAR[:2], _SCALAR[:2]), *_SCALAR[:2], "s2, 0x80", "s[2:3], 0x83", "1", "m0"],
    "SOP2": [*_product(_SCALAR[:2], _SCALAR[:2], _SCALAR[:2]), "s2, s3, 0x12345678", "s2, 0x12345678, s3"],
    "SOPC": [*_product(_SCALAR[:2], _SCALAR[:2]), "s2, 3", "s2, gpr_idx(SRC0)"],
    "SOPK": [
        "s2, 0x12", "s2, hwreg(HW_REG_MODE)", "hwreg(HW_REG_MODE), s2", "hwreg(HW_REG_MODE), 0x12", "s[2:3], 4",
        "null, 0x1", "0x1", "s2, 4",
    ],
    "SOPP": ["", "0x1", "4", "lgkmcnt(0)", "sendmsg(MSG_INTERRUPT)", "gpr_idx(SRC0)"],
    "SMEM": [
        *_product(_SCALAR, ["s[2:3]", "s[4:7]"], ["0x10", "s2"]), "s[2:3]", "", "s[2:3], 0x10", "3, s[4:7], 0x10",
    ],
    "VOP1": [*_product(_WIDE, _WIDE), "s2, v1", "", "v1, a2", "a1, v2", "a1, a2"],
    "VOP2": [
        *_product(_WIDE, _WIDE, _WIDE), "v1, v2, v3, vcc", "v1, vcc, v2, v3, vcc", "v1, vcc, v2, v3",
        "v1, v2, v3, vcc_lo", "v1, vcc_lo, v2, v3, vcc_lo", "v1, v2, 0x12345678, v3", "v1, v2, v3, 0x12345678",
        "v[2:3], v4, v[6:7]", "v1, v2, 0x1234, v3", "v1, v2, v3, 0x1234",
    ],
    "VOPC": _product(["vcc", "vcc_lo", ""], _WIDE, _WIDE),
    "VOP3": [
        *_VOP3, "v1, v2, v3, vcc", "v1, v2, v3, s[2:3]", "v1, v2, v3, s2", "s2, v1, s4", "v1, s2, s4",
        "v1, v2, s2, s3", "v1, v[2:3], s2", *_small_floats(),
        "v[8:11], v[4:5], v4, v[8:11]", "v[2:3], v[4:5], v4, v[6:7]", "s2, v1, 3",
        "",
    ],
    "VOP3SD": _product(
        _WIDE, ["vcc", "vcc_lo", "s2", "s[2:3]"], _FOUR, _FOUR, ["", *_FOUR, "vcc", "vcc_lo", "s4"]
    ),
    "VOP3P": [*_product(_WIDE, _WIDE, _WIDE, _WIDE), *_product(_WIDE, _WIDE, _WIDE), *_matrix()],
    "DS": [
        *_DS, *_product(_VECTOR, ["v4"]), *_product(["v4"], _VECTOR), "", "v1 offset:4 gds", "v1",
        "v1, v2 offset:swizzle(SWAP,1)", "v1 gds", "gds",
    ],
    "FLAT": _MEMORY, "GLOBAL": _MEMORY, "SCRATCH": _MEMORY,
    "MUBUF": ["", *(f"{rows}, off, s[4:7], 0{bit}" for rows in _VECTOR for bit in ("", " sc0", " glc"))],
}  # fmt: skip


def operations(table: str) -> Iterator[tuple[str, str]]:
    """(encoding, name) of every operation of a table whose encoding has patterns here."""
    module = importlib.import_module(f"tinygrad.runtime.autogen.amd.{table}.enum")
    for encoding in _PATTERNS:
        members = getattr(module, f"{encoding}Op", ())
        yield from sorted({(encoding, tables.plain(member.name)) for member in members})


def lines(encoding: str, name: str) -> list[str]:
    """What may be a line of the operation."""
    word = name.lower()
    if encoding in ("VOP1", "VOP2", "VOPC"):
        words = [f"{word}_e32", word]
    elif encoding in ("VOP3", "VOP3SD"):
        words = [f"{word}_e64", word]
    else:
        words = [word]
    return [f"{mnemonic} {operands}".strip() for mnemonic in words for operands in _PATTERNS[encoding]]


_TRITON = (
    "import sys;from triton.backends.amd.compiler import assemble_amdgcn;"
    "open(sys.argv[3],'wb').write(assemble_amdgcn(open(sys.argv[1]).read(),sys.argv[2],''))"
)


def assemble(target: str, text: str) -> tuple[bytes, set[int]]:
    """The code, and the numbers (from 1) of the lines that the assembler refuses; no code where there are such."""
    with tempfile.TemporaryDirectory() as folder:
        source, output, code = (Path(folder) / name for name in ("a.s", "a.o", "a.bin"))
        source.write_text(text)
        compiler = library.compiler()[0]
        command = [
            compiler,
            "-target",
            "amdgcn-amd-amdhsa",
            f"-mcpu={target}",
            "-nogpulib",
            "-c",
            str(source),
            "-o",
            str(output),
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if "invalid target ID" in done.stderr:
            # Newer than the HIP compiler: Triton's assembler, in a process of its own, which prints what it refuses.
            command = [sys.executable, "-c", _TRITON, str(source), target, str(output)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode and ": error:" not in done.stderr:
                raise SystemExit(
                    f"{target}: neither the HIP compiler nor Triton assembles for it: {done.stderr[-300:]}"
                )
        refused = {int(number) for number in re.findall(r":(\d+):\d+: error", done.stderr)}
        if done.returncode:
            return b"", refused
        copy = str(Path(compiler).with_name("llvm-objcopy"))
        subprocess.run([copy, "-O", "binary", "--only-section=.text", str(output), str(code)], check=True)
        return code.read_bytes(), refused


def check(target: str, sample: int, verbose: bool) -> bool:
    """Print what one target gives; whether all names agree."""
    table = tables.family(target)
    known = running(target)
    assert known is not None
    wanted = list(operations(table))[:: max(1, sample)]
    tried = [(op, line) for op in wanted for line in lines(*op)]
    _, refused = assemble(target, "\n".join(line for _, line in tried) + "\n")
    taken: dict[tuple[str, str], str] = {}
    for number, (op, line) in enumerate(tried, 1):
        if number not in refused:
            taken.setdefault(op, line)
    code, wrong = assemble(target, "".join(f".p2align {_GAP.bit_length() - 1}\n{line}\n" for line in taken.values()))
    assert not wrong, wrong
    counts: Counter[str] = Counter()
    mode = Mode(table, known.wavefront, ocp=known.fp8 == "ocp", operations=known.isa_operations)
    for k, ((encoding, name), line) in enumerate(taken.items()):
        data = code[_GAP * k : _GAP * k + 20]
        try:
            instruction = tables.decode(data, table, known.isa_operations)
        except Untranslated as error:
            counts["not decoded"] += 1
            print(f"{target}: not decoded: {line}: {error}")
            continue
        if instruction.name != name:
            counts["another name"] += 1
            print(f"{target}: {line}: {instruction.name} ({instruction.encoding}), expected {name} ({encoding})")
            continue
        counts["agree"] += 1
        try:
            translate_one(instruction, 0, mode)
            counts["translated"] += 1
        except (Untranslated, PseudocodeError) as error:
            if verbose:
                print(f"{target}: not translated: {line}: {error}")
    if verbose:
        print(f"{target}: no line: {', '.join(f'{e} {n}' for e, n in wanted if (e, n) not in taken)}")
    other = f"{counts['another name']} by another name, {counts['not decoded']} not decoded"
    print(
        f"{target}: {len(wanted)} operations, {len(taken)} assembled, {counts['agree']} decoded alike, {other}; "
        f"{counts['translated']} translated"
    )
    return counts["agree"] == len(taken)


def main(words: Sequence[str] | None = None) -> int:
    """All targets."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", default=["gfx942", "gfx1100"])
    parser.add_argument("--sample", type=int, default=1, metavar="N")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args(words)
    wrong = [target for target in given.targets if not check(target, given.sample, given.verbose)]
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
