"""Macros to which files of a tree give different bodies."""

from __future__ import annotations

from pathlib import Path

from rocport import api
from rocport.model import Applicability

_PTX = (
    '__device__ unsigned f(unsigned a, unsigned b) { unsigned d; asm(OP " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b)); '
    "return d; }\n"
)
_ADD, _SUB = '#define OP "add.u32"\n', '#define OP "sub.u32"\n'


def _ported(tmp_path: Path, **files: str) -> tuple[dict[str, str], dict[str, set[tuple[str, Applicability]]]]:
    (tmp_path / "cuda").mkdir()
    paths = {name: name.replace("_", ".") for name in files}
    for name, text in files.items():
        (tmp_path / "cuda" / paths[name]).write_text(text)
    patch = api.port(tmp_path / "cuda")
    api.apply(patch, tmp_path / "hip")
    said = {
        name: {(item.rule, item.applicability) for item in patch.findings if item.path == paths[name]} for name in files
    }
    return {name: (tmp_path / "hip" / paths[name]).read_text() for name in files}, said


def test_each_file_has_its_own_body(tmp_path: Path) -> None:
    text, _ = _ported(tmp_path, a_cu=_ADD + _PTX, b_cu=_SUB + _PTX, c_cu='#include "op.h"\n' + _PTX, op_h=_ADD)
    assert "(a) + (unsigned)(b)" in text["a_cu"] and "(a) - (unsigned)(b)" in text["b_cu"]
    assert "(a) + (unsigned)(b)" in text["c_cu"]


def test_a_header_of_units_with_two_bodies_is_named(tmp_path: Path) -> None:
    text, said = _ported(
        tmp_path,
        add_h=_ADD,
        sub_h=_SUB,
        use_h=_PTX,
        a_cu='#include "add.h"\n#include "use.h"\n',
        b_cu='#include "sub.h"\n#include "use.h"\n',
    )
    assert ("inline-ptx", Applicability.MANUAL) in said["use_h"] and "(unsigned)(a)" not in text["use_h"]


def test_a_mask_is_full_where_its_file_says_so(tmp_path: Path) -> None:
    use = "__global__ void k() { if (threadIdx.x < 16) __syncwarp(MASK); }\n"
    _, said = _ported(tmp_path, a_cu="#define MASK 0x0000ffff\n" + use, b_cu="#define MASK 0xffffffffu\n" + use)
    assert ("warp-sync", Applicability.REVIEW) in said["a_cu"]


def test_a_default_is_not_the_body_where_a_unit_has_another(tmp_path: Path) -> None:
    text, said = _ported(
        tmp_path,
        use_h='#ifndef OP\n#define OP "add.u32"\n#endif\n' + _PTX,
        a_cu='#include "use.h"\n',
        b_cu=_SUB + '#include "use.h"\n',
        c_cu="#ifdef OP\n#undef OP\n#endif\n" + _SUB + _PTX,
    )
    assert ("inline-ptx", Applicability.MANUAL) in said["use_h"] and "(unsigned)(a)" not in text["use_h"]
    assert "(a) - (unsigned)(b)" in text["c_cu"]
