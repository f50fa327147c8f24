"""Does `verify --level nvidia-unchanged` see a leak, an unusual one too, and is it quiet about correct ports?

    python benchmarks/leaks.py [--work DIR] [--mirror DIR] [--most N] [--only NAME ...] [--misses] [--seconds S]
                                [--lot N [--half KEPT]] [--json FILE]

The trees of leaks.toml are fetched (`--mirror` as in real.py) and ported with `--layout both`. What the check says of a
port as it is, other than things to review, is a finding: a false one, but for as many as `true_findings` in leaks.toml.
Then leaks are planted one at a time, at most N a tree (half of them ordinary), and taken back. Kinds, spellings and
places are in leak_grammar.py; `--lot` plants only the unusual kinds of one of its nine lots, `--half` only those that
may be read, or only those set aside. Ordinary leaks change a file of the port. Unusual ones need something in the
original that few trees have (a build tool that lists files, a gate that is set somewhere, a predicate that asks the
machine): that is put into the original and the port alike, and the leak into the port only.

Trees and kinds are set aside by the rule in leaks.toml: the check is tuned on the others, and `--misses` names what
was missed among those only. `caught` is a difference, `undecided` is named to be looked at, `missed` is called
unchanged. The order is by a hash, so every run plants the same leaks. A tree that was measured with the same sources of
the check, the same grammar and the same N is not measured again: results lie in DIR/results, one file a tree; with
`--seconds` a run stops before the tree that would begin later, and the next one goes on there. Small trees come first.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import inspect
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any

import leak_grammar
import packages
import real
from leak_grammar import Leak, Link

from rocport import api
from rocport.facts._toml import read_toml
from rocport.scan.revision import RevisionError
from rocport.verify import nvidia
from rocport.verify.nvidia import (
    Kind,
    cfamily,
    comments,
    gates,
    generated,
    listers,
    made_names,
    python,
    python_names,
    python_sets,
    reach,
    reach_python,
    text,
)

LIST = Path(__file__).with_name("leaks.toml")
LOTS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
MAY_BE_READ = ("tuned on", *(f"{lot} kinds" for lot in LOTS))
OUTCOMES = ("caught", "undecided", "missed")


def obtain(tree: dict[str, Any], work: Path, mirror: Path | None) -> Path:
    """The folder of a tree of the list; fetched once."""
    if "version" not in tree:
        (repository,) = [item for item in real.repositories() if item.name == tree["name"]]
        return real.obtain(repository, work, mirror)
    folder = packages.fetch(tree["name"], tree["version"])
    inner = [item for item in folder.iterdir() if item.name != ".complete"]
    return inner[0] if len(inner) == 1 and inner[0].is_dir() else folder


def remember() -> None:
    """Keep what the check reads off a text alone: between two leaks nearly every file is the same. What depends on the
    trees as well is kept by what it takes of them; where modules lie is `_modules`."""
    kept: dict[Any, Any] = {}

    def once(module: Any, name: str, key: Callable[..., Any] = lambda *arguments: arguments) -> None:
        function = getattr(module, name)
        yields = inspect.isgeneratorfunction(function)

        @functools.wraps(function)
        def asked(*arguments: Any) -> Any:
            place = (name, key(*arguments))
            if place not in kept:
                # The arguments are kept as well: a key may be the identity of one.
                made = function(*arguments)
                kept[place] = (tuple(made) if yields else made), arguments
            return kept[place][0]

        setattr(module, name, asked)

    def of_facts(facts: python.Facts) -> Any:
        return facts.path, repr(facts.constants), facts.imports_torch, facts.requires, _modules[-1]

    once(generated, "check")
    once(python, "compare", lambda ported, original, facts: (ported, original, of_facts(facts)))
    once(python, "off_rocm", lambda data, facts: (data, of_facts(facts)))
    once(python, "strings_off_rocm", lambda data, facts: (data, of_facts(facts)))
    once(python, "handed", id)
    once(cfamily, "tokens")
    once(cfamily, "defined", id)
    once(cfamily, "includes", id)
    once(gates, "_counted")
    once(gates, "mentions")
    once(made_names, "of_gates", lambda kind, names, content: (kind, tuple(names), content))
    once(listers, "lines_of")
    once(listers, "_mentions")
    once(reach, "headers_named")
    once(reach, "words_of")
    once(comments, "of_c")
    once(text, "patterns")
    once(python_names, "looking")
    once(python_sets, "sets_hip")
    once(reach_python, "parsed")
    once(reach_python, "imported", id)
    once(reach_python, "top_names")
    once(reach_python, "listings", lambda path, tree: (path, id(tree)))


_modules: list[frozenset[str]] = [frozenset()]
"""Modules that a leak adds: what an import finds depends on them."""


def write(root: Path, path: str, content: bytes | Link | None, bits: int | None = None) -> None:
    place = root / path
    if place.is_symlink() or place.exists():
        place.unlink()
    if content is None:
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, Link):
        place.symlink_to(content.target)
        return
    place.write_bytes(content)
    if bits is not None:
        place.chmod(bits)
    os.utime(place, (leak_grammar.STAMP, leak_grammar.STAMP))


def planted(leak: Leak, original: Path, port: Path) -> str:
    """What the check says of one leak; the trees are put back."""
    saved: dict[tuple[Path, str], tuple[bytes, int] | None] = {}

    def put(root: Path, path: str, content: bytes | Link | None) -> None:
        place = root / path
        if (root, path) not in saved:
            saved[root, path] = (place.read_bytes(), place.stat().st_mode) if place.is_file() else None
        before = saved[root, path]
        write(root, path, content, leak.modes.get(path) if root == port else None)
        if before is not None and path not in leak.modes and isinstance(content, bytes):
            place.chmod(before[1])

    _modules.append(
        frozenset(path for path in (*leak.both, *leak.port) if path.endswith(".py") and not (port / path).exists())
    )
    try:
        for path, text in leak.both.items():
            put(original, path, text)
            put(port, path, text)
        for path, content in leak.port.items():
            put(port, path, content)
        proof = nvidia.verify(port, original)
    finally:
        _modules.pop()
        for (root, path), before in saved.items():
            write(root, path, before[0] if before else None, before[1] if before else None)
            folder = (root / path).parent
            while folder != root and folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
                folder = folder.parent
    return {"unchanged": "missed", "not decided": "undecided"}.get(proof.verdict, "caught")


def half(tree: str, leak: Leak) -> str:
    if leak.lot > 1:
        return f"{LOTS[leak.lot - 2]} kinds" + " aside" * (leak.lot > 2 and leak.aside)
    return "kinds aside" if leak.aside else "trees aside" if aside(tree) else "tuned on"


def aside(tree: str) -> bool:
    return leak_grammar.odd(tree.replace("+", "/"))


def chosen(tree: str, leaks: Iterable[Leak], most: int) -> list[Leak]:
    """At most `most` leaks, in an order by a hash that takes every kind once before it takes one twice."""
    ordered = sorted(leaks, key=lambda leak: _digest(tree, leak.kind, leak.spelling, *leak.port, *leak.both))
    turns: Counter[str] = Counter()
    ranked: list[tuple[int, bytes, Leak]] = []
    for leak in ordered:
        ranked.append((turns[leak.kind], _digest(tree, leak.kind), leak))
        turns[leak.kind] += 1
    return [leak for _, _, leak in sorted(ranked, key=lambda item: item[:2])][:most]


def _digest(*words: str) -> bytes:
    return hashlib.sha256("\0".join(words).encode()).digest()


def measure(name: str, source: Path, work: Path, most: int, lot: int, kept: str) -> dict[str, Any]:
    """Port a tree, check the port, plant leaks: the row that is kept."""
    original, port = work / "original" / name, work / "port" / name
    for folder in (original, port):
        shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, original, symlinks=True, ignore=shutil.ignore_patterns("__pycache__", ".git", ".complete"))
    api.apply(api.port(original, api.Settings(layout="both"), jobs=1), port)
    (port / "rocport-manifest.json").unlink(missing_ok=True)
    proof = nvidia.verify(port, original)
    found = [item for item in proof.differences if item.kind is not Kind.REVIEW]
    row: dict[str, Any] = {"verdict": proof.verdict, "findings": [f"{item.path}: {item.message}" for item in found]}
    row["leaks"] = []
    for path in sorted({item.path for item in found}):
        # What is said of the correct port would hide whether a leak is seen: such a file is as in the original.
        if (original / path).is_file():
            write(port, path, (original / path).read_bytes(), (original / path).stat().st_mode)
        else:
            (port / path).unlink(missing_ok=True)
    if nvidia.verify(port, original).verdict != "unchanged":
        row["skipped"] = "not unchanged without what was found"
        return row
    row["controls"] = [leak.spelling for leak in leak_grammar.controls() if planted(leak, original, port) != "missed"]
    unusual = [
        leak
        for leak in leak_grammar.unusual(original, port)
        if lot in (0, leak.lot) and kept in ("", "aside" if leak.aside else "read")
    ]
    for words, leaks in (("ordinary", [] if lot else leak_grammar.ordinary(original, port)), ("unusual", unusual)):
        for leak in chosen(name, leaks, most // 2):
            outcome = planted(leak, original, port)
            where = "" if half(name, leak) not in MAY_BE_READ else f"{leak.spelling!r} in {', '.join(leak.port)}"
            row["leaks"].append([words, half(name, leak), outcome, leak.kind, where])
    for folder in (original, port):
        shutil.rmtree(folder)
    return row


def _version(most: int, lot: int, kept: str) -> str:
    """What a row rests on: the sources of the check and of the grammar, and which leaks are planted."""
    folder = Path(__file__).parent
    sources = [*Path(nvidia.__file__).parent.glob("*.py"), *folder.glob("leak*.py"), leak_grammar.LIST]
    return _digest(str(most), str(lot), kept, *(item.read_text() for item in sorted(sources))).hex()[:16]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--work", type=Path, default=packages.cache_folder() / "leaks")
    parser.add_argument("--mirror", type=Path, help="git directories to read repositories from, as in real.py")
    parser.add_argument("--most", type=int, default=80, help="leaks planted in one tree, half of them unusual")
    parser.add_argument(
        "--lot", type=int, default=0, help="unusual kinds of this lot only; 0: ordinary leaks, and all lots"
    )
    parser.add_argument(
        "--half", choices=("", "read", "aside"), default="", help="kinds that may be read, or set aside"
    )
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--misses", action="store_true", help="name what was missed and may be tuned on")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no tree after so many seconds")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    remember()
    started = time.monotonic()
    results = arguments.work / "results" / _version(arguments.most, arguments.lot, arguments.half)
    results.mkdir(parents=True, exist_ok=True)
    rows: dict[str, dict[str, Any]] = {}
    listed = [tree for tree in read_toml(LIST)["tree"] if not arguments.only or tree["name"] in arguments.only]
    sources: list[tuple[int, str, Path]] = []
    for tree in listed:
        name = tree["name"].replace("/", "+")
        try:
            source = obtain(tree, arguments.work, arguments.mirror)
        except (RuntimeError, OSError, CalledProcessError, RevisionError) as error:
            print(f"{name}: cannot be fetched: {error}", flush=True)
            continue
        sources.append((sum(1 for _ in source.rglob("*")), name, source))
    for number, (_, name, source) in enumerate(sorted(sources), 1):
        kept = results / f"{name}.json"
        if not kept.exists():
            if time.monotonic() - started > arguments.seconds:
                continue
            row = measure(name, source, arguments.work, arguments.most, arguments.lot, arguments.half)
            kept.write_text(json.dumps(row, indent=1) + "\n")
        rows[name] = json.loads(kept.read_text())
        total = sum(len(row["leaks"]) for row in rows.values())
        missed = sum(leak[2] == "missed" for leak in rows[name]["leaks"])
        print(
            f"{number}/{len(listed)} {name}: {rows[name]['verdict']}, {missed} of {len(rows[name]['leaks'])} missed, "
            f"{total} planted so far, {time.monotonic() - started:.0f} s",
            flush=True,
        )
    report(rows, {tree["name"].replace("/", "+"): tree.get("true_findings", 0) for tree in listed}, arguments)


def report(rows: dict[str, dict[str, Any]], true: dict[str, int], arguments: argparse.Namespace) -> None:
    counts: dict[tuple[str, str], Counter[str]] = {}
    kinds: Counter[tuple[str, str, str]] = Counter()
    for row in rows.values():
        for words, where, outcome, kind, _ in row["leaks"]:
            counts.setdefault((words, where), Counter())[outcome] += 1
            kinds[where, kind, outcome] += 1
    print(f"{'':32}{'planted':>9}" + "".join(f"{item:>11}" for item in OUTCOMES) + f"{'seen':>8}")
    for (words, where), counter in sorted(counts.items()):
        seen = 1 - counter["missed"] / counter.total()
        figures = "".join(f"{counter[item]:11}" for item in OUTCOMES)
        print(f"{words:12}{where:20}{counter.total():9}{figures}{seen:8.3f}")
    found = {name: len(row["findings"]) - true[name] for name, row in rows.items()}
    for words, names in (
        ("set aside", [name for name in found if aside(name)]),
        ("tuned on", [name for name in found if not aside(name)]),
    ):
        total = sum(found[name] for name in names)
        print(f"{len(names)} trees {words}: {total} false findings, {total / max(len(names), 1):.2f} a tree")
    for name, row in rows.items():
        if "skipped" in row:
            print(f"  {name}: nothing planted: {row['skipped']}")
        for spelling in row.get("controls", ()):
            print(f"  {name}: seen where nothing leaks, so what was seen like it counts for nothing: {spelling!r}")
        if row["findings"] and not aside(name):
            print("\n".join(f"  {name}: {finding}" for finding in row["findings"][:8]))
    if arguments.misses:
        for name, row in rows.items():
            for _, where, outcome, kind, spelling in row["leaks"]:
                if outcome == "missed" and where in MAY_BE_READ:
                    print(f"  missed {name}: {kind}: {spelling}")
    if arguments.json:
        body = {f"{words}, {where}": dict(counter) for (words, where), counter in sorted(counts.items())}
        arguments.json.write_text(json.dumps(body | {"false findings": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
