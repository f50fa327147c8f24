"""The text of a patch, byte by byte, as `git apply` reads it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from rocport.port.patch import changed_file, new_file, removed_file


def text(lines) -> bytes:
    return b"".join(lines)


def test_a_changed_file() -> None:
    assert text(changed_file("a/b.cu", b"1\n2\n", b"1\n3\n")) == (
        b"diff --git a/a/b.cu b/a/b.cu\n--- a/a/b.cu\n+++ b/a/b.cu\n@@ -1,2 +1,2 @@\n 1\n-2\n+3\n"
    )
    assert text(changed_file("a", b"same", b"same")) == b""


def test_a_new_file_and_one_that_goes() -> None:
    assert text(new_file("n", b"1\n")) == (
        b"diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+1\n"
    )
    assert text(new_file("n", b"")) == b"diff --git a/n b/n\nnew file mode 100644\n"
    for executable, mode in ((False, b"100644"), (True, b"100755")):
        assert text(removed_file("n", b"1\n", executable)) == (
            b"diff --git a/n b/n\ndeleted file mode " + mode + b"\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"
        )
    assert text(removed_file("n", b"1\n")) == text(removed_file("n", b"1\n", False))


@pytest.mark.parametrize(
    ("before", "after", "hunk"),
    [
        (b"1", b"2", b"-1\n\\ No newline at end of file\n+2\n\\ No newline at end of file\n"),
        (b"1", b"1\n", b"-1\n\\ No newline at end of file\n+1\n"),
        (b"1\n", b"1", b"-1\n+1\n\\ No newline at end of file\n"),
        (b"a\rb\n", b"a\rc\n", b"-a\rb\n+a\rc\n"),
        (b"a\r\n", b"a\n", b"-a\r\n+a\n"),
        (b"a\x0cb\n", b"a\x0cc\n", b"-a\x0cb\n+a\x0cc\n"),
        (b"\n", b"\n\n", b" \n+\n"),
    ],
)
def test_lines_end_as_git_counts_them(before: bytes, after: bytes, hunk: bytes) -> None:
    assert text(changed_file("a", before, after)).split(b" @@\n", 1)[1] == hunk


@pytest.mark.parametrize(
    ("path", "first", "old"),
    [
        ("a b", b"diff --git a/a b b/a b", b"--- a/a b\t"),
        ('a"b', b'diff --git "a/a\\042b" "b/a\\042b"', b'--- "a/a\\042b"'),
        ("a\\b", b'diff --git "a/a\\134b" "b/a\\134b"', b'--- "a/a\\134b"'),
        ("caf\u00e9 x", b'diff --git "a/caf\\303\\251 x" "b/caf\\303\\251 x"', b'--- "a/caf\\303\\251 x"'),
        ("a\tb", b'diff --git "a/a\\011b" "b/a\\011b"', b'--- "a/a\\011b"'),
        ("\udcff~", b'diff --git "a/\\377~" "b/\\377~"', b'--- "a/\\377~"'),
        ("a\x7f", b'diff --git "a/a\\177" "b/a\\177"', b'--- "a/a\\177"'),
    ],
)
def test_names_are_quoted_as_git_quotes_them(path: str, first: bytes, old: bytes) -> None:
    lines = text(changed_file(path, b"1\n", b"2\n")).split(b"\n")
    assert lines[:2] == [first, old]
    assert lines[2] == b"+++ " + old[4:].replace(b"a/", b"b/", 1)


def test_git_takes_all_of_it(tmp_path: Path) -> None:
    kept = b"".join(b"%d\n" % number for number in range(30))
    before = {"a b": kept, "caf\u00e9": b"1", "gone": b"x\n", 'q"\\': b"1\r\n2\n"}
    after = {"a b": kept.replace(b"7\n", b"seven\n"), "caf\u00e9": b"2", "new\tfile": b"\n", 'q"\\': b"1\n2"}
    for name, data in before.items():
        (tmp_path / name).write_bytes(data)
    parts = []
    for name in sorted({*before, *after}):
        if name not in after:
            parts += removed_file(name, before[name])
        elif name not in before:
            parts += new_file(name, after[name])
        else:
            parts += changed_file(name, before[name], after[name])
    apply = ["git", "apply", "--whitespace=nowarn", "-"]
    subprocess.run(apply, cwd=tmp_path, input=text(parts), check=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == after
