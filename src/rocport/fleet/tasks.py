"""The steps of one repository, each a function of plain data that runs in a process of its own (`child`).

`prepare` fetches, scans and ports, `build` compiles some units of the port, `run` runs its programs, `page` joins what
was found into one page. A step that needs the port makes it where it is missing: a worker may have lost its disk.
"""

from __future__ import annotations

import functools
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import rocport
from rocport import api
from rocport.fleet.sources import Source, SourceError, fetch
from rocport.fleet.store import Store, key_of, open_store, read_result
from rocport.model import (
    Applicability,
    Confidence,
    Finding,
    Mark,
    Problem,
    Report,
    Section,
    Severity,
    Span,
    cache_folder,
)
from rocport.model.locks import locked
from rocport.model.report import anchor
from rocport.model.verification import Diagnostic, KernelFinding, KernelUse, Status, UnitResult, Verification
from rocport.port import manifest
from rocport.report.html import Page, render_page
from rocport.report.json import finding_object
from rocport.scan.revision import RevisionError
from rocport.toolchain import ToolchainError
from rocport.verify import build
from rocport.verify.functional import FunctionalError
from rocport.verify.reports import RUNS, of_build

PREPARE, BUILD, RUN, PAGE = "prepare", "build", "run", "page"


@dataclass(frozen=True)
class Task:
    """One step of one repository. `units` are those of a `build`, `parts` the keys of the results a `page` joins."""

    step: str
    source: Source
    targets: tuple[str, ...] = ()
    rocm: str = ""
    torch: str = ""
    objects: bool = False
    units: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    code: str = ""
    """Hash of rocport's own sources: another rocport, other results."""

    @functools.cached_property
    def key(self) -> str:
        """Of its result: everything the result depends on."""
        return key_of(asdict(self))


@dataclass(frozen=True)
class Places:
    """Where a worker keeps trees (`work`, its own disk), results (`store`, shared), and git directories (`mirror`)."""

    work: str
    store: str
    mirror: str = ""
    environment: dict[str, str] = field(default_factory=dict)

    def opened(self) -> Store:
        return open_store(self.store)


def from_json(data: Mapping[str, Any]) -> tuple[Task, Places]:
    """What `child` reads."""
    task = dict(data["task"])
    task["source"] = Source(**task["source"])
    task |= {name: tuple(task[name]) for name in ("targets", "units", "parts")}
    return Task(**task), Places(**data["places"])


def perform(task: Task, places: Places) -> dict[str, Any]:
    """The result of a task: `state` is done or failed, with `reason`; `seconds` of this step alone."""
    started = time.monotonic()
    try:
        found = _STEPS[task.step](task, places)
        found.setdefault("state", "done")
    except (
        SourceError, RevisionError, api.ConfigError, api.BaselineError, api.LayoutError, api.OutputError, OSError,
        build.VerifyError, FunctionalError, ToolchainError, RecursionError,
    ) as error:  # fmt: skip
        found = {"state": "failed", "reason": f"{type(error).__name__}: {error}"}
    return {"step": task.step, "name": task.source.name, "seconds": round(time.monotonic() - started, 3), **found}


def _tree(task: Task, places: Places) -> Path:
    return fetch(task.source, Path(places.work), Path(places.mirror) if places.mirror else None)


def _settings(task: Task) -> api.Settings:
    return api.Settings(target=task.targets, rocm=task.rocm, torch=task.torch, respect_gitignore=False)


def _port(task: Task, places: Places) -> tuple[Path, api.Patch | None]:
    """The folder of the port, and the patch where it was made now. What is a port already is taken as it lies."""
    made_for = key_of({"targets": task.targets, "rocm": task.rocm, "torch": task.torch})[:8]
    folder = Path(places.work) / "port" / f"{task.source.id}-{task.code[:12]}-{made_for}"
    source = _tree(task, places)
    if (source / manifest.NAME).is_file():
        return source, None
    with locked(folder.with_name(folder.name + ".lock")):
        if folder.is_dir():
            return folder, None
        scratch = folder.with_name(folder.name + ".part")
        shutil.rmtree(scratch, ignore_errors=True)
        patch = api.port(source, _settings(task), jobs=1)
        api.apply(patch, scratch)
        scratch.rename(folder)
    return folder, patch


def _prepare(task: Task, places: Places) -> dict[str, Any]:
    """What the port did and left. Of the findings, those that are open: a page of a fleet counts the rest."""
    folder, patch = _port(task, places)
    if patch is None:
        patch = api.port(_tree(task, places), _settings(task), jobs=1)
    report = api.report(patch, task.source.name)
    opened = [item for item in patch.findings if item.applicability is not Applicability.SAFE]
    return {
        "files": len(patch.tree.files),
        "cuda": sum(file.language == "cuda" for file in patch.tree.sources),
        "bytes": report.bytes_read,
        **report.count(),
        "rules": dict(Counter(item.rule for item in opened if item.applicability is Applicability.MANUAL)),
        "problems": [[item.path, item.message] for item in patch.problems],
        "minutes": sum(effort.minutes for effort in report.effort()),
        "findings": [finding_object(item) for item in opened],
        "units": build.unit_paths(folder),
    }


def _finding(raw: Mapping[str, Any]) -> Finding:
    """A finding as a page shows it: what it edits is in the port."""
    return Finding(
        raw["rule"], raw["path"], Span(0, 0), raw["line"], raw["end_line"], raw["message"], Severity(raw["severity"]),
        Applicability(raw["applicability"]), raw["phase"], Confidence(raw["confidence"]), raw["fix"],
        holds=raw["holds"], source=raw["source"],
    )  # fmt: skip


def _build(task: Task, places: Places) -> dict[str, Any]:
    folder, _ = _port(task, places)
    options = build.BuildOptions(
        task.targets, jobs=1, cache=cache_folder() / "build", syntax_only=not task.objects, only=frozenset(task.units)
    )
    done = build.verify(folder, options)
    return {"how": done.how, "units": [unit.to_json() for unit in done.units]}


def _run(task: Task, places: Places) -> dict[str, Any]:
    folder, _ = _port(task, places)
    done = api.verify(folder, "functional")
    return {"how": done.how, "programs": {item.path: item.verdict.value for item in done.programs}}


def verification(root: str, targets: tuple[str, ...], results: list[dict[str, Any]]) -> Verification | None:
    """What the `build` steps of one repository found, as one; None where none was done."""
    units = tuple(_unit(raw) for result in results if result["state"] == "done" for raw in result["units"])
    how = next((str(result["how"]) for result in results if result["state"] == "done"), "")
    return Verification("build", root, targets, how, units) if units else None


def _unit(raw: Mapping[str, Any]) -> UnitResult:
    return UnitResult(
        **{
            **raw,
            "status": Status(raw["status"]),
            "errors": tuple(Diagnostic(**item) for item in raw["errors"]),
            "kernels": tuple(KernelUse(**item) for item in raw["kernels"]),
            "findings": tuple(KernelFinding(**item) for item in raw["findings"]),
        }
    )


def _page(task: Task, places: Places) -> dict[str, Any]:
    """Writes the page into the store. Of what was not done it says so."""
    store = places.opened()
    parts = [part for key in task.parts if (part := read_result(store, key)) is not None]
    prepared = next(part for part in parts if part["step"] == PREPARE)
    report = Report(
        "port", task.source.name, (), tuple(map(_finding, prepared["findings"])),
        tuple(Problem(path, message) for path, message in prepared["problems"]),
        (("targets", ",".join(task.targets)),), prepared["files"], prepared["bytes"],
    )  # fmt: skip
    safe = (str(prepared["safe"]), "safe sites are done by `rocport port` and not listed")
    built = verification(task.source.name, task.targets, [part for part in parts if part["step"] == BUILD])
    shown = of_build(built) if built is not None else Report("verify", "", (), ())
    evidence = shown.evidence or (("compiled", Mark("not asked", "dim")),)
    sections = [*shown.sections, Section("Not listed", ("sites", "why"), (safe,))]
    for part in parts:
        if part["step"] == RUN and part["state"] == "done":
            states = part["programs"]
            right = sum(verdict == "pass" for verdict in states.values())
            rows = tuple(
                (Mark(path, "code"), Mark(verdict, "good" if verdict == "pass" else "bad"))
                for path, verdict in states.items()
            )
            sections.append(Section(RUNS, ("program", "verdict"), rows, part["how"]))
            said = Mark(
                f"{right} of {len(states)} programs", "good" if right == len(states) else "bad", "#" + anchor(RUNS)
            )
            evidence = (*evidence, ("run at 32 and 64", said))
    report = replace(report, sections=tuple(sections), evidence=(*evidence, ("hardware", Mark("no", "dim"))))
    store.write(f"pages/{task.key}.html", render_page(Page(report)).encode())
    return {"page": f"pages/{task.key}.html"}


_STEPS: dict[str, Callable[[Task, Places], dict[str, Any]]] = {
    PREPARE: _prepare,
    BUILD: _build,
    RUN: _run,
    PAGE: _page,
}


def environment() -> dict[str, str]:
    """What a worker on another node needs of ours to find this rocport."""
    package = str(Path(rocport.__file__).parents[1])
    paths = [package, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {"PYTHONPATH": os.pathsep.join(dict.fromkeys(paths))}
