"""An edit of a port is taken only when it compiles, when what runs it still agrees with CUDA's semantics, and when the
NVIDIA path is what it was."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict

from rocport import api
from rocport.agent.tasks import opened, unreadable
from rocport.agent.tools import ToolError, build_options
from rocport.model.plain import plain
from rocport.port.files import write_atomic
from rocport.project.tree import read_project
from rocport.syntax.cuda import CudaSource
from rocport.verify import functional
from rocport.verify.nvidia.model import Kind, Proof

_GONE = "gone"
"""The status of a unit or a program that a port no longer has."""


class Verdict(TypedDict):
    """Whether an edit was taken; the file is as it was where not. `errors` are of the check that refused it, `how` says
    of each check that was made what it rests on, `ran` is the verdict of each program that reads the file."""

    accepted: bool
    file: str
    errors: list[dict[str, Any]]
    ran: dict[str, str]
    how: list[str]


def accept(port_path: str, file: str, text: str, targets: tuple[str, ...] = ()) -> Verdict:
    """Replace a file of a port by `text`, and keep it only when its checks pass. Its own units compile, and none is
    less than it was; every program that reads it is still there, builds if it did, launches the kernels it
    launched, is right, and the same at width 32 (CUDA's) and 64; the NVIDIA path differs from the sources in no way it
    did not before. The file is written in one step and put back when a check refuses."""
    from rocport.toolchain import ToolchainError
    from rocport.verify.build import VerifyError
    from rocport.verify.nvidia import TreeError

    root, _, known = opened(port_path)
    path = root / file
    if file not in known.files or not path.resolve().is_relative_to(root.resolve()):
        raise ToolError(f"{file}: not a file that the port wrote; `task` names the file to edit")
    try:
        before = _Before(plain(path), _statuses(root, targets)[0], _differing(root)[0], _programs(root, file))
        verdict = Verdict(accepted=False, file=file, errors=[], ran={}, how=[])
        write_atomic(path, text.encode())
        try:
            _check(verdict, root, targets, before)
            verdict["accepted"] = not verdict["errors"]
        finally:
            if not verdict["accepted"]:
                write_atomic(path, before.data)
    except (ToolchainError, VerifyError, TreeError) as error:
        raise ToolError(str(error)) from error
    except OSError as error:
        raise unreadable(error, path) from error
    return verdict


@dataclass(frozen=True)
class _Before:
    """What a port was before the edit: the file, each unit's status by target, differences of the NVIDIA path, and the
    programs that read the file."""

    data: bytes
    statuses: dict[tuple[str, str], str]
    differing: set[str]
    programs: list[Path]


def _check(verdict: Verdict, root: Path, targets: tuple[str, ...], before: _Before) -> None:
    """The checks in turn; those after one that refuses are not made."""
    _compile(verdict, root, targets, before)
    if not verdict["errors"]:
        _run(verdict, root, before)
    if not verdict["errors"]:
        now, proof = _differing(root)
        verdict["errors"] = [{"nvidia": said} for said in sorted(now - before.differing)]
        verdict["how"] += proof.notes or [f"the NVIDIA path, compared with {proof.original}"]


def _compile(verdict: Verdict, root: Path, targets: tuple[str, ...], before: _Before) -> None:
    """A unit that was compiled is compiled still; one that reads the file is judged still, be it that it failed."""
    from rocport.verify.build import VerifyError

    try:
        after, body = _statuses(root, targets)
    except VerifyError as error:  # the edit left no unit
        after, body = {}, {"units": [], "how": str(error)}
    units = {(unit["path"], unit["target"]): unit for unit in body["units"]}
    readers = _readers(root, verdict["file"])
    for key in dict.fromkeys((*before.statuses, *after)):
        was, now = before.statuses.get(key, _GONE), after.get(key, _GONE)
        lost = now != "ok" and was == "ok"
        unjudged = key[0] in readers and now in (_GONE, "skip") and was == "fail"
        if lost or unjudged or (now == "fail" and (was != "fail" or key[0] == verdict["file"])):
            unit = units.get(key, {"reason": "no unit of the build any more: no compiler reads it", "errors": []})
            verdict["errors"].append({
                "unit": key[0], "target": key[1], "reason": unit["reason"], "errors": unit["errors"],
            })  # fmt: skip
    verdict["how"].append(body["how"])
    judged = any(status == "ok" for (unit_path, _), status in after.items() if unit_path in readers)
    if not judged and not verdict["errors"]:
        verdict["how"].append(f"not judged by a compiler: no unit that reads {verdict['file']} compiles")


def _statuses(root: Path, targets: tuple[str, ...]) -> tuple[dict[tuple[str, str], str], dict[str, Any]]:
    """The status of each unit for each target, and the body of the report."""
    body = api.verify(root, "build", build_options(targets)).to_json()
    return {(unit["path"], unit["target"]): unit["status"] for unit in body["units"]}, body


def _readers(root: Path, file: str) -> set[str]:
    """The files of a port that read a file: itself, and those that include it."""
    project = read_project(root)
    return {file, *(name for name in project.includes if file in project.closure(name)[0])}


def _differing(root: Path) -> tuple[set[str], Proof]:
    proof: Proof = api.verify(root, "nvidia-unchanged")
    return {f"{item.path}: {item.message}" for item in proof.of(Kind.DIFFERENCE)}, proof


def _run(verdict: Verdict, root: Path, before: _Before) -> None:
    """Run the programs that read the file, or read it before. One that does not build, and did not before,
    is named and refuses nothing."""
    programs = _programs(root, verdict["file"])
    for program in before.programs:
        if program not in programs:
            name = program.relative_to(root).as_posix()
            verdict["errors"].append({
                "program": name, "verdict": _GONE, "reason": "no program any more: it was one before the edit",
                "divergences": [],
            })  # fmt: skip
    for program in programs if not verdict["errors"] else []:
        try:
            done = api.verify(program, "functional")
        except functional.FunctionalError as error:
            verdict["how"].append(f"{program.name} was not run: {error}")
            continue
        for result in done.programs:
            name = Path(result.path).relative_to(root).as_posix()
            verdict["ran"][name] = result.verdict.value
            lost = result.verdict is functional.Verdict.NOT_BUILT and program in before.programs
            if lost:
                was = _run_before(root / verdict["file"], before.data, program)
                lost = any(one.verdict is not functional.Verdict.NOT_BUILT for one in was)
            elif program in before.programs and (gone := _no_longer_launched(verdict, root, before, program, result)):
                verdict["errors"].append({
                    "program": name, "verdict": result.verdict.value,
                    "reason": f"it ran {', '.join(gone)} before the edit and runs nothing instead: keep the launch, so "
                    "that the kernel is judged", "divergences": [],
                })  # fmt: skip
            if lost or result.verdict.failed or result.verdict is functional.Verdict.TIMEOUT:
                verdict["errors"].append({
                    "program": name, "verdict": result.verdict.value,
                    "reason": f"{result.reason}; it was built and run before the edit" if lost else result.reason,
                    "divergences": list(result.divergences),
                })  # fmt: skip
        verdict["how"].append(done.how)


def _run_before(path: Path, data: bytes, program: Path) -> tuple[functional.ProgramResult, ...]:
    """What a program does with `data` in `path`, which is then as it was found."""
    edited = path.read_bytes()
    write_atomic(path, data)
    try:
        return tuple(api.verify(program, "functional").programs)
    finally:
        write_atomic(path, edited)


def _no_longer_launched(
    verdict: Verdict, root: Path, before: _Before, program: Path, now: functional.ProgramResult
) -> list[str]:
    """Kernels that a program ran before the edit and no longer does, while they are still there or nothing took their
    place: a program without the kernel in question is right whatever that one computes. The program is run without the
    edit only where a kernel that the texts launch did not run."""
    path = root / verdict["file"]
    ran = {_bare(kernel) for kernel in now.kernels}
    if _launched(path, before.data) <= ran:
        return []
    was = {_bare(kernel) for one in _run_before(path, before.data, program) for kernel in one.kernels}
    gone = sorted(was - ran)
    defined = {source.texts[function.name] for source in (CudaSource(path.name, path.read_bytes()),)
               for function in source.functions if b"__global__" in function.specifiers}  # fmt: skip
    replaced = len(ran) >= len(was) and not any(name.encode() in defined for name in gone)
    if gone and replaced:
        verdict["how"].append(
            f"{program.name} no longer runs {', '.join(gone)}; it runs {', '.join(sorted(ran - was))}"
        )
    return [] if replaced else gone


def _launched(path: Path, data: bytes) -> set[str]:
    """Names of the kernels that a text launches."""
    source = CudaSource(path.name, data)
    spelled = [b" ".join(source.texts[launch.kernel : launch.open]).decode("utf-8", "replace")
               for launch in source.launches]  # fmt: skip
    called = re.findall(rb"\bhipLaunchKernelGGL\s*\(\s*\(?\s*([\w:]+)", data)
    return {_bare(name) for name in (*spelled, *(name.decode() for name in called))}


def _bare(kernel: str) -> str:
    """A kernel's name without its namespaces, template and other arguments: of a launch, or of a symbol."""
    spelled = re.split(r"[<(]", kernel.strip().lstrip("("))[0].strip().rstrip(")")
    return re.split(r"::|\s", spelled)[-1]


def _programs(root: Path, file: str) -> list[Path]:
    """The programs of a port that read a file: it is theirs, or a file of theirs includes it."""
    project = read_project(root)
    found = []
    for program in functional.find_programs(root):
        place = program.relative_to(root).as_posix()
        below = "" if place == "." else f"{place}/"
        mains = [place] if program.is_file() else [name for name in project.files if name.startswith(below)]
        if any(file in project.closure(name)[0] for name in mains):
            found.append(program)
    return found
