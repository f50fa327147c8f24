"""Would the tests notice? Mutants of a package, and the share of them that the tests named for the file kill.

    python benchmarks/mutants.py                       # 35 mutants of each package, seeded; about an hour on one core
    python benchmarks/mutants.py --package rules --most 60 --show
    python benchmarks/mutants.py --half aside --kept FOLDER     # goes on where a run before it ended

Mutants are made from the syntax tree, in the bodies of functions only: a comparison turned around or moved by one,
`and` for `or`, a condition negated, True for False, a number plus one, plus for minus, `continue` for `break`, a
returned value dropped. Messages, docstrings, annotations and what a rule says of itself are left alone. Neither
mutmut nor cosmic-ray samples by package and picks the tests of a mutated file; the mutator is shorter than the
plug-ins would be.

A file's tests: of a rule its cases in tests/rules/test_rules.py; of any other module the tests of its package that
import it or have its name, then those that import the package within the package it is of (`rocport.verify.nvidia`), or
else that use a name it defines. With `--watch` the tests of its package that run the mutated line go first: coverage.py
is asked once a package, which takes as long as all of its tests. They stop at the first failure. A mutant that only
runs longer than ten times its tests' usual time counts as killed. Half of the files are set aside by the first digit of
SHA-256 of their path (even): tests were strengthened by looking at the survivors of the others. An outcome is kept in
FOLDER by the mutant, the file's text and its tests' text, so what a mend of the tests could change is run again.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("model", "port", "rules", "verify", "facts")
BAR = 0.85
_LEAST_S = 120.0
_COMPARE = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.In: "not in",
    ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is",
}  # fmt: skip
_BINARY = {ast.Add: "-", ast.Sub: "+", ast.Mult: "//", ast.FloorDiv: "*", ast.BitAnd: "|", ast.BitOr: "&"}
_MESSAGES = frozenset({"Problem", "Example", "Source", "Rule", "Tier", "note", "log", "echo", "warn"})


@dataclass(frozen=True)
class Mutant:
    """`start:end` of a file's text become `text`."""

    path: str
    line: int
    start: int
    end: int
    text: str
    was: str

    @property
    def name(self) -> str:
        return f"{self.path}:{self.line}: {self.was} -> {self.text}"

    @property
    def aside(self) -> bool:
        return int(hashlib.sha256(self.path.encode()).hexdigest()[0], 16) % 2 == 0


def mutants(path: str, source: str) -> Iterator[Mutant]:
    """Every mutant of one file."""
    lines = source.encode().splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    data = source.encode()

    def at(line: int, column: int) -> int:
        return starts[line - 1] + column

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        return at(node.lineno, node.col_offset), at(node.end_lineno or 0, node.end_col_offset or 0)

    def change(node: ast.expr | ast.stmt, start: int, end: int, text: str) -> Mutant:
        return Mutant(path, node.lineno, start, end, text, data[start:end].decode())

    def between(node: ast.expr, left: ast.expr, right: ast.expr, text: str, word: str) -> Iterator[Mutant]:
        """The operator between two operands, comments and brackets left alone."""
        start, end = span(left)[1], span(right)[0]
        if (found := re.search(rb"(?<![\w#])" + word.encode() + rb"(?!\w)", data[start:end])) is not None:
            yield change(node, start + found.start(), start + found.end(), text)

    def of(node: ast.AST) -> Iterator[Mutant]:
        if isinstance(node, ast.Compare):
            left = node.left
            for operator, right in zip(node.ops, node.comparators, strict=True):
                found = re.compile(rb"not\s+in|is\s+not|[=!<>]=|[<>]|\bin\b|\bis\b").search(data, span(left)[1])
                if found is not None and found.end() <= span(right)[0]:
                    yield change(node, found.start(), found.end(), _COMPARE[type(operator)])
                left = right
        elif isinstance(node, ast.BoolOp):
            word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from between(node, left, right, other, word)
        elif isinstance(node, ast.BinOp) and type(node.op) in _BINARY and not _text(node):
            start, end = span(node.left)[1], span(node.right)[0]
            if (found := re.search(rb"//|[-+*&|]", data[start:end])) is not None:
                yield change(node, start + found.start(), start + found.end(), _BINARY[type(node.op)])
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield change(node, *span(node), data[slice(*span(node.operand))].decode())
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield change(node, *span(node), str(not node.value))
        elif isinstance(node, ast.Constant) and isinstance(node.value, int):
            yield change(node, *span(node), f"{node.value + 1}")
        elif isinstance(node, ast.If | ast.While) and not isinstance(node.test, ast.Compare | ast.BoolOp | ast.UnaryOp):
            yield change(node.test, *span(node.test), f"(not ({data[slice(*span(node.test))].decode()}))")
        elif isinstance(node, ast.Continue | ast.Break):
            yield change(node, *span(node), "break" if isinstance(node, ast.Continue) else "continue")
        elif (isinstance(node, ast.Return) and node.value is not None
                and not isinstance(node.value, ast.Constant | ast.Compare | ast.BoolOp)):  # fmt: skip
            yield change(node, *span(node), "return None")

    def walk(node: ast.AST, inside: bool) -> Iterator[Mutant]:
        if isinstance(node, ast.JoinedStr | ast.Raise | ast.AnnAssign | ast.arguments | ast.ClassDef) and inside:
            return
        if isinstance(node, ast.Call) and _called(node) in _MESSAGES:
            return
        if inside:
            yield from of(node)
        function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        children = node.body if function else ast.iter_child_nodes(node)  # type: ignore[attr-defined]
        for child in children:
            if not (inside and isinstance(node, ast.FunctionDef) and child in node.decorator_list):
                yield from walk(child, inside or function)

    yield from walk(ast.parse(source), False)


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def _text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(
        isinstance(getattr(side, "value", None), str | bytes) or isinstance(side, ast.JoinedStr) for side in sides
    )


def tests_of(root: Path, path: str) -> tuple[str, ...]:
    """Arguments of pytest: the tests named for a file below src/rocport; empty where there are none."""
    package = path.partition("/")[0]
    module = "rocport." + path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    stem = module.rpartition(".")[2]
    folder = root / "tests" / package
    text = (root / "src" / "rocport" / path).read_text(encoding="utf-8")
    if package == "rules":
        named = re.search(r"^RULE = Rule\(\s*(?:name=)?[\"']([\w-]+)", text, re.M)
        own = folder / f"test_{stem}.py"
        cases = str(folder / "test_rules.py")
        first = [str(own)] if own.exists() else []
        return (*first, cases, "-k", f"{named[1]} or test_{stem}") if named else (*first, cases)
    parent, _, last = module.rpartition(".")
    spelled = re.compile(
        rf"\b{re.escape(module)}\b|from {re.escape(parent)} import [^\n]*\b{last}\b"
        rf"|from {re.escape(parent)} import \([^)]*\b{last}\b"
    )
    files = {file: file.read_text(encoding="utf-8") for file in sorted(folder.rglob("test_*.py"))}
    within = path.split("/")[:-1]
    above, dotted = re.escape(".".join(["rocport", *within[:-1]])), re.escape(".".join(["rocport", *within]))
    around = re.compile(rf"\bfrom {above} import [^\n]*\b{within[-1]}\b|\b{dotted}\b")
    found = [file for file, said in files.items() if spelled.search(said) or stem in file.stem.split("_")]
    found += [file for file, said in files.items() if len(within) > 1 and file not in found and around.search(said)]
    if not found:
        public = [node.name for node in ast.parse(text).body
                  if isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("_")]  # fmt: skip
        names = re.compile(rf"\b(?:{'|'.join([stem, *public])})\b")
        found = [file for file, said in files.items() if names.search(said)]
    found.sort(key=lambda file: (stem not in file.stem, file.stat().st_size))
    return tuple(map(str, found))


@dataclass(frozen=True)
class Reached:
    """Which tests of a package run a line: ids for pytest, the quickest first."""

    root: Path
    found: dict[str, dict[int, list[str]]]

    def by(self, mutant: Mutant) -> tuple[str, ...]:
        return tuple(str(self.root / test) for test in self.found.get(mutant.path, {}).get(mutant.line, []))


class Shadow:
    """A copy of the sources in which one file at a time is another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        left_out = shutil.ignore_patterns("__pycache__", ".git", ".venv*", "results", ".*_cache")
        shutil.copytree(ROOT, folder, ignore=left_out, dirs_exist_ok=True)
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(folder / "src")], check=False)
        self._usual: dict[tuple[str, ...], float] = {}

    def usual(self, tests: tuple[str, ...]) -> float:
        """Seconds that the tests take as things are; negative where they fail. Each file is run once."""
        parts = [tests] if "-k" in tests else [(test,) for test in tests]
        for part in parts:
            if part not in self._usual:
                started = time.monotonic()
                passed = self._pytest(part, 3600.0)
                self._usual[part] = time.monotonic() - started if passed else -1.0
        taken = [self._usual[part] for part in parts]
        return -1.0 if min(taken) < 0 else sum(taken)

    def reached(self, package: str, kept: Path | None) -> Reached:
        """Runs the tests of a package once with every line watched; none are known without coverage.py."""
        place = (kept or self.folder) / f"reached-{package}-{_digest(self.folder, package)}.json"
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(self._watch(package)) + "\n")
        found = {path: {int(line): tests for line, tests in lines.items()}
                 for path, lines in json.loads(place.read_text()).items()}  # fmt: skip
        return Reached(self.folder, found)

    def _watch(self, package: str) -> dict[str, dict[int, list[str]]]:
        try:
            from coverage import CoverageData
        except ImportError:
            print("coverage.py is not installed: tests are found by their names alone", file=sys.stderr)
            return {}
        settings, data, junit = (self.folder / name for name in ("watch.ini", "watch.data", "watch.xml"))
        watched = self.folder / "src" / "rocport" / package
        settings.write_text(f"[run]\ndynamic_context = test_function\ndata_file = {data}\nsource = {watched}\n")
        command = ["-m", "coverage", "run", f"--rcfile={settings}", "-m", "pytest", "-q", "-n", "0", "-m", "not slow"]
        more = ["-p", "no:cacheprovider", f"--junitxml={junit}", str(self.folder / "tests" / package)]
        subprocess.run([sys.executable, *command, *more], cwd=self.folder, env=self._environment(),
                       capture_output=True, check=False)  # fmt: skip
        taken: dict[str, float] = defaultdict(float)
        for case in ElementTree.parse(junit).getroot().iter("testcase"):
            taken[f"{case.get('classname')}.{(case.get('name') or '').partition('[')[0]}"] += float(case.get("time", 0))
        ids = {}
        for name, seconds in taken.items():
            parts = name.split(".")
            at = next(number for number, part in enumerate(parts) if part.startswith("test_"))
            test = "/".join(parts[: at + 1]) + ".py::" + "::".join(parts[at + 1 :])
            ids[".".join(parts[at:])] = (seconds, test)
        read = CoverageData(basename=str(data))
        read.read()
        found: dict[str, dict[int, list[str]]] = {}
        for file in read.measured_files():
            lines = found.setdefault(Path(file).relative_to(watched.parent).as_posix(), {})
            for line, contexts in read.contexts_by_lineno(file).items():
                tests = sorted(ids[context] for context in contexts if context in ids)
                lines[line] = [test for _, test in tests]
        return found

    def killed(self, mutant: Mutant, tests: tuple[str, ...]) -> bool:
        place = self.folder / "src" / "rocport" / mutant.path
        data = place.read_bytes()
        place.write_bytes(data[: mutant.start] + mutant.text.encode() + data[mutant.end :])
        for compiled in (place.parent / "__pycache__").glob(f"{place.stem}.*"):
            compiled.unlink()
        try:
            return not self._pytest(tests, max(_LEAST_S, 10 * self.usual(tests)))
        finally:
            place.write_bytes(data)

    def _environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(self.folder / "src"), "PYTHONDONTWRITEBYTECODE": "1",
                "ROCPORT_CACHE": os.environ.get("ROCPORT_CACHE", str(self.folder / "cache"))}  # fmt: skip

    def _pytest(self, tests: tuple[str, ...], seconds: float) -> bool:
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-n",
            "0",
            "-p",
            "no:cacheprovider",
            "-m",
            "not slow",
            *tests,
        ]
        try:
            done = subprocess.run(
                command, cwd=self.folder, env=self._environment(), capture_output=True, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            return False
        # 5: no test was collected, which kills nothing.
        return done.returncode in (0, 5)


def _digest(root: Path, package: str) -> str:
    """Of the sources and the tests of a package."""
    files = [file for kind in ("src/rocport", "tests") for file in sorted((root / kind / package).rglob("*.py"))]
    return hashlib.sha256("\0".join(file.read_text(encoding="utf-8") for file in files).encode()).hexdigest()[:16]


def sample(root: Path, package: str, most: int, seed: str) -> list[Mutant]:
    """Mutants of a package, chosen by the hash of their names and the seed; as many of each half as there are."""
    sources = {file.relative_to(root / "src" / "rocport").as_posix(): file.read_text(encoding="utf-8")
               for file in sorted((root / "src" / "rocport" / package).rglob("*.py"))}  # fmt: skip
    found = [mutant for path, source in sources.items() for mutant in mutants(path, source)]
    found.sort(key=lambda one: hashlib.sha256(f"{seed}{one.name}{one.start}".encode()).hexdigest())
    chosen: dict[bool, list[Mutant]] = {True: [], False: []}
    for mutant in found:
        half = chosen[mutant.aside]
        if len(half) < most // 2 and _parses(sources[mutant.path].encode(), mutant):
            half.append(mutant)
    return [*chosen[True], *chosen[False]]


def _parses(data: bytes, mutant: Mutant) -> bool:
    try:
        ast.parse(data[: mutant.start] + mutant.text.encode() + data[mutant.end :])
    except SyntaxError:
        return False
    return True


class Kept:
    """Outcomes of mutants, one line each, in a file of a folder; without a folder nothing is kept."""

    def __init__(self, folder: Path | None) -> None:
        self._place = folder / "outcomes.jsonl" if folder else None
        self._known: dict[str, bool] = {}
        if self._place is not None and self._place.exists():
            self._known = {row["key"]: row["dead"] for row in map(json.loads, self._place.read_text().splitlines())}
        if self._place is not None:
            self._place.parent.mkdir(parents=True, exist_ok=True)

    @staticmethod
    def key(root: Path, mutant: Mutant, tests: tuple[str, ...]) -> str:
        files = sorted({test.partition("::")[0] for test in tests})
        texts = [root / "src" / "rocport" / mutant.path, *(Path(test) for test in files if Path(test).is_file())]
        words = [mutant.name, str(mutant.start), *(file.read_text(encoding="utf-8") for file in texts)]
        return hashlib.sha256("\0".join(words).encode()).hexdigest()

    def get(self, key: str) -> bool | None:
        return self._known.get(key)

    def put(self, key: str, mutant: Mutant, dead: bool) -> None:
        if self._place is not None:
            with self._place.open("a") as stream:
                stream.write(json.dumps({"key": key, "dead": dead, "mutant": mutant.name}) + "\n")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", action="append", choices=PACKAGES, help="only these; all by default")
    parser.add_argument("--most", type=int, default=35, help="mutants of each package")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--half", choices=("aside", "looked-at"), help="only the files of this half")
    parser.add_argument("--kept", type=Path, metavar="FOLDER", help="where outcomes are kept, to go on later")
    parser.add_argument("--watch", action="store_true", help="ask coverage.py which tests run a mutated line")
    parser.add_argument("--show", action="store_true", help="name the survivors of the half that may be looked at")
    given = parser.parse_args()
    low = False
    kept = Kept(given.kept)
    print(f"{'package':9} {'set aside':>22} {'looked at':>22}   survivors of the latter")
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        # The tree may change meanwhile: everything is read from the copy.
        folder = Path(name)
        shadow = Shadow(folder)
        for package in given.package or PACKAGES:
            counts: dict[bool, list[int]] = defaultdict(lambda: [0, 0])
            survivors = []
            watch = given.watch and package != "rules"
            reached = shadow.reached(package, given.kept) if watch else Reached(folder, {})
            for mutant in sample(folder, package, given.most, given.seed):
                if given.half is not None and mutant.aside is not (given.half == "aside"):
                    continue
                tests = tuple(dict.fromkeys((*reached.by(mutant), *tests_of(folder, mutant.path))))
                key = kept.key(folder, mutant, tests)
                dead = kept.get(key)
                if dead is None:
                    if tests and shadow.usual(tests) < 0:
                        print(f"the tests of {mutant.path} fail as it is: {' '.join(tests)}", file=sys.stderr)
                        return 2
                    dead = bool(tests) and shadow.killed(mutant, tests)
                    kept.put(key, mutant, dead)
                counts[mutant.aside][0] += dead
                counts[mutant.aside][1] += 1
                if not dead and not mutant.aside:
                    survivors.append(mutant)
                if given.show and not dead and not mutant.aside:
                    print(f"    survives: {mutant.name}", file=sys.stderr, flush=True)
            shares = [
                f"{dead} of {of} = {dead / of:.2f}" if of else "not run" for dead, of in (counts[True], counts[False])
            ]
            low |= any(of and dead / of < BAR for dead, of in counts.values())
            print(f"{package:9} {shares[0]:>22} {shares[1]:>22}   {len(survivors)}", flush=True)
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main())
