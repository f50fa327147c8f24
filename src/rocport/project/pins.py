"""Versions of a package that a project's own files ask for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

LANGUAGES = frozenset({"requirements", "toml", "docker"})
"""Of files that are read for them; setup.py is another."""
_VERSIONS = r"[ \t]*(?:\[[\w, -]*\][ \t]*)?((?:(?:[=!~]=|[<>]=?|===)[ \t]*[\w.*+!-]+(?:[ \t]*,)?[ \t]*)+)"


@cache
def _asked(name: str) -> re.Pattern[bytes]:
    return re.compile((r"(?<![\w.-])" + re.escape(name) + _VERSIONS).encode(), re.IGNORECASE)


def pins(texts: Iterable[bytes], name: str) -> tuple[str, ...]:
    """The specifiers of `name` in requirement lines, as `==0.45.5` or `>=0.43,<0.46`: each once, sorted."""
    found = set()
    for data in (text for text in texts if name.encode() in text):
        for match in _asked(name).finditer(data):
            try:
                found.add(str(SpecifierSet(re.sub(r"\s", "", match[1].decode(errors="replace")).strip(","))))
            except InvalidSpecifier:
                continue
    return tuple(sorted(found))


def stays_below(specifier: str, version: str, known: Iterable[str] = ()) -> bool:
    """Whether a specifier lets nothing in that is `version` or later: not it, no `known` release, no far one."""
    allowed = SpecifierSet(specifier)
    named = [part.version.rstrip(".*") for part in allowed]
    least = Version(version)
    candidates = [text for text in (version, *known, *named, "9999") if _reaches(text, least)]
    return not any(allowed.contains(text, prereleases=True) for text in candidates)


def _reaches(text: str, least: Version) -> bool:
    """Whether a text is a version, and `least` or later; `===` may name anything."""
    try:
        return Version(text) >= least
    except InvalidVersion:
        return False
