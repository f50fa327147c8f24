from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from rocport.model.report import Problem
from rocport.model.tree import MAX_SOURCE_BYTES, SourceFile, SourceTree


def file(root: Path, path: str, data: bytes, language: str = "cuda") -> SourceFile:
    (root / path).write_bytes(data)
    return SourceFile(root, path, language, len(data))


def test_a_source_is_read_once(tmp_path: Path) -> None:
    one = file(tmp_path, "a.cu", b"int x;\n")
    assert one.content == b"int x;\n"
    (tmp_path / "a.cu").write_bytes(b"changed\n")
    assert one.read() == b"int x;\n"
    assert one.sha256 == hashlib.sha256(b"int x;\n").hexdigest()


def test_a_file_no_rule_reads_is_not_kept(tmp_path: Path) -> None:
    one = file(tmp_path, "a.bin", b"\0\1", "other")
    assert one.read() == b"\0\1"
    (tmp_path / "a.bin").write_bytes(b"new")
    assert one.read() == b"new"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"int a;\rint b;\r", "CR alone"),
        (b"i\0n\0t\0", "holds NUL bytes"),
    ],
)
def test_what_is_no_text_is_a_problem_and_still_copied(tmp_path: Path, data: bytes, says: str) -> None:
    one = file(tmp_path, "a.cu", data)
    assert isinstance(one.content, Problem)
    assert one.content.path == "a.cu" and says in one.content.message
    assert one.sha256 == ""
    assert one.read() == data


@pytest.mark.parametrize("data", [b"int a;\r\nint b;\r\n", b"int a;\rint b;\n", b"", b"no end"])
def test_other_ends_of_lines_are_text(tmp_path: Path, data: bytes) -> None:
    assert file(tmp_path, "a.cu", data).content == data


def test_lone_cr_in_a_file_no_rule_reads_is_nobodys_problem(tmp_path: Path) -> None:
    assert file(tmp_path, "a.txt", b"a\rb", "other").content == b"a\rb"


def test_a_file_of_the_largest_size_is_read_and_one_byte_more_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.cu").write_bytes(b"x")
    assert MAX_SOURCE_BYTES == 67_108_864
    assert SourceFile(tmp_path, "a.cu", "cuda", MAX_SOURCE_BYTES).content == b"x"
    over = SourceFile(tmp_path, "a.cu", "cuda", MAX_SOURCE_BYTES + 1).content
    assert isinstance(over, Problem) and "67108865 bytes: larger than 67108864" in over.message


def test_a_file_that_went_away_is_a_problem_with_its_reason(tmp_path: Path) -> None:
    gone = SourceFile(tmp_path, "gone.cu", "cuda", 3)
    assert isinstance(gone.content, Problem)
    assert "No such file" in gone.content.message
    with pytest.raises(FileNotFoundError):
        gone.read()


def test_a_tree_knows_its_files_by_path_and_which_are_sources(tmp_path: Path) -> None:
    one, other = file(tmp_path, "a.cu", b"a"), file(tmp_path, "b.png", b"b", "other")
    (tmp_path / "beside").write_bytes(b"c")
    tree = SourceTree(tmp_path, (one, other))
    assert tree.by_path == {"a.cu": one, "b.png": other}
    assert tree.paths == {"a.cu", "b.png"}
    assert tree.sources == (one,)
    assert [tree.read(path) for path in ("a.cu", "b.png", "beside")] == [b"a", b"b", b"c"]
    assert not tree.single
    with pytest.raises(FileNotFoundError):
        tree.read("none")
