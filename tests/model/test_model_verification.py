from __future__ import annotations

from rocport.model.verification import Cause, Diagnostic, KernelFinding, KernelUse, Status, UnitResult, Verification


def result(*units: UnitResult, targets: tuple[str, ...] = ("gfx942",)) -> Verification:
    return Verification("build", "/tree", targets, "cross-compiled", units, ("unused.hip",))


def error(message: str, path: str = "a.hip", line: int = 3) -> Diagnostic:
    return Diagnostic(path, line, 1, message)


KERNEL = KernelUse("k", 32, 0, 16, 0, 0, 0, 0, 64, 1024)
OK = UnitResult("a.hip", "gfx942", Status.OK, kernels=(KERNEL, KERNEL))
SKIPPED = UnitResult("b.hip", "gfx942", Status.SKIP, "no header")
FAILED = UnitResult("c.hip", "gfx942", Status.FAIL, errors=(error("no member", "c.hip"),))


def test_a_unit_that_was_not_tried_is_no_pass_and_no_failure() -> None:
    assert result(OK).passed and not result(OK).failed
    assert not result(OK, SKIPPED).passed and not result(OK, SKIPPED).failed
    assert not result(OK, FAILED).passed and result(OK, FAILED).failed
    assert not result().passed and not result().failed


def test_a_unit_is_as_good_as_its_worst_target() -> None:
    host = UnitResult("a.hip", "host", Status.SKIP)
    other = UnitResult("a.hip", "gfx1100", Status.FAIL)
    assert result(OK, host).paths() == {"a.hip": Status.SKIP}
    assert result(host, OK).paths() == {"a.hip": Status.SKIP}
    assert result(other, OK, host).paths() == {"a.hip": Status.FAIL}


def test_causes_are_counted_by_message_and_those_that_stand_alone_come_first() -> None:
    def fails(path: str, *messages: str, target: str = "gfx942") -> UnitResult:
        return UnitResult(path, target, Status.FAIL, errors=tuple(error(m, path, 7) for m in messages))

    found = result(
        fails("a.hip", "one"),
        fails("a.hip", "one", target="gfx1100"),
        fails("b.hip", "one", "two"),
        fails("c.hip", "two"),
        fails("d.hip", "one"),
        UnitResult("e.hip", "gfx942", Status.FAIL, "the compiler crashed"),
        UnitResult("f.hip", "gfx942", Status.SKIP, "no header", errors=(error("one"),)),
        OK,
    ).causes()
    assert found == [
        Cause("one", "a.hip:7", 3, 2),
        Cause("two", "b.hip:7", 2, 1),
        Cause("the compiler crashed", "", 1, 1),
    ]
    assert result(OK).causes() == []


def test_the_summary_counts_units_pairs_kernels_and_what_no_build_names() -> None:
    finding = KernelFinding("register-spill", "k", "spills")
    cached = UnitResult("a.hip", "gfx1100", Status.FAIL, findings=(finding,), cached=True)
    summary = result(
        OK, cached, SKIPPED, UnitResult("a.hip", "host", Status.OK), targets=("gfx942", "gfx1100")
    ).summary()
    none = {"ok": 0, "fail": 0, "skip": 0}
    assert summary == {
        "units": 2, "ok": 0, "fail": 1, "skip": 1,
        "by_target": {
            "host": {**none, "ok": 1}, "gfx942": {**none, "ok": 1, "skip": 1}, "gfx1100": {**none, "fail": 1},
        },
        "kernels": 2, "findings": 1, "cached": 1, "not_named": 1,
    }  # fmt: skip


def test_the_json_names_the_schema_the_level_and_each_status_by_its_word() -> None:
    data = result(OK, FAILED).to_json()
    assert {key: data[key] for key in ("schema", "level", "root", "targets", "how", "not_named")} == {
        "schema": 1, "level": "build", "root": "/tree", "targets": ["gfx942"], "how": "cross-compiled",
        "not_named": ["unused.hip"],
    }  # fmt: skip
    assert [unit["status"] for unit in data["units"]] == ["ok", "fail"]
    assert data["units"][1]["errors"][0]["message"] == "no member"
    assert data["summary"]["units"] == 2
