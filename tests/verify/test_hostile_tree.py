"""Commands that only look never run what they look at."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from rocport import sandbox
from rocport.executor.program import load_program
from rocport.model.verification import Status
from rocport.project.tree import read_project
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


def test_the_compiler_reads_nothing_of_the_user_s(tmp_path: Path) -> None:
    try:
        find()
    except ToolchainError as error:
        pytest.skip(f"no HIP compiler: {error}")
    if reason := sandbox.why_not():
        pytest.skip(reason)
    root, secret = tmp_path / "tree", tmp_path / "secret"
    root.mkdir()
    secret.write_text("my password is xyzzy\n")
    (root / "link.h").symlink_to(secret)
    spelled = (f'"{secret}"', '"../secret"', '"link.h"', f"<{secret}>")
    found = "".join(f"#if __has_include({name})\n#include {name}\n#endif\n" for name in spelled)
    (root / "a.hip").write_text(f'{found}#define WHERE "{secret}"\n#include WHERE\n')
    (root / "b.hip").write_text(f'__attribute__((global)) void k() {{ asm volatile(".incbin \\"{secret}\\""); }}\n')
    asked = build.BuildOptions(targets=("gfx942",), jobs=1, cache=None)
    results = build.verify(root, asked).units
    assert {unit.path for unit in results if unit.status is Status.FAIL} == {"a.hip", "b.hip"}
    assert "xyzzy" not in str(results)


@pytest.mark.parametrize(
    ("build_file", "text"),
    [
        ("Makefile", "FLAGS = -I../../secret -I../.hidden -I../common -I{outside} -Ilink\n"),
        ("CMakeLists.txt", "include_directories(../../secret {outside} ../.hidden link)\n"),
        (
            "setup.py",
            "# cpp_extension\ninclude_dirs=['../../secret', '{outside}', '../.hidden', 'link']\n",
        ),
    ],
)
def test_a_build_file_adds_no_folder_of_the_user_s(build_file: str, text: str, tmp_path: Path) -> None:
    root = tmp_path / "home" / "tree"
    for folder in (root, tmp_path / "secret", tmp_path / "home" / ".hidden", tmp_path / "home" / "common"):
        folder.mkdir(parents=True, exist_ok=True)
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "a.hip").write_text(KERNEL)
    more = text.format(outside=tmp_path / "secret")
    (root / build_file).write_text(
        more.replace("../.hidden", "../.hidden -I../common" if "-I" in more else "../.hidden")
    )
    (unit,) = read_project(root).units()
    assert set(unit.includes) <= {".", "../common"}


@pytest.mark.parametrize(
    "flag",
    [
        "-fplugin=./libp.so", "-Xclang -load -Xclang ./libp.so", "-B./bin", "--config=./x", "@options", "-wrapper ./sh",
        "-include ../secret.h", "-include{outside}/secret.h", "-imacros ./x", "-isysroot .", "--gcc-toolchain=.",
        "-fuse-ld=./ld", "-Wl,-plugin,./libp.so", "-Xlinker -plugin", "-fpass-plugin=./libp.so", "-specs=./x",
        "-o ../x", "-MF ../x", "-save-temps=obj", "-fprofile-use=../x", "--hip-path=.", "-resource-dir .",
        "-D'X=1 -fplugin=./x'",
    ],
)  # fmt: skip
def test_flags_of_build_files_are_of_an_allow_list(flag: str, tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.hip").write_text(KERNEL)
    flag = flag.format(outside=tmp_path)
    text = (
        'cmake_minimum_required(VERSION 3.20)\nproject(x)\nset(CMAKE_CXX_FLAGS "' + flag + '")\n'
        f"add_definitions({flag})\nadd_compile_options({flag})\nadd_executable(x a.hip)\n"
    )
    (root / "CMakeLists.txt").write_text(text)
    (root / "Makefile").write_text(f"CXXFLAGS = {flag}\nx: a.hip\n\thipcc {flag} $< -o $@\n")
    (root / "setup.py").write_text(f"import torch.utils.cpp_extension\nextra_compile_args=['{flag.split()[0]}']\n")
    (unit,) = read_project(root).units()
    allowed = re.compile(r"-(?:I|D[A-Za-z_]\w*(?:=|$)|std=).*", re.S)
    assert all(re.fullmatch(r"[A-Za-z_]\w*(?:=.*)?", define, re.S) for define in unit.defines)
    assert not unit.includes or set(unit.includes) <= {"."}
    program = load_program(root)
    for words in [program.link, *(unit.flags for unit in program.units)]:
        assert all(allowed.fullmatch(word) or word in ("-pthread", "-fopenmp") for word in words), words
