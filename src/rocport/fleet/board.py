"""The page of all repositories: what is left of each, what compiles, and what became of it since the run before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rocport.fleet.driver import Fleet, Options, Row
from rocport.fleet.tasks import verification
from rocport.model import Mark, Plot, Report, Section, Series
from rocport.model.verification import Status

SCHEMA = 1


def summary(fleet: Fleet, options: Options) -> dict[str, Any]:
    """What a run found, as plain data: one entry a repository, in the order of the list."""
    return {
        "schema": SCHEMA,
        "tool": "rocport",
        "command": "fleet",
        "targets": list(options.targets),
        "interrupted": fleet.interrupted,
        "tasks": {"made": fleet.made, "known": fleet.known, "again": fleet.again},
        "repositories": [_entry(row, options) for row in fleet.rows],
    }


def _entry(row: Row, options: Options) -> dict[str, Any]:
    prepared = row.prepared or {}
    built = verification(row.source.name, options.targets, row.built)
    states = Counter(state.value for state in built.paths().values()) if built is not None else Counter[str]()
    failed = [result["reason"] for result in (prepared, *row.built, row.ran or {}) if result.get("state") == "failed"]
    return {
        "name": row.source.name,
        "revision": row.source.revision,
        "id": row.source.id,
        "state": "lost" if row.lost else prepared.get("state", "waiting"),
        "reason": "; ".join([*row.lost, *failed]),
        **{name: prepared.get(name, 0) for name in ("files", "cuda", "bytes", "safe", "review", "manual", "minutes")},
        "rules": prepared.get("rules", {}),
        "problems": len(prepared.get("problems", ())),
        "units": len(prepared.get("units", ())),
        **{state.value: states[state.value] for state in Status},
        "programs": (row.ran or {}).get("programs", {}),
        "seconds": round(sum(part["seconds"] for part in (prepared, *row.built, row.ran or {}) if part), 1),
        "page": row.page,
    }


def board(data: Mapping[str, Any], before: Mapping[str, Any] | None = None) -> Report:
    """The dashboard of a run, and what changed since another."""
    rows = data["repositories"]
    totals = {name: sum(row[name] for row in rows) for name in (
        "cuda", "safe", "review", "manual", "units", "ok", "fail", "skip", "seconds")}  # fmt: skip
    judged = totals["ok"] + totals["fail"]
    done = sum(row["state"] == "done" for row in rows)
    words = f"{done} of {len(rows)} repositories ported, {totals['manual']} sites left by hand"
    compiled = Mark("not asked", "dim")
    if judged:
        share = f"{totals['ok']} of {judged} units that can be judged ({_percent(totals['ok'], judged)})"
        compiled = Mark(f"{share} for {', '.join(data['targets'])}", "", "#repositories")
    evidence = (("compiled", compiled), ("hardware", Mark("no", "dim")))
    rates = sorted(
        (100 * row["ok"] / (row["ok"] + row["fail"]), row["name"]) for row in rows if row["ok"] + row["fail"]
    )
    points = tuple((float(at), rate, name) for at, (rate, name) in enumerate(rates, 1))
    plot = (
        Plot("repository, by rate", "units that compile, %", (Series("repositories", points, line=False),))
        if points
        else None
    )
    sections = [
        Section(
            "Repositories",
            ("repository", "state", "CUDA files", "safe", "review", "by hand", "hours left", "units", "compile", "fail",
             "header missing", "rate %", "seconds"),
            tuple(_line(row) for row in rows),
            "A unit is judged when every header it needs is in the tree or on the machine. Hours are an estimate.",
            bars=(5, 11),
            plot=plot,
        ),
        Section("Left by hand, by rule", ("rule", "sites", "repositories"), tuple(_rules(rows)), bars=(1,)),
        *_since(rows, before),
    ]  # fmt: skip
    return Report("fleet", "fleet", (), (), data=data, sections=tuple(sections), verdict=Mark(words), evidence=evidence)


def _percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _line(row: Mapping[str, Any]) -> tuple[Any, ...]:
    judged = row["ok"] + row["fail"]
    tone = {"done": "good", "failed": "bad", "lost": "bad", "waiting": "dim"}[row["state"]]
    state = row["state"] + (f": {row['reason']}" if row["reason"] else "")
    return (
        Mark(row["name"], "", row["page"]), Mark(state[:200], tone), row["cuda"],
        row["safe"], row["review"], row["manual"],
        round(row["minutes"] / 60, 1), row["units"], row["ok"], row["fail"], row["skip"],
        round(100 * row["ok"] / judged, 1) if judged else None, row["seconds"],
    )  # fmt: skip


def _rules(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, int, int]]:
    sites: Counter[str] = Counter()
    repositories: Counter[str] = Counter()
    for row in rows:
        sites.update(row["rules"])
        repositories.update(row["rules"].keys())
    yield from ((rule, count, repositories[rule]) for rule, count in sites.most_common())


def _since(rows: Sequence[Mapping[str, Any]], before: Mapping[str, Any] | None) -> Iterator[Section]:
    if before is None:
        return
    known = {row["name"]: row for row in before["repositories"]}
    changed: list[tuple[Any, ...]] = []
    for row in rows:
        old = known.get(row["name"])
        if old is None:
            changed.append((Mark(row["name"], "code"), "new", None, None))
            continue
        for name, better in (("state", ""), ("manual", "less"), ("review", "less"), ("ok", "more"), ("fail", "less")):
            if old[name] != row[name]:
                good = row[name] == "done" if not better else (row[name] < old[name]) == (better == "less")
                changed.append(
                    (Mark(row["name"], "code"), name, old[name], Mark(str(row[name]), "good" if good else "bad"))
                )
    gone = sorted(known.keys() - {row["name"] for row in rows})
    changed += [(Mark(name, "code"), "gone", None, None) for name in gone]
    totals = []
    for name in ("manual", "review", "ok", "fail"):
        was, now = (sum(row[name] for row in some) for some in (before["repositories"], rows))
        totals.append(f"{name} {was} to {now}")
    columns = ("repository", "what", "before", "now")
    yield Section("Since the run before", columns, tuple(changed), "All repositories: " + ", ".join(totals) + ".")
