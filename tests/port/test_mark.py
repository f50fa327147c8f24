"""The line that keeps torch's hipify away from our translations."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocport.cli.cmd_port import command
from rocport.port.mark import HIPIFY_MARK, marked
from rocport.verify.torch_headers import find_torch

KERNEL = (
    "#include <cuda_runtime.h>\n{}__global__ void k(float *p) {{ p[0] = 1; }}\nvoid f(float *p) {{ cudaFree(p); }}\n"
)


def test_the_mark_is_torch_s_own() -> None:
    torch = find_torch()
    if torch is None:
        pytest.skip("torch is not installed")
    tree = ast.parse((torch / "utils/hipify/hipify_python.py").read_text())
    (value,) = (
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "HIPIFY_C_BREADCRUMB"
    )
    assert ast.literal_eval(value) == HIPIFY_MARK.decode() + "\n"


def test_it_is_the_first_line_once() -> None:
    assert marked(b"a\n") == HIPIFY_MARK + b"\na\n"
    assert marked(b"\xef\xbb\xbfa\r\n") == HIPIFY_MARK + b"\r\na\r\n"
    assert marked(marked(b"a\n")) == marked(b"a\n")


def test_translations_of_an_extension_carry_it_and_others_do_not(tmp_path: Path) -> None:
    for name, torch in (("extension", "#include <torch/extension.h>\n"), ("program", "")):
        source = tmp_path / name
        source.mkdir()
        (source / "a.cu").write_text(KERNEL.format(torch))
        out = tmp_path / f"{name}-out"
        done = CliRunner().invoke(command, [str(source), "--out", str(out), "--format", "json"])
        assert json.loads(done.stdout)
        assert (out / "a.cu").read_bytes().startswith(HIPIFY_MARK) is bool(torch)


def test_a_second_port_in_place_leaves_its_own_headers(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(KERNEL.format("#include <torch/extension.h>\n").replace("p[0] = 1", "__syncwarp()"))
    arguments = [str(tmp_path), "--in-place", "--allow-dirty", "--format", "json"]
    assert json.loads(CliRunner().invoke(command, arguments).stdout)
    assert list(tmp_path.glob("rocport_*.h"))
    assert CliRunner().invoke(command, [str(tmp_path), "--check"]).exit_code == 0
