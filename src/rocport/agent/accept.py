"""An edit of a port is taken only when it compiles, when what runs it still agrees with CUDA's semantics, and when the
NVIDIA path is what it was."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

from rocport import api
from rocport.agent.tasks import opened
from rocport.agent.tools import ToolError, build_options
from rocport.port.files import write_atomic
from rocport.project.tree import read_project
from rocport.verify import functional
from rocport.verify.nvidia.model import Kind, Proof


class Verdict(TypedDict):
    """Whether an edit was taken; the file is as it was where not. `errors` are of the check that refused it, `how` says
    of each check that was made what it rests on, `ran` is the verdict of each program that reads the file."""

    accepted: bool
    file: str
    errors: list[dict[str, Any]]
    ran: dict[str, str]
    how: list[str]


def accept(port_path: str, file: str, text: str, targets: tuple[str, ...] = ()) -> Verdict:
    """Replace a file of a port by `text`, and keep it only when its checks pass. Its own units compile, and no other
    fails that did not before; every program that reads it and builds for the CPU is right, and the same at width 32
    (CUDA's) and 64; the NVIDIA path differs from the sources in no way it did not before. The file is written in one
    step and put back when a check refuses."""
    from rocport.toolchain import ToolchainError
    from rocport.verify.build import VerifyError

    root, _, known = opened(port_path)
    path = root / file
    if file not in known.files or not path.resolve().is_relative_to(root.resolve()):
        raise ToolError(f"{file}: not a file that the port wrote; `task` names the file to edit")
    before = path.read_bytes()
    verdict = Verdict(accepted=False, file=file, errors=[], ran={}, how=[])
    try:
        failing = _failing(root, targets)[0]
        differing, _ = _differing(root)
        write_atomic(path, text.encode())
        try:
            _check(verdict, root, targets, failing, differing)
            verdict["accepted"] = not verdict["errors"]
        finally:
            if not verdict["accepted"]:
                write_atomic(path, before)
    except (ToolchainError, VerifyError) as error:
        raise ToolError(str(error)) from error
    return verdict


def _check(
    verdict: Verdict, root: Path, targets: tuple[str, ...], failing: set[tuple[str, str]], differing: set[str]
) -> None:
    """The checks in turn; those after one that refuses are not made."""
    after, body = _failing(root, targets)
    verdict["how"].append(body["how"])
    verdict["errors"] = [
        {"unit": unit["path"], "target": unit["target"], "reason": unit["reason"], "errors": unit["errors"]}
        for unit in body["units"]
        if (key := (unit["path"], unit["target"])) in after and (key not in failing or unit["path"] == verdict["file"])
    ]
    if not verdict["errors"]:
        _run(verdict, root)
    if not verdict["errors"]:
        now, proof = _differing(root)
        verdict["errors"] = [{"nvidia": said} for said in sorted(now - differing)]
        verdict["how"] += proof.notes or [f"the NVIDIA path, compared with {proof.original}"]


def _failing(root: Path, targets: tuple[str, ...]) -> tuple[set[tuple[str, str]], dict[str, Any]]:
    body = api.verify(root, "build", build_options(targets)).to_json()
    return {(unit["path"], unit["target"]) for unit in body["units"] if unit["status"] == "fail"}, body


def _differing(root: Path) -> tuple[set[str], Proof]:
    proof: Proof = api.verify(root, "nvidia-unchanged")
    return {f"{item.path}: {item.message}" for item in proof.of(Kind.DIFFERENCE)}, proof


def _run(verdict: Verdict, root: Path) -> None:
    """Run the programs that read the file. One that does not build for the CPU is named, and refuses nothing."""
    for program in _programs(root, verdict["file"]):
        try:
            done = api.verify(program, "functional")
        except functional.FunctionalError as error:
            verdict["how"].append(f"{program.name} was not run: {error}")
            continue
        for result in done.programs:
            name = Path(result.path).relative_to(root).as_posix()
            verdict["ran"][name] = result.verdict.value
            if result.verdict.failed or result.verdict is functional.Verdict.TIMEOUT:
                verdict["errors"].append({
                    "program": name, "verdict": result.verdict.value, "reason": result.reason,
                    "divergences": list(result.divergences),
                })  # fmt: skip
        verdict["how"].append(done.how)


def _programs(root: Path, file: str) -> Iterator[Path]:
    """The programs of a port that read a file: it is theirs, or a file of theirs includes it."""
    project = read_project(root)
    for program in functional.find_programs(root):
        place = program.relative_to(root).as_posix()
        mains = [place] if program.is_file() else [name for name in project.files if name.startswith(f"{place}/")]
        if any(file in project.closure(name)[0] for name in mains):
            yield program
