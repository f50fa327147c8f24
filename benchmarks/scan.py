"""Recall and precision of `rocport scan` on trees that humans ported to ROCm.

    python benchmarks/scan.py --sites DIR --repositories DIR [--only KEY ...] [--missed] [--noise RULE]

`--sites` holds one JSON a repository (its README gives the schema and the scoring); `--repositories` holds git
directories `OWNER+NAME/repo`. Each pre-port tree is written to a temporary folder, scanned there and removed.

- recall: sites that are foreseeable and no consequence of another, with a finding in the same file within 2 lines
- precision: findings inside a site's ranges or inside changes of the same commit that carry no label; over the whole
  tree and over the files the human port touched. A lower bound: a finding elsewhere may be right too.

Beside it, in the same run: plain grep for cuda, nvcc and nvidia, and what `scan --all` says (renames included).
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocport.model import Options
from rocport.scan.engine import scan_tree
from rocport.scan.select import open_findings
from rocport.scan.tree import MAX_SOURCE_BYTES, language_of, read_tree

NEAR = 2
FIRST_PORT_LINES = 35
GREP = re.compile(r"cuda|nvcc|nvidia", re.IGNORECASE)

Places = set[tuple[str, int, str]]


@dataclass
class Score:
    """Counts over any number of trees."""

    sites: int = 0
    hit: int = 0
    ranges: int = 0
    ranges_hit: int = 0
    findings: int = 0
    inside: int = 0
    touched: int = 0
    touched_inside: int = 0
    missed: list[str] = field(default_factory=list)
    noise: Counter[str] = field(default_factory=Counter)
    good: Counter[str] = field(default_factory=Counter)

    def line(self, name: str) -> str:
        def share(part: int, whole: int) -> str:
            return f"{part / whole:5.2f}" if whole else "    -"

        touched = f"{share(self.touched_inside, self.touched)} ({self.touched_inside}/{self.touched})"
        tree = f"{share(self.inside, self.findings)} ({self.inside}/{self.findings})"
        recall = (
            f"{share(self.hit, self.sites)} ({self.hit}/{self.sites}), ranges {share(self.ranges_hit, self.ranges)}"
        )
        return f"{name:24} recall {recall}  precision in touched files {touched}, in the tree {tree}"

    def add(self, unit: dict[str, Any], places: Places, key: str) -> None:
        by_file: dict[str, set[int]] = {}
        for path, line, _ in places:
            by_file.setdefault(path, set()).add(line)
        allowed: dict[str, list[list[int]]] = {}
        for site in unit["sites"]:
            allowed.setdefault(site["file"], []).extend(site["ranges"])
            if not site["foreseeable"] or site["consequence"]:
                continue
            lines = by_file.get(site["file"], set())
            hits = [any(first - NEAR <= line <= last + NEAR for line in lines) for first, last in site["ranges"]]
            self.sites += 1
            self.ranges += len(hits)
            self.ranges_hit += sum(hits)
            if any(hits):
                self.hit += 1
            else:
                self.missed.append(f"{key} {site['lang']:9} {site['file']}:{site['ranges']} {site['fix']}")
        for path, ranges in unit["unlabelled_changes"].items():
            allowed.setdefault(path, []).extend(ranges)
        for path, line, rule in places:
            inside = any(first <= line <= last for first, last in allowed.get(path, ()))
            self.findings += 1
            self.inside += inside
            if path in allowed:
                self.touched += 1
                self.touched_inside += inside
                (self.good if inside else self.noise)[rule] += 1
            else:
                self.noise["tree:" + rule] += 1


def write_tree(repository: Path, commit: str, folder: Path) -> int:
    """Write the files of a commit that `scan` reads; returns how many blobs the snapshot lacks."""
    git = ["git", "--git-dir", str(repository)]
    listing = subprocess.run([*git, "ls-tree", "-r", "-z", commit], capture_output=True, check=True).stdout
    wanted: list[tuple[str, str]] = []
    for row in listing.split(b"\0"):
        if not row:
            continue
        head, raw = row.split(b"\t", 1)
        mode, kind, blob = head.decode().split()
        path = raw.decode("utf-8", "replace")
        if kind == "blob" and mode != "120000":
            wanted.append((blob, path))
    names = "".join(blob + "\n" for blob, path in wanted if language_of(path) != "other").encode()
    done = subprocess.run([*git, "cat-file", "--batch"], input=names, capture_output=True, check=True).stdout
    at = missing = 0
    for _blob, path in wanted:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if language_of(path) == "other":
            target.touch()
            continue
        end = done.index(b"\n", at)
        parts = done[at:end].split()
        at = end + 1
        if parts[-1] == b"missing":
            missing += 1
            continue
        size = int(parts[2])
        if size <= MAX_SOURCE_BYTES:
            target.write_bytes(done[at : at + size])
        at += size + 1
    return missing


def grep_places(root: Path, paths: Iterable[str]) -> Places:
    found: Places = set()
    for path in paths:
        if language_of(path) == "other":
            continue
        text = (root / path).read_bytes().decode("latin-1")
        found.update((path, number, "grep") for number, line in enumerate(text.split("\n"), 1) if GREP.search(line))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=Path, required=True)
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--missed", action="store_true", help="list the sites without a finding")
    parser.add_argument("--noise", action="store_true", help="count findings outside the human changes by rule")
    parser.add_argument(
        "--places", metavar="RULE", help="list this rule's findings outside the changes, in touched files"
    )
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    scores: dict[str, Score] = {}
    scanned = 0
    seconds = 0.0
    for path in sorted(arguments.sites.glob("*.json")):
        data = json.loads(path.read_text())
        repository = arguments.repositories / data["repo"].replace("/", "+") / "repo"
        if (arguments.only and data["key"] not in arguments.only) or not repository.exists():
            continue
        own = Score()
        for unit in data["units"]:
            with tempfile.TemporaryDirectory() as folder:
                root = Path(folder)
                missing = write_tree(repository, unit["parent"], root)
                if missing:
                    print(f"{data['key']}: {missing} blobs are not in the snapshot")
                tree = read_tree(root)
                started = time.perf_counter()
                findings = scan_tree(tree, Options(), arguments.jobs).findings
                seconds += time.perf_counter() - started
                scanned += sum(entry.size for entry in tree.entries)
                paths = [entry.path for entry in tree.entries]
                everything: Places = {(item.path, item.line, item.rule) for item in findings}
                shown: Places = {(item.path, item.line, item.rule) for item in open_findings(findings)}
                kind = "first ports" if unit["rocm_lines_in_parent"] <= FIRST_PORT_LINES else "follow-ups"
                key = f"{data['key']}@{unit['parent'][:8]}"
                own.add(unit, shown, key)
                for name, places in (
                    ("scan", shown),
                    (f"scan, {kind}", shown),
                    ("scan --all", everything),
                    ("grep", grep_places(root, paths)),
                ):
                    scores.setdefault(name, Score()).add(unit, places, key)
                if arguments.places:
                    list_places(unit, root, shown, arguments.places, key)
        print(own.line(data["key"]), flush=True)
    print()
    for name, score in scores.items():
        print(score.line(name))
    print(f"{scanned / 1e6:.1f} MB in {seconds:.1f} s with {arguments.jobs} job(s)")
    total = scores.get("scan", Score())
    if arguments.missed:
        print("\n".join(["", "missed:", *total.missed]))
    if arguments.noise:
        print("\nrule: inside / outside in touched files / outside elsewhere")
        rules = {name.removeprefix("tree:") for name in total.noise} | set(total.good)
        for rule in sorted(rules, key=lambda rule: -total.noise[rule] - total.noise["tree:" + rule]):
            print(f"{rule:28} {total.good[rule]:5} {total.noise[rule]:5} {total.noise['tree:' + rule]:6}")


def list_places(unit: dict[str, Any], root: Path, places: Places, rule: str, key: str) -> None:
    allowed: dict[str, list[list[int]]] = {path: list(ranges) for path, ranges in unit["unlabelled_changes"].items()}
    for site in unit["sites"]:
        allowed.setdefault(site["file"], []).extend(site["ranges"])
    for path, line, name in sorted(places):
        if name != rule or any(first - NEAR <= line <= last + NEAR for first, last in allowed.get(path, ())):
            continue
        text = (root / path).read_bytes().decode("latin-1").split("\n")[line - 1]
        print(f"{key} {'touched' if path in allowed else 'tree'} {path}:{line}: {text.strip()[:110]}")


if __name__ == "__main__":
    main()
