"""What an agent can ask. Every function returns plain data and says where it was cut: `next_offset` is where to go on.

Only `apply_port` writes, and only to a folder that is named. `run` runs a program, confined. Functions raise ToolError
with place, expectation and next step.
"""

from __future__ import annotations

import difflib
import io
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from rocport import api
from rocport.model import HANGING_S, Applicability, cache_folder
from rocport.report.json import finding_object

if TYPE_CHECKING:
    from rocport.verify.build import BuildOptions

PAGE = 50
TEXT = 20_000
T = TypeVar("T")


class ToolError(Exception):
    """The question cannot be answered; the message says why and what to do."""


class Findings(TypedDict):
    """`safe` is what port does by itself."""

    total: int
    counts: dict[str, int]
    findings: list[dict[str, Any]]
    problems: list[dict[str, str]]
    next_offset: int | None


class PortPreview(TypedDict):
    """A unified diff over the sources, by pages of characters."""

    counts: dict[str, int]
    left: list[dict[str, Any]]
    diff: str
    next_offset: int | None


class Written(TypedDict):
    """What `apply_port` wrote."""

    folder: str
    files: dict[str, int]
    left: list[dict[str, Any]]
    problems: list[dict[str, str]]


class Build(TypedDict):
    """Level build of verify: what compiles for which target, and the errors of what does not."""

    how: str
    summary: dict[str, Any]
    failing: list[dict[str, Any]]
    next_offset: int | None


class Page(TypedDict):
    """A rule's or a failure's page; `data` says as of which day its facts are."""

    name: str
    text: str
    data: dict[str, Any]


class Counterpart(TypedDict):
    """What ROCm has for a CUDA name. `hip` is empty where it has nothing."""

    kind: str
    cuda: str
    known: bool
    hip: str
    note: str
    library: str
    since: str
    source: str
    facts_as_of: str


def scan(path: str, select: Sequence[str] = (), applicability: str = "", offset: int = 0) -> Findings:
    """Every place of a CUDA/PyTorch repository that breaks on ROCm. `select`: rule names; `applicability`: safe, review
    or manual."""
    found = call(lambda: api.scan(_folder(path), api.settings(path, select=tuple(select))))
    chosen = [f for f in found.findings if not applicability or f.applicability.value == applicability]
    page, following = _page(chosen, offset)
    return Findings(
        total=len(chosen),
        counts=_counts(found.findings),
        findings=[finding_object(finding) for finding in page],
        problems=[{"path": problem.path, "message": problem.message} for problem in found.problems],
        next_offset=following,
    )


def port(path: str, targets: Sequence[str] = (), offset: int = 0) -> PortPreview:
    """What a port would change, as a diff, without writing anything. `left` is what is left for a person (manual)."""
    patch = _patch(path, targets)
    text = b"".join(api.diff(patch)).decode("utf-8", "replace")
    end = offset + TEXT
    return PortPreview(
        counts=_counts(patch.findings),
        left=_left(patch),
        diff=text[offset:end],
        next_offset=end if end < len(text) else None,
    )


def apply_port(path: str, out: str, targets: Sequence[str] = ()) -> Written:
    """Write the port into the folder `out`; the sources stay as they are. Edits made there by hand are merged."""
    patch = _patch(path, targets, Path(out))
    landed = call(lambda: api.apply(patch, out))
    statuses: dict[str, int] = {}
    for record in landed.records:
        statuses[record.status] = statuses.get(record.status, 0) + 1
    problems = [{"path": item.path, "message": item.message} for item in (*patch.problems, *landed.problems)]
    return Written(folder=str(Path(out).resolve()), files=statuses, left=_left(patch), problems=problems)


def verify_build(path: str, targets: Sequence[str] = (), offset: int = 0) -> Build:
    """Cross-compile every translation unit of a port for gfx targets, without a GPU."""
    from rocport.toolchain import ToolchainError
    from rocport.verify.build import VerifyError

    try:
        body = api.verify(_folder(path), "build", build_options(targets)).to_json()
    except (ToolchainError, VerifyError) as error:
        raise ToolError(str(error)) from error
    failing = [
        {"path": unit["path"], "target": unit["target"], "reason": unit["reason"], "errors": unit["errors"]}
        for unit in body["units"]
        if unit["status"] != "ok"
    ]
    page, following = _page(failing, offset)
    return Build(how=body["how"], summary=body["summary"], failing=page, next_offset=following)


def verify_nvidia_unchanged(port_path: str, original: str) -> dict[str, Any]:
    """Whether a port for both platforms leaves the NVIDIA path what it was; every difference with its place."""
    return _command("verify", port_path, "--level", "nvidia-unchanged", "--original", original, "--format", "json")


def run(file: str, width: int = 64, arguments: Sequence[str] = ()) -> dict[str, Any]:
    """Run a HIP program with no GPU at wavefront width 32 or 64, confined: output, status and hazards."""
    if width not in (32, 64):
        raise ToolError(f"width {width}: a wavefront has 32 or 64 lanes")
    done = _child("run", file, "--width", str(width), "--", *arguments)
    return {"status": done.returncode, "stdout": done.stdout[-TEXT:], "stderr": done.stderr[-TEXT:]}


def explain(text: str) -> dict[str, Any]:
    """Diagnose a pasted build or run log, or the output of rocminfo, rocm-smi or torch's collect_env."""
    from rocport.explain import read_stream
    from rocport.explain.pages import reading_data

    return reading_data(read_stream(io.BytesIO(text.encode("utf-8", "replace")), "paste"))


def page(name: str) -> Page:
    """The page of a rule (`warp-mask-constant`) or of a known failure: what breaks, why, when the fix is right."""
    from rocport.explain.pages import failure_data, failure_text, rule_data, rule_text
    from rocport.facts.dates import facts_as_of
    from rocport.facts.failures import load_failures
    from rocport.rules import discover

    known = []
    for loaded in discover():
        if loaded.rule.name == name:
            data = rule_data(loaded.rule, loaded.doc) | facts_as_of("failures")
            return Page(name=name, text=rule_text(loaded.rule, loaded.doc), data=data)
        known.append(loaded.rule.name)
    for failure in load_failures():
        if failure.id == name:
            return Page(
                name=name, text=failure_text(failure), data={**failure_data(failure), **facts_as_of("failures")}
            )
        known.append(failure.id)
    close = ", ".join(difflib.get_close_matches(name, known, n=5, cutoff=0.4))
    raise ToolError(f"{name!r} is no rule and no known failure; near it: {close or 'nothing'}")


def counterpart(name: str, kind: str = "symbol") -> Counterpart:
    """What ROCm has for a CUDA name. `kind`: symbol, header, namespace, link, cmake or package."""
    from rocport.facts import lookup
    from rocport.facts.dates import as_of

    kinds = ("symbol", "header", "namespace", "link", "cmake", "package")
    if kind not in kinds:
        raise ToolError(f"kind {kind!r}: one of {', '.join(kinds)}")
    row = lookup.counterpart(kind, name)  # type: ignore[arg-type]
    day = as_of("libraries", "packages", "intrinsics.toml").isoformat()
    if row is None:
        return Counterpart(
            kind=kind, cuda=name, known=False, hip="", note="", library="", since="", source="", facts_as_of=day
        )
    return Counterpart(
        kind=kind, cuda=name, known=True, hip=row.hip, note=row.note, library=row.library, since=row.since,
        source=row.source, facts_as_of=day,
    )  # fmt: skip


def compat(gpu: str, system: str = "", python: str = "", want: str = "") -> dict[str, Any]:
    """An installation plan for a GPU (product name or gfx target): ROCm, PyTorch, index, what will not work."""
    words = ["--gpu", gpu, "--json"]
    for option, value in (("--os", system), ("--python", python), ("--want", want)):
        words += [option, value] if value else []
    return _command("compat", *words)


def doctor() -> dict[str, Any]:
    """What this machine is, what is wrong with its ROCm installation, and what fixes it."""
    return _command("doctor", "--json")


def report(port_path: str) -> str:
    """The page that `rocport report` writes about a port, which nothing is compiled or run for. Raises ToolError."""
    with tempfile.TemporaryDirectory(prefix="rocport-") as folder:
        out = Path(folder) / "report.html"
        done = _child("report", str(_folder(port_path)), "--no-build", "--out", str(out))
        if done.returncode:
            raise ToolError(_said(done))
        return out.read_text(encoding="utf-8")


def build_options(targets: Sequence[str] = ()) -> BuildOptions:
    """How a port is compiled: for `targets`, or one of each wavefront width."""
    from rocport.facts.targets import one_of_each_width
    from rocport.verify.build import BuildOptions

    return BuildOptions(tuple(targets) or one_of_each_width(), cache=cache_folder())


def _folder(path: str) -> Path:
    folder = Path(path)
    if not folder.exists():
        raise ToolError(f"{path}: no such file or folder; give a path that exists, absolute or from where rocport runs")
    return folder


def _patch(path: str, targets: Sequence[str], out: Path | None = None) -> api.Patch:
    folder = _folder(path)
    skip = frozenset({out.resolve()}) if out else frozenset()

    def make() -> api.Patch:
        settings = api.settings(folder, **({"target": tuple(targets)} if targets else {}))
        return api.port(api.read(folder, settings, skip, whole=True), settings)

    return call(make)


def call(asked: Callable[[], T]) -> T:
    """What a function of the API returns; what it raises for its caller becomes a ToolError."""
    try:
        return asked()
    except (api.ConfigError, api.BaselineError, api.LayoutError, api.OutputError, api.BusyError) as error:
        raise ToolError(str(error)) from error
    except OSError as error:
        raise ToolError(f"{error.filename}: {error.strerror}") from error


def _counts(findings: Sequence[Any]) -> dict[str, int]:
    return {kind.value: sum(item.applicability is kind for item in findings) for kind in Applicability}


def _left(patch: api.Patch) -> list[dict[str, Any]]:
    return [finding_object(item) for item in patch.findings if item.applicability is Applicability.MANUAL]


def _page(items: Sequence[T], offset: int) -> tuple[list[T], int | None]:
    end = offset + PAGE
    return list(items[offset:end]), end if end < len(items) else None


def _child(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rocport", *words]
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=HANGING_S, check=False
    )


def _command(*words: str) -> dict[str, Any]:
    """The JSON of a rocport command."""
    done = _child(*words)
    try:
        body: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        raise ToolError(_said(done)) from None
    return body


def _said(done: subprocess.CompletedProcess[str]) -> str:
    """The last line of a command that failed."""
    said = (done.stderr or done.stdout).strip().splitlines()
    return said[-1].removeprefix("Error: ") if said else f"rocport {done.args[3]} said nothing"
