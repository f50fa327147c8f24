"""One MANUAL site of a port, with what a person or an agent needs to write it: the code and what it touches, the rule's
page, what ROCm has for its names, and how the edit will be checked (`rocport.agent.accept`)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

from rocport import api
from rocport.agent.tools import ToolError, build_options, call, counterpart, page
from rocport.binding.collect import collect
from rocport.model import Applicability, Finding
from rocport.model.plain import plain
from rocport.port import manifest
from rocport.project.tree import read_project
from rocport.report.json import finding_object
from rocport.syntax.cuda import CudaSource

_AROUND = 25


class Task(TypedDict):
    """One site: what is to be written there, and how it will be checked. `touches` are the definitions of the project
    (macros, functions, types, globals) that the site's lines name, with their place in the sources; `counterparts` what
    ROCm has for the names of CUDA's."""

    site: str
    file: str
    finding: dict[str, Any]
    code: str
    first_line: int
    rule: str
    touches: list[dict[str, Any]]
    counterparts: list[dict[str, Any]]
    others: list[str]
    check: list[str]


def task(port_path: str, site: str = "") -> Task:
    """A MANUAL site of a port: its code and what it touches, the rule's page, ROCm's counterparts, the checks. `site`
    is `path:line` of the sources; without it the first that is left."""
    root, source, known = opened(port_path)
    patch = call(lambda: _again(root, source, known))
    left = {f"{f.path}:{f.line}": f for f in patch.findings if f.applicability is Applicability.MANUAL}
    if not left:
        raise ToolError(f"{port_path}: no site is left to write")
    chosen = site or next(iter(left))
    if chosen not in left:
        raise ToolError(f"{chosen}: no such site; there are {', '.join(list(left)[:10])}")
    finding = left[chosen]
    output = next((name for name, record in known.files.items() if record.source == finding.path), finding.path)
    try:
        lines = plain(root / output).decode("utf-8", "replace").splitlines()
        data = plain(source / finding.path)
    except OSError as error:
        raise unreadable(error, root / output) from error
    marked = _marked(lines, finding.line, data)
    first = max(marked - _AROUND, 1)
    cuda = any(item.path == finding.path and item.language == "cuda" for item in patch.tree.sources)
    names = _names(finding, data) if cuda else []
    return Task(
        site=chosen,
        file=output,
        finding=finding_object(finding),
        code="\n".join(lines[first - 1 : marked + _AROUND]),
        first_line=first,
        rule=page(finding.rule)["text"],
        touches=list(_touched(source, finding.path, names)),
        counterparts=[dict(row) for name in names if (row := counterpart(name))["known"]],
        others=[name for name in left if name != chosen],
        check=[
            f"every unit that reads {output} compiles for {', '.join(build_options().targets)}",
            "every program that reads it and builds passes at wavefront width 32 and 64, alike",
            "the NVIDIA path is what it was",
        ],
    )


def _again(root: Path, source: Path, known: manifest.Manifest) -> api.Patch:
    """The port as it was made, with the options that it was made with."""
    settings = api.settings(source, **manifest.given(known))
    return api.port(api.read(source, settings, frozenset({root.resolve()}), whole=True), settings)


def opened(path: str) -> tuple[Path, Path, manifest.Manifest]:
    """The folder of a port, that of its sources, and its manifest. Raises ToolError."""
    root = Path(path)
    try:
        known, source = manifest.open_port(root)
    except manifest.NotAPortError as error:
        raise ToolError(f"{error}; write one with apply_port") from error
    return root, source, known


def unreadable(error: OSError, path: Path) -> ToolError:
    """What to say of a file of a port that cannot be read or written."""
    return ToolError(f"{error.filename or path}: {error.strerror or error}; `rocport port` writes what a port lacks")


def _names(finding: Finding, data: bytes) -> list[str]:
    """The names in the lines of a finding, each once."""
    source = CudaSource(finding.path, data)
    places = range(len(source.texts))
    inside = (at for at in places if finding.line <= source.line(source.starts[at]) <= finding.end_line)
    return list(dict.fromkeys(source.texts[at].decode() for at in inside if source.is_ident(at)))


def _touched(root: Path, path: str, names: list[str]) -> Iterator[dict[str, Any]]:
    """Where the project defines the names, in a file or what it includes."""
    project = read_project(root)
    for file in sorted(project.closure(path)[0]):
        data = (root / file).read_bytes()
        source = CudaSource(file, data)
        lines = data.decode("utf-8", "replace").splitlines()
        for found in collect(source, [name.encode() for name in names if name.encode() in source.names]):
            if found.kind != "alias" and found.defined:
                yield {
                    "name": found.name.decode(), "kind": found.kind, "file": file, "line": found.line,
                    "text": lines[found.line - 1].strip(),
                }  # fmt: skip


def _marked(lines: list[str], line: int, source: bytes) -> int:
    """The line of the port that holds a line of the source: the nearest equal one, else the same number."""
    texts = source.decode("utf-8", "replace").splitlines()
    wanted = texts[line - 1].strip() if line <= len(texts) else ""
    equal = [number for number, text in enumerate(lines, 1) if wanted and text.strip() == wanted]
    return min(equal, key=lambda number: abs(number - line)) if equal else min(line, max(len(lines), 1))
