"""Headers a port carries with it. They belong to the ported tree: it does not depend on rocport."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"(rocport_\w+\.h)"', re.MULTILINE)


@cache
def read(name: str) -> bytes:
    """Bytes of a generated header. Raises FileNotFoundError for a name that is not one."""
    return (resources.files(__name__) / name).read_bytes()


def is_ours(path: str, data: bytes) -> bool:
    """True for a generated header as it was written: an earlier port in place left it there."""
    name = path.rsplit("/", 1)[-1]
    return name.startswith("rocport_") and (resources.files(__name__) / name).is_file() and data == read(name)


def closure(names: frozenset[str]) -> frozenset[str]:
    """The headers and the generated headers they include."""
    seen: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo.extend(found.decode() for found in _INCLUDE.findall(read(name)))
    return frozenset(seen)
