"""Plans and support tables as text, Markdown and data."""

from __future__ import annotations

import dataclasses
from typing import Any

from rocport.compat.candidate import Candidate
from rocport.compat.gpu import describe
from rocport.compat.plan import Plan
from rocport.compat.resolve import Resolution
from rocport.facts.attention import attention_of
from rocport.facts.dates import dated, facts_as_of
from rocport.facts.platforms import wsl_support
from rocport.facts.pytorch import KINDS, Feature, beyond, changes, features, state_in
from rocport.facts.rocm import TorchRelease, channels_of
from rocport.facts.rocm_libraries import version_in
from rocport.facts.rocm_systems import systems_of
from rocport.model.targets import GfxTarget
from rocport.model.versions import RocmVersion, TorchVersion

PLAN_FACTS = (
    "packages",
    "platforms.toml",
    "rocm_releases.toml",
    "rocm_systems.csv",
    "targets",
    "torch_rocm.toml",
    "torch_wheels.toml",
    "wheel_listings.csv",
)
TABLE_FACTS = ("pytorch_changes.toml", "pytorch_support.toml", "rocm_libraries.csv", "targets", "torch_rocm.toml")
_TITLES = {
    "library": "ROCm libraries under torch",
    "dtype": "Data types",
    "module": "Modules",
    "domain": "Domain libraries",
    "change": "What this build has that older ones lack",
}
_MARK = {"ok": "works", "build": "builds", "separate": "apart", "no": "NO", "unknown": "unknown"}


def plan_text(plan: Plan, resolution: Resolution | None = None) -> str:
    """The plan for people: commands first, then each wanted package, then what does not work."""
    request = plan.request
    lines = [f"GPU: {describe(request.target)}"]
    if plan.chosen is None:
        lines.append("torch: NO published ROCm wheel serves this request")
    else:
        release = plan.chosen.release
        lines.append(f"torch: {plan.chosen.title} ({plan.chosen.sure}: {plan.chosen.source})")
        lines.append(f"triton: {' or '.join(release.triton) or 'not known'}; torchvision: {release.torchvision}")
        lines += [_index(plan), _driver(plan), _systems(plan), *(f"kernel: {kernel}" for kernel in plan.kernels)]
        lines += ["", "Commands:"]
        lines += [f"  {command}" for command in plan.commands]
        lines += _resolution_lines(resolution)
        if plan.settings:
            lines += ["", "Environment:"]
            lines += [f"  {s.name}={s.value}: {s.why} ({s.sure}: {s.source})" for s in plan.settings]
    if plan.items:
        lines += ["", "Wanted:"]
    for item in plan.items:
        lines.append(f"  {_MARK[item.status]:8} {item.want.text}: {item.text}{_cite(item.source, item.sure)}")
        if item.instead and not item.works:
            lines.append(f"           instead: {item.instead}")
    if plan.refused:
        lines += ["", "Does not work:"]
    for refused in plan.refused:
        instead = f"; instead: {refused.instead}" if refused.instead else ""
        lines.append(f"  {refused.what}: {refused.why}{instead}{_cite(refused.source, refused.sure)}")
    if plan.alternatives:
        lines += ["", "Alternatives:"]
        for other in plan.alternatives:
            without = f", without {', '.join(other.without)}" if other.without else ""
            build = other.candidate
            lines.append(f"  {build.title}{without}: --index-url {build.index} ({build.sure})")
    if plan.notes:
        lines += ["", "Notes:", *(f"  {note}" for note in plan.notes)]
    lines += ["", dated(*PLAN_FACTS)]
    return "\n".join(lines) + "\n"


def _resolution_lines(resolution: Resolution | None) -> list[str]:
    if resolution is None:
        return ["", "Not resolved: pip has not been asked whether these versions go together (--resolve asks it)."]
    lines = [f"  {step.state:9} {step.command}{': ' + step.said if step.said else ''}" for step in resolution.steps]
    if any(step.state in ("recorded", "stand-ins") for step in resolution.steps):
        lines.append(
            "  recorded, stand-ins: torch's index was not reached; empty wheels stood for its packages, of versions"
        )
        lines.append("  that the index is recorded to hold (recorded) or of the facts' (stand-ins: it may lack them)")
    return ["", f"Resolved by pip of Python {resolution.python}:", *lines]


def _cite(source: str, sure: str) -> str:
    return f" ({sure}: {source})" if source else ""


def _index(plan: Plan) -> str:
    """What the index is recorded to hold, and what is not known to be there."""
    assert plan.chosen is not None
    missing = ", ".join(plan.unrecorded)
    if "torch" in plan.unrecorded:
        return f"index: not recorded: nobody has read what {plan.chosen.index} holds for this request"
    lacks = [record.text for record in plan.records if record.lacks]
    said = f"index: {next((record for record in plan.records if not record.lacks), plan.records[0]).text}"
    return f"{said}; not recorded: {missing}{' (' + '; '.join(lacks) + ')' if lacks else ''}" if missing else said


def _driver(plan: Plan) -> str:
    driver = plan.driver
    assert plan.chosen is not None
    if plan.request.system is not None and plan.request.system.kind == "wsl":
        wsl = wsl_support()
        return f"driver: AMD's for Windows; WSL has no amdgpu driver ({wsl.sure}: {wsl.source})"
    if driver is None:
        return f"driver: the oldest that works with ROCm {plan.chosen.rocm} is not in the facts"
    least = f"{driver.minimum} or later" if driver.minimum else "the oldest that works is not in the facts"
    return f"driver: amdgpu, {least}; known to work: {driver.known} ({driver.sure}: {driver.source})"


def _systems(plan: Plan) -> str:
    """What AMD's documents say of the system that was asked for, or of all where none was."""
    assert plan.chosen is not None
    if not plan.systems:
        return f"system: what ROCm {plan.chosen.rocm} is documented for is not in the facts"
    first, system = plan.systems[0], plan.request.system
    source = f"(documented: {first.source})"
    every = ", ".join(row.title for row in plan.systems)
    if system is None or system.kind == "wsl":
        return f"system: ROCm {first.rocm} is documented for {every} {source}"
    same = systems_of(first.rocm, first.family, system.id)
    if same:
        return f"system: ROCm {first.rocm} is documented for {', '.join(row.title for row in same)} {source}"
    return f"system: ROCm {first.rocm} is NOT documented for {system.id}, but for {every} {source}"


def plan_data(plan: Plan, resolution: Resolution | None = None) -> dict[str, Any]:
    """The plan as JSON: schema `rocport.compat/1`. `complete` is true only for what pip has resolved from packages that
    the indexes have, or are recorded to have."""
    request = plan.request
    return {
        "schema": "rocport.compat/1",
        **facts_as_of(*PLAN_FACTS),
        "works": plan.complete,
        "complete": plan.complete and resolution is not None and resolution.proven,
        "resolution": dataclasses.asdict(resolution) if resolution else None,
        "gpu": {"target": request.target.name, "family": request.target.family, "products": request.target.products},
        "python": request.python,
        "os": request.system.id if request.system else None,
        "torch": _candidate(plan.chosen) if plan.chosen else None,
        "index": [dataclasses.asdict(record) for record in plan.records],
        "not_recorded": plan.unrecorded if plan.chosen else (),
        "commands": plan.commands,
        "environment": [dataclasses.asdict(setting) for setting in plan.settings],
        "driver": dataclasses.asdict(plan.driver) if plan.driver else None,
        "kernels": plan.kernels,
        "systems": [dataclasses.asdict(row) for row in plan.systems],
        "wanted": [
            {
                "name": item.want.name,
                "wanted": item.want.text,
                "where": item.want.where,
                "status": item.status,
                "text": item.text,
                "install": item.install,
                "instead": item.instead,
                "source": item.source,
                "sure": item.sure,
            }
            for item in plan.items
        ],
        "refused": [dataclasses.asdict(refused) for refused in plan.refused],
        "alternatives": [{**_candidate(other.candidate), "without": other.without} for other in plan.alternatives],
        "notes": plan.notes,
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    release = candidate.release
    return {
        "torch": release.version,
        "rocm": candidate.rocm,
        "index": candidate.index,
        "owner": candidate.owner,
        "triton": release.triton,
        "torchvision": release.torchvision,
        "python": [release.python_min, release.python_max],
        "source": candidate.source,
        "sure": candidate.sure,
    }


def tables_data(release: TorchRelease, target: GfxTarget | None, rocm: str = "") -> dict[str, Any]:
    """Support tables of a torch release, and of a target where the facts split by it: schema `rocport.support/1`."""
    torch = TorchVersion.parse(release.version)
    asked = rocm or next(iter(channels_of(release)), "")
    version = RocmVersion.parse(asked) if asked else None
    tables: dict[str, list[dict[str, Any]]] = {kind: [] for kind in (*KINDS, "change")}
    for feature in features():
        row = dataclasses.asdict(feature)
        del row["kind"], row["target_library"], row["until_torch"], row["until_rocm"]
        row["state"] = state_in(feature, torch, version)
        row["note"] = "; ".join(filter(None, (feature.note, beyond(feature, torch, version))))
        if feature.kind == "library":
            library = version_in(feature.name, asked) if asked else None
            row["version"] = library.version if library else ""
        if target is not None:
            row["on_target"] = _on_target(target, feature, release.version)
        tables[feature.kind].append(row)
    for change in changes():
        if change.in_build(torch, version) and (target is None or not change.target or target.name in change.target):
            row = {key: getattr(change, key) for key in ("name", "text", "torch", "rocm", "source", "sure")}
            tables["change"].append(row)
    return {
        "schema": "rocport.support/1",
        **facts_as_of(*TABLE_FACTS),
        "torch": release.version,
        "rocm": (rocm,) if rocm else release.rocm,
        "target": target.name if target else None,
        "python": [release.python_min, release.python_max],
        "triton": release.triton,
        "torchvision": release.torchvision,
        "tables": tables,
    }


def _on_target(target: GfxTarget, feature: Feature, torch: str) -> str:
    """The state of an entry on a target at a torch release; empty when support is not split by target."""
    if feature.kind == "dtype":
        name = feature.name.removeprefix("torch.")
        if name.startswith("float8"):
            flavour = "fnuz" if name.endswith("fnuz") else "ocp"
            return "unknown" if target.fp8 == "unknown" else _matrix(target.fp8 == flavour)
        return _matrix(target.bf16_matrix) if name == "bfloat16" else ""
    if not feature.target_library:
        return ""
    if feature.target_library == "AOTriton":
        answer = attention_of(target, torch)
        return f"with {answer.switches[0].variable}={answer.switches[0].value}" if answer.switches else answer.state
    records = target.library(feature.target_library)
    return records[-1].state if records else "unknown"


def _matrix(has: bool) -> str:
    return "matrix instructions" if has else "no matrix instructions"


def _change(row: dict[str, Any]) -> str:
    return f"- {row['name']}: {row['text']} (torch {row['torch']}, ROCm {row['rocm']})"


def tables_markdown(data: dict[str, Any]) -> str:
    """The same as Markdown."""
    where = f" on {data['target']}" if data["target"] else ""
    lines = [f"# torch {data['torch']} on ROCm {', '.join(data['rocm']) or '(channel not known)'}{where}"]
    for kind, rows in data["tables"].items():
        if kind == "change":
            lines += ["", f"## {_TITLES[kind]}", "", *map(_change, rows), *([] if rows else ["nothing is documented"])]
            continue
        head = ["Name", "State", "Purpose", "Since torch", "Since ROCm", "Note"]
        if data["target"]:
            head.insert(2, data["target"])
        if kind == "library":
            head.insert(head.index("Since torch"), "Used in")
            head.insert(1, "Version")
        lines += ["", f"## {_TITLES[kind]}", "", f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
        for row in rows:
            cells = [f"`{row['name']}`" if kind in ("dtype", "module") else row["name"], row["state"], row["purpose"]]
            if data["target"]:
                cells.insert(2, row["on_target"])
            if kind == "library":
                cells.insert(1, row["version"])
                cells.append(", ".join(f"`{name}`" for name in row["used_in"]))
            cells += [row["torch"], row["rocm"], row["note"]]
            lines.append(f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |")
    sources = dict.fromkeys((row["source"], row["sure"]) for rows in data["tables"].values() for row in rows)
    lines += ["", "Sources:", "", *(f"- {source} ({sure})" for source, sure in sources)]
    lines += ["", dated(*TABLE_FACTS)]
    return "\n".join(lines) + "\n"
