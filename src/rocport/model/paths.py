"""What the path of a file says of its part in a project."""

from __future__ import annotations

import re

_VENDORED = re.compile(
    r"(?:^|/)(?:third[_-]?part(?:y|ies)|3rd[_-]?party|extern(?:als?)?|vendor(?:ed)?|submodules?|deps|dependencies)/",
    re.I,
)
_BESIDE = re.compile(
    r"^(?:\.[\w-]+|ci|continuous_integration|jenkins|packaging|docs?|documentation)/|(?:^|/)(?:Jenkinsfile|\.[\w-]+\.ya?ml)$",
    re.I,
)


def vendored(path: str) -> str:
    """The folder of the library that a path belongs to, with its `/`; empty for the project's own."""
    match = _VENDORED.search(path)
    if match is None:
        return ""
    library = path.find("/", match.end())
    return path[: library + 1] if library >= 0 else path[: match.end()]


def beside_the_build(path: str) -> bool:
    """True for what no build of the project needs: its CI, how releases are packed, documentation, and the libraries
    that it carries along."""
    return _BESIDE.search(path) is not None or vendored(path) != ""
