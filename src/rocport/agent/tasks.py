"""The loop that closes MANUAL sites: a bundle for one site, and an edit that is taken only when its check passes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypedDict

from rocport import api
from rocport.agent.tools import ToolError, build_options, page
from rocport.model import Applicability
from rocport.port import manifest
from rocport.port.files import write_atomic
from rocport.report.json import finding_object

_AROUND = 25


class Task(TypedDict):
    """One site: what is to be written there, and how it will be checked."""

    site: str
    file: str
    finding: dict[str, Any]
    code: str
    first_line: int
    rule: str
    others: list[str]
    check: str


class Verdict(TypedDict):
    """Whether an edit was taken. `errors` are of the check that refused it; the file is then as it was."""

    accepted: bool
    file: str
    errors: list[dict[str, Any]]
    how: str


def task(port_path: str, site: str = "") -> Task:
    """A MANUAL site of a port: its code, the rule's page and the check. `site` is `path:line` of the sources; without
    it the first that is left."""
    root, source, known = _port(port_path)
    patch = api.port(api.read(source, skip=frozenset({root.resolve()}), whole=True))
    left = {f"{f.path}:{f.line}": f for f in patch.findings if f.applicability is Applicability.MANUAL}
    if not left:
        raise ToolError(f"{port_path}: no site is left to write")
    chosen = site or next(iter(left))
    if chosen not in left:
        raise ToolError(f"{chosen}: no such site; there are {', '.join(list(left)[:10])}")
    finding = left[chosen]
    output = next((name for name, record in known.files.items() if record.source == finding.path), finding.path)
    lines = (root / output).read_text(encoding="utf-8", errors="replace").splitlines()
    marked = _marked(lines, finding.line, (source / finding.path).read_bytes())
    first = max(marked - _AROUND, 1)
    return Task(
        site=chosen,
        file=output,
        finding=finding_object(finding),
        code="\n".join(lines[first - 1 : marked + _AROUND]),
        first_line=first,
        rule=page(finding.rule)["text"],
        others=[name for name in left if name != chosen],
        check=f"every unit that reads {output} compiles for {', '.join(build_options().targets)}; `accept` runs it",
    )


def accept(port_path: str, file: str, text: str, targets: tuple[str, ...] = ()) -> Verdict:
    """Replace a file of a port by `text`, and keep it only when no unit of the port fails that did not fail before, and
    the file's own unit compiles. The file is written in one step and put back when the check refuses."""
    from rocport.toolchain import ToolchainError
    from rocport.verify.build import VerifyError

    root, _, known = _port(port_path)
    path = root / file
    if file not in known.files or not path.resolve().is_relative_to(root.resolve()):
        raise ToolError(f"{file}: not a file that the port wrote; `task` names the file to edit")
    before = path.read_bytes()
    options = build_options(targets)
    try:
        failing = _failing(api.verify(root, "build", options).to_json())
        write_atomic(path, text.encode())
        taken = False
        try:
            after = api.verify(root, "build", options).to_json()
            new = [unit for key, unit in _failing(after).items() if key not in failing or unit["path"] == file]
            taken = not new
        finally:
            if not taken:
                write_atomic(path, before)
    except (ToolchainError, VerifyError) as error:
        raise ToolError(str(error)) from error
    errors = [{"unit": u["path"], "target": u["target"], "reason": u["reason"], "errors": u["errors"]} for u in new]
    return Verdict(accepted=taken, file=file, errors=errors, how=after["how"])


def _port(path: str) -> tuple[Path, Path, manifest.Manifest]:
    root = Path(path)
    try:
        known, source = manifest.open_port(root)
    except manifest.NotAPortError as error:
        raise ToolError(f"{error}; write one with apply_port") from error
    return root, source, known


def _failing(body: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(unit["path"], unit["target"]): unit for unit in body["units"] if unit["status"] == "fail"}


def _marked(lines: list[str], line: int, source: bytes) -> int:
    """The line of the port that holds a line of the source: the nearest equal one, else the same number."""
    texts = source.decode("utf-8", "replace").splitlines()
    wanted = texts[line - 1].strip() if line <= len(texts) else ""
    equal = [number for number, text in enumerate(lines, 1) if wanted and text.strip() == wanted]
    return min(equal, key=lambda number: abs(number - line)) if equal else min(line, max(len(lines), 1))
