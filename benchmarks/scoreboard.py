"""The scoreboard of a fleet: sites left, units that compile and level of evidence, by package, with two peers.

    rocport fleet sdists.txt real.toml --out OUT --work WORK --target gfx942 --sample 2 --chunk 2 --no-pages -j 1
    python benchmarks/scoreboard.py peers OUT WORK LIST... [--most MB] [--perl MB] [--build N]
    python benchmarks/scoreboard.py page OUT LIST... [--said TEXT]

`peers` gives hipify-perl and torch.utils.hipify the files of every package of the lists that the fleet has ported,
those up to so many MB, counts what each output leaves silently wrong on 64 lanes (`silent.py`), and compiles the units
that the fleet compiled of the first N packages. What it has done it does not do again. `page` writes
benchmarks/results/scoreboard.json and docs/scoreboard.md from what lies in OUT; a fleet that was killed is shown as far
as it came. `--said` is how the run went, in words.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from rocport import api
from rocport.fleet.sources import Source, fetch, read_sources
from rocport.fleet.store import open_store
from rocport.model import Mark, Report, Section
from rocport.report.markdown import render_sections

HERE = Path(__file__).resolve().parent
DATA = HERE / "results" / "scoreboard.json"
PAGE = HERE.parent / "docs" / "scoreboard.md"
PEERS = ("hipify-perl", "torch.utils.hipify")
_SHOWN = ("silent", "silent: hipify-perl", "silent: torch", "compile: hipify-perl", "compile: torch")
"""What the peers are compared by; torch is torch.utils.hipify."""


def results(out: Path) -> dict[str, dict[str, Any]]:
    """Name -> what the fleet knows of it: its `prepare`, and the units of its `build`s."""
    store, found = open_store(str(out / "store")), {}
    read = [json.loads(store.read(name) or b"{}") for name in store.names("results")]
    for one in read:
        if one["step"] == "prepare":
            found[one["name"]] = {**one, "built": []}
    for one in read:
        if one["step"] == "build" and one["name"] in found:
            found[one["name"]]["built"] += one.get("units", [])
    return found


def judged(built: list[dict[str, Any]]) -> dict[str, str]:
    """Unit -> ok, fail or skip, the worst of its passes."""
    order = ("ok", "skip", "fail")
    states: dict[str, str] = {}
    for unit in built:
        states[unit["path"]] = max(states.get(unit["path"], "ok"), unit["status"], key=order.index)
    return states


def row(source: Source, known: dict[str, Any], silent: dict[str, Any]) -> dict[str, Any]:
    """One package, as plain data."""
    states = Counter(judged(known["built"]).values())
    return {
        "name": source.name,
        "from": "PyPI" if source.kind == "pypi" else "git",
        "revision": source.revision[:12],
        "state": known["state"],
        **{name: known.get(name, 0) for name in ("cuda", "bytes", "safe", "review", "manual", "minutes")},
        "units": len(known.get("units", ())),
        **{name: states[name] for name in ("ok", "fail", "skip")},
        "peers": silent,
    }


def peers(out: Path, work: Path, sources: list[Source], most: float, perl: float, build: int) -> None:
    """Run the peers on what the fleet has ported."""
    import packages
    from silent import silent_sites
    from translate import SUFFIXES, compile_output, complete, run_perl, run_torch, stage

    from rocport.port.manifest import load

    script = packages.fetch_hipify_perl()
    done = results(out)
    (out / "peers").mkdir(exist_ok=True)
    for number, source in enumerate(item for item in sources if done.get(item.name, {}).get("state") == "done"):
        kept = out / "peers" / f"{source.id}.json"
        known = done[source.name]
        states = judged(known["built"]) if number < build else {}
        wanted = sorted(unit for unit, state in states.items() if state != "skip")
        if known["bytes"] > most * 1e6 or (kept.exists() and json.loads(kept.read_text())["units"] == wanted):
            continue
        with tempfile.TemporaryDirectory(prefix="peers-") as scratch:
            tree, folder = fetch(source, work), Path(scratch)
            staged, size = stage(tree, folder / "in")
            torch = any(b"torch/extension.h" in p.read_bytes() for p in staged.rglob("*") if p.is_file())
            made = {PEERS[1]: run_torch(staged, folder / "torch", torch)}
            if size <= perl * 1e6:
                made[PEERS[0]] = run_perl(script, staged, folder / "perl")
            said: dict[str, Any] = {}
            for tool, output in made.items():
                said[tool] = {"silent": None if output.error else sum(
                    silent_sites((output.root / name).read_bytes(), set(), b"")
                    for path, name in output.names.items()
                    if Path(path).suffix in SUFFIXES and (output.root / name).is_file()
                )}  # fmt: skip
                if wanted and not output.error:
                    complete(tree, output.root)
                    compile_output(output, wanted, ("gfx942",), out / "peers" / "cache")
                    said[tool]["ok"] = sum(state == "ok" for state in output.status.values())
                    said[tool]["of"] = len(wanted)
            ours = next((work / "port").glob(f"{source.id}-????????????"))
            manifest = load(ours)
            lines: dict[str, set[int]] = {}
            for finding in api.scan(tree, api.Settings(target=("gfx942",), respect_gitignore=False), jobs=1).findings:
                lines.setdefault(finding.path, set()).add(finding.line)
            kept_silent = 0
            for name, record in manifest.files.items():  # type: ignore[union-attr]
                if record.source and (staged / record.source).is_file() and (ours / name).is_file():
                    before, after = (tree / record.source).read_bytes(), (ours / name).read_bytes()
                    kept_silent += silent_sites(after, lines.get(record.source, set()), before)
            said["rocport"] = {"silent": kept_silent}
        kept.write_text(json.dumps({"name": source.name, "units": wanted, "bytes": size, "tools": said}) + "\n")
        print(source.name, said, flush=True)


def report(data: dict[str, Any]) -> Report:
    """The scoreboard as a report, for the page and the browser."""
    rows = data["packages"]
    sections = [_table(f"From {kind}", [one for one in rows if one["from"] == kind]) for kind in ("PyPI", "git")]
    return Report("scoreboard", "fleet", (), (), data=data, sections=(_totals(rows), *sections),
                  verdict=Mark(_verdict(rows)), evidence=(("hardware", Mark("no", "dim")),))  # fmt: skip


def _verdict(rows: list[dict[str, Any]]) -> str:
    ported = [one for one in rows if one["state"] == "done"]
    kinds = Counter(one["from"] for one in ported)
    ok, fail = (sum(one[name] for one in rows) for name in ("ok", "fail"))
    return (
        f"{len(ported)} of {len(rows)} packages with CUDA sources ported ({kinds['PyPI']} sdists of PyPI, "
        f"{kinds['git']} git repositories); {ok} of {ok + fail} units that can be judged compile for gfx942"
    )


def _totals(rows: list[dict[str, Any]]) -> Section:
    lines = []
    for kind in ("PyPI", "git"):
        some = [one for one in rows if one["from"] == kind and one["state"] == "done"]
        ok, fail, skip = (sum(one[name] for one in some) for name in ("ok", "fail", "skip"))
        compared = [one["peers"] for one in some if one["peers"]]
        cells: list[Any] = [kind, len(some), sum(not one["manual"] for one in some)]
        cells += [sum(one[name] for one in some) for name in ("safe", "review", "manual")]
        cells += [f"{ok} of {ok + fail}", skip]
        cells += [_silent(compared, tool) for tool in ("rocport", *PEERS)]
        for tool in PEERS:
            tried = [one for one in some if "of" in one["peers"].get(tool, ())]
            ours = f", where rocport's port: {sum(one['ok'] for one in tried)}" if tried else ""
            cells.append(_peer_units([one["peers"] for one in tried], tool) + ours)
        lines.append(tuple(cells))
    columns = (
        "from",
        "ported",
        "none by hand",
        "safe",
        "review",
        "by hand",
        "units compile",
        "header missing",
        *_SHOWN,
    )
    note = (
        "A unit is judged when every header it needs is in the tree or on the machine. Silent: sites of the output "
        "that count lanes as if a wavefront had 32 and that no finding names, by one counter for all "
        "(benchmarks/silent.py), in rocport's output, in that of hipify-perl and of torch.utils.hipify. Compile, of a "
        "peer: of the units that rocport's port of the package was judged on. Hours are an estimate."
    )
    return Section("All", columns, tuple(lines), note)


def _silent(compared: list[dict[str, Any]], tool: str) -> str:
    """Of a tool, and of rocport on the same packages."""
    some = [one for one in compared if one.get(tool, {}).get("silent") is not None]
    if tool == "rocport":
        return f"{sum(one[tool]['silent'] for one in some)} in {len(some)} packages"
    ours = sum(one["rocport"]["silent"] for one in some)
    return f"{sum(one[tool]['silent'] for one in some)} in {len(some)}, where rocport left {ours}" if some else ""


def _peer_units(compared: list[dict[str, Any]], tool: str) -> str:
    some = [one[tool] for one in compared if "of" in one.get(tool, ())]
    return f"{sum(one['ok'] for one in some)} of {sum(one['of'] for one in some)}" if some else ""


def _table(title: str, rows: list[dict[str, Any]]) -> Section:
    columns = ("package", "revision", "CUDA files", "safe", "review", "by hand", "hours left", "units", "compile",
               "evidence", *_SHOWN)  # fmt: skip
    return Section(title, columns, tuple(_line(one) for one in rows), bars=(5,))


def _line(one: dict[str, Any]) -> tuple[Any, ...]:
    judged_ = one["ok"] + one["fail"]
    if one["state"] != "done":
        evidence = Mark(one["state"], "bad")
    elif judged_:
        evidence = Mark("compiled", "good" if one["ok"] == judged_ else "warn")
    else:
        evidence = Mark("ported, header missing" if one["skip"] else "ported", "dim")
    tools = one["peers"]
    return (
        one["name"], one["revision"], one["cuda"], one["safe"], one["review"], one["manual"],
        round(one["minutes"] / 60), one["units"], f"{one['ok']} of {judged_}" if judged_ else "", evidence,
        *(tools.get(tool, {}).get("silent") for tool in ("rocport", *PEERS)),
        *(_peer_units([tools], tool) if tools else "" for tool in PEERS),
    )  # fmt: skip


def markdown(data: dict[str, Any]) -> str:
    """docs/scoreboard.md."""
    shown = report(data)
    assert shown.verdict is not None
    head = ["# Scoreboard", "", f"{shown.verdict.text}. {data['said']}".strip(), "",
            "Written by `python benchmarks/scoreboard.py page` from `benchmarks/results/scoreboard.json`; a test keeps "
        "them equal and takes the picture.", "", "![The scoreboard](scoreboard.png)"]  # fmt: skip
    return "\n".join(head) + "\n" + render_sections(shown.sections)


def collected(out: Path, sources: list[Source], said: str) -> dict[str, Any]:
    """Everything the page shows."""
    done = results(out)
    store = open_store(str(out / "store"))
    ends = Counter(name.split("/")[1].split(".")[0] for name in store.names("ended"))
    counted = f"Tasks brought to their end: {len(ends)}; more than once: {sum(count > 1 for count in ends.values())}."
    rows = []
    for source in sources:
        kept = out / "peers" / f"{source.id}.json"
        tools = json.loads(kept.read_text())["tools"] if kept.exists() else {}
        if source.name in done:
            rows.append(row(source, done[source.name], tools))
    return {"said": f"{said} {counted}".strip(), "packages": sorted(rows, key=lambda one: one["name"].lower())}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("peers", "page"))
    parser.add_argument("out", type=Path)
    parser.add_argument("rest", nargs="+", type=Path, metavar="[WORK] LIST")
    parser.add_argument("--most", type=float, default=3.0, help="MB of a package's sources that peers are given")
    parser.add_argument("--perl", type=float, default=0.1, help="the same for hipify-perl, which takes seconds a file")
    parser.add_argument("--build", type=int, default=0, help="packages of which peers' units are compiled")
    parser.add_argument("--said", default="")
    arguments = parser.parse_args()
    if arguments.what == "peers":
        work, *lists = arguments.rest
        peers(arguments.out, work, read_sources(*lists), arguments.most, arguments.perl, arguments.build)
        return 0
    data = collected(arguments.out, read_sources(*arguments.rest), arguments.said)
    DATA.write_text(json.dumps(data, indent=None, separators=(",", ":")).replace('{"name"', '\n{"name"') + "\n")
    PAGE.write_text(markdown(data), encoding="utf-8")
    print(_verdict(data["packages"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
