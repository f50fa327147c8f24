"""Names over a whole tree."""

from __future__ import annotations

import pytest

from rocport.syntax.project import FileNames, holding_ptx, names_of


@pytest.mark.parametrize(
    "text",
    [
        '__device__ void f() { asm volatile("nop;"); }\n',
        '__device__ void f() { asm("nop;"); }\n',
        '#define LOAD(x) \\\n  asm volatile( \\\n  "ld")\n',
        "#include <cutlass/gemm.h>\n",
        '#include "cutlass/gemm.h"\n',
    ],
)
def test_ptx_is_seen(text: str) -> None:
    assert names_of(text.encode()).ptx


@pytest.mark.parametrize(
    "text", ['// asm("nop;");\nint x;\n', "int asm_count(int x);\n", '#include "format.h"\nint a = wasm(3);\n']
)
def test_what_looks_like_ptx_is_not(text: str) -> None:
    assert not names_of(text.encode()).ptx


def test_ptx_reaches_a_source_through_includes_of_its_folder() -> None:
    names = {
        "csrc/ops.cu": FileNames(included=frozenset({"outer.cuh"})),
        "csrc/include/outer.cuh": FileNames(included=frozenset({"inner.cuh"})),
        "csrc/include/inner.cuh": FileNames(ptx=True),
        "csrc/plain.cu": FileNames(included=frozenset({"torch.h"})),
        "other/ops.cu": FileNames(included=frozenset({"inner.cuh"})),
    }
    assert holding_ptx(names) == {"csrc/ops.cu", "csrc/include/outer.cuh", "csrc/include/inner.cuh"}
