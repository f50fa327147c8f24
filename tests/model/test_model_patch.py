from __future__ import annotations

from pathlib import Path

from rocport.model import Applicability, Finding, Options, Patch, PatchFile, Problem, Severity, SourceTree, Span

TREE = SourceTree(Path("/tree"), ())
REPLACED = PatchFile("a.cu", b"", "why", "a.cu")
BESIDE = PatchFile("hip/a.hip", b"", "why", "a.cu")
NEW = PatchFile("rocport_warp.h", b"", "why")


def patch(*kinds: Applicability, problems: tuple[Problem, ...] = ()) -> Patch:
    findings = tuple(Finding("r", "a.cu", Span(0, 1), 1, 1, "m", Severity.SLOW, kind, 2) for kind in kinds)
    return Patch(TREE, Options(), {file.path: file for file in (REPLACED, BESIDE, NEW)}, findings, problems)


def test_a_file_replaces_its_source_or_stands_beside_it() -> None:
    assert [file.translated for file in (REPLACED, BESIDE, NEW)] == [True, False, False]


def test_added_files_come_from_no_file_of_the_tree() -> None:
    assert patch().added == (NEW,)


def test_a_patch_is_complete_where_nothing_is_left_for_the_reader() -> None:
    assert patch().complete
    assert patch(Applicability.SAFE, Applicability.REVIEW).complete
    assert not patch(Applicability.SAFE, Applicability.MANUAL).complete
    assert not patch(problems=(Problem("a.cu", "in the way"),)).complete
