"""Nasty inputs get a message and an exit code, never a traceback, never a lost or half-written file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = b"#include <cuda_runtime.h>\nvoid f(void **p) { cudaMalloc(p, 4); }\n"


def rocport(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "rocport", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=3600,
        check=False,
    )


NASTY = {
    "unterminated comment": b"/* never closed\n#include <cuda_runtime.h>\ncudaMalloc();",
    "unterminated string": b'const char *s = "cudaMalloc;\ncudaFree(p);\n',
    "unterminated raw string": b'auto s = R"(never closed cudaMalloc\n',
    "nested template closers": b"A<B<C<D<int>>>> x; k<A<B<int>>><<<1, 2>>>(x); int y = a >>> b;",
    "launch never closed": b"k<<<1, 2",
    "macro that builds names": b"#define C(x) cuda##x\nC(Malloc)(p, 4);\n#define S(x) #x\n",
    "directive at the end": b"#define",
    "lone hash": b"#\n#\n# \\\n",
    "splice at the end": b"#define A \\",
    "unbalanced": b")}]>((({{{[[[" * 50,
    "deep nesting": b"(" * 20_000 + b")" * 20_000,
    "deep templates": b"a<" * 5_000 + b"b" + b">" * 5_000 + b"();",
    "asm never closed": b'__global__ void k() { asm volatile("mov.u32 %0, %laneid;" : "=r"(x',
    "if without endif": b"#if __CUDA_ARCH__ >= 700\n#ifdef X\nint a;\n#else\n#else\n#elif\n",
    "endif without if": b"#endif\n#else\n__CUDA_ARCH__\n",
    "carriage returns only": b"#include <cuda_runtime.h>\rcudaMalloc();\r",
    "not utf-8": b"// \xff\xfe\x80\xe9\ncudaMalloc(\xff);\n",
    "utf-16": "#include <cuda_runtime.h>\ncudaMalloc();\n".encode("utf-16"),
    "nul bytes": b"cudaMalloc\0cudaFree",
    "empty": b"",
    "only a mark": b"\xef\xbb\xbf",
    "digit separators": b"int x = 1'000'000; cudaFree('\\'');",
    "apostrophe in a directive": b"#error don't\ncudaFree(p);\n",
    "shuffle without arguments": b"__global__ void k() { __shfl_sync(); __ballot_sync(,); __shfl_sync }",
    "launch bounds never closed": b"__global__ void __launch_bounds__(1, 2 k() {}",
}


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nasty")
    for number, data in enumerate(NASTY.values()):
        (folder / f"f{number:02}.cu").write_bytes(data)
    (folder / "cycle_a.cuh").write_bytes(b'#include "cycle_b.cuh"\n')
    (folder / "cycle_b.cuh").write_bytes(b'#include "cycle_a.cuh"\n')
    return folder


@pytest.mark.parametrize("command", ["scan", "port"])
def test_the_corpus_gives_a_report(corpus: Path, tmp_path: Path, command: str) -> None:
    more = ["--out", tmp_path / "out"] if command == "port" else []
    result = rocport(command, corpus, "--format", "json", *more)
    assert result.returncode in (0, 1), result.stderr
    assert "Traceback" not in result.stderr
    if command == "port":
        names = {path.name for path in corpus.iterdir()}
        assert names <= {path.name for path in (tmp_path / "out").iterdir()}, "every file arrives"
        hidden = {path.name for path in (tmp_path / "out").glob(".*")}
        assert hidden <= {".rocport"}, "no temporary file stays"


def test_a_binary_file_is_copied_and_named(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.cu").write_bytes(b"\0cudaMalloc")
    result = rocport("port", tmp_path / "src", "--out", tmp_path / "out", "--format", "concise")
    assert result.returncode == 1
    assert "a.cu: problem: holds NUL bytes" in result.stdout
    assert (tmp_path / "out" / "a.cu").read_bytes() == b"\0cudaMalloc"


def test_a_huge_generated_file(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    table = b"static const float table[] = {\n" + b"0.12345678f, 1.5e-10f, -3.0f,\n" * 200_000 + b"};\n"
    (tmp_path / "src" / "big.cu").write_bytes(table + KERNEL)
    result = rocport("port", tmp_path / "src", "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "out" / "big.cu").read_bytes().endswith(b"hipMalloc(p, 4); }\n")


@pytest.mark.parametrize("command", ["scan", "port", "verify"])
def test_a_missing_path_is_a_usage_error(tmp_path: Path, command: str) -> None:
    result = rocport(command, tmp_path / "nowhere")
    assert result.returncode == 2
    assert "nowhere" in result.stderr and "Traceback" not in result.stderr


def test_an_unknown_format_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_bytes(KERNEL)
    result = rocport("scan", tmp_path, "--format", "nonsense")
    assert result.returncode == 2
    assert "nonsense" in result.stderr and "Traceback" not in result.stderr


def test_unreadable_and_unwritable(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root reads and writes everything: permissions cannot be tested as root")
    source = tmp_path / "src"
    source.mkdir()
    (source / "a.cu").write_bytes(KERNEL)
    (source / "a.cu").chmod(0)
    result = rocport("port", source, "--out", tmp_path / "out")
    assert result.returncode == 1 and "Traceback" not in result.stderr
    (source / "a.cu").chmod(0o644)
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    result = rocport("port", source, "--out", locked / "out")
    assert result.returncode == 2 and "Traceback" not in result.stderr


def test_an_output_path_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.cu").write_bytes(KERNEL)
    (tmp_path / "out").write_text("mine")
    result = rocport("port", tmp_path / "src", "--out", tmp_path / "out")
    assert result.returncode == 2 and "Traceback" not in result.stderr
    assert (tmp_path / "out").read_text() == "mine"


def test_one_file(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_bytes(KERNEL)
    result = rocport("port", tmp_path / "a.cu", "--out", tmp_path / "out")
    assert result.returncode == 0, result.stderr
    assert b"hipMalloc" in (tmp_path / "out" / "a.cu").read_bytes()


def test_output_inside_the_source(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_bytes(KERNEL)
    for _ in range(2):
        result = rocport("port", tmp_path, "--out", tmp_path / "hip")
        assert result.returncode == 0, result.stderr
    assert not (tmp_path / "hip" / "hip").exists()


def test_start_up_imports_nothing_heavy() -> None:
    code = "import sys, rocport.cli; print(sorted({name.split('.')[0] for name in sys.modules}))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    for heavy in ("torch", "numpy", "tree_sitter", "triton"):
        assert f"'{heavy}'" not in result.stdout
