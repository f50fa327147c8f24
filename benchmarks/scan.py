"""Recall and precision of `rocport scan` on trees that humans ported to ROCm.

    python benchmarks/scan.py --sites DIR --repositories DIR [--only KEY ...] [--missed] [--noise] [--places RULE]
    python benchmarks/scan.py --ports benchmarks/scan_ports.toml --half aside --repositories DIR
    python benchmarks/scan.py --commits FILE --repositories DIR

`--sites` holds one JSON a repository (its README gives the schema and the scoring); `--repositories` holds git
directories `OWNER+NAME/repo`. Each pre-port tree is written to a temporary folder, scanned there and removed.

- recall: sites that are foreseeable and no consequence of another, with a finding in the same file within 2 lines
- precision: findings inside a site's ranges or inside changes of the same commit that carry no label; over the whole
  tree and over the files the human port touched. A lower bound: a finding elsewhere may be right too.

`--ports` reads ports whose hunks were labelled by hand, one by one, before `scan` saw them; the other hunks of a commit
count neither for nor against a finding. `--commits` measures repositories without labels, one
`OWNER/NAME COMMIT [KEY]` a line: a site is a hunk of the commit, in a file that `scan` reads and no test or example,
that adds a word of AMD's or removes a line of CUDA's, and is more than imports. New features and tuning are among them,
so recall is lower than with labels; compare runs, not projects.

Beside it, in the same run: plain grep for cuda, nvcc and nvidia, what `scan --all` says (renames included), and with
`--hipify-perl` what hipify-perl would change or warns of. That reads the C++ files the port touched only, as it needs
seconds a file: its precision over the tree is not known.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from rocport import api
from rocport.facts._toml import read_toml
from rocport.model import MAX_SOURCE_BYTES
from rocport.project.languages import language_of
from rocport.scan.select import open_findings

sys.path.insert(0, str(Path(__file__).parent))
from packages import fetch_hipify_perl

NEAR = 2
FIRST_PORT_LINES = 35
GREP = re.compile(r"cuda|nvcc|nvidia", re.IGNORECASE)

_AMD = re.compile(r"rocm|hip|amd\b|gfx\d", re.IGNORECASE)
_CUDA = re.compile(r"cuda|nvidia|nvcc|nvml|sm_?\d\d|warp|\b32\b|xformers|flash_attn|fp8|float8|nccl|gpu", re.IGNORECASE)
_NO_SITE = re.compile(r"(?i)(?:^|/)(?:tests?|docs?|examples?)/|test_|README")
_IMPORT = re.compile(r"\s*(?:import|from|#|//|$)")
_NAMES_AMD = r"\b(rocm|hipify|hipcc|__HIP|torch.version.hip|is_hip|amdgpu)"

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


def hipify_places(root: Path, paths: Iterable[str], script: Path) -> Places:
    """Lines of C++ files that hipify-perl rewrites or warns of."""
    found: Places = set()
    for path in paths:
        if language_of(path) != "cuda" or not (root / path).exists():
            continue
        done = subprocess.run(["perl", str(script), str(root / path)], capture_output=True, check=False)
        before = (root / path).read_bytes().decode("latin-1").split("\n")
        after = done.stdout.decode("latin-1").split("\n")
        for kind, first, last, _, _ in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            if kind in ("replace", "delete"):
                found.update((path, line, "hipify-perl") for line in range(first + 1, last + 1))
        warned = re.findall(r"warning: .*?:\s*#?(\d+)", done.stderr.decode("latin-1"))
        found.update((path, int(line), "hipify-perl") for line in warned)
    return found


def labelled(sites: Path, repositories: Path, only: list[str]) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """(key, git directory, unit) of the labelled ports."""
    for path in sorted(sites.glob("*.json")):
        data = json.loads(path.read_text())
        repository = git_directory(repositories, data["repo"])
        if (only and data["key"] not in only) or repository is None:
            continue
        for unit in data["units"]:
            yield data["key"], repository, unit


def derived(commits: Path, repositories: Path, only: list[str]) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """(key, git directory, unit) of the ports named in a file, with sites from their diffs."""
    for line in commits.read_text().splitlines():
        words = line.split()
        repository = git_directory(repositories, words[0]) if len(words) > 1 else None
        key = words[2] if len(words) > 2 else words[0].rpartition("/")[2] if words else ""
        if repository is None or (only and key not in only):
            continue
        yield key, repository, derive(repository, words[1])


def chosen(ports: Path, half: str, repositories: Path, only: list[str]) -> Iterator[tuple[str, Path, dict[str, Any]]]:
    """(key, git directory, unit) of the ports of one half, with the hunks that were labelled as sites."""
    for port in read_toml(ports)["ports"]:
        repository = git_directory(repositories, port["repository"])
        key = port["repository"].rpartition("/")[2]
        if repository is None or port["half"] != half or (only and key not in only):
            continue
        unit = derive(repository, port["commit"])
        named = set(port["sites"])
        for site in unit["sites"]:
            place = f"{site['file']}:{site['ranges'][0][0]}"
            site["foreseeable"] = place in named
            named.discard(place)
        if named:
            raise SystemExit(f"{key}: no hunk of {port['commit'][:10]} begins at {', '.join(sorted(named))}")
        yield key, repository, unit


def git_directory(repositories: Path, repo: str) -> Path | None:
    folder = repositories / repo.replace("/", "+") / "repo"
    return next((path for path in (folder / ".git", folder) if (path / "objects").exists()), None)


def derive(repository: Path, commit: str) -> dict[str, Any]:
    """A unit of the labelled schema from the diff of one commit."""

    def git(*words: str) -> str:
        done = subprocess.run(["git", "--git-dir", str(repository), *words], capture_output=True, check=False)
        return done.stdout.decode("utf-8", "replace")

    parent = git("rev-parse", commit + "^").strip()
    named = git("grep", "-ciE", _NAMES_AMD, parent)
    sites: list[dict[str, Any]] = []
    other: dict[str, list[list[int]]] = {}
    for part in re.split(r"(?m)^diff --git ", git("diff", "-U0", "--no-renames", parent, commit))[1:]:
        head, *hunks = re.split(r"(?m)^@@ ", part)
        name = re.search(r"(?m)^--- a/(.*)$", head)
        if name is None or "\n+++ /dev/null" in head or language_of(name[1]) == "other":
            continue
        for hunk in hunks:
            place = re.match(r"-(\d+)(?:,(\d+))? ", hunk)
            assert place is not None, hunk
            first, count = int(place[1]), int(place[2] or 1)
            rows = hunk.split("\n")[1:]
            removed = [row[1:] for row in rows if row.startswith("-")]
            added = [row[1:] for row in rows if row.startswith("+")]
            lines = [first, first + count - 1] if count else [max(first, 1), first + 1]
            names_amd = any(_AMD.search(row) for row in added)
            plain = not removed and all(_IMPORT.match(row) for row in added)
            of_cuda = bool(removed) and any(_CUDA.search(row) for row in removed)
            if _NO_SITE.search(name[1]) or plain or not (names_amd or of_cuda):
                other.setdefault(name[1], []).append(lines)
                continue
            fix = (removed or added)[0].strip()[:100]
            sites.append(
                {
                    "file": name[1],
                    "lang": language_of(name[1]),
                    "ranges": [lines],
                    "foreseeable": True,
                    "consequence": False,
                    "fix": fix,
                }
            )
    return {
        "parent": parent,
        "rocm_lines_in_parent": sum(int(row.rpartition(":")[2]) for row in named.splitlines()),
        "sites": sites,
        "unlabelled_changes": other,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sites", type=Path)
    parser.add_argument("--ports", type=Path, help="labelled ports, as benchmarks/scan_ports.toml has them")
    parser.add_argument("--half", choices=("tuned", "aside", "further"), default="tuned", help="which of --ports")
    parser.add_argument("--commits", type=Path, help="ports without labels: OWNER/NAME COMMIT [KEY] a line")
    parser.add_argument("--repositories", type=Path, required=True)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--missed", action="store_true", help="list the sites without a finding")
    parser.add_argument("--noise", action="store_true", help="count findings outside the human changes by rule")
    parser.add_argument(
        "--places", metavar="RULE", help="list this rule's findings outside the changes, in touched files"
    )
    parser.add_argument("--hipify-perl", action="store_true", help="run it over the C++ files of the port: minutes")
    parser.add_argument("--jobs", type=int, default=1)
    arguments = parser.parse_args()
    if [arguments.sites, arguments.ports, arguments.commits].count(None) != 2:
        parser.error("give one of --sites, --ports and --commits")
    script = fetch_hipify_perl() if arguments.hipify_perl else None
    scores: dict[str, Score] = {}
    scanned = 0
    seconds = 0.0
    own: dict[str, Score] = {}
    if arguments.sites:
        units = labelled(arguments.sites, arguments.repositories, arguments.only)
    elif arguments.ports:
        units = chosen(arguments.ports, arguments.half, arguments.repositories, arguments.only)
    else:
        units = derived(arguments.commits, arguments.repositories, arguments.only)
    for key, repository, unit in units:
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            missing = write_tree(repository, unit["parent"], root)
            if missing:
                print(f"{key}: {missing} blobs are not in the snapshot")
            tree = api.read(root)
            started = time.perf_counter()
            findings = api.scan(tree, jobs=arguments.jobs).findings
            seconds += time.perf_counter() - started
            scanned += sum(file.size for file in tree.files)
            paths = [file.path for file in tree.files]
            everything: Places = {(item.path, item.line, item.rule) for item in findings}
            shown: Places = {(item.path, item.line, item.rule) for item in open_findings(findings)}
            kind = "first ports" if unit["rocm_lines_in_parent"] <= FIRST_PORT_LINES else "follow-ups"
            name_of_tree = f"{key}@{unit['parent'][:8]}"
            own.setdefault(key, Score()).add(unit, shown, name_of_tree)
            rows = [
                ("scan", unit, shown),
                (f"scan, {kind}", unit, shown),
                ("scan, Python and build", *but_cuda(unit, shown)),
                ("scan --all", unit, everything),
                ("grep", unit, grep_places(root, paths)),
                (f"grep, {kind}", unit, grep_places(root, paths)),
            ]
            if script is not None:
                touched = {site["file"] for site in unit["sites"]} | set(unit["unlabelled_changes"])
                rows.append(("hipify-perl, touched", unit, hipify_places(root, sorted(touched), script)))
            for name, counted, places in rows:
                scores.setdefault(name, Score()).add(counted, places, name_of_tree)
            if arguments.places:
                list_places(unit, root, shown, arguments.places, name_of_tree)
    for key, score in own.items():
        print(score.line(key))
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


def but_cuda(unit: dict[str, Any], places: Places) -> tuple[dict[str, Any], Places]:
    """The sites and findings outside C, C++ and CUDA sources."""
    sites = [site for site in unit["sites"] if language_of(site["file"]) != "cuda"]
    return {**unit, "sites": sites}, {place for place in places if language_of(place[0]) != "cuda"}


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
