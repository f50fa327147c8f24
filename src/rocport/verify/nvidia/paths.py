"""Path patterns as the tools of a build match them, with the parts nobody can know before the build runs."""

from __future__ import annotations

import posixpath
import re
from functools import lru_cache

UNKNOWN = "\x00"
"""Stands in a path for text that is only known when the build runs."""


def normal(path: str) -> str:
    """A relative path without `.` and `..`; `""` for the root itself."""
    made = posixpath.normpath(path.replace("\\", "/").lstrip("/") or ".")
    return "" if made == "." else made


@lru_cache(maxsize=4096)
def matcher(pattern: str, deep: bool = False) -> re.Pattern[str]:
    """A shell pattern as an expression for a whole path. `**/` crosses folders; with `deep` `*` does too. What is
    unknown matches any folders."""
    parts: list[str] = []
    place = 0
    while place < len(pattern):
        if pattern.startswith("**/", place):
            parts.append("(?:.*/)?")
            place += 3
        elif pattern.startswith("**", place):
            parts.append(".*")
            place += 2
        elif pattern[place] == "*":
            parts.append(".*" if deep else "[^/]*")
            place += 1
        elif pattern[place] == "?":
            parts.append("[^/]")
            place += 1
        elif pattern[place] == UNKNOWN:
            parts.append(".*")
            place += 1
        elif pattern[place] == "[" and "]" in pattern[place + 2 :]:
            end = pattern.index("]", place + 2)
            inner = pattern[place + 1 : end].replace("\\", "\\\\")
            parts.append(f"[{'^' + inner[1:] if inner[0] in '!^' else inner}]")
            place = end + 1
        else:
            parts.append(re.escape(pattern[place]))
            place += 1
    try:
        return re.compile("".join(parts) + r"\Z", re.DOTALL)
    except re.error:
        return re.compile(re.escape(pattern) + r"\Z")


def specific(pattern: str) -> bool:
    """Whether a pattern says something of the names it matches, and not only of their folder."""
    name = pattern.rpartition("/")[2]
    return bool(re.search(r"\w", re.sub(r"\[[^\]]*\]", "", name.replace(UNKNOWN, ""))))
