"""PyTorch extensions on the CPU: what setup.py declares, and its kernels called from Python at both widths."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest
from click.testing import CliRunner

from rocport.cli import cli
from rocport.executor.program import ProgramError
from rocport.executor.torch_extension import Environment, read_environment, read_extensions

SAMPLE = Path(__file__).parent / "extension"


@pytest.fixture(scope="module")
def environment() -> Environment:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("PyTorch is not installed")
    return read_environment()


def _folder(tmp_path: Path, setup: str, *sources: str) -> Path:
    for source in sources:
        (tmp_path / source).write_text("")
    (tmp_path / "setup.py").write_text(setup)
    return tmp_path


def test_setup_takes_the_way_it_takes_on_rocm(environment: Environment) -> None:
    declared = read_extensions(SAMPLE, environment)
    assert [extension.name for extension in declared.extensions] == ["lane_sum._C"]
    assert "-DWITH_HIP=1" in declared.extensions[0].flags
    assert declared.notes == ("lane_sum._cpu: left out, lane_sum._C holds all of its sources",)


@pytest.mark.parametrize(
    ("setup", "says"),
    [
        ("from setuptools import setup\nsetup(name='x')\n", "declares no extension with HIP or CUDA sources"),
        ("import no_such_module\n", "does not come to its setup() on a ROCm build: .*no_such_module"),
        (
            "from setuptools import setup\nfrom torch.utils.cpp_extension import CUDAExtension\n"
            "setup(name='x', ext_modules=[CUDAExtension('x', ['gone.cu'])])\n",
            "gone.cu",
        ),
    ],
)
def test_what_cannot_be_read_is_named(environment: Environment, tmp_path: Path, setup: str, says: str) -> None:
    with pytest.raises(ProgramError, match=says.replace("(", r"\(").replace(")", r"\)")):
        read_extensions(_folder(tmp_path, setup), environment)


def test_a_folder_without_setup(environment: Environment, tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match=r"no setup\.py"):
        read_extensions(tmp_path, environment)


def test_a_python_without_torch(tmp_path: Path) -> None:
    with pytest.raises(ProgramError, match="cannot be run"):
        read_environment(str(tmp_path / "python"))


@pytest.fixture
def asked(environment: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command knows the environment: asking it is an import of PyTorch."""
    monkeypatch.setattr("rocport.executor.torch_extension.read_environment", lambda _: environment)


@pytest.mark.slow
@pytest.mark.usefixtures("asked")
def test_the_packages_own_tests_run_at_both_widths() -> None:
    result = CliRunner().invoke(
        cli,
        [
            "run-extension",
            "--width",
            "32,64",
            str(SAMPLE),
            "--",
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "test",
        ],
    )
    assert result.exit_code == 0, result.output
    assert result.output.count("4 passed") == 2
    for width in (32, 64):
        assert f"width {width}: 11 kernel launches" in result.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("asked")
def test_a_hazard_of_an_extension_has_its_line() -> None:
    code = (
        "import torch\nfrom lane_sum import lane_sum\nlane_sum(torch.ones(1, 10, device='cuda'))\nraise SystemExit(3)\n"
    )
    result = CliRunner().invoke(cli, ["run-extension", "--width", "64", str(SAMPLE), "--", "-c", code])
    assert result.exit_code == 1
    assert "the program ended with status 3 at width 64" in result.stderr
