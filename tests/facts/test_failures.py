"""The failure records: the schema holds, signatures are bounded, malformed records are refused."""

from __future__ import annotations

import re
from typing import Any

import pytest

from rocport.facts.dates import as_of
from rocport.facts.failures import KINDS, FailureFactError, compile_signature, load_failures, parse_failures
from rocport.facts.status import read_codes, status_failures

RECORD: dict[str, Any] = {
    "id": "x",
    "title": "t",
    "signatures": ["some fixed text"],
    "cause": "c",
    "fix": ["f"],
    "sources": ["https://github.com/a/b/issues/1"],
    "certainty": "high",
    "specificity": 50,
    "unbounded": "setup",
    "example": "some fixed text",
}


def test_there_are_many_and_each_is_sourced() -> None:
    failures = load_failures()
    assert len(failures) >= 80
    for failure in failures:
        assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", failure.id), failure.id
        for source in failure.sources:
            assert source.startswith(("https://", "measured")), f"{failure.id}: {source}"
        assert not failure.title.endswith("."), failure.id


def test_placeholders_of_fix_and_cause_exist_in_every_signature_or_are_shown_empty() -> None:
    for failure in load_failures():
        named = set()
        for signature in failure.signatures:
            named |= set(signature.pattern.groupindex)
        for text in (failure.cause, *failure.fix):
            for name in re.findall(r"(?<![$\w]){([a-z_]+)}", text):
                assert name in named, f"{failure.id}: {{{name}}} is in no signature"


def test_every_repetition_is_bounded_and_none_is_nested() -> None:
    for pattern in [*KINDS.values(), *(s.pattern.pattern for f in load_failures() for s in f.signatures)]:
        stripped = pattern.replace(r"\s+", " ")
        assert not re.search(r"(?<!\\)[*+](?!\?)", re.sub(r"\[[^\]]*\]", "", stripped).replace(r"\+", "")), pattern
        assert not re.search(r"\)[*+{]", stripped), pattern


def test_a_cause_named_by_follows_is_a_record(monkeypatch: pytest.MonkeyPatch) -> None:
    records = iter([{"failure": [RECORD | {"follows": ["gone"]}]}])
    monkeypatch.setattr("rocport.facts.failures.read_toml", lambda _: next(records, {}))
    with pytest.raises(FailureFactError, match=r"follows .gone., which is no id"):
        load_failures.__wrapped__()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{a:nokind} fixed text", "unknown placeholder kind"),
        ("{*}a{*}b{*} fixed text", "at most"),
        ("ab {*} cd", "needs"),
        ("{gfx} and {gfx} fixed text", "twice"),
    ],
)
def test_bad_signatures_are_refused(text: str, message: str) -> None:
    with pytest.raises(FailureFactError, match=message):
        compile_signature(text)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"certainty": "sure"}, "certainty"),
        ({"specificity": 0}, "specificity"),
        ({"sources": []}, "'sources' is empty"),
        ({"colour": "red"}, "unknown field 'colour'"),
        ({"fix": "one"}, "must be a list"),
        ({"signatures": ["abc"]}, "needs"),
        ({"wide": ["another text"]}, "is no signature"),
        ({"wide": "yes"}, "must be a list"),
        ({"unbounded": ""}, "either field 'where' or field 'unbounded'"),
        ({"where": {"rocm": ">=7.0"}}, "either field 'where' or field 'unbounded'"),
        ({"unbounded": "nobody knows"}, "unbounded must be one of"),
    ],
)
def test_bad_records_name_file_and_field(change: dict[str, Any], message: str) -> None:
    with pytest.raises(FailureFactError, match=message) as error:
        parse_failures("area", [RECORD | change])
    assert "area.toml" in str(error.value)


def test_every_failure_says_for_which_versions_it_holds_or_why_none_bound_it() -> None:
    failures = {failure.id: failure for failure in load_failures()}
    assert all(failure.bounds for failure in failures.values())
    assert failures["rccl-iommu"].bounds == "ROCm >=5.6"
    assert failures["tile-wider-than-wave"].bounds == "wavefront 32"
    day = as_of("failures").isoformat()
    assert failures["hsa-packet-format"].bounds == f"no release is known to end it, as of {day}"
    assert failures["kfd-permission-denied"].bounds.startswith("any release: it is how a machine")


def test_a_signature_matches_what_it_says() -> None:
    signature = compile_signature("invalid target ID '{gfx}'; in {file:path}")
    match = signature.pattern.search("clang: invalid  target ID 'gfx9-4-generic'; in a/b.cu now")
    assert match is not None
    assert match.groupdict() == {"gfx": "gfx9-4-generic", "file": "a/b.cu"}


def test_a_literal_takes_in_what_begins_the_next_placeholder_and_its_pattern_waits() -> None:
    """`kernel_` alone is in every listing of rocminfo (KERNEL_DISPATCH): 14 MB of it were searched line by line."""
    signature = compile_signature("kernel_{gfx}")
    assert (signature.literal, "pattern" in vars(signature)) == ("kernel_gfx", False)
    assert signature.pattern.search("no such file: Kernel_gfx1030.hsaco")
    assert compile_signature("no kernels for {gfx}").literal == "no kernels for"
    assert compile_signature("is needed by{lib:soname}").literal == "is needed bylib"


def test_every_status_code_has_one_kind_and_says_what_to_do() -> None:
    failures = status_failures()
    assert len(failures) == len(read_codes()) > 250
    for code in read_codes():
        failure = failures[code.name]
        assert code.name in failure.title and str(code.number) in failure.title, code
        assert failure.cause and failure.fix and failure.sources[0].startswith("https://"), code
