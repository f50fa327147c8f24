"""An import of a CUDA-only package is reported whatever the tree's own sources are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport.model import Options
from rocport.scan.engine import scan_tree
from rocport.scan.tree import read_tree


@pytest.mark.parametrize(
    ("line", "source", "reported"),
    [
        ("import flash_attn", "csrc/flash_attn.cu", True),
        ("import tensorrt", "tensorrt.cpp", True),
        ("from cuda import cudart", "src/cuda.cc", True),
        ("import scan_cuda", "csrc/scan_cuda.cpp", False),
        ("import scan_cuda", "scan_cuda.cpp", False),
        ("import marlin_cuda", "csrc/marlin_cuda.cpp", False),
        ("import scan_cuda", "csrc/other_scan_cuda.cpp", True),
        ("import texture_cuda", "csrc/test.cpp", True),
    ],
)
def test_a_source_of_the_name(tmp_path: Path, line: str, source: str, reported: bool) -> None:
    (tmp_path / source).parent.mkdir(exist_ok=True)
    (tmp_path / source).write_text("int x;\n")
    (tmp_path / "model.py").write_text(f"{line}\n")
    rules = {finding.rule for finding in scan_tree(read_tree(tmp_path), Options()).findings}
    assert ("cuda-only-import" in rules) == reported


@pytest.mark.parametrize(
    ("setup", "reported"),
    [
        ("CUDAExtension('sptr_cuda', ['src/api.cpp'])\n", False),
        ("CUDAExtension(name='pkg.sptr_cuda', sources=['src/api.cpp'])\n", False),
        ("CUDAExtension('other_cuda', ['src/api.cpp'])\n", True),
        ("install_requires=['sptr_cuda']\n", True),
    ],
)
def test_a_module_that_setup_builds_is_the_trees_own(tmp_path: Path, setup: str, reported: bool) -> None:
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "setup.py").write_text(setup)
    (tmp_path / "model.py").write_text("import sptr_cuda\n")
    found = scan_tree(read_tree(tmp_path), Options(), jobs=1)
    assert any(item.rule == "cuda-only-import" for item in found.findings) is reported
