"""Chains of preprocessor conditionals and the values of their conditions."""

from __future__ import annotations

import pytest

from rocport.syntax.conditionals import chains, evaluate, switch_around
from rocport.syntax.cuda import CudaSource

VALUES = {b"ONE": 1, b"ARCH": 800, b"ZERO": 0}


def _value(name: bytes) -> int | None:
    return VALUES.get(name)


def _defined(name: bytes) -> bool | None:
    return True if name in VALUES else False if name == b"MISSING" else None


def _holds(condition: str) -> bool | None:
    source = CudaSource("a.cu", f"{condition}\n#endif\n".encode())
    return evaluate(source, source.directives[0], _value, _defined)


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("#if ARCH >= 700", True),
        ("#if ARCH>=700 && ARCH<900", True),
        ("#if (ARCH >> 2) == 200", True),
        ("#if !defined(MISSING) || UNKNOWN", True),
        ("#if defined MISSING && UNKNOWN", False),
        ("#if UNKNOWN", None),
        ("#if UNKNOWN && ONE", None),
        ("#if HAS(x, (y)) || ONE", True),
        ("#if 0x10 == 16 && 010 == 8 && 10'0UL == 100", True),
        ("#if -1 < ZERO", True),
        ("#if ARCH / 100 % 3 == 2", True),
        ("#if ARCH / ZERO", None),
        ("#if (ARCH", None),
        ("#ifdef ONE", True),
        ("#ifndef ONE", False),
        ("#ifdef UNKNOWN", None),
        ("#if defined(ONE) && \\\n  ARCH == 800 /* as built */", True),
        ("#if ONE ? ZERO : ONE", None),
    ],
)
def test_conditions_have_the_preprocessors_value(condition: str, wanted: bool | None) -> None:
    assert _holds(condition) is wanted


def test_chains_nest_and_know_their_bytes() -> None:
    text = b"#if A\nx\n#ifdef B\ny\n#else\nz\n#endif\n#elif C\nw\n#endif\n"
    outer, inner = chains(CudaSource("a.cu", text))
    assert [text[arm.start : arm.end].strip() for arm in inner.branches] == [b"y", b"z"]
    assert inner.parent == (0, 0) and outer.parent is None
    assert [arm.directive.name for arm in outer.branches] == [b"if", b"elif"]


def test_unbalanced_conditionals_are_no_error() -> None:
    assert len(chains(CudaSource("a.cu", b"#endif\n#else\n#if A\nx\n"))) == 1


def test_the_switch_around_a_byte() -> None:
    text = b"#ifdef A\nin_a\n#endif\nout\n#if defined(B)\nin_b\n#else\nelse_b\n#endif\n#if A && B\nboth\n#endif\n"
    source = CudaSource("a.cu", text)
    around = {word: switch_around(source, text.index(word)) for word in (b"in_a", b"out", b"in_b", b"else_b", b"both")}
    assert around == {b"in_a": b"A", b"out": b"", b"in_b": b"B", b"else_b": b"", b"both": b""}
