"""Conditionals of every language, drawn at random: what is left of them without ROCm does what the whole did there."""

from __future__ import annotations

import ast
import itertools
import random
import re
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace

import pytest

from rocport.verify.nvidia import cfamily, cmake, make, meson, python

Condition = str | tuple[str, ...]
"""`A`, `B` or the gate `R`, or an operator and what it is applied to."""
Statement = str | list[tuple[Condition | None, list["Statement"]]]
"""A name, or the branches of a conditional: their conditions, None for `else`, and bodies."""


def _condition(draw: random.Random, depth: int) -> Condition:
    if depth and draw.random() < 0.5:
        word = draw.choice(("not", "and", "or"))
        return (word, *(_condition(draw, depth - 1) for _ in range(1 if word == "not" else 2)))  # type: ignore[misc]
    return draw.choice("ABRR")


def _body(draw: random.Random, depth: int, names: Iterator[int], deep: int) -> list[Statement]:
    found: list[Statement] = []
    for _ in range(draw.randint(1, 3)):
        if depth and draw.random() < 0.6:
            branches: list[tuple[Condition | None, list[Statement]]] = [
                (_condition(draw, deep), _body(draw, depth - 1, names, deep)) for _ in range(draw.randint(1, 3))
            ]
            if draw.random() < 0.5:
                branches.append((None, _body(draw, depth - 1, names, deep)))
            found.append(branches)
        else:
            found.append(f"s{next(names)}")
    return found


def _programs(deep: int, count: int) -> Iterator[list[Statement]]:
    """`deep`: how far conditions are nested, 0 for a name alone, 1 for `not` one of them as well."""
    draw = random.Random(f"branches {deep}")
    for _ in range(count):
        yield _body(draw, 3, itertools.count(), deep)


def _holds(condition: Condition, values: dict[str, bool]) -> bool:
    if isinstance(condition, str):
        return values[condition]
    first, *more = (_holds(item, values) for item in condition[1:])
    return {"not": not first, "and": all((first, *more)), "or": any((first, *more))}[condition[0]]


def _run(body: Sequence[Statement], values: dict[str, bool]) -> list[str]:
    done: list[str] = []
    for item in body:
        if isinstance(item, str):
            done.append(item)
            continue
        for condition, inner in item:
            if condition is None or _holds(condition, values):
                done += _run(inner, values)
                break
    return done


def _written(condition: Condition, words: dict[str, str]) -> str:
    if isinstance(condition, str):
        return words[condition]
    parts = [_written(item, words) for item in condition[1:]]
    return f"({words['not']}{parts[0]})" if condition[0] == "not" else f"({f' {words[condition[0]]} '.join(parts)})"


Lines = Callable[[list[Statement]], list[str]]
"""What a reader leaves of a program, as lines: `if C`, `elif C`, `else`, `endif` with C as Python has it, and names."""


def _lines(body: Sequence[Statement], words: dict[str, str], indent: str = "") -> Iterator[str]:
    """A program in a language; `words` are its own."""
    for item in body:
        if isinstance(item, str):
            yield indent + words["statement"].format(item)
            continue
        for number, (condition, inner) in enumerate(item):
            word = "else" if condition is None else "if" if number == 0 else "elif"
            yield indent + words[word].format(_written(condition, words) if condition is not None else "")
            yield from _lines(inner, words, indent + words.get("indent", ""))
        if "endif" in words:
            yield indent + words["endif"]


def _in_python(text: str) -> str:
    for was, word in (("&&", " and "), ("||", " or "), ("!", " not "), ("AND", "and"), ("OR", "or"), ("NOT", "not")):
        text = text.replace(was, word)
    return text


C = {
    **{"A": "defined(A)", "B": "B", "R": "defined(USE_ROCM)", "not": "!", "and": "&&", "or": "||"},
    **{"statement": "{}", "if": "#if {}", "elif": "#elif {}", "else": "#else", "endif": "#endif"},
}
CMAKE = {
    **{"A": "A", "B": "B", "R": "USE_ROCM", "not": "NOT ", "and": "AND", "or": "OR"},
    **{"statement": "f({})", "if": "if({})", "elif": "elseif({})", "else": "else()", "endif": "endif()"},
}
MAKE = {
    **{"A": "($(A),1)", "B": "($(B),1)", "R": "($(USE_ROCM),1)"},
    **{"statement": "X = {}", "if": "ifeq {}", "elif": "else ifeq {}", "else": "else", "endif": "endif"},
}
MESON = {
    **{"A": "A", "B": "B", "R": "get_option('use_rocm')", "not": "not ", "and": "and", "or": "or"},
    **{"statement": "{}()", "if": "if {}", "elif": "elif {}", "else": "else", "endif": "endif"},
}
PYTHON = {
    **{"A": "A", "B": "B", "R": "torch.version.hip", "not": "not ", "and": "and", "or": "or"},
    **{"statement": "s('{}')", "if": "if {}:", "elif": "elif {}:", "else": "else:", "indent": "    "},
}


def _of_c(text: str) -> list[str]:
    found: list[str] = []
    for token in cfamily.tokens(f"{text}\n".encode()):
        word, _, condition = token.text.removeprefix("#").partition(" ")
        condition = re.sub(r"defined ?\(? ?(\w+) ?\)?", r"\1", condition)
        found.append(f"{word} {_in_python(condition)}".strip() if token.text.startswith("#") else token.text)
    return found


def _of_cmake(text: str) -> list[str]:
    found: list[str] = []
    for command in cmake.stream(text.encode()).commands:
        words = " ".join(item.text for item in command.arguments)
        name = command.name.replace("elseif", "elif")
        found.append(words if name == "f" else f"{name} {_in_python(words)}".strip())
    return found


def _of_make(text: str) -> list[str]:
    found: list[str] = []
    for line in make.stream(f"USE_ROCM ?= 0\n{text}\n".encode()).lines:
        words = line.text.replace("else ifeq", "elif").replace("ifeq", "if").removeprefix("X = ")
        found.append(re.sub(r"\(\$\((\w+)\),1\)", r"\1", words).replace("USE_ROCM", "R"))
    return found


def _of_meson(text: str) -> list[str]:
    whole = " ".join(token.text for token in meson.tokens(f"{text}\n".encode()))
    lines = [line.strip() for line in whole.split("\n") if line.strip()]
    return [line.removesuffix(" ( )").replace("get_option ( 'use_rocm' )", "R") for line in lines]


def _left(lines: list[str], values: dict[str, bool]) -> list[str]:
    """What lines of `if`, `elif`, `else`, `endif` and names do."""
    done: list[str] = []
    stack = [(True, True)]
    """(whether this is read, whether a branch was taken), the file first."""
    for line in lines:
        word, _, condition = line.partition(" ")
        if word == "if":
            holds = stack[-1][0] and bool(eval(condition, {}, dict(values)))
            stack.append((holds, holds))
        elif word in ("elif", "else"):
            _, taken = stack.pop()
            holds = stack[-1][0] and not taken and (word == "else" or bool(eval(condition, {}, dict(values))))
            stack.append((holds, taken or holds))
        elif word == "endif":
            stack.pop()
        elif stack[-1][0]:
            done.append(line)
    assert len(stack) == 1
    return done


VALUES = [{"A": a, "B": b, "R": False, "USE_ROCM": False} for a in (False, True) for b in (False, True)]


@pytest.mark.parametrize(
    ("deep", "words", "read", "folds_all"),
    [(2, C, _of_c, True), (2, CMAKE, _of_cmake, True), (0, MAKE, _of_make, True), (1, MESON, _of_meson, False)],
    ids=["c", "cmake", "make", "meson"],
)
def test_what_is_left_does_what_the_whole_did(
    deep: int, words: dict[str, str], read: Callable[[str], list[str]], folds_all: bool
) -> None:
    for program in _programs(deep, 80):
        text = "\n".join(_lines(program, words))
        left = read(text)
        assert not folds_all or not any("USE_ROCM" in line or line.endswith(" R") for line in left), text
        for values in VALUES:
            assert _left(left, values) == _run(program, values), text


def test_what_is_left_of_python_does_what_the_whole_did() -> None:
    for program in _programs(2, 50):
        text = "import torch\n" + "\n".join(_lines(program, PYTHON)) + "\n"
        tree = python.off_rocm(text.encode(), python.Facts("a.py", {}, lambda *_: None))
        left = ast.unparse(tree).replace("import torch", "")
        assert "hip" not in left, text
        for values in VALUES:
            done: list[str] = []
            exec(left, {"s": done.append, **values})
            assert done == _run(program, values), text


_ATOMS = ("torch.version.hip", "torch.version.hip is not None", "torch.version.hip is None", "bool(torch.version.hip)")
_FORMS = (
    *(
        "(not {0})",
        "({0} and {1})",
        "({0} or {1})",
        "({0} if {1} else {2})",
        "({0} and {1} and {2})",
        "({0} or {1} or {2})",
    ),
    *("[{0}, {1}]", "({0}, {1})", "g({0}, k={1})", "str({0})", "[i for i in (0, 1) if {0}]", "(lambda q={0}: {1})()"),
    *("({0} == {1})", "[0, 1][bool({0})]", "g(*[{0}], {1})", "{{1: {0}, **{{2: {1}}}}}", "(w := {0})"),
)
_STATEMENTS = (
    *(
        "r = {}",
        "def h():\n    return {}\nr = h()",
        "assert {}, 1\nr = 1",
        "r = [{}]\ndel r[0]",
        "for r in [{}]:\n    pass",
    ),
    *(
        "if {}:\n    r = 1\nelif a(9):\n    r = 2\nelse:\n    r = 3",
        "r = 5\nif {}:\n    pass\nelse:\n    r = 6",
        "{}\nr = 1",
    ),
    "r = 0\nwhile {}:\n    r += 1\n    if r > 2:\n        break\nelse:\n    r = 9",
)


def _expression(draw: random.Random, depth: int, names: Iterator[int]) -> str:
    if not depth or draw.random() < 0.15:
        return draw.choice((*_ATOMS, f"a({next(names)})", f"a({next(names)})"))
    return draw.choice(_FORMS).format(*(_expression(draw, depth - 1, names) for _ in range(3)))


def _outcome(text: str, bits: int) -> tuple[list[object], object, object]:
    """What is called, in its order, and what `r` and `w` are in the end; `a(n)` answers with a bit."""
    done: list[object] = []

    def a(number: int) -> bool:
        done.append(number)
        return bool(bits >> number % 5 & 1)

    def g(*given: object, k: object = None) -> tuple[object, ...]:
        done.append((given, k))
        return (*given, k)

    names: dict[str, object] = {"a": a, "g": g, "torch": SimpleNamespace(version=SimpleNamespace(hip=None))}
    try:
        exec(compile(text, "a.py", "exec"), names)
    except (AssertionError, TypeError) as error:
        done.append(repr(error))
    return done, names.get("r"), names.get("w")


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_what_is_left_of_expressions_does_what_the_whole_did() -> None:
    draw = random.Random("expressions")
    for _ in range(150):
        text = draw.choice(_STATEMENTS).format(_expression(draw, 3, itertools.count()))
        tree = python.off_rocm(f"import torch\n{text}\n".encode(), python.Facts("a.py", {}, lambda *_: None))
        left = ast.unparse(tree).removeprefix("import torch")
        assert "hip" not in left, text
        for bits in (0, 31, 10, 21):
            assert _outcome(text, bits) == _outcome(left, bits), text
