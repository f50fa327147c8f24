"""Writing a port: edits by byte, mirrors, manifests, second runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocport.cli import cli
from rocport.model import Applicability, Context, Edit, Finding, Severity, Span
from rocport.port.apply import apply
from rocport.port.engine import port_file
from rocport.scan.engine import scan_cuda
from rocport.syntax.cuda import CudaSource

KERNEL = "#include <cuda_runtime.h>\nvoid f(void **p) { cudaMalloc(p, 4); }\n"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], standalone_mode=False)


def port(source: Path, out: Path, *more: str) -> dict[str, object]:
    result = run("port", source, "--out", out, "--format", "json", *more)
    assert result.exception is None, result.exception
    loaded: dict[str, object] = json.loads(result.stdout)
    return loaded


def _finding(start: int, end: int, text: bytes, rule: str) -> Finding:
    return Finding(
        rule,
        "a.cu",
        Span(start, end),
        1,
        1,
        "message",
        Severity.BREAKS_BUILD,
        Applicability.SAFE,
        2,
        edits=(Edit(Span(start, end), text),),
    )


def test_the_wider_of_two_overlapping_edits_wins_and_the_other_says_so() -> None:
    source = CudaSource("a.cu", b"asm(cudaX);")
    applied = apply(source, [_finding(4, 9, b"hipX", "inner"), _finding(0, 10, b"done()", "outer")])
    assert applied.data == b"done();"
    inner = next(finding for finding in applied.findings if finding.rule == "inner")
    assert inner.edits == () and "done by outer" in inner.message


def test_equal_edits_are_made_once() -> None:
    source = CudaSource("a.cu", b"abc")
    applied = apply(source, [_finding(0, 1, b"X", "one"), _finding(0, 1, b"X", "two")])
    assert applied.data == b"Xbc"
    assert all(finding.edits for finding in applied.findings)


@pytest.mark.parametrize(
    "data",
    [
        KERNEL.encode(),
        KERNEL.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + KERNEL.encode(),
        b"// caf\xe9 \xff\xfe\n" + KERNEL.encode(),
        KERNEL.rstrip("\n").encode(),
    ],
    ids=["plain", "crlf", "bom", "latin1", "no-final-newline"],
)
def test_bytes_outside_the_edits_stay(tmp_path: Path, data: bytes) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "a.cu").write_bytes(data)
    port(source, tmp_path / "out")
    ported = (tmp_path / "out" / "a.cu").read_bytes()
    assert ported == data.replace(b"cuda_runtime.h", b"hip/hip_runtime.h").replace(b"cudaMalloc", b"hipMalloc")


def test_the_output_mirrors_the_tree(tmp_path: Path) -> None:
    source = tmp_path / "src"
    (source / "sub").mkdir(parents=True)
    (source / "sub" / "a.cu").write_text(KERNEL)
    (source / "data.bin").write_bytes(b"\0\1\2")
    script = source / "run.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    (source / "link.cu").symlink_to("sub/a.cu")
    (source / "loop").symlink_to(".")
    (source / "away").symlink_to("/etc/hostname")
    report = port(source, tmp_path / "out")
    out = tmp_path / "out"
    assert (out / "data.bin").read_bytes() == b"\0\1\2"
    assert os.access(out / "run.sh", os.X_OK)
    assert (out / "link.cu").readlink() == Path("sub/a.cu")
    assert (out / "loop").is_symlink()
    assert not (out / "away").exists()
    problems = report["problems"]
    assert isinstance(problems, list) and [problem["path"] for problem in problems] == ["away"]
    files = report["files"]
    assert isinstance(files, list)
    assert {item["source"]: item["status"] for item in files}["sub/a.cu"] == "translated"


def test_a_second_run_rewrites_only_what_changed(tmp_path: Path) -> None:
    source, out = tmp_path / "src", tmp_path / "out"
    source.mkdir()
    for name in ("a.cu", "b.cu", "c.cu"):
        (source / name).write_text(KERNEL)
    port(source, out)
    stamps = {name: (out / name).stat().st_mtime_ns for name in ("a.cu", "b.cu")}
    (source / "b.cu").write_text(KERNEL + "// more\n")
    (source / "c.cu").unlink()
    port(source, out)
    assert (out / "a.cu").stat().st_mtime_ns == stamps["a.cu"]
    assert (out / "b.cu").read_text().endswith("// more\n")
    assert not (out / "c.cu").exists(), "the output of a source that is gone is removed"


def test_a_hand_edited_output_is_kept_and_named(tmp_path: Path) -> None:
    source, out = tmp_path / "src", tmp_path / "out"
    source.mkdir()
    (source / "a.cu").write_text(KERNEL)
    port(source, out)
    (out / "a.cu").write_text("// mine\n")
    (source / "a.cu").write_text(KERNEL + "// upstream\n")
    report = port(source, out)
    assert (out / "a.cu").read_text() == "// mine\n"
    assert "upstream" in (out / "a.cu.rocport-new").read_text()
    problems = report["problems"]
    assert isinstance(problems, list) and "edited by hand" in problems[0]["message"]
    port(source, out, "--force")
    assert "upstream" in (out / "a.cu").read_text()


def test_a_foreign_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.cu").write_text(KERNEL)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "precious.txt").write_text("mine")
    result = run("port", tmp_path / "src", "--out", tmp_path / "out")
    assert result.exception is not None and "not empty" in str(result.exception)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["precious.txt"]


@pytest.mark.parametrize("content", ["", "{", '{"schema": 99, "files": []}', "[]", '{"schema": 1}'])
def test_a_broken_manifest_loses_nothing(tmp_path: Path, content: str) -> None:
    source, out = tmp_path / "src", tmp_path / "out"
    source.mkdir()
    (source / "a.cu").write_text(KERNEL)
    port(source, out)
    (out / "rocport-manifest.json").write_text(content)
    (out / "a.cu").write_text("// mine\n")
    result = run("port", source, "--out", out)
    assert result.exception is not None and "not empty" in str(result.exception)
    assert (out / "a.cu").read_text() == "// mine\n"


def test_the_diff_applies_and_gives_the_port(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "a.cu").write_text(KERNEL)
    (source / "b.cuh").write_bytes(b"#include <cuda_runtime.h>\r\nint a; // no newline at the end")
    port(source, tmp_path / "out")
    result = run("port", source, "--diff")
    (tmp_path / "port.patch").write_bytes(result.stdout_bytes)
    subprocess.run(["git", "apply", "--unsafe-paths", "../port.patch"], cwd=source, check=True)
    for name in ("a.cu", "b.cuh"):
        assert (source / name).read_bytes() == (tmp_path / "out" / name).read_bytes()


def test_in_place_wants_a_clean_repository(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_text(KERNEL)
    result = run("port", tmp_path, "--in-place")
    assert result.exception is not None and "git" in str(result.exception)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    result = run("port", tmp_path, "--in-place")
    assert result.exception is not None and "uncommitted" in str(result.exception)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", *identity, "commit", "-qm", "x"], cwd=tmp_path, check=True)
    result = run("port", tmp_path, "--in-place")
    assert result.exception is None
    assert "hipMalloc" in (tmp_path / "a.cu").read_text()


def test_check_tells_without_writing(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "a.cu").write_text(KERNEL)
    result = run("port", source, "--check")
    assert result.return_value == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["src"]
    (source / "a.cu").write_text("#include <hip/hip_runtime.h>\nint x;\n")
    assert run("port", source, "--check").return_value == 0


def test_a_port_is_idempotent(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "a.cu").write_text(KERNEL)
    port(source, tmp_path / "one")
    (tmp_path / "one" / "rocport-manifest.json").unlink()
    port(tmp_path / "one", tmp_path / "two")
    assert (tmp_path / "one" / "a.cu").read_bytes() == (tmp_path / "two" / "a.cu").read_bytes()


def test_the_same_result_on_one_and_on_two_processes(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    filler = "// " + "x" * 100 + "\n"
    for number in range(40):
        (source / f"f{number}.cu").write_text(KERNEL + filler * 500)
    one = port(source, tmp_path / "one", "-j", "1")
    two = port(source, tmp_path / "two", "-j", "2")
    assert one == two


def test_what_breaks_outside_the_kernels_is_gated_or_listed(tmp_path: Path) -> None:
    source = tmp_path / "src"
    source.mkdir()
    (source / "a.cu").write_text(KERNEL)
    setup = "import torch\nflags = ['-O3', '--use_fast_math']\n"
    names = "FLOPS = {'A100': 312e12, 'H100': 989e12}\n"
    (source / "setup.py").write_text(setup)
    (source / "names.py").write_text(names)
    report = port(source, tmp_path / "out")
    assert "if _IS_ROCM else ['-O3', '--use_fast_math'])" in (tmp_path / "out" / "setup.py").read_text()
    assert (tmp_path / "out" / "names.py").read_text() == names
    findings = report["findings"]
    assert isinstance(findings, list)
    done = {item["path"]: (item["applicability"], item["edited"]) for item in findings if item["path"] != "a.cu"}
    assert done["setup.py"][1] and done["names.py"] == ("manual", False)


def test_a_patch_over_a_mixed_tree_applies(tmp_path: Path) -> None:
    source = tmp_path / "src"
    (source / "odd dir").mkdir(parents=True)
    flags = "import torch\nflags = ['-O3', '--use_fast_math']\n"
    files = {
        "a.cu": KERNEL.encode(),
        "setup.py": flags.replace("\n", "\r\n").encode(),
        "odd dir/setup.py": flags.rstrip("\n").encode(),
        "caf\u00e9.cu": b"// caf\xe9\r\n" + KERNEL.encode(),
        "latin/setup.py": b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + flags.encode(),
        "lone.cu": b"// a\rb\n" + KERNEL.encode(),
        "m.py": b"import torch\nkind = torch.float8_e4m3fn\nmessage = 'CUDA out of memory' in str(kind)\n",
    }
    for name, data in files.items():
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_bytes(data)
    for layout in ("hip", "both"):
        out, tree = tmp_path / f"out-{layout}", tmp_path / f"tree-{layout}"
        run("port", source, "--out", out, "--layout", layout)
        shutil.copytree(source, tree)
        subprocess.run(["git", "init", "-q"], cwd=tree, check=True)
        result = run("port", tree, "--diff", "--layout", layout)
        patch = tmp_path / f"{layout}.patch"
        patch.write_bytes(result.stdout_bytes)
        subprocess.run(["git", "apply", "--check", patch], cwd=tree, check=True)
        subprocess.run(["git", "apply", "--whitespace=nowarn", patch], cwd=tree, check=True)
        made = {path.relative_to(out) for path in out.rglob("*") if path.is_file() and ".rocport" not in path.parts}
        made.remove(Path("rocport-manifest.json"))
        there = {path.relative_to(tree) for path in tree.rglob("*") if path.is_file() and ".git" not in path.parts}
        assert made == there
        assert all((tree / path).read_bytes() == (out / path).read_bytes() for path in made)
        assert (tree / "a.cu").read_bytes() == files["a.cu"] or layout == "hip"


@pytest.mark.parametrize(
    "ahead", ["", "// Copyright\n#pragma once\n", "#ifndef A_H\n#define A_H\n", "\ufeff", "#pragma once\r\n"]
)
@pytest.mark.parametrize(
    "first",
    ["__device__ double atomicAdd(double *p, double v) { return *p += v; }\n", "struct cudaGraphicsResource;\n"],
)
def test_the_includes_stand_before_what_a_rule_puts_in_front_of_the_first_code(ahead: str, first: str) -> None:
    data = f"{ahead}{first}{'#endif' if 'ifndef' in ahead else ''}\n".encode()
    ported = port_file("a.cuh", data, scan_cuda("a.cuh", data, Context())).data or b""
    assert ported.count(b"#if !ROCPORT_HIP") == 1
    assert 0 <= ported.find(b'#include "rocport_platform.h"') < ported.find(b"#if !ROCPORT_HIP")
