"""The shape that a JSON text of somebody else must have before anything of it is used: one check for every reader.

A shape is a type (`int` is no bool, `float` takes whole numbers too), `None`, a compiled expression for a whole text,
`[shape]` for a list of them, `{"key": shape, "other?": shape}` for an object that holds the keys and may hold more
(`?`: or lacks it), `Each(shape)` for an object of any keys, `Row(a, b)` for a list of just those, or a tuple: any of
its shapes. A caller's own error names the file; ShapeError says the place in it.
"""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any


class ShapeError(ValueError):
    """The text is not what its writer writes: the message says where, what was expected and what is there."""


@dataclass(frozen=True)
class Each:
    """An object whose values all have one shape."""

    shape: Any


class Row(tuple[Any, ...]):
    """A list of as many entries, each of its own shape."""

    def __new__(cls, *shapes: Any) -> Row:
        return super().__new__(cls, shapes)


def read(text: str | bytes, shape: Any) -> Any:
    """The value of a JSON text, checked. Raises ShapeError, for text that is no JSON too."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ShapeError("is nested too deeply") from None
    except ValueError as error:
        raise ShapeError(f"is not JSON ({error})") from error
    check(value, shape)
    return value


def check(value: Any, shape: Any, where: str = "") -> None:
    """Raises ShapeError where a value has not the shape."""
    problem = _problem(value, shape, where)
    if problem:
        raise ShapeError(problem)


def fits(value: Any, shape: Any) -> bool:
    """Whether a value has the shape."""
    return not _problem(value, shape, "")


def _problem(value: Any, shape: Any, where: str) -> str:
    if isinstance(shape, Row):
        if not isinstance(value, list | tuple) or len(value) != len(shape):
            return _said(value, f"a list of {len(shape)}", where)
        return _first(
            _problem(item, one, f"{where}[{at}]") for at, (item, one) in enumerate(zip(value, shape, strict=True))
        )
    if isinstance(shape, tuple):
        return "" if any(not _problem(value, one, where) for one in shape) else _said(value, _words(shape), where)
    if isinstance(shape, list):
        if not isinstance(value, list | tuple):
            return _said(value, "a list", where)
        return _first(_problem(item, shape[0], f"{where}[{at}]") for at, item in enumerate(value))
    if isinstance(shape, Each):
        if not isinstance(value, dict):
            return _said(value, "an object", where)
        return _first(_problem(item, shape.shape, f"{where}.{key}") for key, item in value.items())
    if isinstance(shape, Mapping):
        if not isinstance(value, dict):
            return _said(value, "an object", where)
        return _first(_entry(value, str(key), one, where) for key, one in shape.items())
    if shape is None:
        return "" if value is None else _said(value, "null", where)
    if isinstance(shape, re.Pattern):
        return "" if isinstance(value, str) and shape.fullmatch(value) else _said(value, f"`{shape.pattern}`", where)
    kinds = (int, float) if shape is float else shape
    good = isinstance(value, kinds) and (shape in (bool, object) or not isinstance(value, bool))
    return "" if good else _said(value, shape.__name__, where)


def _entry(value: Mapping[str, Any], key: str, shape: Any, where: str) -> str:
    name = key.removesuffix("?")
    if name not in value:
        return "" if key.endswith("?") else f"lacks {where}.{name}".replace(" .", " ")
    return _problem(value[name], shape, f"{where}.{name}")


def _first(problems: Iterable[str]) -> str:
    return next(filter(None, problems), "")


def _words(shapes: Sequence[Any]) -> str:
    return " or ".join("null" if one is None else getattr(one, "__name__", "another") for one in shapes)


def _said(value: Any, expected: str, where: str) -> str:
    shown = reprlib.repr(value)
    shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
    return f"holds {shown}{f' at {where[:80].lstrip(chr(46))}' if where else ''}, expected {expected}"
