from __future__ import annotations

import io

import pytest

from rocport.model.terminal import Guard, one_line, paint, printable, shown, write_raw


def test_characters_that_act_are_spelled_out_and_others_kept() -> None:
    assert printable("a\x1b[31mb\x07\x9b") == "a\\u001b[31mb\\u0007\\u009b"
    assert printable("tab\tline\nü 漢") == "tab\tline\nü 漢"
    assert printable("\r\u202e\u2028\u200f\u2066") == "\\u000d\\u202e\\u2028\\u200f\\u2066"
    assert one_line("a\nb\tc") == "a\\u000ab\\u0009c"


@pytest.mark.parametrize(
    ("text", "is_shown"),
    [
        ("::error file=x::y", "\\u003a:error file=x::y"),
        ("  ::warning::", "  \\u003a:warning::"),
        ("a\n::error::b", "a\n\\u003a:error::b"),
        ("std::move", "std::move"),
        ("##[error]x ##vso[task]", "#\\u0023[error]x #\\u0023vso[task]"),
        ("## heading", "## heading"),
    ],
)
def test_commands_of_ci_systems_are_broken(text: str, is_shown: str) -> None:
    assert shown(text) == is_shown


def test_a_command_is_one_only_at_the_start_of_a_line() -> None:
    assert shown("::error::", starts_line=False) == "::error::"
    assert shown("x\n::error::", starts_line=False) == "x\n\\u003a:error::"


def test_only_colours_of_our_own_pass() -> None:
    assert shown(paint("ok", "green", bold=True)) == "\x1b[1;32mok\x1b[0m"
    assert shown(paint("a", "red") + "\x1b[31m") == "\x1b[31ma\x1b[0m\\u001b[31m"
    assert shown(paint("x\x1b[2J", dim=True)) == "\x1b[2mx\\u001b[2J\x1b[0m"
    assert paint("plain") == "plain"


def test_a_guard_knows_across_writes_whether_a_line_starts() -> None:
    stream = io.StringIO()
    guard = Guard(stream)
    assert guard.write("std") == 3
    assert guard.write("") == 0
    guard.write("::move\n")
    guard.writelines(["::error::", "::x\n", "::warning::"])
    assert stream.getvalue() == "std::move\n\\u003a:error::::x\n\\u003a:warning::"
    with pytest.raises(TypeError, match="must be str, not bytes"):
        guard.write(b"x")  # type: ignore[arg-type]


def test_raw_text_goes_as_it_is_and_the_guard_still_knows_the_line() -> None:
    stream = io.StringIO()
    guard = Guard(stream)
    write_raw(guard, "\x1b[1m")
    guard.write("::a")
    write_raw(guard, "\n")
    guard.write("::b")
    guard.raw("")
    guard.write("::c")
    assert stream.getvalue() == "\x1b[1m::a\n\\u003a:b\\u003a:c"
    write_raw(stream, "::d")
    assert stream.getvalue().endswith("::d")
    assert guard.encoding == "utf-8"
    assert guard.getvalue() == stream.getvalue()


def test_names_that_are_no_text_are_written_all_the_same() -> None:
    raw = io.BytesIO()
    guard = Guard(io.TextIOWrapper(raw, encoding="utf-8"))
    guard.write("a\udcff")
    guard.flush()
    assert raw.getvalue() == b"a\\udcff"
