from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rocport.model import Applicability, Finding, Severity, Span
from rocport.model.report import Effort, LeftOut, Mark, Report, anchor, said


def finding(applicability: Applicability, path: str = "a.cu", phase: int = 2, rule: str = "r") -> Finding:
    return Finding(rule, path, Span(0, 1), 1, 1, f"{rule} of {path}", Severity.SLOW, applicability, phase)


def report(*findings: Finding, **more: Any) -> Report:
    return Report("scan", "/tree", (), findings, **more)


SAFE, REVIEW, MANUAL = Applicability


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (None, ""),
        (0, "0"),
        (1234567, "1234567"),
        (1234.5, "1.23e+03"),
        (0.5, "0.5"),
        ("x", "x"),
        (Mark("ok", "good"), "ok"),
    ],
)
def test_a_cell_is_said_as_text(cell: Any, text: str) -> None:
    assert said(cell) == text


def test_an_anchor_is_lower_case_words() -> None:
    assert anchor("NVIDIA path: unchanged (2 files)!") == "nvidia-path-unchanged-2-files"
    assert anchor("--a--") == "a"


def test_every_applicability_is_counted_also_where_there_is_none() -> None:
    assert report(finding(SAFE), finding(SAFE), finding(MANUAL)).count() == {"safe": 2, "review": 0, "manual": 1}
    assert report().count() == {"safe": 0, "review": 0, "manual": 0}


def test_what_settings_leave_out_is_not_suppressed() -> None:
    left = tuple(LeftOut("r", "a.cu", 1, by) for by in ("comment", "settings", "baseline"))
    assert report(left_out=left).suppressed == 2


def test_effort_is_by_kind_of_work_and_the_second_site_of_a_rule_costs_a_third() -> None:
    efforts = report(
        finding(SAFE, "safe.cu"),
        finding(REVIEW, "read.cu"),
        finding(MANUAL, "build.cu", phase=4),
        finding(MANUAL, "write.cu", phase=2),
        finding(MANUAL, "warp.cu", phase=3),
        *[finding(MANUAL, "many.cu", phase=3)] * 4,
        finding(REVIEW, "mixed.cu"), finding(REVIEW, "mixed.cu", rule="s"), finding(MANUAL, "mixed.cu", phase=0),
    ).effort()  # fmt: skip
    assert efforts == [
        Effort("many.cu", 0, 4, 90),
        Effort("warp.cu", 0, 1, 45),
        Effort("write.cu", 0, 1, 45),
        Effort("mixed.cu", 2, 1, 17),
        Effort("build.cu", 0, 1, 10),
        Effort("read.cu", 1, 0, 5),
    ]


def test_one_cause_in_many_files_is_one_thing_to_understand() -> None:
    same = [replace(finding(MANUAL, f"{name}.sh", phase=4), message="a list of CUDA targets") for name in "cba"]
    found = report(finding(REVIEW, "z.cu"), finding(SAFE), *same)
    assert [[site.path for site in cause.sites] for cause in found.causes] == [["a.sh", "b.sh", "c.sh"], ["z.cu"]]
    assert found.causes is found.causes  # asked for several times a format, of reports with thousands of sites
    assert {effort.path: effort.minutes for effort in found.effort()} == {"a.sh": 10, "z.cu": 5, "b.sh": 3, "c.sh": 3}


def test_what_one_change_settles_is_one_cause_done_or_not_and_the_undone_site_is_shown() -> None:
    done = replace(finding(REVIEW, "a.py"), message="import x.a", cause="import of x")
    left = replace(finding(MANUAL, "b.py"), message="import x.b", cause="import of x", rule="other")
    beside = replace(finding(MANUAL, ".github/c.py"), message="import x.c", cause="import of x")
    (cause,) = report(beside, done, left).causes
    assert cause.sites == (left, done, beside)


def test_what_no_build_needs_comes_last() -> None:
    sites = finding(MANUAL, ".github/a.sh"), finding(REVIEW, "setup.py"), finding(MANUAL, "docs/a.sh", phase=4)
    found = report(*sites)
    assert [cause.first.path for cause in found.causes] == ["setup.py", ".github/a.sh", "docs/a.sh"]
    assert [effort.path for effort in found.effort()] == ["setup.py", ".github/a.sh", "docs/a.sh"]


def test_a_wrong_result_comes_before_what_stops_the_build() -> None:
    slow, wrong, broken = (
        replace(finding(MANUAL, f"{severity.value}.cu"), severity=severity)
        for severity in (Severity.SLOW, Severity.WRONG_RESULT, Severity.BREAKS_BUILD)
    )
    done = replace(finding(REVIEW, "a.cu"), severity=Severity.WRONG_RESULT)
    assert [cause.first for cause in report(done, slow, broken, wrong).causes] == [wrong, broken, slow, done]


def test_a_report_that_is_not_about_sites_has_no_effort() -> None:
    assert report(finding(MANUAL), verdict=Mark("ready", "good")).effort() == []
