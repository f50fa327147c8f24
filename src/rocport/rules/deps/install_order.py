"""A project installed before its torch.
`pip install .` brings the torch of the default index, CUDA's, unless one is there; a later step with an index of
its own finds its requirement met, or downloads gigabytes again. A build that imports torch stops. Right: install torch
from its ROCm index first, then the project.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rocport.model import Applicability, Confidence, Context, Example, Finding, Rule, Severity
from rocport.project.build import BuildSource, Line
from rocport.rules.build.common import found
from rocport.syntax.amd import is_amd_path

RULE = Rule(
    name="install-order",
    summary="the project is installed before torch",
    severity=Severity.BREAKS_BUILD,
    applicability=Applicability.MANUAL,
    languages=frozenset({"docker", "shell", "yaml", "make"}),
    triggers=frozenset({b"install"}),
    phase=0,
    holds="pip, every version",
    examples=(
        Example("pip install -e .\npip install torch==2.9.1\n", path="install.sh"),
        Example("pip install -e . && pip install torch==2.9.1\n", path="install.sh"),
        Example("FROM ubuntu:24.04\nRUN pip install .[train]\nRUN pip3 install torch torchvision\n", path="Dockerfile"),
    ),
    clean=(
        Example("pip install -e . --no-deps\npip install torch==2.9.1\n", path="install.sh"),
        Example("pip install torch==2.9.1\npip install -e .\n", path="install.sh"),
        Example("pip install torch==2.9.1 && pip install -e .\npip install torch\n", path="install.sh"),
        Example("pip install -e . torch==2.9.1\n", path="install.sh"),
        Example("pip install -e .\npip install torchmetrics\n", path="install.sh"),
    ),
    sources=("https://pip.pypa.io/en/stable/cli/pip_install/#satisfying-requirements",),
)

_COMMAND = re.compile(r"[^&;|#]*[&;|#]?")
_INSTALL = re.compile(r"\b(?:pip3?|uv pip)\s+install\b")
_PROJECT = re.compile(r"\s(?:-e\s+)?[\"']?\.(?:/)?(?:\[[^\[\]]*\])?[\"']?(?=\s|$)")
_SETUP = re.compile(r"\bpython3?\s+setup\.py\s+(?:install|develop)\b")
_TORCH = re.compile(r"\s[\"']?torch(?=[=<>~!\s\"'\[]|$)")


def check(source: BuildSource, context: Context) -> Iterator[Finding]:
    if is_amd_path(source.path):
        return
    early: list[Line] = []
    for line in source.lines:
        if source.language == "docker" and re.match(r"(?i)\s*FROM\s", line.text):
            early = []  # a stage of its own
        project, torch = _installed(line.text)
        if project is not None and (torch is None or project < torch):
            early.append(line)
        if torch is not None:
            for first in early:
                yield found(
                    RULE,
                    source,
                    first,
                    f"installed before torch (line {line.number}): the default index's CUDA build comes in first",
                    fix="torch from its ROCm index (rocport compat prints it) in a step before this one",
                    confidence=Confidence.MEDIUM,
                )
            return


def _installed(text: str) -> tuple[int | None, int | None]:
    """Where the first commands of a line begin that install the project and torch; each command is read once."""
    project = torch = None
    for command in _COMMAND.finditer(text):
        install = _INSTALL.search(command[0])
        if install is None:
            continue
        at = command.start() + install.start()
        alone = "--no-deps" in command[0]
        if project is None and not alone and _PROJECT.search(command[0], install.end()):
            project = at
        if torch is None and _TORCH.search(command[0], install.end()):
            torch = at
    if project is None and (setup := _SETUP.search(text)):
        project = setup.start()
    return project, torch
