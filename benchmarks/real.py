"""How much of a hundred real repositories compiles for AMD GPUs after `rocport port`?

    python benchmarks/real.py --work DIR [--mirror DIR] [--only NAME ...] [--half tuned|aside] [--listed N]
        [--sample N] [--units N] [--target GFX[,GFX]] [--objects] [--peers] [--repair] [--json FILE]

The repositories are those of real.toml, each at its commit. They are cloned from their public address, or, with
`--mirror`, read from git directories `OWNER+NAME/repo` below that folder. Each is ported as a new user would, and the
port's units are checked for every target by `rocport verify --level build` (`--objects`: code objects, too).

`--units N` takes at most N units of a repository: those whose path has the smallest SHA-256, so that the sample is the
same for every tool and every run. A repository that was measured with the same sources of rocport, the same units and
the same kind of check is not measured again: results lie in DIR/results, one file a repository.

What is printed: units that can be judged and how many of them compile for each target, units skipped (their header is
neither in the tree nor on the machine), those of the failing units that stop at a line that the port named as MANUAL,
what it left as MANUAL and REVIEW, and minutes. For repositories that are not set aside, also the first error of each
unit that fails, joined by cause. Those set aside are only counted.

`--repair` goes on as `rocport port --build` does: what is certain is repaired, and the units that compiled before are
counted, too.

`--peers` also translates with hipify-perl (where it is installed) and torch.utils.hipify (where torch is) and compiles
the same units with the same flags.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rocport import api
from rocport.facts._toml import read_toml
from rocport.model.digest import code_digest
from rocport.model.folders import cache_folder
from rocport.model.verification import Verification
from rocport.repair import cycle
from rocport.scan.revision import RevisionError, extract
from rocport.verify import build

DEFAULT_TARGETS = "gfx942,gfx1100"
LIST = Path(__file__).with_name("real.toml")
_READ = frozenset({6, 8})
"""Lists whose part set aside (all of the eighth) was read after its look: it counts as tuned."""
_SOURCES = (".cu", ".cuh", ".h", ".hpp", ".hh", ".inl", ".cpp", ".cc", ".cxx", ".c")


@dataclass(frozen=True)
class Repository:
    """One line of the list. `submodules` maps a folder of the tree to `OWNER/NAME@COMMIT`."""

    name: str
    kind: str
    commit: str
    looked_at: bool = False
    listed: int = 1
    """Which list: 2 to 13 were written down later, when the ones before had been tuned on for a while."""
    submodules: dict[str, str] = field(default_factory=dict)
    environ: dict[str, str] = field(default_factory=dict)
    """Variables that its documentation asks for when it is built for ROCm."""
    defines: tuple[str, ...] = ()
    """Macros that its build system makes of what its documentation tells users to choose."""

    @property
    def aside(self) -> bool:
        """Set aside: nothing is tuned on it."""
        odd = hashlib.sha256(self.name.encode()).digest()[-1] & 1
        return bool(odd) and not self.looked_at and self.listed not in _READ

    @property
    def folder(self) -> str:
        return self.name.replace("/", "+")


def repositories(path: Path = LIST) -> list[Repository]:
    """The list, in its order."""
    return [
        Repository(
            raw["name"],
            raw["kind"],
            raw["commit"],
            raw.get("looked_at", False),
            raw.get("listed", 1),
            raw.get("with", {}),
            raw.get("environ", {}),
            tuple(raw.get("defines", ())),
        )
        for raw in read_toml(path)["repository"]
    ]


def drawn(listed: Sequence[Repository], count: int) -> list[Repository]:
    """`count` repositories (0: all) in an order that says nothing of them: a run cut short is a fair sample."""
    ordered = sorted(listed, key=lambda one: hashlib.sha256(f"{one.name}@{one.commit}".encode()).hexdigest())
    return ordered[:count] if count else ordered


def obtain(repository: Repository, work: Path, mirror: Path | None) -> Path:
    """The tree of a repository at its commit, below `work`; written once. Raises CalledProcessError without it."""
    tree = work / "source" / f"{repository.folder}@{repository.commit[:12]}"
    if tree.is_dir():
        return tree
    scratch = tree.with_name(tree.name + ".part")
    shutil.rmtree(scratch, ignore_errors=True)
    _checkout(repository.name, repository.commit, scratch, mirror)
    for folder, place in repository.submodules.items():
        name, _, commit = place.partition("@")
        _checkout(name, commit, scratch / folder, mirror)
    scratch.rename(tree)
    return tree


def _checkout(name: str, commit: str, tree: Path, mirror: Path | None) -> None:
    tree.mkdir(parents=True, exist_ok=True)
    if mirror is None:
        git = ["git", "-C", str(tree)]
        subprocess.run([*git, "init", "-q"], check=True)
        subprocess.run([*git, "fetch", "-q", "--depth", "1", f"https://github.com/{name}", commit], check=True)
        subprocess.run([*git, "checkout", "-q", "FETCH_HEAD"], check=True)
        shutil.rmtree(tree / ".git")
        return
    git_dir = mirror / name.replace("/", "+") / "repo"
    if (git_dir / ".git").is_dir():
        git_dir /= ".git"
    extract(git_dir, commit, tree)


def sample(paths: Sequence[str], count: int) -> frozenset[str]:
    """At most `count` of the units (0: all), the same ones in every run and for every tool."""
    ordered = sorted(paths, key=lambda path: hashlib.sha256(path.encode()).hexdigest())
    return frozenset(ordered[:count] if count else ordered)


def third_party(work: Path, path: Path = LIST) -> tuple[Path, ...]:
    """The include folders of the Debian packages that the list names, unpacked below `work`; nothing is installed.

    Empty where there is no apt-get; a package that cannot be had is left out.
    """
    recipe = read_toml(path)["headers"]
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        return ()
    place = work / "headers"
    packages = place / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    missing = [name for name in recipe["debian"] if not any(packages.glob(f"{name}_*.deb"))]
    get = ["apt-get", "download", "-q"]
    # One call for all takes seconds where a call for each takes minutes; one name that is gone fails it.
    if missing and subprocess.run([*get, *missing], cwd=packages, capture_output=True, check=False).returncode:
        for name in missing:
            subprocess.run([*get, name], cwd=packages, capture_output=True, check=False)
    for name in missing:
        for file in packages.glob(f"{name}_*.deb"):
            subprocess.run(["dpkg-deb", "-x", file, place], check=True)
    return tuple(place / folder for folder in recipe["folders"] if (place / folder).is_dir())


def compile_units(
    tree: Path, only: frozenset[str], arguments: argparse.Namespace, defines: tuple[str, ...] = ()
) -> Verification:
    """Check the units for every target."""
    options = build.BuildOptions(
        tuple(arguments.target.split(",")),
        cache=cache_folder() / "build",
        syntax_only=not arguments.objects,
        only=only,
        precompiled=True,
        last_includes=arguments.last_includes,
        defines=defines,
    )
    return build.verify(tree, options)


def measure(repository: Repository, tree: Path, work: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Port and check one repository; the row that is kept."""
    row: dict[str, Any] = {"name": repository.name, "kind": repository.kind, "aside": repository.aside}
    out = work / "port" / repository.folder
    shutil.rmtree(out, ignore_errors=True)
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "rocport", "port", str(tree), "--out", str(out), "--format", "json"],
        capture_output=True,
        text=True,
        check=False,
    )
    row["port_seconds"] = round(time.monotonic() - began, 1)
    if done.returncode not in (0, 1):
        return row | {"error": done.stderr.strip().splitlines()[-1:]}
    findings = json.loads(done.stdout)["findings"]
    kinds = Counter(finding["applicability"] for finding in findings)
    row |= {"manual": kinds["manual"], "review": kinds["review"], "safe": kinds["safe"]}
    paths = build.unit_paths(out)
    only = sample(paths, arguments.units)
    row |= {"units": len(paths), "tried": len(only)}
    if only:
        if arguments.repair:
            row |= repaired(tree, out, only, arguments, repository.defines)
        began = time.monotonic()
        manual = frozenset(
            (finding["path"], line)
            for finding in findings
            if finding["applicability"] == "manual"
            for line in range(finding["line"], finding.get("end_line", finding["line"]) + 1)
        )
        row |= judged(compile_units(out, only, arguments, repository.defines), manual)
        row["build_seconds"] = round(time.monotonic() - began, 1)
        if arguments.peers:
            row["peers"] = {name: peer(name, repository, tree, only, work, arguments) for name in PEERS}
    return row


def repaired(
    tree: Path, out: Path, only: frozenset[str], arguments: argparse.Namespace, defines: tuple[str, ...]
) -> dict[str, Any]:
    """Port again with the cycle: units that compile before it, repairs kept by name, and how many were taken back."""
    built = cycle.build(api.porting(tree), out, lambda folder: compile_units(folder, only, arguments, defines))
    kept = Counter(one.repair.name for one in built.repaired)
    return {"ok_before": built.before, "repairs": dict(kept), "taken_back": len(built.taken_back)}


def judged(verification: Verification, manual: frozenset[tuple[str, int]] = frozenset()) -> dict[str, Any]:
    """Counts of units (each by its worst target), the first error of each that fails, and why units were skipped.

    `named` counts the failing units whose first error stands, on each target, at one of `manual`: lines of the source.
    """
    by_unit: dict[str, list[Any]] = {}
    for result in verification.units:
        by_unit.setdefault(result.path, []).append(result)
    counts: Counter[str] = Counter()
    causes: dict[str, str] = {}
    skipped: Counter[str] = Counter()
    for path, results in by_unit.items():
        worst = max((result.status.value for result in results), key=("ok", "skip", "fail").index)
        counts[worst] += 1
        failing = [result for result in results if result.status.value == "fail"]
        first = [result.errors[0] for result in failing if result.errors]
        counts["named"] += len(first) == len(failing) > 0 and all(
            (error.original_path, error.original_line) in manual for error in first
        )
        for result in results:
            if result.status.value == worst != "ok":
                cause = result.errors[0].message if result.errors and worst == "fail" else result.reason
                place = f"{result.errors[0].path}:{result.errors[0].line}: " if result.errors else ""
                if worst == "skip":
                    skipped[cause] += 1
                else:
                    causes[path] = f"{place}{cause}"
                break
    failed = {target: counts_of["fail"] for target, counts_of in verification.summary()["by_target"].items()}
    return {
        "ok": counts["ok"],
        "fail": counts["fail"],
        "skip": counts["skip"],
        "named": counts["named"],
        "failed_by_target": failed,
        "causes": causes,
        "skipped": dict(skipped),
    }


def _torch_hipify(tree: Path, out: Path) -> bool:
    script = (
        "import sys; from torch.utils.hipify import hipify_python as h;"
        "h.hipify(project_directory=sys.argv[1], output_directory=sys.argv[2], is_pytorch_extension=True,"
        "includes=[sys.argv[2] + '/*'], show_progress=False)"
    )
    shutil.copytree(tree, out, symlinks=True)
    return subprocess.run([sys.executable, "-c", script, tree, out], capture_output=True, check=False).returncode == 0


def _hipify_perl(tree: Path, out: Path) -> bool:
    tool = shutil.which("hipify-perl")
    if tool is None:
        return False
    shutil.copytree(tree, out, symlinks=True)
    for path in sorted(out.rglob("*")):
        if path.suffix in _SOURCES and path.is_file():
            subprocess.run([tool, "-inplace", "-quiet-warnings", path], capture_output=True, check=False)
    return True


PEERS = {"hipify-perl": _hipify_perl, "torch.utils.hipify": _torch_hipify}


def peer(
    name: str, repository: Repository, tree: Path, only: frozenset[str], work: Path, arguments: argparse.Namespace
) -> dict[str, Any]:
    """What another tool's translation of the same units does; empty counts where the tool is not here."""
    out = work / "peer" / name / tree.name
    shutil.rmtree(out, ignore_errors=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    if not PEERS[name](tree, out):
        return {"missing": True}
    # torch.utils.hipify writes a.hip for a.cu.
    here = frozenset(
        str(Path(path).with_suffix(".hip")) if (out / path).with_suffix(".hip").exists() else path for path in only
    )
    result = judged(compile_units(out, here, arguments, repository.defines))
    return {key: result[key] for key in ("ok", "fail", "skip")}


def cause(message: str) -> str:
    """An error without its place, so that the same cause in many units is one: names that differ stay."""
    return re.sub(r"^[^\s:]+:\d+: ", "", message)


def summary(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Sums over repositories; `share` is of the units that could be judged, `share_but_named` of those among them that
    do not stop where the port said so."""
    counted = ("units", "tried", "ok", "fail", "skip", "named", *(["ok_before"] if "ok_before" in rows[0] else []))
    total = Counter({key: sum(row.get(key, 0) for row in rows) for key in counted})
    judgeable = total["ok"] + total["fail"]
    whole = sum(1 for row in rows if row.get("ok") and not row.get("fail"))
    share = round(total["ok"] / judgeable, 4) if judgeable else None
    rest = judgeable - total["named"]
    unnamed = round(total["ok"] / rest, 4) if rest else None
    return {"repositories": len(rows), **total, "share": share, "share_but_named": unnamed, "without_a_failure": whole}


def _line(row: dict[str, Any]) -> str:
    if "error" in row:
        return f"{row['name']:42} {row['error']}"
    minutes = (row["port_seconds"] + row.get("build_seconds", 0)) / 60
    return (
        f"{row['name']:42} units {row['units']:4} tried {row['tried']:3} ok {row.get('ok', 0):3} "
        f"fail {row.get('fail', 0):3} (named {row.get('named', 0)}) skip {row.get('skip', 0):3}  "
        f"MANUAL {row['manual']:4} REVIEW {row['review']:4} "
        f"{minutes:5.1f} min"
        + (f"  before {row['ok_before']} {row['repairs']}" if "ok_before" in row else "")
        + "".join(f"  {name}: {counts.get('ok', '-')}" for name, counts in row.get("peers", {}).items())
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="folder for trees, ports and results")
    parser.add_argument("--mirror", type=Path, help="folder of git directories OWNER+NAME/repo")
    parser.add_argument("--only", nargs="*", default=[], metavar="NAME")
    parser.add_argument("--half", choices=("tuned", "aside"))
    parser.add_argument("--listed", type=int, choices=range(1, 14), help="only the repositories of this list")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="N repositories, the same in every run")
    parser.add_argument("--units", type=int, default=0, metavar="N", help="at most N units a repository")
    parser.add_argument("--target", default=DEFAULT_TARGETS, metavar="GFX[,GFX]")
    parser.add_argument("--objects", action="store_true", help="make code objects")
    parser.add_argument("--peers", action="store_true", help="hipify-perl and torch.utils.hipify too")
    parser.add_argument("--repair", action="store_true", help="repair what is certain, and count before and after")
    parser.add_argument("--json", type=Path, help="write the rows here")
    arguments = parser.parse_args()
    results = arguments.work / "results"
    results.mkdir(parents=True, exist_ok=True)
    arguments.last_includes = third_party(arguments.work)
    key_of_run = [
        code_digest(by_content=True),
        arguments.units,
        arguments.target,
        arguments.objects,
        arguments.peers,
        arguments.repair,
    ]
    rows = []
    listed = [
        repository
        for repository in repositories()
        if (not arguments.only or {repository.name, repository.name.split("/")[1]} & set(arguments.only))
        and (not arguments.half or repository.aside == (arguments.half == "aside"))
        and arguments.listed in (None, repository.listed)
    ]
    for repository in drawn(listed, arguments.sample):
        kept = results / f"{repository.folder}.json"
        key = [*key_of_run, repository.commit]
        known = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
        if known.get("key") == key:
            row = known["row"]
        else:
            try:
                row = measure(
                    repository, obtain(repository, arguments.work, arguments.mirror), arguments.work, arguments
                )
            except (subprocess.CalledProcessError, RevisionError, build.VerifyError, OSError) as error:
                row = {"name": repository.name, "aside": repository.aside, "error": str(error)}
            kept.write_text(json.dumps({"key": key, "row": row}, indent=1), encoding="utf-8")
        rows.append(row)
        print(_line(row), flush=True)
    for half, name in ((False, "tuned"), (True, "set aside")):
        of_half = [row for row in rows if row["aside"] is half]
        if of_half:
            print(f"\n{name}: {json.dumps(summary(of_half))}")
    found = Counter(cause(text) for row in rows if not row["aside"] for text in row.get("causes", {}).values())
    for text, count in found.most_common(40):
        print(f"{count:5}  {text[:160]}")
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
