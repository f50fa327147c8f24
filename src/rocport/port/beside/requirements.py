"""`requirements-rocm.txt` and `constraints-rocm.txt`.

The original stays for CUDA. What only CUDA can meet is left out of the copy for ROCm, with what does its job in a
comment; the constraints keep pip from replacing the ROCm build of PyTorch by the default index's CUDA build.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from packaging.requirements import InvalidRequirement, Requirement

from rocport.facts.packages import find_package
from rocport.model import PatchFile
from rocport.port.beside.wheels import Wheels, wheels
from rocport.port.generated import PortedTree

SOURCE = "requirements.txt"
REQUIREMENTS = "requirements-rocm.txt"
CONSTRAINTS = "constraints-rocm.txt"
_INDEX = re.compile(r"^\s*(?:--(?:extra-)?index-url|-i|--find-links|-f)\b.*(?:cu\d|nvidia)")
_OPTION = re.compile(r"(?<=\S)\s+--?[a-zA-Z]")
_CUDA = re.compile(r"\+cu\d|[-.]cu\d{2,3}\b|/cu\d{2,3}/")
_ELSEWHERE = {
    "cuda-only": "NVIDIA only",
    "torch-index": "comes with PyTorch from its ROCm index",
    "separate": "AMD's wheels are in another index",
    "build": "to be built from source on ROCm",
    "fork": "a fork serves ROCm",
}


def generate(tree: PortedTree) -> Iterator[PatchFile]:
    chosen = wheels(tree.options)
    text = _decoded(tree, SOURCE)
    if text is None:
        return
    names = _packages(text)
    if "torch" not in names and not _imports_torch(tree):
        return
    yield PatchFile(
        REQUIREMENTS,
        "".join(_lines(text, chosen)).encode(),
        f"{SOURCE} without what only CUDA can meet",
    )
    yield PatchFile(
        CONSTRAINTS, _constraints(chosen, names).encode(), "keeps pip from replacing the ROCm build of PyTorch"
    )


def _decoded(tree: PortedTree, path: str) -> str | None:
    if path not in tree.files:
        return None
    try:
        return tree.read(path).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None


def _imports_torch(tree: PortedTree) -> bool:
    scripts = [path for path in tree.named("setup.py") if "/" not in path]
    return any("torch" in (_decoded(tree, path) or "") for path in scripts)


def _lines(text: str, chosen: Wheels) -> Iterator[str]:
    yield f"# {SOURCE} for a ROCm build of PyTorch. Install that first:\n"
    yield f"#   {chosen.install()}\n"
    yield f"#   pip install -r {REQUIREMENTS}\n"
    yield f"-c {CONSTRAINTS}\n"
    # A requirement can go on in the next line; what is left out, is left out whole.
    for logical in _logical(text):
        why = _left_out(logical)
        if why:
            yield "".join(f"# {row}\n" for row in logical.split("\n")) + f"#   {why}\n"
        else:
            yield f"{logical}\n"


def _left_out(line: str) -> str:
    """Why a line has no place on ROCm; empty when it has."""
    if _INDEX.match(line):
        return "CUDA's wheels"
    name = _name(line)
    if not name:
        return "CUDA's wheels" if _CUDA.search(line.split("#")[0]) else ""
    if name == "torch" or (name.startswith("torch") and (found := find_package(name)) and found.state == "torch-index"):
        pinned = re.search(r"[=<>~!@]", line.split(";")[0].split("#")[0])
        return f"held by {CONSTRAINTS}" if pinned else ""
    package = find_package(name)
    if package is None or package.state not in _ELSEWHERE:
        return "CUDA's wheels" if _CUDA.search(line) or re.search(r"-cu1[1-9]$|cuda", name) else ""
    why = _ELSEWHERE[package.state]
    instead = package.replacement or package.install
    return f"{why}: {instead}" if instead else why


def _packages(text: str) -> frozenset[str]:
    return frozenset(filter(None, map(_name, _logical(text))))


def _logical(text: str) -> list[str]:
    """Lines with those that go on joined as pip does: a comment does not go on."""
    found: list[str] = []
    goes_on = False
    for row in text.replace("\r\n", "\n").removesuffix("\n").split("\n"):
        if goes_on:
            found[-1] += f"\n{row}"
        else:
            found.append(row)
        goes_on = row.endswith("\\") and not row.lstrip().startswith("#")
    return found


def _name(line: str) -> str:
    """The package a line asks for, in lower case; empty for options and comments."""
    whole = line.replace("\\\n", " ")
    words = _OPTION.split(re.sub(r"(?:^|\s)#.*", "", whole))[0].rstrip("\\ ").strip()
    if not words or words.startswith("-"):
        return ""
    try:
        return Requirement(words).name.lower()
    except InvalidRequirement:
        return ""


def _constraints(chosen: Wheels, names: frozenset[str]) -> str:
    pins = [f"{name}=={version}" for name, version in chosen.pins if name == "torch" or name in names]
    return (
        "# The default index serves CUDA builds of these; with this file pip stops instead of installing one.\n"
        f"#   {chosen.install()}\n"
        f"#   pip install -r {REQUIREMENTS}\n"
        "# For another version: install it from its ROCm index, then\n"
        f"#   pip freeze | grep -E '^torch(vision|audio)?==' > {CONSTRAINTS}\n" + "".join(f"{pin}\n" for pin in pins)
    )
