"""Suppressions: what a comment covers, and what happens to one without use."""

from __future__ import annotations

from rocport.model import Context, Finding, LeftOut
from rocport.project.languages import language_of
from rocport.scan.engine import scan_file
from rocport.scan.suppress import UNUSED, apply, suppressions


def _scan(path: str, text: str) -> tuple[list[Finding], int]:
    findings = scan_file(path, text.encode(), language_of(path), Context())
    assert isinstance(findings, list)
    kept, left_out = apply(path, text.encode(), findings)
    assert all(item.by == "comment" and item.path == path for item in left_out)
    return kept, len(left_out)


def test_a_comment_on_the_line_suppresses_its_rule() -> None:
    text = "flags = ['--use_fast_math']  # rocport: ignore[nvcc-flag] CUDA build only\n"
    assert _scan("setup.py", text) == ([], 1)


def test_a_comment_alone_speaks_of_the_next_line() -> None:
    text = "# rocport: ignore[nvcc-flag] CUDA build only\nflags = ['--use_fast_math']\n"
    assert _scan("setup.py", text) == ([], 1)
    kept, suppressed = _scan("setup.py", text.replace("\nflags", "\n\nflags"))
    assert sorted(item.rule for item in kept) == ["nvcc-flag", UNUSED]
    assert suppressed == 0


def test_a_file_level_comment_takes_patterns() -> None:
    text = "# rocport: ignore-file[nvcc-*] this script is for CUDA\nflags = ['-gencode']\n\nrun(['nvcc', '-V'])\n"
    assert _scan("setup.py", text) == ([], 2)


def test_another_rule_is_not_suppressed() -> None:
    kept, _ = _scan("setup.py", "flags = ['--use_fast_math']  # rocport: ignore[cuda-home]\n")
    assert sorted(item.rule for item in kept) == ["nvcc-flag", UNUSED]


def test_the_comment_of_cpp_works() -> None:
    text = "void f() {\n  // rocport: ignore\n  cudaMalloc(&p, 4);\n}\n"
    kept, suppressed = _scan("a.cpp", text)
    assert "api-identifier" not in {item.rule for item in kept}
    assert suppressed == 1


def test_reason_and_rules_are_read() -> None:
    (found,) = suppressions(b"x = 1  # rocport: ignore[a, b-*] because\n")
    assert (found.at, found.line, found.rules, found.reason) == (1, 1, ("a", "b-*"), "because")


def test_what_a_comment_says_is_kept_with_what_it_suppresses() -> None:
    text = b"flags = ['--use_fast_math']  # rocport: ignore[nvcc-flag] CUDA build only\n"
    found = scan_file("setup.py", text, "python", Context())
    assert isinstance(found, list)
    _, left_out = apply("setup.py", text, found)
    assert left_out == [LeftOut("nvcc-flag", "setup.py", 1, "comment", "CUDA build only")]
