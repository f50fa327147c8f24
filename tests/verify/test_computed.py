"""A macro that a program computes when it builds its extension."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport.model.verification import Status
from rocport.toolchain import ToolchainError, find
from rocport.verify.build import BuildOptions, verify
from rocport.verify.diagnostics import name_macros


@pytest.fixture(scope="module", autouse=True)
def _toolchain() -> None:
    try:
        find()
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {error}")


def _tree(folder: Path, unit: str) -> Path:
    (folder / "a.cu").write_text(unit)
    (folder / "run.py").write_text(
        "from torch.utils import cpp_extension\nimport sys\n"
        'cpp_extension.load(name="a", sources=["a.cu"], extra_cuda_cflags=[f"-DN={len(sys.argv)}"])\n'
    )
    return folder


def test_it_is_tried_with_a_size_and_that_is_said(tmp_path: Path) -> None:
    done = verify(_tree(tmp_path, "int f[N];\n"), BuildOptions(("gfx942",), syntax_only=True))
    assert {unit.status for unit in done.units} == {Status.OK}
    assert "tried with 64: N (run.py)" in done.how


def test_a_unit_that_fails_with_it_is_not_judged_until_it_is_given(tmp_path: Path) -> None:
    tree = _tree(tmp_path, "N f();\n")
    done = verify(tree, BuildOptions(("gfx942",), syntax_only=True))
    assert {unit.status for unit in done.units} == {Status.SKIP}
    assert "N (run.py)" in done.units[0].reason
    done = verify(tree, BuildOptions(("gfx942",), syntax_only=True, defines=("N=float",)))
    assert {unit.status for unit in done.units} == {Status.OK}


def test_another_error_of_its_unit_stays_one(tmp_path: Path) -> None:
    tree = _tree(tmp_path, "int f[N];\nint g() { return cudaFoo(); }\n")
    done = verify(tree, BuildOptions(("gfx942",), syntax_only=True))
    assert {unit.status for unit in done.units} == {Status.FAIL}
    assert "N (run.py)" in done.units[0].reason
    assert "undeclared identifier 'cudaFoo'" in done.units[0].errors[0].message


BY_A_MACRO = """a.cu:2:1: error: expected unqualified-id
    2 | SIDE;
      | ^
a.cu:1:14: note: expanded from macro 'SIDE'
    1 | #define SIDE N f()
      |              ^
<command line>:1:11: note: expanded from macro 'N'
    1 | #define N 64
      |           ^
"""
BY_A_TEMPLATE = """a.cu:3:43: error: static assertion failed due to requirement '64 < 32':
    3 | template <int M> struct A { static_assert(M < 32, ""); };
      |                                           ^~~~~~
a.cu:4:6: note: in instantiation of template class 'A<64>' requested here
    4 | A<N> a;
      |      ^
"""
OF_CUDA = """a.cu:5:18: error: use of undeclared identifier 'cudaFoo'
    5 | int g() { return cudaFoo(); }
      |                  ^
"""
FOLLOWS = """a.cu:9:5: error: use of undeclared identifier 'side'
    9 |     side = 2;
      |     ^
"""


def test_an_error_is_a_macros_where_its_lines_name_it() -> None:
    for text in (BY_A_MACRO, BY_A_TEMPLATE, BY_A_MACRO + FOLLOWS):
        assert name_macros(text, ["N"]) and not name_macros(text, ["M2"])
    assert not name_macros(OF_CUDA, ["N"])
    assert not name_macros(BY_A_MACRO + OF_CUDA, ["N"])
    assert not name_macros(OF_CUDA + BY_A_TEMPLATE, ["N"])
    assert not name_macros("a.cu:8:1: warning: N\n    8 | N;\n" + FOLLOWS, ["N"])
