"""A port meets edits made by hand, upstream changes, and is taken back."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from rocport.cli import cli
from rocport.port import state
from rocport.port.merge import meet

KERNEL = "#include <cuda_runtime.h>\n\n// one\n\n// two\n\nvoid f(void **p) { cudaMalloc(p, 4); }\n"
PYTHON = "import torch\n\nkind = torch.float8_e4m3fn\n"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(argument) for argument in arguments], standalone_mode=False)


def tree(folder: Path) -> Path:
    (folder / "csrc").mkdir(parents=True)
    (folder / "csrc" / "a.cu").write_text(KERNEL)
    (folder / "csrc" / "b.cu").write_text(KERNEL)
    (folder / "m.py").write_text(PYTHON)
    (folder / "run.sh").write_text("#!/bin/sh\n")
    return folder


def snapshot(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {".git", ".rocport"} & set(path.parts)
    }


@pytest.mark.parametrize(
    ("present", "base", "new", "status", "data"),
    [
        (None, None, b"n\n", "new", b"n\n"),
        (b"n\n", None, b"n\n", "same", None),
        (b"b\n", b"b\n", b"n\n", "updated", b"n\n"),
        (b"mine\n", b"n\n", b"n\n", "edited", None),
        (b"mine\n", None, b"n\n", "conflict", None),
        (b"mine\n", b"b\n", b"n\n", "conflict", None),
        (b"1\n2\n3\n4\nmine\n", b"1\n2\n3\n4\n5\n", b"new\n2\n3\n4\n5\n", "merged", b"new\n2\n3\n4\nmine\n"),
        (b"a\0mine", b"a\0b", b"a\0n", "conflict", None),
    ],
)
def test_what_becomes_of_a_file(
    present: bytes | None, base: bytes | None, new: bytes, status: str, data: bytes | None
) -> None:
    met = meet(present, base, new)
    assert (met.status, met.data) == (status, data)


@pytest.mark.parametrize("layout", ["hip", "both"])
def test_a_port_in_place_is_taken_back(tmp_path: Path, layout: str) -> None:
    root = tree(tmp_path / "src")
    (root / "csrc" / "a.cu").chmod(0o755)
    before = snapshot(root)
    assert run("port", root, "--in-place", "--allow-dirty", "--layout", layout).exception is None
    assert snapshot(root) != before
    result = run("port", "--undo", root)
    assert result.return_value == 0 and "restored" in result.output
    assert snapshot(root) == before and not (root / ".rocport").exists() and not (root / "hip").exists()
    assert (root / "csrc" / "a.cu").stat().st_mode & 0o777 == 0o755


def test_what_was_changed_since_is_left_and_named(tmp_path: Path) -> None:
    root = tree(tmp_path / "src")
    run("port", root, "--in-place", "--allow-dirty")
    (root / "m.py").write_text("mine = 1\n")
    result = run("port", root, "--undo")
    assert result.return_value == 1 and "m.py: changed since the port" in result.output
    assert (root / "m.py").read_text() == "mine = 1\n"
    assert (root / "csrc" / "a.cu").read_text() == KERNEL
    assert (root / ".rocport" / "before" / "m.py").read_text() == PYTHON


def test_there_may_be_nothing_to_take_back(tmp_path: Path) -> None:
    root = tree(tmp_path / "src")
    result = run("port", root, "--undo")
    assert result.exception is not None and "no port in place to undo" in str(result.exception)
    (root / ".rocport").mkdir()
    for text in ("", "[]", '{"schema": 9}', '{"schema": 1, "files": [{}]}'):
        (root / ".rocport" / "undo.json").write_text(text)
        assert run("port", root, "--undo").exception is not None
    away = {"schema": 1, "files": [{"path": "../x", "before": "", "after": "", "mode": 420}]}
    (root / ".rocport" / "undo.json").write_text(json.dumps(away))
    result = run("port", root, "--undo")
    assert result.exception is not None and "outside the tree" in str(result.exception)


def test_undo_goes_behind_several_ports_in_place(tmp_path: Path) -> None:
    root = tree(tmp_path / "src")
    run("port", root, "--in-place", "--allow-dirty", "--layout", "both")
    (root / "csrc" / "a.cu").write_text(KERNEL + "// more\n")
    run("port", root, "--in-place", "--allow-dirty", "--layout", "both")
    assert (root / "hip" / "csrc" / "a.hip").read_text().endswith("// more\n")
    assert run("port", root, "--undo").return_value == 0
    assert (root / "m.py").read_text() == PYTHON and not (root / "hip").exists()
    assert (root / "csrc" / "a.cu").read_text() == KERNEL + "// more\n"


@pytest.mark.parametrize("layout", ["hip", "both"])
def test_a_second_port_in_place_changes_nothing(tmp_path: Path, layout: str) -> None:
    root = tree(tmp_path / "src")
    arguments = ("port", root, "--in-place", "--allow-dirty", "--layout", layout)
    run(*arguments)
    first = snapshot(root)
    run(*arguments)
    assert snapshot(root) == first
    assert run("port", root, "--check", "--layout", layout).return_value == 0


def test_the_state_is_no_change_of_the_repository(tmp_path: Path) -> None:
    root = tree(tmp_path / "src")
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    for _ in range(2):
        subprocess.run(["git", "add", "-A"], cwd=root, check=True)
        subprocess.run(["git", *identity, "commit", "-qm", "x", "--allow-empty"], cwd=root, check=True)
        assert run("port", root, "--in-place", "--layout", "both").exception is None
    tracked = subprocess.run(["git", "ls-files"], cwd=root, capture_output=True, text=True, check=True).stdout
    assert "hip/csrc/a.hip" in tracked and ".rocport" not in tracked


def test_edits_by_hand_are_merged_with_upstream(tmp_path: Path) -> None:
    root, out = tree(tmp_path / "src"), tmp_path / "out"
    run("port", root, "--out", out)
    ported = (out / "csrc" / "a.cu").read_text()
    (out / "csrc" / "a.cu").write_text(ported.replace("// one\n", "// mine\n"))
    (out / "run.sh").write_text("#!/bin/bash\n")
    result = run("port", root, "--out", out, "--format", "json")
    report = json.loads(result.stdout)
    assert {item["output"]: item["status"] for item in report["files"]}["csrc/a.cu"] == "edited"
    assert not [item for item in report["problems"] if item["path"] == "csrc/a.cu"]
    (root / "csrc" / "a.cu").write_text(KERNEL + "// upstream\n")
    for _ in range(2):
        result = run("port", root, "--out", out, "--format", "json")
        assert "// mine" in (out / "csrc" / "a.cu").read_text()
        assert (out / "csrc" / "a.cu").read_text().endswith("// upstream\n")
    assert not (out / "csrc" / "a.cu.rocport-new").exists()


def test_a_conflict_is_named_and_nothing_is_lost(tmp_path: Path) -> None:
    root, out = tree(tmp_path / "src"), tmp_path / "out"
    run("port", root, "--out", out)
    ported = (out / "csrc" / "a.cu").read_text()
    (out / "csrc" / "a.cu").write_text(ported.replace("// one\n", "// mine\n"))
    (root / "csrc" / "a.cu").write_text(KERNEL.replace("// one\n", "// theirs\n"))
    result = run("port", root, "--out", out, "--format", "json")
    (problem,) = [item for item in json.loads(result.stdout)["problems"] if item["path"] == "csrc/a.cu"]
    assert "in 1 places" in problem["message"] and "a.cu.rocport-new" in problem["message"]
    assert "// mine" in (out / "csrc" / "a.cu").read_text()
    assert "// theirs" in (out / "csrc" / "a.cu.rocport-new").read_text()


def test_a_mirrored_file_keeps_edits_and_goes_with_its_source(tmp_path: Path) -> None:
    root = tree(tmp_path / "src")
    arguments = ("port", root, "--in-place", "--allow-dirty", "--layout", "both", "--format", "json")
    run(*arguments)
    mirrored = root / "hip" / "csrc" / "a.hip"
    mirrored.write_text(mirrored.read_text().replace("// one\n", "// mine\n"))
    (root / "csrc" / "a.cu").write_text(KERNEL + "// upstream\n")
    (root / "csrc" / "b.cu").unlink()
    report = json.loads(run(*arguments).stdout)
    statuses = {item["output"]: item["status"] for item in report["files"]}
    assert statuses["hip/csrc/a.hip"] == "merged" and statuses["hip/csrc/b.hip"] == "removed"
    assert "// mine" in mirrored.read_text() and "// upstream" in mirrored.read_text()
    assert not (root / "hip" / "csrc" / "b.hip").exists()


def test_a_fresh_clone_knows_its_own_text_from_edits(tmp_path: Path) -> None:
    """Without `.rocport` the committed record tells: what nobody edited is renewed, the rest is a conflict."""
    root = tree(tmp_path / "src")
    arguments = ("port", root, "--in-place", "--allow-dirty", "--layout", "both", "--format", "json")
    run(*arguments)
    for path in sorted((root / ".rocport").rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (root / ".rocport").rmdir()
    edited = root / "hip" / "csrc" / "b.hip"
    edited.write_text("// mine\n" + edited.read_text())
    for name in ("a.cu", "b.cu"):
        (root / "csrc" / name).write_text(KERNEL + "// upstream\n")
    report = json.loads(run(*arguments).stdout)
    statuses = {item["output"]: item["status"] for item in report["files"]}
    assert statuses["hip/csrc/a.hip"] == "generated" and statuses["hip/csrc/b.hip"] == "conflict"
    assert (root / "hip/csrc/a.hip").read_text().endswith("// upstream\n")
    assert "// mine" in edited.read_text()


def test_names_are_added_to_an_edited_module(tmp_path: Path) -> None:
    root = tree(tmp_path / "src")
    run("port", root, "--in-place", "--allow-dirty")
    module = root / "_rocm_compat.py"
    module.write_text(module.read_text() + "\n\ndef ours() -> int:\n    return 1\n")
    (root / "n.py").write_text("kernel[grid](x, num_warps=32)\n")
    run("port", root, "--out", tmp_path / "out")
    run("port", root, "--in-place", "--allow-dirty")
    text = module.read_text()
    assert "def ours()" in text and "WAVE64: bool" in text and "FP8_FNUZ: bool" in text
    assert (tmp_path / "out" / "_rocm_compat.py").read_text() == text
    run("port", root, "--in-place", "--allow-dirty")
    assert module.read_text() == text


def test_stale_outputs_are_in_the_report(tmp_path: Path) -> None:
    root, out = tree(tmp_path / "src"), tmp_path / "out"
    run("port", root, "--out", out)
    (root / "csrc" / "b.cu").unlink()
    report = json.loads(run("port", root, "--out", out, "--format", "json").stdout)
    assert {item["output"]: item["status"] for item in report["files"]}["csrc/b.cu"] == "removed"


def test_a_broken_archive_counts_as_empty(tmp_path: Path) -> None:
    (tmp_path / ".rocport").mkdir()
    (tmp_path / ".rocport" / "made.zip").write_bytes(b"no zip")
    kept = state.Kept(tmp_path)
    assert kept.get("a") is None
    kept.put("a", b"x")
    kept.save()
    assert state.Kept(tmp_path).get("a") == b"x"
