"""Put a plan, in every form that `rocport compat --script` writes it, to a reader of that form.

bash reads what is for Linux and WSL and every RUN and CMD of a Dockerfile; PyYAML reads conda's file. BuildKit's own
parser reads the Dockerfile (`pip install dockerfile`) and tree-sitter's grammar PowerShell (`pip install tree-sitter
tree-sitter-powershell`); without them these forms count as not read.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import yaml

from rocport.compat.plan import Plan
from rocport.compat.script import plan_script

FORMS = {"ubuntu24.04": ("linux", "docker", "conda"), "wsl": ("wsl",), "windows11": ("windows",)}
INSTRUCTIONS = {"FROM", "RUN", "ENV", "CMD"}
CONDA_KEYS = {"name", "channels", "dependencies", "variables"}
"""Those that `conda env create` reads."""


def bash(text: str) -> str:
    """What bash says of a script that it only reads; empty when nothing."""
    read = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True, check=False)
    return read.stderr.strip() or ("" if read.returncode == 0 else "bash -n failed")


def docker(text: str) -> str:
    """What is wrong with a Dockerfile."""
    import dockerfile  # type: ignore[import-not-found]

    try:
        rows = dockerfile.parse_string(text)
    except dockerfile.GoParseError as error:
        return str(error)
    names = [row.cmd.upper() for row in rows]
    if names[:1] != ["FROM"] or names[-1] != "CMD" or not set(names) <= INSTRUCTIONS:
        return f"instructions: {' '.join(names)}"
    return next((said for row in rows if row.cmd.upper() in ("RUN", "CMD") and (said := bash(row.value[0]))), "")


def conda(text: str) -> str:
    """What is wrong with an environment file, and with the steps that its comment names."""
    read = yaml.safe_load(text)
    if not isinstance(read, dict) or not {"name", "dependencies"} <= set(read) or set(read) - CONDA_KEYS:
        return "no environment file"
    if not all(isinstance(row, str) for row in read["dependencies"]):
        return "a dependency is no text"
    if not all(isinstance(value, str) for value in read.get("variables", {}).values()):
        return "a variable is no text"
    return bash("\n".join(line[4:] for line in text.splitlines() if line.startswith("#   ")))


def windows(text: str) -> str:
    """What is wrong with a PowerShell script."""
    import tree_sitter_powershell  # type: ignore[import-not-found]
    from tree_sitter import Language, Parser  # type: ignore[import-not-found]

    tree = Parser(Language(tree_sitter_powershell.language())).parse(text.encode())
    return "PowerShell's grammar does not read it" if tree.root_node.has_error else ""


READERS: dict[str, Callable[[str], str]] = {
    "linux": bash,
    "wsl": bash,
    "docker": docker,
    "conda": conda,
    "windows": windows,
}


def read_forms(plan: Plan, system: str) -> dict[str, str | None]:
    """What is wrong with each form of a plan for one system: empty when nothing is, None when nothing here reads it."""
    said: dict[str, str | None] = {}
    for form in FORMS[system]:
        try:
            said[form] = READERS[form](plan_script(plan, form))
        except ModuleNotFoundError:
            said[form] = None
    return said
