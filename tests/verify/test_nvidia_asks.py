"""A platform predicate of the generated module asks PyTorch what it was built for, and nothing else."""

from __future__ import annotations

from pathlib import Path

import nvidia_trees
import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.verify import nvidia
from rocport.verify.nvidia import Kind, generated

MODULE = """\
import functools
import importlib
import importlib.util
import os
import platform
import shutil
import sys

_CALLS = []


def _hip():
    torch = importlib.import_module("torch") if importlib.util.find_spec("torch") else None
    return getattr(getattr(torch, "version", None), "hip", None) or ""


def _is_rocm():
    return {expression}


def __getattr__(name):
    if name != "IS_ROCM":
        raise AttributeError(name)
    return _is_rocm()
"""


@pytest.mark.parametrize(
    "expression",
    [
        "bool(_hip()) or 'MY_ROCM' in os.environ",
        "os.getenv('FORCE_ROCM', '0') == '1'",
        "platform.machine() == 'riscv64'",
        "sys.platform == 'plan9'",
        "shutil.which('no-such-hipcc') is not None",
        "bool(_hip()) or os.path.exists('/dev/no-such-kfd')",
        "__import__('time').time() > 2000000000",
        "__import__('datetime').date.today().year > 2033",
        "len(_CALLS) > 1000 or bool(_CALLS.append(1))",
        "bool(_hip()) or len(_CALLS) > 1000",
        "os.cpu_count() > 4096",
        "importlib.util.find_spec('amdsmi_that_is_not_here') is not None",
        "bool(_hip()) or '--rocm' in sys.argv",
        "importlib.util.find_spec('torch') is not None and importlib.import_module('torch').cuda.device_count() > 7",
    ],
)
def test_a_predicate_that_asks_something_else_is_not_decided(expression: str) -> None:
    checked = generated.check("p/_rocm_compat.py", MODULE.format(expression=expression).encode())
    assert "IS_ROCM" not in checked.constants
    assert [item.kind for item in checked.differences] == [Kind.UNDECIDED], checked.differences
    assert "IS_ROCM" in checked.differences[0].message


def test_a_predicate_that_asks_torch_is_a_constant() -> None:
    checked = generated.check("p/_rocm_compat.py", MODULE.format(expression="bool(_hip())").encode())
    assert checked.constants == {"IS_ROCM": False}
    assert not checked.differences


def test_a_constant_of_the_module_that_asks_the_machine_is_not_decided() -> None:
    text = b"import os\nX = 'NO_SUCH' in os.environ\nIS_ROCM = X\nFAST = False\n"
    checked = generated.check("p/_rocm_compat.py", text)
    assert checked.constants == {"FAST": False}
    assert {item.kind for item in checked.differences} == {Kind.UNDECIDED}


def test_the_module_that_port_writes_is_decided(tmp_path: Path) -> None:
    source = tmp_path / "p"
    source.mkdir()
    (source / "__init__.py").touch()
    (source / "m.py").write_text(
        "import torch\n\n\ndef f(x):\n    return torch.compile(x, mode='max-autotune')\n\n\n"
        "def g(x):\n    return x.to(torch.float8_e4m3fn)\n"
    )
    done = CliRunner().invoke(cli, ["port", str(source), "--layout", "both", "--out", str(tmp_path / "o"), "-j", "1"])
    assert done.exit_code in (0, 1), done.output
    made = list((tmp_path / "o").rglob("_rocm_compat.py"))
    assert made
    checked = generated.check("p/_rocm_compat.py", made[0].read_bytes())
    assert checked.constants["IS_ROCM"] is False
    assert not checked.differences


def test_not_decided_is_never_called_unchanged(tmp_path: Path) -> None:
    text = nvidia_trees.COMPAT.replace("return _hip() is not None", "return 'X' in __import__('os').environ")
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.py").write_text("x = 1\n")
    (tmp_path / "new" / "_rocm_compat.py").write_text(text)
    assert nvidia.verify(tmp_path / "new", tmp_path / "old").verdict == "not decided"
    assert nvidia.verify(tmp_path / "new", tmp_path / "old", strict=True).verdict == "changed"
    command = ["verify", str(tmp_path / "new"), "--level", "nvidia-unchanged", "--original", str(tmp_path / "old")]
    result = CliRunner().invoke(cli, command)
    assert result.exit_code == 0
    assert "not decided: look at it: _rocm_compat.py" in result.output and "unchanged:" not in result.output
    assert CliRunner().invoke(cli, [*command, "--strict"]).exit_code == 1


@pytest.mark.parametrize(
    "text",
    [
        "os.system('touch {}')",
        "os.open('{}', os.O_CREAT)",
        "getattr(sys.modules['o' + 's'], 'sys' + 'tem')('touch {}')",
        "os.mkfifo('{}')",
    ],
)
def test_a_predicate_does_nothing_when_it_is_read(tmp_path: Path, text: str) -> None:
    place = tmp_path / "done"
    expression = f"bool({text.format(place)})"
    checked = generated.check("_rocm_compat.py", MODULE.replace("{expression}", expression).encode())
    assert not place.exists() and "IS_ROCM" not in checked.constants
