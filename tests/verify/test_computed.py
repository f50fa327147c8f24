"""A macro that a program computes when it builds its extension."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport.model.verification import Status
from rocport.toolchain import ToolchainError, find
from rocport.verify.build import BuildOptions, verify


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
