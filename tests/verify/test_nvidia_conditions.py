"""What conditionals of C, CMake, Make and Meson fold to off ROCm, and texts that are none of theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from rocport.verify.nvidia import cfamily, cmake, make, meson
from rocport.verify.nvidia.tokens import LexError, Token


def texts(stream: Sequence[Token]) -> list[str]:
    return [token.text for token in stream]


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("(USE_ROCM - 7) / 2 == -3", True),
        ("(USE_ROCM - 7) % 2 == -1", True),
        ("(USE_ROCM + 7) / 2 == 3", True),
        ("(USE_ROCM - 7) / (USE_ROCM - 2) == 3", True),
        ("(USE_ROCM + 7) % 4 == 2", False),
        ("(USE_ROCM + 6) / 3 > 2", False),
        ("(USE_ROCM + 1) / 0 == 1", None),
        ("(USE_ROCM + 1) % 0 == 1", None),
        ("(USE_ROCM + 1) << 63 == 0", None),
        ("(USE_ROCM + 1) << 62 > 0", True),
        ("(USE_ROCM + 1) << 64 == 0", None),
        ("(USE_ROCM + 1) >> -1 == 0", None),
        ("(USE_ROCM ^ 3) == 3 && (USE_ROCM | 2) == 2 && (5 & USE_ROCM) == 0", True),
        ("USE_ROCM + 9223372036854775807 > 0", True),
        ("USE_ROCM + 9223372036854775807 + 1 > 0", None),
        ("USE_ROCM - 9223372036854775807 - 1 < 0", True),
        ("USE_ROCM - 9223372036854775807 - 2 < 0", None),
        ("USE_ROCM > -1u", None),
        ("USE_ROCM < 'a'", None),
        ("USE_ROCM == 010 - 8", True),
        ("USE_ROCM == 09", None),
        ("USE_ROCM <= 0 && !defined USE_ROCM", True),
        ("~USE_ROCM == -1", True),
        ("-USE_ROCM + 1 == 1 ? 1 : 0", None),
        ("(USE_ROCM", None),
        ("USE_ROCM)", None),
        ("USE_ROCM @ 1", None),
        ("USE_ROCM ? A : 0", None),
        ("USE_ROCM || A ? B : USE_ROCM", None),
        ("USE_ROCM ? 1 : 0", None),
        ("USE_ROCM ? 0 : USE_ROCM + 1", True),
        ("!(USE_ROCM || A)", None),
        ("USE_ROCM && A", False),
        ("A && USE_ROCM", False),
        ("!USE_ROCM || A", True),
        ("A || !USE_ROCM", True),
        ("A == USE_ROCM", None),
        ("defined(USE_ROCM) && f(A(1), B)", False),
        ("f(A(1), B) && 1", None),
        ("f(A(1), B", None),
        ("USE_ROCM < 0x1", True),
        ("USE_ROCM == 0b0", True),
        ("USE_ROCM + 1'0 == 10L", True),
        ("USE_ROCM + 0 == 00", True),
        ("USE_ROCM >> 0 == 0 && USE_ROCM << 63 == 0 && (USE_ROCM + 1) << 0 == 1", True),
        ("USE_ROCM * 2 != 1 && USE_ROCM - 1 <= -1 && USE_ROCM + 8 >> 2 >= 2", True),
        ("USE_ROCM != 0", False),
        ("defined USE_ROCM", False),
        ("defined(USE_ROCM", None),
        ("(1 > 0)", None),
        ("+USE_ROCM", False),
    ],
)
def test_conditions_of_c(condition: str, holds: bool | None) -> None:
    found = texts(cfamily.tokens(f"#if {condition}\nyes\n#else\nno\n#endif\n".encode()))
    assert found == {True: ["yes"], False: ["no"]}.get(holds, found)
    assert holds is not None or {"yes", "no"} < set(found)


@pytest.mark.parametrize(
    ("reader", "text", "line"),
    [
        (cfamily.tokens, "\n#else\n#endif\n", 2),
        (cfamily.tokens, "#if A\n#else\n#else\n#endif\n", 3),
        (cfamily.tokens, "#if A\n#else\n#elif B\n#endif\n", 3),
        (cfamily.tokens, "\n#ifdef A B\n#endif\n", 2),
        (cfamily.tokens, "#ifndef\n#endif\n", 1),
        (cfamily.tokens, "\n#if A\n", 2),
        (cfamily.tokens, "\n#if\n#endif\n", 2),
        (cfamily.tokens, "\n#endif\n", 2),
        (cmake.commands, "a()\nb\n", 2),
        (cmake.commands, "a()\n1\n", 2),
        (cmake.commands, "a()\nb(\nc", 2),
        (cmake.commands, "a()\nb([[c)\n", 2),
        (cmake.commands, 'a()\nb("c)\n', 2),
        (cmake.stream, "a()\nelse()\n", 2),
        (cmake.stream, "a()\nendif()\n", 2),
        (cmake.stream, "a()\nif(B)\n", 2),
        (make.stream, "A = 1\nelse\n", 2),
        (make.stream, "A = 1\nendif\n", 2),
        (make.stream, "A = 1\nifdef B\n", 2),
        (meson.tokens, "a = 1\nelse\n", 2),
        (meson.tokens, "a = 1\nendif\n", 2),
    ],
)
def test_what_is_no_text_of_the_language_is_named_with_its_line(
    reader: Callable[[bytes], object], text: str, line: int
) -> None:
    with pytest.raises(LexError) as found:
        reader(text.encode())
    assert found.value.line == line


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ("(USE_ROCM)", ""),
        ("NOT (USE_ROCM)", "yes"),
        ("NOT (USE_ROCM OR USE_HIP)", "yes"),
        ("NOT (USE_ROCM OR A)", "if(NOT A)"),
        ("(A AND B) AND NOT USE_ROCM", "if(A AND B)"),
        ("A AND (NOT USE_ROCM)", "if(A)"),
        # From left to right.
        ("A OR B AND USE_ROCM", ""),
        ("USE_ROCM AND A OR B", "if(B)"),
        ("USE_ROCM OR A AND B", "if(A AND B)"),
        # A name in quotes, and one that is compared, are no gate.
        ('"USE_ROCM"', 'if("USE_ROCM")'),
        ("USE_ROCM STREQUAL x", "if(USE_ROCM STREQUAL x)"),
        ("DEFINED USE_ROCM", "if(DEFINED USE_ROCM)"),
        ("TARGET", "if(TARGET)"),
    ],
)
def test_conditions_of_cmake(condition: str, left: str) -> None:
    found = texts(cmake.stream(f"if({condition})\nf(yes)\nendif()\n".encode()).tokens)
    body = "f(yes)\n"
    expected = {"": "", "yes": body}.get(left, f"{left}\n{body}endif()\n")
    assert found == texts(cmake.stream(expected.encode()).tokens)


@pytest.mark.parametrize("condition", ["(A", "A STREQUAL", "NOT", "A B", "(A B)", "(USE_ROCM", "USE_ROCM )("])
def test_a_condition_of_cmake_that_cannot_be_read_is_what_it_is(condition: str) -> None:
    text = f"if({condition})\nf(a)\nendif()\n"
    try:
        found = texts(cmake.stream(text.encode()).tokens)
    except LexError:
        return
    assert condition.replace(" ", "") in "".join(found).replace(" ", "") and "f" in found


def test_arguments_of_cmake() -> None:
    (found,) = cmake.commands(b'f((a b) "c d" [=[e ]] f]=] g\\ h i"j k" #[[ no ]]\n # no\n l)')
    assert [(item.text, item.quoted) for item in found.arguments] == [
        ("(", ""), ("a", ""), ("b", ""), (")", ""), ("c d", '"'), ("e ]] f", "["), ("g\\ h", ""), ('i"j k"', ""),
        ("l", ""),
    ]  # fmt: skip
    assert [item.line for item in found.arguments] == [1] * 8 + [3]


@pytest.mark.parametrize(
    ("text", "could_be"),
    [
        ("USE_${a}", True),
        ("${a}ROCM", True),
        ("U${a}", False),
        ("USE${a}O${b}M", True),
        ("USE${a}Z${b}M", False),
        ("USE${a}OCM${b}OCM", False),
        ("USE_ROCM", False),
        ("USE_ROCM${a}ROCM", False),
    ],
)
def test_a_name_in_pieces_that_could_be_a_gate(text: str, could_be: bool) -> None:
    assert cmake.gate_in_pieces(text, "USE_ROCM") is could_be


@pytest.mark.parametrize(
    "text",
    [
        # Quotes and brackets are the same to CMake, and a variable may hold the name.
        *("set(USE_ROCM ON)", 'set("USE_ROCM" ON)', "set([[USE_ROCM]] ON)", "set(CACHE{USE_ROCM} ON)"),
        *('option("USE_ROCM" "x" ON)', 'math(EXPR "USE_ROCM" "1")', 'find_program("USE_ROCM" NAMES a)'),
        *('execute_process(COMMAND a OUTPUT_VARIABLE "USE_ROCM")', 'return(PROPAGATE "USE_ROCM")', 'f("USE_ROCM")'),
        *('set(L "USE_ROCM")', 'list(APPEND L "USE_ROCM")', 'foreach(x IN ITEMS "USE_ROCM")', "set(L A USE_ROCM)"),
        *('set(L "A;USE_ROCM;B")', "set(L A;USE_ROCM)", 'set_property(CACHE "USE_ROCM" PROPERTY VALUE ON)'),
        # Text that is evaluated later.
        *('string(CONFIGURE "set(USE_ROCM ON)" L)', 'set(L "set( USE_ROCM ON)")', "set(L [[set(USE_ROCM ON)]])"),
        *(
            'set(L "set(\\"USE_ROCM\\" ON)")',
            'file(WRITE a.cmake "set([[USE_ROCM]] ON)")',
            'f("a()\noption(USE_ROCM x)")',
        ),
        # Pieces.
        *('string(APPEND L "set(USE_" "ROCM ON)")', "string(CONCAT L USE_ RO CM)", "string(TOUPPER use_rocm L)"),
        *("set(L USE ROCM)", "set(USE_${B} ON)", 'set("USE_${B}" ON)', "set(${A}_ROCM ON)", "f(-DUSE_ROCM)"),
        *("f(-D USE_ROCM=0)", "if(A STREQUAL -DUSE_ROCM=1)\nendif()", "set(X x-DUSE_ROCM:BOOL=ON)"),
    ],
)
def test_who_could_set_a_gate(text: str) -> None:
    data = f"a()\n{text}\n".encode()
    assert b"USE_ROCM" in data or cmake.NAME_IN_PIECES.search(data)
    ended = data + {"foreach": b"endforeach()\n"}.get(text.partition("(")[0], b"")
    assert cmake.untrusted(ended)["USE_ROCM"] == 2
    assert "${B}" in text or not cmake.untrusted(ended, frozenset(["USE_HIP"]))


@pytest.mark.parametrize(
    "text",
    [
        *("if(USE_ROCM)\nendif()", "if(A)\nelseif(NOT USE_ROCM)\nendif()", "while(USE_ROCM)\nendwhile()"),
        *(
            "message(USE_ROCM)",
            'message(STATUS "USE_ROCM")',
            "mark_as_advanced(USE_ROCM)",
            'message("set(USE_ROCM ON)")',
        ),
        *('option(USE_ROCM "for AMD" OFF)', 'option(A "needs USE_ROCM (see there)" ON)', 'set(D "USE_ROCM (off)")'),
        *("set(USE_ROCM_OTHER ON)", "set(MY_USE_ROCM ON)", 'set(L "if(USE_ROCM)")', "f(USE_ ROCM)", "set(L USE XROCM)"),
        *("f(-DUSE_ROCMX)", "set(${A} ON)", "f(${USE_ROCM})", "set(A ${USE_ROCM})", "string(TOUPPER use_cuda L)"),
        *('file(GLOB A "${B}/x")', "set(L USE_ROC ${A} M2)", "set(use_rocm_x 1)"),
    ],
)
def test_who_cannot_set_a_gate(text: str) -> None:
    assert not cmake.untrusted(f"{text}\n".encode())


def test_code_of_cmake_that_cannot_be_read_is_searched_for_gates() -> None:
    assert set(cmake.untrusted(b'cmake_language(EVAL CODE "set(USE_ROCM 1) (")\n')) == {"USE_ROCM"}
    assert not set(cmake.untrusted(b'cmake_language(EVAL CODE "set(OTHER 1) (")\n'))


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ("ifeq ($(USE_ROCM),1)", "no"),
        ("ifeq($(USE_ROCM),1)", "no"),
        ("ifneq ($(USE_ROCM),1)", "yes"),
        ("ifneq($(USE_ROCM),1)", "yes"),
        ('ifeq "$(USE_ROCM)" "1"', "no"),
        ("ifeq '${USE_ROCM}' \"1\"", "no"),
        ("ifeq ($(strip $(USE_ROCM)),1)", "no"),
        ("ifeq ($(USE_ROCM)$(USE_HIP),11)", "no"),
        # Empty and 0 are both off: what tells them apart is not known.
        ("ifeq ($(USE_ROCM),0)", ""),
        ("ifeq ($(USE_ROCM),)", ""),
        ("ifdef USE_ROCM", "no"),
        ("ifeq ($(A),1)", ""),
        ("ifeq ($(USE_ROCM),$(A))", ""),
        ("ifeq ($(USE_ROCM),1", ""),
        ("ifeq $(USE_ROCM) 1", ""),
        ("ifeqx ($(USE_ROCM),1)", ""),
    ],
)
def test_conditions_of_make(condition: str, left: str) -> None:
    text = f"USE_ROCM ?=\nUSE_HIP ?=\n{condition}\nX = yes\nelse\nX = no\nendif\n"
    try:
        found = texts(make.stream(text.encode()).tokens)
    except LexError:
        found = ["X = yes", "X = no"]
    kept = [item[4:] for item in found if item.startswith("X = ")]
    assert kept == {"yes": ["yes"], "no": ["no"]}.get(left, ["yes", "no"])


def test_a_last_line_of_make_that_goes_on_nowhere_is_kept() -> None:
    assert texts(make.stream(b"A = 1 \\\n 2\nB = 3 \\").tokens) == ["A = 1 \\\n 2", "B = 3 \\"]
    assert texts(make.stream(b"A = 1 \\\\\nB = 3\n").tokens) == ["A = 1 \\\\", "B = 3"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("all:\n\techo\nexport\n", 3),
        ("export # all\n", 1),
        (".EXPORT_ALL_VARIABLES:\n", 1),
        ("export A\n", 0),
        ("# export\n", 0),
        ("exports = 1\n", 0),
    ],
)
def test_a_makefile_that_exports_every_variable(text: str, line: int) -> None:
    assert make.exports_all(text.encode()) == line
