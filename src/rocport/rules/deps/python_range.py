"""A range of Python for which the newest torch has no ROCm wheels.
Wheels are built for some versions of Python: one outside them finds an old torch, built for an old ROCm without newer
GPUs, or none. Right: widen `requires-python`, or take the Python of the environment from the range that
`rocport compat` prints. A project that needs no GPU code may stay as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from rocport.facts.rocm import torch_releases
from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.project.build import BuildSource
from rocport.rules.build.common import found

RULE = Rule(
    name="python-range",
    summary="Python without wheels of a current ROCm torch",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=frozenset({"toml", "yaml"}),
    triggers=frozenset({b"python"}),
    phase=0,
    holds="torch 2.0 to 2.14 (facts/torch_rocm.toml)",
    examples=(
        Example('[project]\nrequires-python = ">=3.7,<3.9"\ndependencies = ["torch"]\n', path="pyproject.toml"),
        Example("dependencies:\n  - python=3.8\n  - pytorch\n", path="environment.yml"),
    ),
    clean=(
        Example('[project]\nrequires-python = ">=3.9"\ndependencies = ["torch"]\n', path="pyproject.toml"),
        Example("dependencies:\n  - python=3.12\n  - pytorch\n", path="environment.yml"),
        Example('[project]\nrequires-python = ">=3.7,<3.9"\ndependencies = ["numpy"]\n', path="pyproject.toml"),
    ),
    sources=("facts/torch_rocm.toml",),
)

_REQUIRES = re.compile(r"^\s*(?:requires-python|python)\s*=\s*[\"']([^\"']+)[\"']")
_CONDA = re.compile(r"^\s*-\s*[\"']?python\s*(=+|[<>!~][^\"'#]*)\s*([\d.*]*)")
_TORCH = re.compile(rb"\b(?:py)?torch\b")


def check(source: BuildSource, context: Context) -> Iterator[Finding]:
    if not _TORCH.search(source.data):
        return
    for line in source.lines:
        text = _specifier(source.language, line.text)
        allowed = _allowed(text) if text else None
        if allowed is None or allowed & _served()[0][1]:
            continue
        newest = next((torch for torch, python in _served() if allowed & python), "")
        said = f"torch {newest} is the newest with ROCm wheels for it" if newest else "no torch has ROCm wheels for it"
        yield found(
            RULE,
            source,
            line,
            f"Python {text}: {said}",
            fix=f"a Python of {_range()}, which torch {_served()[0][0]} is built for",
            confidence=Confidence.MEDIUM,
        )


def _specifier(language: str, text: str) -> str:
    if language == "toml":
        match = _REQUIRES.match(text)
        return match[1].replace("^", ">=") if match else ""
    match = _CONDA.match(text)
    if match is None:
        return ""
    if match[1].startswith("="):
        version = match[2].rstrip(".*")
        return f"=={version}.*" if version.count(".") == 1 else f"=={version}" if version.count(".") > 1 else ""
    return (match[1] + match[2]).strip()


def _allowed(text: str) -> frozenset[str] | None:
    """The minor versions of Python 3 that a specifier lets in; None for text that is none."""
    try:
        wanted = SpecifierSet(text)
    except InvalidSpecifier:
        return None
    return frozenset(
        f"3.{minor}" for minor in range(5, 20) if any(wanted.contains(f"3.{minor}.{patch}") for patch in range(25))
    )


@cache
def _served() -> tuple[tuple[str, frozenset[str]], ...]:
    """(torch, the Pythons it is built for), newest first."""
    found = []
    for release in torch_releases():
        if release.rocm:
            low, high = Version(release.python_min).minor, Version(release.python_max).minor
            found.append((release.version, frozenset(f"3.{minor}" for minor in range(low, high + 1))))
    return tuple(found)


def _range() -> str:
    minors = sorted(int(version.partition(".")[2]) for version in _served()[0][1])
    return f"3.{minors[0]} to 3.{minors[-1]}"
