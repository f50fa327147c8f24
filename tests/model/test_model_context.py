from __future__ import annotations

from rocport.model.context import ProjectIndex

FILES = frozenset(
    {
        "a.cu",
        "src/b.cu",
        "src/b.cuh",
        "include/lib/c.h",
        "other/c.h",
        "src/deep/d.cpp",
        "alone.cu",
        "loop/x.h",
        "loop/y.h",
    }
)
INDEX = ProjectIndex(
    files=FILES,
    includes={
        "a.cu": ("lib/c.h",),
        "src/b.cu": ("b.cuh", "./deep/../b.cuh"),
        "src/b.cuh": ("../include/lib/c.h",),
        "src/deep/d.cpp": ("../b.cuh", "missing.h"),
        "loop/x.h": ("y.h",),
        "loop/y.h": ("x.h",),
    },
    meets={
        b"f": (
            ("src/b.cuh", frozenset({"barrier"})),
            ("other/c.h", frozenset({"shuffle"})),
            ("a.cu", frozenset({"own"})),
        ),
    },
)


def test_files_are_known_by_their_last_part() -> None:
    assert sorted(INDEX.by_basename["c.h"]) == ["include/lib/c.h", "other/c.h"]
    assert INDEX.by_basename["a.cu"] == ("a.cu",)
    assert INDEX.basenames == {"a.cu", "b.cu", "b.cuh", "c.h", "d.cpp", "alone.cu", "x.h", "y.h"}


def test_two_files_are_together_where_a_unit_holds_both() -> None:
    assert INDEX.together("src/b.cu", "src/b.cuh")
    assert INDEX.together("src/b.cuh", "include/lib/c.h")
    assert INDEX.together("a.cu", "include/lib/c.h"), "named by the end of its path"
    assert not INDEX.together("a.cu", "other/c.h"), "the end of another path"
    assert not INDEX.together("a.cu", "src/b.cu"), "a header both include makes no unit of two sources"
    assert not INDEX.together("alone.cu", "a.cu")
    assert INDEX.together("alone.cu", "alone.cu")
    assert INDEX.together("loop/x.h", "loop/y.h")


def test_a_header_is_reached_by_sources_that_include_it_through_others() -> None:
    assert INDEX.reached_by("include/lib/c.h", ".cpp")
    assert INDEX.reached_by("src/b.cuh", ".cu")
    assert INDEX.reached_by("a.cu", ".cu")
    assert not INDEX.reached_by("other/c.h", ".cu")
    assert not INDEX.reached_by("src/b.cu", ".cpp")


def test_what_threads_share_in_a_function_is_that_of_the_files_of_the_unit() -> None:
    assert INDEX.meets_elsewhere(b"f", "src/b.cu", declared=False) == {"barrier"}
    assert INDEX.meets_elsewhere(b"f", "alone.cu", declared=False) == frozenset()
    assert INDEX.meets_elsewhere(b"f", "alone.cu", declared=True) == {"barrier", "shuffle", "own"}
    assert INDEX.meets_elsewhere(b"f", "src/b.cu", declared=True) == {"barrier"}, "the unit's own goes first"
    assert INDEX.meets_elsewhere(b"f", "a.cu", declared=True) == {"barrier", "shuffle"}, "a file's own does not count"
    assert INDEX.meets_elsewhere(b"g", "a.cu", declared=True) == frozenset()
