"""What a compiler printed, as errors with a place in the tree, the line they come from, and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from rocport.facts.symbols import load
from rocport.model.verification import Diagnostic
from rocport.verify.diagnostics import (
    Origins,
    aligned,
    dangerous,
    explain,
    is_dangerous,
    is_gpu_header,
    missing_header,
    name_macros,
    occupancy,
    parse,
)

TREE = Path("/t")


def errors(text: str, limit: int = 20) -> list[tuple[str, int, int, str, str]]:
    found = parse(text, TREE, "unit.cu", Origins(), limit)
    return [(one.path, one.line, one.column, one.message, one.within) for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a.cu:1:2: warning: w\na.cu:1:2: note: n\n1 error generated.\n", []),
        ("a.cu:1:2: error: e\n", [("a.cu", 1, 2, "e", "")]),
        ("/t/sub/../b.cuh:3:4: fatal error: e\n", [("b.cuh", 3, 4, "e", "")]),
        ("./a.cu:1:2: error: e: with: colons\n", [("a.cu", 1, 2, "e: with: colons", "")]),
        # Outside the tree: where the nearest file of the tree includes it, else the unit.
        ("/tt/x.h:3:4: error: e\n", [("unit.cu", 0, 0, "e", "/tt/x.h")]),
        ("In file included from a.cu:2:\nIn file included from b.h:3:\nIn file included from /s/include/y.h:4:\n"
         "/s/include/c++/13/z.h:5:6: error: e\n", [("b.h", 3, 0, "e", "z.h")]),
        ("In file included from /s/include/y.h:4:\n/s/include/z.h:5:6: error: e\n",
         [("unit.cu", 0, 0, "e", "z.h")]),
        # A stack holds until another is printed.
        ("In file included from a.cu:2:\n/s/z.h:5:6: error: e\nIn file included from a.cu:9:\n/s/z.h:5:6: error: f\n",
         [("a.cu", 2, 0, "e", "/s/z.h"), ("a.cu", 9, 0, "f", "/s/z.h")]),
        # The first note in the tree says where it was asked for; later ones and those outside do not.
        ("/s/z.h:5:6: error: e\n/s/z.h:1:1: note: declared\na.cu:7:8: note: here\na.cu:9:9: note: there\n",
         [("a.cu", 7, 8, "e", "/s/z.h")]),
        ("/s/z.h:5:6: error: e\na.cu:7:8: warning: w\n", [("unit.cu", 0, 0, "e", "/s/z.h")]),
        ("/s/z.h:5:6: error: e\na.cu:7:8: error: f\na.cu:9:9: note: of f\n",
         [("unit.cu", 0, 0, "e", "/s/z.h"), ("a.cu", 7, 8, "f", "")]),
        ("a.cu:1:1: error: e\na.cu:2:2: note: n\n", [("a.cu", 1, 1, "e", "")]),
        # Each once.
        ("a.cu:1:1: error: e\na.cu:1:1: error: e\na.cu:1:2: error: e\n",
         [("a.cu", 1, 1, "e", ""), ("a.cu", 1, 2, "e", "")]),
        # Without a place.
        ("lld: error: undefined symbol: f\n", [("unit.cu", 0, 0, "undefined symbol: f", "")]),
        ("clang++: error: linker command failed with exit code 1\n/x/clang-19: error: y command failed\n", []),
        ("/s/z.h:5:6: error: e\nld.lld: error: f\n",
         [("unit.cu", 0, 0, "e", "/s/z.h"), ("unit.cu", 0, 0, "f", "")]),
        ("gcc: error: f\n", []),
        # The line below a message of the assembler names the instruction.
        ("<inline asm>:1:2: error: e\n", [("<inline asm>", 1, 2, "e", "")]),
        ("a.cu:1:2: error: invalid instruction\n<inline asm>:1:2: note: instantiated into assembly here\n"
         "    1 |   mov.u32 r0, r1\n      |   ^\n", [("a.cu", 1, 2, "invalid instruction: mov.u32", "")]),
        ("a.cu:1:2: error: e\n    1 |   mov.u32 r0\n", [("a.cu", 1, 2, "e", "")]),
        ("<inline asm>:1:2: note: n\n    1 |   mov.u32 r0\n", []),
        ("a.cu:1:2: error: e\n<inline asm>:1:2: note: n\n  1 |\n  2 | bar.sync 0\n  3 | ret\n",
         [("a.cu", 1, 2, "e: bar.sync", "")]),
    ],
)  # fmt: skip
def test_errors_stand_at_the_nearest_place_in_the_tree(
    text: str, expected: list[tuple[str, int, int, str, str]]
) -> None:
    assert errors(text) == expected


def test_no_more_errors_than_asked_for() -> None:
    text = "".join(f"a.cu:{line}:1: error: e\n" for line in range(1, 40))
    assert len(errors(text)) == 20 and [one[1] for one in errors(text, 3)] == [1, 2, 3] and errors(text, 0) == []


def origins(tmp_path: Path, before: str, after: str) -> Origins:
    for name, text in (("source", before), ("port", after)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.cu").write_text(text)
    return Origins({"b.hip": "a.cu", "a.cu": "a.cu", "new.h": ""}, tmp_path / "source", tmp_path / "port")


@pytest.mark.parametrize(
    ("before", "after", "lines"),
    [
        ("1\n2\n3\n", "1\nX\n3\n", [1, 2, 3]),
        ("1\n2\n", "inc\n1\n2\n", [1, 1, 2]),
        ("1\n2\n3\n", "1\n3\n", [1, 3]),
        ("1\n2\n3\n", "1\nX\nY\nZ\n3\n", [1, 2, 2, 2, 3]),
        ("1\n2\n", "1\n2\nmore\n", [1, 2, 2]),
        ("1\n2\n3\n4\n", "1\nX\n4\n", [1, 2, 4]),
    ],
)
def test_a_line_of_the_port_has_its_line_of_the_source(
    before: str, after: str, lines: list[int], tmp_path: Path
) -> None:
    known = origins(tmp_path, before, after)
    assert [known.of("a.cu", line + 1) for line in range(len(lines))] == [("a.cu", line) for line in lines]
    assert known.of("a.cu", 0) == ("a.cu", None) == known.of("a.cu", len(lines) + 1)


def test_what_is_known_of_a_line_depends_on_what_is_at_hand(tmp_path: Path) -> None:
    known = origins(tmp_path, "1\n2\n", "1\n2\n")
    assert known.of("new.h", 1) == (None, None) == known.of("other", 1)
    assert known.of("b.hip", 1) == ("a.cu", None), "the port has no such file any more"
    assert Origins().of("a.cu", 7) == ("a.cu", 7), "no port: the tree is its own source"
    assert Origins({"a.cu": "x.cu"}).of("a.cu", 7) == ("x.cu", None)
    assert known.of("a.cu", 1) == ("a.cu", 1)
    (tmp_path / "source" / "a.cu").write_text("changed\n1\n2\n")
    assert known.of("a.cu", 1) == ("a.cu", 1), "read once"


def test_an_error_carries_its_origin_and_what_is_known_of_it(tmp_path: Path) -> None:
    known = origins(tmp_path, "1\n2\n", "inc\n1\n2\n")
    port = tmp_path / "port"
    (one,) = parse("a.cu:3:1: error: use of undeclared identifier 'cudaMalloc'\n", port, "a.cu", known)
    assert (one.original_path, one.original_line) == ("a.cu", 2) and "hipMalloc" in one.explanation
    (none,) = parse("lld: error: x\n", port, "a.cu", known)
    assert (none.original_path, none.original_line, none.explanation) == ("a.cu", None, "")


def test_the_header_that_is_nowhere() -> None:
    def of(*messages: str) -> str | None:
        return missing_header(tuple(Diagnostic("a", 1, 1, message) for message in messages))

    assert of("x", "'a/b.h' file not found", "'c.h' file not found") == "a/b.h"
    assert of() is None and of("in 'a.h' file not found") is None


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("cuda_runtime.h", True), ("hipblas/hipblas.h", True), ("torch/extension.h", True), ("c10/cuda/x.h", True),
        ("ATen/x.h", True), ("THC/THC.h", True), ("cutlass/x.h", True), ("cute/x.hpp", True), ("rocport_warp.h", True),
        ("ck/ck.hpp", False), ("ck_tile/core.hpp", False), ("ckx/a.h", False), ("torchvision/x.h", False),
        ("my/torch/x.h", False), ("vector", False),
    ],
)  # fmt: skip
def test_headers_of_gpu_programs(name: str, expected: bool) -> None:
    assert is_gpu_header(name) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.cu:1:1: error: N is too large\n", True),
        ("a.cu:1:1: error: x\na.cu:2:2: note: value of N\n", True),
        ("a.cu:1:1: error: x\n  1 | f(N);\n", True),
        ("a.cu:1:1: error: x\nIn file included from N:1:\n", False),
        ("a.cu:1:1: error: NN is too large\n", False),
        ("a.cu:1:1: warning: N is odd\n", False),
        ("a.cu:1:1: error: x\na.cu:1:1: warning: w\n  1 | N\n", False),
        ("a.cu:1:1: error: N\na.cu:2:1: error: another\n", True),
        ("a.cu:1:1: error: N\na.cu:2:1: error: use of undeclared identifier 'cudaMalloc'\n", False),
        ("a.cu:1:1: error: N\na.cu:2:1: error: unknown type 'nvFoo_t'\n", False),
        ("a.cu:1:1: error: N and use of undeclared identifier 'cudaMalloc'\n", True),
        ("a.cu:1:1: fatal error: M1\n", True),
        ("", False),
    ],
)
def test_errors_that_come_from_a_macros_value(text: str, expected: bool) -> None:
    assert name_macros(text, ["N", "M1"]) is expected


@pytest.mark.parametrize("flag", ["return-type", "uninitialized", "sometimes-uninitialized", "infinite-recursion"])
def test_warnings_about_code_without_a_meaning(flag: str) -> None:
    line = f"a.cu:3:4: warning: w [-W{flag}]"
    assert is_dangerous(line)
    for other in (line.replace("warning", "note"), line + " more", line.replace("a.cu:3:4: ", ""),
                  line.replace(flag, f"no-{flag}")):  # fmt: skip
        assert not is_dangerous(other)


def test_each_such_warning_once_with_its_place() -> None:
    line = "{}: warning: w [-Wreturn-type]\n"
    text = line.format("a.cu:3:4") * 2 + line.format("/t/a.cu:3:9") + line.format("/s/x.h:1:1") + "a.cu:5:1: error: e\n"
    assert dangerous(text, TREE) == [("a.cu", 3, "w [-Wreturn-type]"), ("/s/x.h", 1, "w [-Wreturn-type]")]
    assert dangerous("", TREE) == []


def test_waves_are_read_from_the_remarks() -> None:
    tail = "[-Rpass-analysis=kernel-resource-usage]\n"
    text = (
        f"a.cu:1:0: remark: Function Name: _Z1kv {tail}a.cu:1:0: remark:     VGPRs: 8 {tail}"
        f"a.cu:1:0: remark:     Occupancy [waves/SIMD]: 8 {tail}"
        f"a.cu:2:0: remark: Function Name: other {tail}a.cu:2:0: remark:     Occupancy [waves/SIMD]: 10 {tail}"
    )
    assert occupancy(text) == {"_Z1kv": 8, "other": 10} and occupancy("") == {}


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("'cublas_v2.h' file not found", ["cublas_v2.h is hipblas/hipblas.h in HIP; it was not translated here"]),
        ("'hipblas/hipblas.h' file not found", ["hipblas/hipblas.h stands for CUDA's", "these HIP headers lack it"]),
        ("use of undeclared identifier 'cudaMalloc'", ["cudaMalloc is hipMalloc in HIP; it was not"]),
        ("use of undeclared identifier 'hipMalloc'", ["hipMalloc stands for CUDA's", "headers do not declare it"]),
        ("unknown type name 'cudaStream_t'", ["hipStream_t"]),
        ("no member named 'cudaMalloc' in namespace 'x'", []),
        ("undefined hidden symbol: ns::cudaMalloc(int)", ["hipMalloc"]),
        ("undefined symbol: cudaMalloc", ["hipMalloc"]),
        ("use of undeclared identifier 'cudnnCreate'", ["has no counterpart in ROCm"]),
        ("local memory (70000) exceeds limit (65536) in function 'k'",
         ["needs 70000 bytes of LDS, one workgroup may have 65536"]),
        ("invalid instruction: mov.u32", ["mov.u32 is no AMD instruction: if it is PTX"]),
        ("unexpected token in argument list: bar.sync", ["bar.sync is no AMD instruction"]),
        ("invalid instruction", []),
        ("expected ';' after expression", []),
        ("use of undeclared identifier 'mine'", []),
        ("'mine.h' file not found", []),
        ("", []),
    ],
)  # fmt: skip
def test_why_an_error_happens(message: str, words: list[str]) -> None:
    said = explain(message)
    assert all(word in said for word in words), said
    if not words and message in ("", "expected ';' after expression", "use of undeclared identifier 'mine'"):
        assert said == ""


def test_a_name_that_came_or_went_says_with_which_rocm() -> None:
    rows = [row for row in load().identifiers.values() if row.hip and row.hip != row.cuda]
    kinds = {(bool(row.since), bool(row.until), bool(row.note)): row for row in rows}
    assert {(False, False, False), (True, False, False), (False, False, True)} <= set(kinds)
    assert any(until for _, until, _ in kinds)
    for row in kinds.values():
        ages = f", since ROCm {row.since.lstrip('~')}" if row.since else ""
        ages += f", gone in ROCm {row.until.lstrip('~')}" if row.until else ""
        said = f"{row.cuda} is {row.hip} in HIP{ages}; it was not translated here"
        said += f" ({row.note})" if row.note else ""
        assert explain(f"use of undeclared identifier '{row.cuda}'") == said


def test_a_name_without_a_counterpart_says_what_to_do_where_that_is_known() -> None:
    rows = [row for row in load().identifiers.values() if not row.hip]
    for row in (next(row for row in rows if row.note), next(row for row in rows if not row.note)):
        tail = f": {row.note}" if row.note else ""
        expected = f"{row.cuda} ({row.library}) has no counterpart in ROCm{tail}"
        assert explain(f"use of undeclared identifier '{row.cuda}'") == expected


def test_a_call_with_other_parameters_says_what_differs() -> None:
    row = next(row for row in load().identifiers.values() if row.hip and row.note and row.hip != row.cuda)
    said = explain(f"no matching function for call to '{row.hip}'")
    assert said.startswith(f"{row.hip} takes other parameters than CUDA's ") and row.note.split(":")[0] in said


def test_notes_and_fixits_belong_to_their_error() -> None:
    text = (
        "In file included from a.cu:2:\n/s/include/hip/x.h:5:6: error: e\na.cu:1:9: note: expanded from macro 'min'\n"
        'a.cu:3:1: error: f\nfix-it:"a.cu":{3:1-3:4}:"\\"b\\"\\n"\nfix-it:"/s/x.h":{1:1-1:1}:"c"\n'
        '/s/x.h:7:1: note: declared here\na.cu:4:1: warning: w\nfix-it:"a.cu":{4:1-4:1}:"d"\na.cu:4:2: note: of w\n'
    )
    first, second = parse(text, TREE, "a.cu", Origins())
    assert (first.path, first.line, first.included) == ("a.cu", 1, "hip/x.h")
    assert [(note.path, note.line, note.message) for note in first.notes] == [("a.cu", 1, "expanded from macro 'min'")]
    assert [(fixit.line, fixit.end_column, fixit.text) for fixit in second.fixits] == [(3, 4, '"b"\n')]
    assert [note.path for note in second.notes] == [""]


def test_errors_that_differ_in_their_notes_alone_are_one() -> None:
    text = "a.cu:1:1: error: e\na.cu:2:2: note: for int\na.cu:1:1: error: e\na.cu:3:2: note: for long\n"
    (one,) = parse(text, TREE, "a.cu", Origins())
    assert [note.line for note in one.notes] == [2]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a b c", "a b c", [0, 1, 2]),
        ("a } b } c", "a x } b } c", [0, 1, 1, 2, 3, 4]),
        ("} } }", "h } } }", [0, 0, 1, 2]),
        ("a b c d", "h a B1 B2 c d i", [0, 0, 1, 1, 2, 3, 3]),
        ("a b c d", "a d", [0, 3]),
        ("", "a", [-1]),
    ],
)
def test_lines_of_a_port_are_paired_with_those_of_its_source(before: str, after: str, expected: list[int]) -> None:
    assert aligned(before.encode().split(), after.encode().split()) == expected


def test_a_file_of_equal_lines_is_paired_in_linear_time() -> None:
    lines = [b"}"] * 100_000
    assert aligned(lines, [b"#include <x>", *lines]) == [0, *range(100_000)]
