"""Machine formats: each parses as what it says it is, whatever a message or a path holds."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import pytest

from rocport.model import Applicability, Edit, Finding, Problem, Report, Severity, Span
from rocport.report import formats, render

NASTY = 'a "b" <c> & 100% \x01\nnext ünïcode 🙂 :: , ]]>'


def _report(count: int = 2) -> Report:
    findings = tuple(
        Finding(
            "nvcc-flag", "a b/ä,c:d.py", Span(0, 1), 3 + n, 4 + n, NASTY, severity, Applicability.MANUAL, 4, fix=NASTY
        )
        for n, severity in zip(range(count), (Severity.BREAKS_BUILD, Severity.COSMETIC), strict=False)
    )
    return Report("scan", ".", (), findings, (Problem("x\ny", NASTY),) if count else ())


@pytest.mark.parametrize("name", formats())
def test_every_format_renders_anything(name: str) -> None:
    for count in (0, 2):
        text = render(name, _report(count))
        assert text == "" or text.endswith("\n")


def test_sarif_against_the_schema_of_oasis(oasis: Any) -> None:
    for count in (0, 2):
        oasis.validate(json.loads(render("sarif", _report(count))))
    broken = json.loads(render("sarif", _report()))
    del broken["runs"][0]["tool"]
    assert list(oasis.iter_errors(broken))
    broken = json.loads(render("sarif", _report()))
    broken["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    assert list(oasis.iter_errors(broken))


def test_sarif_has_what_the_schema_requires() -> None:
    log = json.loads(render("sarif", _report()))
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        (location,) = result["locations"]
        assert "\\" not in location["physicalLocation"]["artifactLocation"]["uri"]
        assert " " not in location["physicalLocation"]["artifactLocation"]["uri"]
        region = location["physicalLocation"]["region"]
        assert 1 <= region["startLine"] <= region["endLine"]
    marks = [result["partialFingerprints"]["rocport/v1"] for result in run["results"]]
    assert len(set(marks)) == len(marks)
    assert run["invocations"][0]["toolExecutionNotifications"]


def test_github_annotations_stay_on_one_line() -> None:
    lines = render("github", _report()).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("::error file=a b/ä%2Cc%3Ad.py,line=3,endLine=4,title=rocport nvcc-flag::")
    assert lines[1].startswith("::notice ")
    assert "100%25" in lines[0]


def test_junit_is_xml_with_a_failure_a_finding() -> None:
    root = ElementTree.fromstring(render("junit", _report()))
    assert root.get("failures") == "2" and root.get("errors") == "1"
    assert len(root.findall(".//failure")) == 2
    clean = ElementTree.fromstring(render("junit", _report(0)))
    assert clean.get("failures") == "0" and clean.get("tests") == "1"


def test_json_lines_are_one_object_a_line() -> None:
    rows = [json.loads(line) for line in render("jsonl", _report()).splitlines()]
    assert [row.get("rule") for row in rows] == ["nvcc-flag", "nvcc-flag", None]
    assert rows[2]["problem"] is True


def test_a_review_that_came_without_an_edit_is_not_called_done() -> None:
    def report(*edited: bool) -> Report:
        edits = (Edit(Span(0, 1), b"x"),)
        findings = tuple(
            Finding(
                "r", "a.cu", Span(0, 1), 1, 1, "m", Severity.COSMETIC, Applicability.REVIEW, phase=2, edits=edits * made
            )
            for made in edited
        )
        return Report("port", ".", (), findings, ())

    def line(*edited: bool) -> str:
        return next(row for row in render("text", report(*edited)).splitlines() if row.startswith("review"))

    assert line(True, True).split() == ["review", "2", "done,", "look", "at", "them"]
    assert line(True, False, False).endswith("    3  1 done, look at them; 2 where nothing was changed")
    assert line(False).endswith("    1  nothing was changed, look at them")


def test_markdown_lists_by_cause_and_json_names_it() -> None:
    sites = tuple(replace(site, cause="one change") for site in _report().findings)
    report = replace(_report(), findings=sites)
    assert render("markdown", report).count("| nvcc-flag |") == 1
    assert "also `a b/ä,c:d.py:4`" in render("markdown", report)
    assert {site["cause"] for site in json.loads(render("json", report))["findings"]} == {"one change"}
