"""Commands that only look never run what they look at."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from rocport.model.verification import Status
from rocport.toolchain import ToolchainError, find
from rocport.verify import build

KERNEL = "#include <hip/hip_runtime.h>\n__global__ void k(int *x) { *x = 1; }\n"


def _rocport(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "rocport", *words], capture_output=True, text=True, timeout=3600)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose own configuration names programs to start: a file system monitor, a hook and a filter."""
    root, ran = tmp_path / "tree", tmp_path / "ran"
    root.mkdir()

    def git(*words: str) -> None:
        subprocess.run(["git", "-C", str(root), *words], check=True, capture_output=True, timeout=3600)

    git("init", "-q")
    (root / "a.cu").write_text("__global__ void k(int *x) { *x = 1; }\n")
    (root / ".gitattributes").write_text("*.cu filter=evil\n")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@example.invalid", "commit", "-qm", "one")
    program = root / ".git" / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    program.chmod(0o755)
    for key in ("core.fsmonitor", "filter.evil.smudge", "filter.evil.process"):
        git("config", key, str(program))
    git("config", "filter.evil.required", "true")
    (root / ".git" / "hooks" / "fsmonitor-watchman").write_text(program.read_text())
    return root


@pytest.mark.parametrize(
    "words",
    [
        ("scan", "{tree}"),
        ("port", "{tree}", "--diff"),
        ("verify", "{tree}", "--level", "nvidia-unchanged"),
    ],
    ids=lambda words: words[0],
)
def test_a_repository_s_own_configuration_starts_nothing(
    words: tuple[str, ...], repository: Path, tmp_path: Path
) -> None:
    (repository / "a.cu").write_text("__global__ void k(int *x) { *x = 2; }\n")
    done = _rocport(*(word.format(tree=repository) for word in words))
    assert done.returncode in (0, 1), done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(("name", "options"), [("--config=.", "."), ("@options", "options")])
def test_a_file_name_is_no_option_of_the_compiler(name: str, options: str, tmp_path: Path) -> None:
    try:
        find()
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {error}")
    root = tmp_path / "tree"
    for folder in (name, options):
        (root / folder).mkdir(parents=True, exist_ok=True)
        # Options, for a compiler that takes the name of the other one for `--config` or for a response file.
        (root / folder / "x.hip").write_text("./good.hip\n")
    (root / "good.hip").write_text(KERNEL)
    asked = build.BuildOptions(targets=("gfx942",), jobs=1, cache=None, syntax_only=True)
    results = {(unit.path, unit.target): unit for unit in build.verify(root, asked).units}
    hostile = results[f"{name}/x.hip", "gfx942"]
    # Read as what it is, a source file that does not compile, and not as options that name another one.
    assert hostile.status is Status.FAIL and hostile.errors[0].path == f"{name}/x.hip"
    assert not results["good.hip", "gfx942"].errors
