"""What each reader of the proof of the NVIDIA path makes of a text: every token, line and message, not the verdict."""

from __future__ import annotations

import ast
import json

import pytest

from rocport.verify.nvidia import Difference, cfamily, cmake, data, meson, reach_python
from rocport.verify.nvidia.tokens import LexError

# C and C++.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a b", "a@1 b@1"),
        ("a\\\nb c\nd", "ab@1 c@2 d@3"),
        ('"x\\\ny" z', '"xy"@1 z@2'),
        ('R"(a\nb)" c', 'R"(a\nb)"@1 c@2'),
        ('u8R"a(\n)a"\nb', 'u8R"a(\n)a"@1 b@3'),
        (f'R"{"a" * 16}(x){"a" * 16}"', f'R"{"a" * 16}(x){"a" * 16}"@1'),
        ("/* a\n b */ c", "c@2"),
        ("// a\\\n b\nc", "c@3"),
        ("%:define X 1\ny", "#define@1 X@1 1@1 \n@1 y@2"),
        ('#include <a b.h>\n#include "c.h"\n', '#include@1 <a b.h>@1 \n@1 #include@2 "c.h"@2 \n@2'),
        ("#if __has_include(<x>)\na\n#endif", "#if __has_include ( <x> )@1 a@2 #endif@3"),
        ("#\n#define\n", "#@1 \n@1 #define@2 \n@2"),
        ("#ifdef USE_ROCM\na\n#elif B\nb\n#else\nc\n#endif\nd", "#if B@3 b@4 #else@5 c@6 #endif@7 d@8"),
        ("#if A\na\n#elif defined(USE_ROCM)\nb\n#else\nc\n#endif\nd", "#if A@1 a@2 #else@5 c@6 #endif@7 d@8"),
        ("#if A\na\n#elif !USE_ROCM\nb\n#else\nc\n#endif", "#if A@1 a@2 #else@3 b@4 #endif@7"),
        ("#ifndef USE_ROCM\na\n#endif", "a@2"),
        ("#if A\n#ifdef USE_ROCM\nb\n#endif\nc\n#endif", "#if A@1 c@5 #endif@6"),
        ('R"d(x)" y', "1: a raw string without an end"),
        ('R"()', "1: a raw string without an end"),
        ('\nR"  (x)"', "2: a raw string whose delimiter is not one"),
        ('R"abc', "1: a raw string whose delimiter is not one"),
        (f'R"{"a" * 17}(x){"a" * 17}"', "1: a raw string whose delimiter is not one"),
        ("\n/* x", "2: a comment without an end"),
        ("#if A\nb", "1: #if without #endif"),
        ("#if A\n#if B\n#endif", "1: #if without #endif"),
        ("\n#else", "2: #else without #if"),
        ("\n#endif", "2: #endif without #if"),
        ("#if A\n#else\n#elif B\n#endif", "3: #elif after #else"),
        ("\n#ifdef A B\n#endif", "2: #ifdef with something other than one name"),
        ("\n#if\n#endif", "2: #if without a condition"),
    ],
)
def test_tokens_of_c_and_their_lines(text: str, expected: str) -> None:
    try:
        found = " ".join(f"{token.text}@{token.line}" for token in cfamily.tokens(text.encode()))
    except LexError as error:
        found = f"{error.line}: {error}"
    assert found == expected


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ("USE_ROCM", "0"),
        ("!USE_ROCM", "1"),
        ("USE_ROCM + 1", "1"),
        ("USE_ROCM - 1 < 0", "1"),
        ("USE_ROCM || A", "#if A"),
        ("USE_ROCM && A", "0"),
        ("A || USE_ROCM", "#if A"),
        ("A && !USE_ROCM", "#if A"),
        ("!USE_ROCM && A", "#if A"),
        ("!USE_ROCM || A", "1"),
        ("(!USE_ROCM && A) + 1", "#if ((!(!A))+1)"),
        ("A && B || USE_ROCM", "#if (A&&B)"),
        ("USE_ROCM == 0", "1"),
        ("USE_ROCM != 1", "1"),
        ("USE_ROCM <= 0", "1"),
        ("USE_ROCM < 0", "0"),
        ("USE_ROCM >= 1", "0"),
        ("USE_ROCM >= 0", "1"),
        ("USE_ROCM > 0", "0"),
        ("USE_ROCM ^ 1", "1"),
        ("(USE_ROCM | 2) & 3", "1"),
        ("(USE_ROCM | 2) & 1", "0"),
        ("(USE_ROCM + 7) / 2 == 3", "1"),
        ("(USE_ROCM - 7) / 2 == -3", "1"),
        ("(USE_ROCM - 7) / -2 == 3", "1"),
        ("(USE_ROCM - 7) % 2 == -1", "1"),
        ("(USE_ROCM + 7) % 4 == 3", "1"),
        ("(USE_ROCM + 5) * 3 == 15", "1"),
        ("USE_ROCM / 0", "#if (0/0)"),
        ("USE_ROCM % 0", "#if (0%0)"),
        ("(USE_ROCM + 1) << 62", "1"),
        ("(USE_ROCM + 1) << 63", "#if (1<<63)"),
        ("USE_ROCM << 63", "0"),
        ("USE_ROCM << 64", "#if (0<<64)"),
        ("USE_ROCM << -1", "#if (0<<-1)"),
        ("(USE_ROCM + 1) >> 0", "1"),
        ("USE_ROCM - 0x7fffffffffffffff - 1 < 0", "1"),
        ("USE_ROCM - 0x7fffffffffffffff - 2 < 0", "#if ((-9223372036854775807-2)<0)"),
        ("USE_ROCM + 0x1F == 31", "1"),
        ("USE_ROCM + 017 == 15", "1"),
        ("USE_ROCM + 0b11 == 3", "1"),
        ("USE_ROCM + 1'000 == 1000", "1"),
        ("USE_ROCM + 0", "0"),
        ("USE_ROCM + 1u", "#if (0+1u)"),
        ("USE_ROCM + 09", "#if USE_ROCM + 09"),
        ("USE_ROCM + 'a'", "#if (0+'a')"),
        ("~USE_ROCM == -1", "1"),
        ("-USE_ROCM == 0", "1"),
        ("+USE_ROCM", "0"),
        ("!A", "#if (!A)"),
        ("-A", "#if (-A)"),
        ("!(USE_ROCM || A)", "#if (!A)"),
        ("-(USE_ROCM || A)", "#if (-(!(!A)))"),
        ("defined USE_ROCM", "0"),
        ("defined(USE_ROCM) + 1", "1"),
        ("defined(A)", "#if defined(A)"),
        ("defined A", "#if defined(A)"),
        ("f(USE_ROCM) && USE_ROCM", "0"),
        ("f(a, (b)) || USE_ROCM", "#if f ( a , ( b ) )"),
        ("USE_ROCM ? A : B", "#if B"),
        ("!USE_ROCM ? A : 1", "#if A"),
        ("!USE_ROCM ? 2 : B", "#if (1?2:B)"),
        ("USE_ROCM ? 2 : 0", "#if USE_ROCM ? 2 : 0"),
        ("A ? 1 : USE_ROCM", "#if (A?1:0)"),
        ("__COUNTER__ && USE_ROCM", "#if __COUNTER__ && USE_ROCM"),
        ("USE_ROCM USE_ROCM", "#if USE_ROCM USE_ROCM"),
        ("(USE_ROCM", "#if ( USE_ROCM"),
        ("1", "#if 1"),
        ("0", "#if 0"),
    ],
)
def test_what_is_left_of_a_condition_of_c(condition: str, left: str) -> None:
    """`1` and `0`: only one arm is left."""
    first = cfamily.tokens(f"#if {condition}\n1\n#else\n0\n#endif".encode())[0]
    assert first.text == left


# CMake.


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('a(b "c d" [[e]] [=[f]]g]=])', 'a@1 (@1 b@1 "c d"@1 [[e]]@1 [[f]]g]]@1 )@1'),
        ("IF((A) AND (B))\nx()\nENDIF()", "if@1 (@1 (A AND B)@1 )@1 x@2 (@2 )@2 endif@3 (@3 )@3"),
        ("a((b)\n(c))", "a@1 (@1 (@1 b@1 )@1 (@2 c@2 )@2 )@1"),
        ("a (\n b # c )\n #[[ ) \n ]] c)\nd()", "a@1 (@1 b@2 c@4 )@1 d@5 (@5 )@5"),
        ("#[==[ x\n]]\n]==] a()", "a@3 (@3 )@3"),
        ("#[[ x", ""),
        ("# x", ""),
        ('a("b\\"c" d\\ e)', 'a@1 (@1 "b\\"c"@1 d\\ e@1 )@1'),
        ('a([[x\ny]]\n"1\n2" z)', 'a@1 (@1 [[x\ny]]@1 "1\n2"@3 z@4 )@1'),
        (
            "if(USE_ROCM)\na()\nelseif(B)\nb()\nelse()\nc()\nendif()\nd()",
            "if@3 (@3 B@3 )@3 b@4 (@4 )@4 else@5 (@5 )@5 c@6 (@6 )@6 endif@7 (@7 )@7 d@8 (@8 )@8",
        ),
        (
            "if(A)\na()\nelseif(NOT USE_ROCM)\nb()\nelse()\nc()\nendif()",
            "if@1 (@1 A@1 )@1 a@2 (@2 )@2 else@3 (@3 )@3 b@4 (@4 )@4 endif@7 (@7 )@7",
        ),
        ("if(USE_ROCM)\na()\nendif()\nb()", "b@4 (@4 )@4"),
        (
            'option(USE_ROCM "x" ON)\noption(USE_ROCM)\noption("USE_ROCM" "x")\noption(A "x" OFF)',
            'option@1 (@1 USE_ROCM@1 "x"@1 ON@1 )@1 option@2 (@2 USE_ROCM@2 )@2 option@3 (@3 "USE_ROCM"@3 "x"@3 )@3 '
            'option@4 (@4 A@4 "x"@4 OFF@4 )@4',
        ),
        ("option()", "option@1 (@1 )@1"),
        ('set(USE_ROCM "x" OFF)', 'set@1 (@1 USE_ROCM@1 "x"@1 OFF@1 )@1'),
        ("\na", "2: `a` without brackets"),
        ("a b", "1: `a` without brackets"),
        ("\n1()", "2: '1()' where a command should be"),
        ("\na(\n", "2: a command whose bracket is not closed"),
        ('a(\n"b', "2: '\"b' where an argument should be"),
        ("a(\n[[b", "2: a bracket argument without an end"),
        ("if(A)\nif(B)\nendif()", "1: if() without endif()"),
        ("\nendif()", "2: endif() without if()"),
        ("\nelse()", "2: else() without if()"),
        ("\nelseif(A)", "2: elseif() without if()"),
    ],
)
def test_tokens_of_cmake_and_their_lines(text: str, expected: str) -> None:
    try:
        found = " ".join(f"{token.text}@{token.line}" for token in cmake.stream(text.encode()).tokens)
    except LexError as error:
        found = f"{error.line}: {error}"
    assert found == expected


def test_options_of_a_gate_that_are_off_are_declarations() -> None:
    text = b'a()\noption(USE_ROCM "x" OFF)\noption(USE_HIP "x")\noption(USE_HIP2 "x")\n'
    found = cmake.stream(text)
    assert found.declared == {"USE_ROCM": 2, "USE_HIP": 3}
    assert [(command.name, command.line) for command in found.commands] == [("a", 1), ("option", 4)]


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ("USE_ROCM", "no"),
        ("NOT USE_ROCM", "yes"),
        ("NOT NOT USE_ROCM", "no"),
        ("USE_ROCM AND A", "no"),
        ("USE_ROCM OR A", "A"),
        ("A AND USE_ROCM", "no"),
        ("A OR USE_ROCM", "A"),
        ("A AND NOT USE_ROCM", "A"),
        ("A OR NOT USE_ROCM", "yes"),
        ("A AND B OR USE_ROCM", "(A AND B)"),
        ("A OR B AND USE_ROCM", "no"),
        ("USE_ROCM AND A OR B", "B"),
        ("NOT (USE_ROCM OR A)", "(NOT A)"),
        ("(USE_ROCM)", "no"),
        ("NOT", "NOT"),
        ("A STREQUAL", "A STREQUAL"),
        ("A STREQUAL B", "A STREQUAL B"),
        ("USE_ROCM STREQUAL B AND USE_ROCM", "no"),
        ('A STREQUAL "AND" OR USE_ROCM', 'A STREQUAL "AND"'),
        ("DEFINED USE_ROCM", "DEFINED USE_ROCM"),
        ("DEFINED A AND USE_ROCM", "no"),
        ("TARGET AND USE_ROCM", "no"),
        ("(DEFINED)", "DEFINED"),
        ("EXISTS USE_ROCM OR USE_ROCM", "EXISTS USE_ROCM"),
        ('"USE_ROCM"', '"USE_ROCM"'),
        ("A B", "A B"),
        ('"NOT" USE_ROCM', '"NOT" USE_ROCM'),
        # CMake takes it for false: what stands in the other branch is what runs.
        ("", "()"),
    ],
)
def test_what_is_left_of_a_condition_of_cmake(condition: str, left: str) -> None:
    found = [token.text for token in cmake.stream(f"if({condition})\nyes()\nelse()\nno()\nendif()".encode()).tokens]
    assert found[0] == left if found[0] != "if" else found[2] == left


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('option(USE_ROCM "x" OFF)\nset(USE_ROCM ON)', {"USE_ROCM": 2}),
        ('option(USE_ROCM "x" ON)', {"USE_ROCM": 1}),
        ("message(USE_ROCM)\nmark_as_advanced(USE_ROCM)", {}),
        ("if(USE_ROCM STREQUAL A)\nendif(USE_ROCM STREQUAL A)", {}),
        ("while(USE_ROCM)\nendwhile(USE_ROCM)", {}),
        ('a("USE_ROCM")', {"USE_ROCM": 1}),
        ('\na("-DUSE_ROCM=1")', {"USE_ROCM": 2}),
        ("a(-DUSE_ROCM)", {"USE_ROCM": 1}),
        ("a(-DUSE_ROCM_X)", {}),
        ("a(-DUSE_ROCM:BOOL=1)", {"USE_ROCM": 1}),
        ("set(USE_${X} 1)", {"USE_ROCM": 1, "USE_HIP": 1}),
        ('set("USE_${X}" 1)\na(USE_${X})', {"USE_ROCM": 1, "USE_HIP": 1}),
        ('cmake_parse_arguments(USE "ROCM;A" "" "")', {"USE_ROCM": 1}),
        ('cmake_parse_arguments(PARSE_ARGV 1 USE "A" "ROCM" "")', {"USE_ROCM": 1}),
        ('cmake_parse_arguments()\ncmake_parse_arguments(A "ROCM" "")', {}),
        ('\ncmake_language(EVAL CODE "\n\nset(USE_ROCM 1)")', {"USE_ROCM": 2}),
        ('cmake_language(EVAL CODE "message(\\"USE_ROCM\\")")', {}),
        ('cmake_language(EVAL CODE "set(USE_ROCM")', {"USE_ROCM": 1}),
        ("\n\na(USE_ROCM)\nb(USE_ROCM)", {"USE_ROCM": 3}),
    ],
)
def test_who_may_set_a_gate_of_cmake(text: str, expected: dict[str, int]) -> None:
    assert cmake.untrusted(text.encode()) == expected


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("if(USE_ROCM)\nendif()\na(USE_ROCM)", []),
        ("a()\nif(DEFINED USE_ROCM)\nendif()", [2]),
        ("if(DEFINED CACHE{USE_ROCM})\nendif()", [1]),
        ("while(DEFINED USE_ROCM)\nendwhile()", [1]),
        ("if(A)\nelseif(DEFINED USE_ROCM)\nendif()", [2]),
        ("a(DEFINED USE_ROCM)", []),
        ('a(${USE_ROCM})\na("x${USE_ROCM}y")', [1, 2]),
        ("get_property(x DIRECTORY PROPERTY VARIABLES)", [1]),
        ("get_cmake_property(x CACHE_VARIABLES)\n\nget_cmake_property(y VARIABLES)", [1, 3]),
        ("get_property(x TARGET a)\na(VARIABLES)", []),
    ],
)
def test_who_sees_whether_a_gate_of_cmake_is_declared(text: str, lines: list[int]) -> None:
    assert cmake.mentions(text.encode(), "USE_ROCM") == lines


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("USE_ROCM", True),
        ("USE_ROC", False),
        ("Get_Property", True),
        ("get_directory_property", True),
        ("get_x", False),
    ],
)
def test_texts_that_are_asked_for_a_gate(text: str, may: bool) -> None:
    assert cmake.may_see(text.encode(), "USE_ROCM") is may


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("USE_ROCM", False), ("USE_${A}", True), ("${A}_ROCM", True), ("USE${A}ROCM", True), ("${A}", False),
        ("USE_${A}X", False), ("X${A}", False), ("U${A}S${B}M", False),
    ],
)  # fmt: skip
def test_names_that_may_be_a_gates_in_pieces(text: str, may: bool) -> None:
    assert cmake.gate_in_pieces(text, "USE_ROCM") is may


# Meson.


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("if get_option('rocm')\nendif", {"rocm": 1}),
        ("x\n\nget_option( 'use_rocm' )\nget_option('use_hip')", {"use_rocm": 3, "use_hip": 4}),
        ("get_option('cuda')\nget_option(rocm)\nget_options('rocm')", {}),
    ],
)
def test_gates_that_a_file_of_meson_asks_for(text: str, lines: dict[str, int]) -> None:
    assert meson.gates(text.encode()) == lines


# Files that are data.


def told(found: list[Difference]) -> list[str]:
    return [f"{item.kind.name[0]} {item.line} {item.original_line} {item.message}" for item in found]


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ("a\nb", "a\nc", ["D 2 2 `b` stands where `c` was"]),
        ("a\nb\nc", "a\nc", ["D 2 2 added on every platform: `b`"]),
        ("a\nc", "a\nb\nc", ["D 2 2 missing on NVIDIA: `b`"]),
        ("a\nb", "a", ["D 2 1 added on every platform: `b`"]),
        ("\0", "a", ["D 0 0 the bytes are not the same"]),
        ("a", "\0", ["D 0 0 the bytes are not the same"]),
        ("a", "a", ["D 0 0 the bytes are not the same"]),
        ("x" * 60, "y" * 61, [f"D 1 1 `{'x' * 60}` stands where `{'y' * 57}...` was"]),
        ("a\nb\nc\nd", "a\nX\nc\nY", ["D 2 2 `b` stands where `X` was", "D 4 4 `d` stands where `Y` was"]),
    ],
)
def test_a_text_by_its_lines(new: str, old: str, expected: list[str]) -> None:
    assert told(data.by_lines("p", new.encode(), old.encode())) == expected


def test_no_more_than_twenty_lines_of_a_text_are_told() -> None:
    new, old = ("\n".join(f"{letter}{number}\nx" for number in range(30)) for letter in "ab")
    found = data.by_lines("p", new.encode(), old.encode())
    assert [item.line for item in found] == list(range(1, 41, 2))


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ("a # x", "a", []),
        ("a\\\n b", "a b", []),
        ("a\n# x\\\nb", "a\nb", []),
        ("  a   b", "a b", []),
        ("\ufeffa\r\nb", "a\nb", []),
        ("a#b", "a", ["D 1 1 `a#b` stands where `a` was"]),
        ("b\na", "a\nb", ["D 1 1 missing on NVIDIA: `a`", "D 2 2 added on every platform: `a`"]),
        (
            "a # x\\\nb",
            "a\nb",
            [
                "D 1 1 `a # x\\` stands where `a` was",
                "U 0 0 a comment ends in a backslash: whether the next line belongs to it depends on who reads "
                "the file",
            ],
        ),
    ],
)
def test_requirements_by_their_lines(new: str, old: str, expected: list[str]) -> None:
    assert told(data.requirements("p", new.encode(), old.encode())) == expected


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ("a=1", "a=2", ["D 1 0 `a` is 1, was 2"]),
        ("a=1\nb=2", "a=1", ["D 2 0 `b` is new"]),
        ("a=1", "a=1\nb=2", ["D 0 0 `b` is missing"]),
        ("b=2\na=1", "a=1\nb=2", ["D 0 0 the entries of `the file` are in another order"]),
        ("[a]\nx=1\ny=2", "[a]\ny=2\nx=1", ["D 0 0 the entries of `a` are in another order"]),
        ("a=1.0", "a=1", ["D 1 0 `a` is 1.0, was 1"]),
        ("a=true", "a=1", ["D 1 0 `a` is True, was 1"]),
        ("[a]\nb=1", "[a]\nb=2", ["D 2 0 `a.b` is 1, was 2"]),
        (f"a='{'x' * 58}'", "a=1", [f"D 1 0 `a` is '{'x' * 58}', was 1"]),
        (f"a='{'x' * 59}'", "a=1", [f"D 1 0 `a` is '{'x' * 56}..., was 1"]),
        # Asked for by name only.
        ("[project]\nname='a'\n[project.optional-dependencies]\nx=[]", "[project]\nname='a'", []),
        ("[project.optional-dependencies]\ny=[]\nx=[]", "[project.optional-dependencies]\ny=[]", []),
        ("[dependency-groups]\nx=[]", "", []),
        ("[tool.rocport]\na=1", "", []),
        ("[tool.rocport]\na=1", "[tool]\n", []),
        ("[tool.rocport.a]\nb=1", "[tool.rocport]", []),
        # uv takes these unasked.
        ("[dependency-groups]\ndev=[]", "", ["D 1 0 `dependency-groups` is new"]),
        ("[dependency-groups]\na=[]\nDev=[]", "[dependency-groups]\na=[]", ["D 3 0 `dependency-groups.Dev` is new"]),
        ("[tool.uv]\ndev-dependencies=[]\n", "[tool.uv]", ["D 2 0 `tool.uv.dev-dependencies` is new"]),
        ("[tool.x]\na=1", "", ["D 1 0 `tool.x` is new"]),
        ("[project.optional-dependencies]\nx=[]", "", ["D 1 0 `project` is new"]),
    ],
)
def test_toml_by_its_content(new: str, old: str, expected: list[str]) -> None:
    assert told(data.toml("p", new.encode(), old.encode())) == expected


def test_what_is_no_toml_is_compared_by_its_lines_and_named() -> None:
    first, second = told(data.toml("p", b"x", b"a=1"))
    assert first == "D 1 1 `x` stands where `a=1` was" and second.startswith("R 0 0 is not TOML: ")


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ("[a]\nb=1", "[a]\nb=2", ["D 2 0 `a.b` is '1', was '2'"]),
        ("[a]\nB=1", "[a]\nb=1", ["D 0 0 `a.b` is missing", "D 2 0 `a.B` is new"]),
        ("[options.extras_require]\nx=1", "[options.extras_require]\n", []),
        ("[options.extras_require]\nx=1", "", []),
        ("[a]\nx=1", "b", ["D 1 1 `[a] x=1` stands where `b` was"]),
        ("[a]\n[b]", "[b]\n[a]", ["D 0 0 the entries of `the file` are in another order"]),
    ],
)
def test_ini_by_its_content(new: str, old: str, expected: list[str]) -> None:
    assert told(data.ini("p", new.encode(), old.encode())) == expected


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ('{"a":1}', '{"a": 1}', []),
        ('{"a":1,"a":2}', '{"a":2}', ['D 1 1 `{"a":1,"a":2}` stands where `{"a":2}` was']),
        ('{"a":1,"b":2}', '{"b":2,"a":1}', ["D 0 0 the entries of `the file` are in another order"]),
        ("[1]", "[1.0]", ["D 0 0 `` is [1], was [1.0]"]),
        ('{"a":[1]}', '{"a":[2]}', ["D 1 0 `a` is [1], was [2]"]),
        ("x", "{}", ["D 1 1 `x` stands where `{}` was"]),
    ],
)
def test_json_by_its_content(new: str, old: str, expected: list[str]) -> None:
    assert told(data.json_content("p", new.encode(), old.encode())) == expected


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        ("include a", "include a", []),
        ("include a\ninclude b", "include a", ["R 2 0 ships more in the source distribution: include b"]),
        ("include b\ninclude a", "include a", ["R 1 0 ships more in the source distribution: include b"]),
        (
            "include a\nrecursive-include b *\ngraft c\nglobal-include *.h",
            "include a",
            ["R 2 0 ships more in the source distribution: recursive-include b *; graft c; global-include *.h"],
        ),
        ("include a\nprune c", "include a", ["D 2 1 added on every platform: `prune c`"]),
        ("include a\nincluded c", "include a", ["D 2 1 added on every platform: `included c`"]),
        ("include b", "include a\ninclude b", ["D 1 1 missing on NVIDIA: `include a`"]),
        (
            "include b\ninclude a",
            "include a\ninclude b",
            ["D 1 1 missing on NVIDIA: `include a`", "D 2 2 added on every platform: `include a`"],
        ),
    ],
)
def test_what_a_source_distribution_ships(new: str, old: str, expected: list[str]) -> None:
    assert told(data.manifest_in("p", new.encode(), old.encode())) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('requires-python = ">=3.8"', (3, 8)),
        ('python_requires=">=3.9,<4"', (3, 9)),
        ('x\npython = "^3.10"', (3, 10)),
        (' python = "^3.10"', None),
        ('requires-python = "~=3.7"', (3, 7)),
        ('requires-python = "==3.11"', (3, 11)),
        ('requires-python = "<4, >=3.12"', (3, 12)),
        ('requires-python = "<4"', None),
    ],
)
def test_the_lowest_python_that_is_declared(text: str, expected: tuple[int, int] | None) -> None:
    assert data.requires_python([b"", text.encode()]) == expected


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([("code", "x")], "__cell__()\nx\n"),
        ([("markdown", "x"), ("code", "y")], "__cell__()\ny\n"),
        ([("code", ["x\n", "y;"])], "__cell__()\nx\ny;\n__quiet__()\n"),
        ([("code", "%%bash\nls;"), ("code", "z")], "__cell__()\n__cell_magic__('%%bash\\nls;')\n__cell__()\nz\n"),
        ([("code", "if x:\n  !ls\n%time y")], "__cell__()\nif x:\n  __magic__('!ls')\n__magic__('%time y')\n"),
        ([("code", "x y")], None),
    ],
)
def test_a_notebook_as_one_module(cells: list[tuple[str, str | list[str]]], expected: str | None) -> None:
    body = {"cells": [{"cell_type": kind, "source": source} for kind, source in cells]}
    found = data.notebook(json.dumps(body).encode())
    assert found == (None if expected is None else expected.encode())
    frame = data.notebook_frame(json.dumps(body).encode())
    assert [cell["source"] for cell in frame["cells"]] == [text if kind != "code" else "" for kind, text in cells]


@pytest.mark.parametrize("text", ["x", "[]", '{"cells":[{}]}', '{"cells":[1]}'])
def test_what_is_no_notebook(text: str) -> None:
    assert data.notebook(text.encode()) is None


@pytest.mark.parametrize(
    ("path", "new", "old", "expected"),
    [
        ("pyproject.toml", "[project.optional-dependencies]\na=[]\nb=[]", "[project.optional-dependencies]\na=[]", "b"),
        ("x/pyproject.toml", "[dependency-groups]\nc=[]", "", "c"),
        ("setup.cfg", "[options.extras_require]\na=x\nb=y", "[options.extras_require]\na=x", "b"),
        ("x/setup.cfg", "[options.extras_require]\nb=y", "", "b"),
        ("setup.cfg", "[options.extras_require]\nb=y", "[", "b"),
        ("setup.cfg", "[", "[", ""),
        ("a.toml", "[dependency-groups]\nc=[]", "", ""),
        ("pyproject.toml", "[", "[a]", ""),
    ],
)
def test_extras_that_are_new(path: str, new: str, old: str, expected: str) -> None:
    assert data.new_extras(path, new.encode(), old.encode()) == frozenset(expected)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("--all-extras", True), ("--all-groups", True), ("--all-extrasx", False), ("--extra amd", True),
        ("--extra=amd", True), ("--group x.y", True), ("--only-group amd", True), ("--with amd", True),
        ("--extra xzy", False), ("pip install .[amd]", True), ("a[b, amd]", True), ("a[amdx]", False),
        ('extras = ["amd"]', True), ("groups: amd", True), ("features=x, amd", True), ("x amd", False),
        ("extras = a\namd", False),
    ],
)  # fmt: skip
def test_who_asks_for_an_extra(text: str, asks: bool) -> None:
    assert bool(data.asks_for(["amd", "x.y"]).search(text.encode())) is asks


# Python.


@pytest.mark.parametrize(
    ("importer", "level", "name", "expected"),
    [
        ("p/q/m.py", 0, "a.b", ["a/b", "src/a/b", "python/a/b", "p/q/a/b"]),
        ("m.py", 0, "a", ["a", "src/a", "python/a"]),
        ("p/q/m.py", 1, "a", ["p/q/a"]),
        ("p/q/m.py", 1, "", ["p/q"]),
        ("p/q/m.py", 2, "a.b", ["p/a/b"]),
        ("p/q/m.py", 2, "", ["p"]),
        ("p/q/m.py", 3, "a", ["a"]),
        ("p/q/m.py", 3, "", [""]),
        ("p/q/m.py", 4, "a", []),
        ("m.py", 1, "a", ["a"]),
        ("m.py", 2, "a", []),
    ],
)
def test_what_an_import_could_name(importer: str, level: int, name: str, expected: list[str]) -> None:
    assert reach_python.import_targets(importer, level, name) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a.b, c", [(0, "a.b", 1), (0, "c", 1)]),
        ("\nfrom a import b as c", [(0, "a", 2), (0, "a.b", 2)]),
        ("from . import x", [(1, "", 1), (1, "x", 1)]),
        ("from ..p.q import x, y", [(2, "p.q", 1), (2, "p.q.x", 1), (2, "p.q.y", 1)]),
        ("def f():\n import z", [(0, "z", 2)]),
    ],
)
def test_what_a_module_imports(text: str, expected: list[tuple[int, str, int]]) -> None:
    assert reach_python.imported(ast.parse(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import a.b as c, d\nfrom e.f import g\nfrom .h import i\n  import j", "adej"),
        ("# import x\nximport y\nfrom . import z", ""),
    ],
)
def test_modules_that_a_text_names(text: str, expected: str) -> None:
    assert reach_python.top_names(text.encode()) == set(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import glob\nX = glob.glob('*.cu')", "2 *.cu p/*.cu"),
        ("glob('a/*.cu')", "1 a/*.cu p/a/*.cu"),
        ("glob.glob()", "1"),
        ("glob.glob(1)", "1 ?"),
        ("f(glob)\nprint('glob')", ""),
        ("os.listdir()", "1 * p/*"),
        ("os.listdir('a')", "1 a/* p/a/*"),
        ("os.walk('a')", "1 deep a/* p/a/*"),
        ("Path('a').walk()", "1 deep a/* p/a/*"),
        ("walk()", "1 deep"),
        ("pkgutil.iter_modules(__path__)", "1 p/*.py p/p/*.py"),
        ("pkgutil.walk_packages(['a'])", "1 deep a/*.py p/a/*.py"),
        ("Path('a').glob('*.cu')", "1 a/*.cu p/a/*.cu"),
        ("Path('a').rglob('*.cu')", "1 deep a/**/*.cu p/a/**/*.cu"),
        ("Path(__file__).parent.iterdir()", "1 p/* p/p/*"),
        ("Path().iterdir()", "1 * p/*"),
        ("Path('a', 'b').resolve().glob('*')", "1 a/b/* p/a/b/*"),
        ("(Path('a') / 'b').glob('*')", "1 a/b/* p/a/b/*"),
        ("Path('a').joinpath('b', 'c').glob('*')", "1 a/b/c/* p/a/b/c/*"),
        ("glob.glob(Path('a/b').parent)", "1 a p/a"),
        ("glob.glob(os.path.join('a', 'b', '*.c'))", "1 a/b/*.c p/a/b/*.c"),
        ("glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), '*.c'))", "1 p/*.c p/p/*.c"),
        ("glob.glob(os.path.join(os.path.dirname(x), 'a'))", "1 ?/a"),
        ("glob.glob(os.path.dirname('a/b'))", "1 a p/a"),
        ("glob.glob(os.curdir + '/*')", "1 * p/*"),
        ("glob.glob(m.__file__)", "1 ?"),
        ("os.listdir(m.__path__[0])", "1 ?/*"),
        ("os.listdir(__path__[0])", "1 p/* p/p/*"),
        ("glob.glob(x[0])", "1 ?"),
        ("glob.glob(str(x))", "1 ?"),
        ("glob.glob(f'{x}/*.c')", "1 ?/*.c"),
        ("x = 'a'\ny = 'b'\nglob.glob(f'{x}/{y}*.c')", "3 a/b*.c p/a/b*.c"),
        ("x = ['a', 'b']\nglob.glob(x)", "2 a b p/a p/b"),
        ("x = x + 'a'\nglob.glob(x)", "2 ?a"),
        ("glob.glob(x if y else 'a')", "1 ? a p/a"),
        ("for d in ('a', 'b'):\n glob.glob(d + '/*.c')", "2 a/*.c b/*.c p/a/*.c p/b/*.c"),
        ("for d in g():\n glob.glob(d + '/*.c')", "2 ?/*.c"),
        (
            "def f():\n  for n in os.listdir('a'):\n    if n.endswith(('.cu', '.cuh')): pass",
            "2 a/* p/a/* .cu .cuh",
        ),
        ("def f():\n  os.listdir('a')\ndef g(n):\n  n.endswith('.cu')", "2 a/* p/a/*"),
    ],
)
def test_what_a_call_lists(text: str, expected: str) -> None:
    found = [
        " ".join([str(item.line), *["deep"] * item.deep, *item.patterns, *sorted(item.suffixes)])
        for item in reach_python.listings("p/m.py", ast.parse(text))
    ]
    assert "".join(found).replace(reach_python.UNKNOWN, "?") == expected


@pytest.mark.parametrize(
    ("patterns", "deep", "suffixes", "folder", "expected"),
    [
        ("a/*.cu", False, (), "", True),
        ("b/*.cu a/*.cu", False, (), "", True),
        ("b/*.cu", False, (), "", False),
        ("*.cu", False, (), "", False),
        ("a/*", False, (".cu",), "", True),
        ("a/*", False, (".h",), "", False),
        ("?/*.cu", False, (), "a", None),
        ("?/*.cu", False, (), "b", False),
        ("?/*.cu a/*", False, (), "b", True),
        ("?/*.cu", True, (), "b", None),
        ("?/*", False, (), "a", False),
        ("?/*", False, (".cu",), "a", None),
        ("?/**/x*.cu", False, (), "b", None),
    ],
)
def test_who_lists_a_new_file(
    patterns: str, deep: bool, suffixes: tuple[str, ...], folder: str, expected: bool | None
) -> None:
    of = [pattern.replace("?", reach_python.UNKNOWN) for pattern in patterns.split()]
    assert reach_python.Listing(1, of, deep, frozenset(suffixes)).finds("a/x.cu", frozenset({folder})) is expected


_PROJECT = b"[project]\nname='a'\n"
_FOUND = "automatic discovery||*||True|pyproject.toml|0"


@pytest.mark.parametrize(
    ("setup", "cfg", "pyproject", "expected"),
    [
        ("setup(packages=find_packages())", {}, None, "find_packages||*||False|setup.py|1"),
        (
            "\nsetup(packages=find_packages('src', ['t', 'u'], include=('a*',)))", {}, _PROJECT,
            "find_packages|src|a*|t u|False|setup.py|2",
        ),
        ("find_namespace_packages(where='./src')", {}, None, "find_namespace_packages|src|*||True|setup.py|1"),
        ("setup(packages=['a'])", {}, _PROJECT, ""),
        ("setup(py_modules=['a'])", {}, _PROJECT, ""),
        ("setup(name='a')", {}, _PROJECT, _FOUND),
        (
            "", {"options": {"packages": "find:"},
                 "options.packages.find": {"where": "src", "include": "a*, b*\nc", "exclude": "t"}}, _PROJECT,
            "packages = find:|src|a* b* c|t|False|setup.cfg|0",
        ),
        ("", {"options": {"packages": " find_namespace: "}}, None, "packages = find_namespace:||*||True|setup.cfg|0"),
        ("", {"options": {"packages": "a"}}, _PROJECT, ""),
        ("", {"options": {"py_modules": "a"}}, _PROJECT, ""),
        ("", {"options": {}}, _PROJECT, _FOUND),
        ("", {}, b"[", ""),
        ("", {}, b"x=1", ""),
        ("", {}, b"[build-system]\nbuild-backend='hatchling.build'\n" + _PROJECT, ""),
        (
            "", {}, b"[build-system]\nbuild-backend='setuptools.build_meta'\n" + _PROJECT,
            _FOUND,
        ),
        (
            "", {}, b"[tool.setuptools.packages.find]\nwhere=['src','./lib']\ninclude=['a*']\nexclude=['b']\n"
                    b"namespaces=false",
            "tool.setuptools.packages.find|src|a*|b|False|pyproject.toml|0 "
            "tool.setuptools.packages.find|lib|a*|b|False|pyproject.toml|0",
        ),
        (
            "", {}, _PROJECT + b"[tool.setuptools.packages.find]",
            "tool.setuptools.packages.find||*||True|pyproject.toml|0",
        ),
        ("", {}, _PROJECT + b"[tool.setuptools]\npackages=['a']", ""),
        ("", {}, _PROJECT + b"[tool.setuptools]\npy-modules=['a']", ""),
    ],
)  # fmt: skip
def test_how_packages_are_found(
    setup: str, cfg: dict[str, dict[str, str]], pyproject: bytes | None, expected: str
) -> None:
    found = reach_python.discoveries(
        {"setup.py": ast.parse(setup)} if setup else {}, {"setup.cfg": cfg} if cfg else {}, pyproject
    )
    said = (
        (one.how, one.where, " ".join(one.include), " ".join(one.exclude), one.namespaces, one.path, one.line)
        for one in found
    )
    assert " ".join("|".join(map(str, words)) for words in said) == expected


@pytest.mark.parametrize(
    ("where", "include", "exclude", "namespaces", "folder", "packages", "expected"),
    [
        ("", "*", "", False, "a", "a", True),
        ("", "*", "", False, "a", "", False),
        ("", "*", "", False, "a/b", "a a/b", True),
        ("", "*", "", False, "a/b", "a/b", False),
        ("", "*", "", False, "a/b", "a", False),
        ("src", "*", "", False, "src/a", "src/a", True),
        ("src", "*", "", False, "a", "a", False),
        ("src", "*", "", False, "src", "src", False),
        ("src", "*", "", False, "srca", "srca", False),
        ("", "*", "", True, "a/b", "", True),
        ("", "*", "", True, "a-b", "", False),
        ("", "x a.*", "", False, "a/b", "a a/b", True),
        ("", "a.*", "", False, "a", "a", False),
        ("", "*", "x a", False, "a", "a", False),
        ("", "*", "a", False, "a/b", "a a/b", True),
    ],
)
def test_whether_a_folder_is_found_as_a_package(
    where: str, include: str, exclude: str, namespaces: bool, folder: str, packages: str, expected: bool
) -> None:
    found = reach_python.Discovery("", where, include.split(), exclude.split(), namespaces, "", 0)
    assert found.finds(folder, frozenset(packages.split())) is expected


@pytest.mark.parametrize(
    ("folder", "has_src", "expected"),
    [
        ("a", False, True), ("tests", False, False), ("a/tests", False, True), ("_a", False, False),
        ("a-b", False, False), ("src/a", True, True), ("src", True, False), ("a", True, False),
        ("src/a-b", True, False), ("src/tests", True, True),
    ],
)  # fmt: skip
def test_folders_that_setuptools_takes_for_packages(folder: str, has_src: bool, expected: bool) -> None:
    assert reach_python.found_automatically(folder, has_src) is expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [("a.py", True), ("setup.py", False), ("a.txt", False), ("_a.py", False), ("a.b.py", False)],
)
def test_files_that_setuptools_takes_for_modules(path: str, expected: bool) -> None:
    assert reach_python.module_found_automatically(path) is expected


def test_modules_and_packages_that_are_named_one_by_one() -> None:
    files = {
        "setup.py": b"setup(py_modules=['a', 'b'])", "setup.cfg": b"[options]\npy_modules=c, d\n",
        "pyproject.toml": b"[tool.setuptools]\npy-modules=['e']",
    }  # fmt: skip
    assert reach_python.py_modules(files) == frozenset("abcde")
    assert reach_python.py_modules({"setup.py": b"(", "setup.cfg": b"[", "pyproject.toml": b"["}) == frozenset()
    paths = ["a/__init__.py", "b/c/__init__.py", "a/x.py", "__init__.py", "d/x__init__.py"]
    assert reach_python.packages_of(paths) == frozenset(["", "a", "b/c"])
