"""Would the tests notice? Mutants of a package, and the share of them that its tests kill.

    python benchmarks/mutants.py --kept FOLDER      # 70 mutants of each package, half of them set aside
    python benchmarks/mutants.py --package rules --most 60 --show
    python benchmarks/mutants.py --half aside --kept FOLDER --out benchmarks/results/mutants.csv

Mutants are made from the syntax tree, in the bodies of functions only: a comparison turned around or moved by one,
`and` for `or`, a condition negated, True for False, a number plus one, plus for minus, `continue` for `break`, a
returned value dropped. Messages, docstrings, annotations and what a rule says of itself are left alone. Neither
mutmut nor cosmic-ray samples by package and picks the tests of a mutated line; the mutator is shorter than the
plug-ins would be.

A mutant's tests are those in the folder of its package's tests that run the mutated line (coverage.py is asked once a
package, in FOLDER) or start a Python of their own, the quickest first; they stop at the first failure. One process
imports and collects a package's tests once and forks for each mutant, in which the code of the mutated function is
replaced. A line that runs while modules are imported or tests collected is tried in a process of its own, where the
fork did not notice it. A mutant under which a test takes ten times its usual processor time (at least 30 s) counts as
killed, and so does one that is not through in ten times the usual time of all its tests, longer on a busy machine. The
first mutant of each run is none: a function is given its own code again, and the run is refused where its tests fail. A
test that fails under a mutant is asked again with the function's own code, and counts where it passes.

Half of the files are set aside by the first digit of SHA-256 of their path (even): tests were strengthened by looking
at the survivors of the others. Mutants are drawn by SHA-256 of the seed and their name, so a larger sample holds a
smaller one. An outcome is kept in FOLDER by the mutant, the file's text and the names and text of its tests, so what a
mend of the tests could change is run again. A mutant that changes nothing a caller can see is listed with the reason
in mutants_equivalent.toml and counted apart. Tests left out by PYTEST_ADDOPTS (`--ignore-glob='*header*'`, where they
need a compiler) make the share a lower bound.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import csv
import functools
import gc
import hashlib
import importlib.util
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import tomllib

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("model", "port", "rules", "verify", "facts")
BAR = 0.85
_LEAST_S = 30.0
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

    def of(self, data: bytes) -> bytes:
        """The file's text with the mutant in it."""
        return data[: self.start] + self.text.encode() + data[self.end :]


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


@dataclass(frozen=True)
class Reached:
    """Which tests of a package run a line, by their ids; `seconds` is what each takes. Tests that fail as things are
    are left out."""

    lines: Mapping[str, Mapping[str, Sequence[str]]]
    seconds: Mapping[str, float]
    elsewhere: Sequence[str]
    """Tests that start a Python of their own, in which any line may run."""
    failing: Sequence[str]

    def by(self, mutant: Mutant, first: int) -> list[str]:
        """The quickest first; `first` is the line at which the mutated statement begins."""
        known = self.lines.get(mutant.path, {})
        found = {test for line in range(first, mutant.line + 1) for test in known.get(str(line), ()) if test}
        if found:
            found |= set(self.elsewhere)
        return sorted(found - set(self.failing), key=lambda test: (self.seconds[test], test))

    def outside(self, mutant: Mutant, first: int) -> bool:
        """Whether the line runs outside of a test: when modules are imported or tests collected."""
        known = self.lines.get(mutant.path, {})
        return any("" in known.get(str(line), ()) for line in range(first, mutant.line + 1))


def begins(source: str, line: int) -> tuple[int, int]:
    """(first line of the innermost statement that holds the line, of the outermost function)."""
    holding = [node for node in ast.walk(ast.parse(source))
               if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)]  # fmt: skip
    functions = [node for node in holding if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    outer = min(functions, key=lambda node: node.lineno)
    return max(node.lineno for node in holding), min([outer.lineno, *(item.lineno for item in outer.decorator_list)])


class Shadow:
    """A copy of the sources in which one file at a time is another."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        left_out = shutil.ignore_patterns("__pycache__", ".git", ".venv*", "results", ".*_cache")
        shutil.copytree(ROOT, folder, ignore=left_out, dirs_exist_ok=True)
        subprocess.run([sys.executable, "-m", "compileall", "-q", str(folder / "src")], check=False)

    def pytest(self, package: str, task: dict[str, Any], seconds: float | None = None) -> int | None:
        """Run the tests of a package with `task` for this file as a plug-in; None where it takes longer."""
        order = self.folder / "task.json"
        order.write_text(json.dumps(task))
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "mutants", "-p", "no:cacheprovider"]
        more = ["-m", "not slow", f"--basetemp={self.folder / 'tmp'}", str(self.folder / "tests" / package)]
        environment = {
            **os.environ, "PYTHONPATH": os.pathsep.join(str(self.folder / name) for name in ("src", "benchmarks")),
            "PYTHONDONTWRITEBYTECODE": "1", "MUTANTS_TASK": str(order),
            "ROCPORT_CACHE": os.environ.get("ROCPORT_CACHE", str(self.folder / "cache")),
        }  # fmt: skip
        process = subprocess.Popen([*command, *more], cwd=self.folder, env=environment, start_new_session=True,
                                   stdout=subprocess.DEVNULL, stderr=sys.stderr)  # fmt: skip
        try:
            return process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def reached(self, package: str, kept: Path | None) -> Reached:
        """Runs the tests of a package once with every line watched."""
        place = (kept or self.folder) / f"reached-{package}-{_digest(self.folder, package)}.json"
        if not place.exists():
            place.parent.mkdir(parents=True, exist_ok=True)
            self.pytest(package, {"watch": package, "out": str(place.absolute())})
        return Reached(**json.loads(place.read_text()))

    def fresh(self, package: str, mutant: Mutant, tests: Sequence[str], seconds: float) -> bool:
        """Whether the tests fail in a process that imports the mutant."""
        place = self.folder / "src" / "rocport" / mutant.path
        data = place.read_bytes()
        place.write_bytes(mutant.of(data))
        _forget(place)
        try:
            # 5: no test was collected, so what asks for parameters answers otherwise.
            return self.pytest(package, {"only": list(tests)}, seconds) != 0
        finally:
            place.write_bytes(data)


def _forget(place: Path) -> None:
    for compiled in (place.parent / "__pycache__").glob(f"{place.stem}.*"):
        compiled.unlink()


# What follows runs inside pytest, as a plug-in.


@functools.cache
def _task() -> dict[str, Any]:
    place = os.environ.get("MUTANTS_TASK")
    return json.loads(Path(place).read_text()) if place and __name__ != "__main__" else {}


class _Watch:
    """Notes which tests run which lines of a package."""

    def __init__(self, package: str, out: Path) -> None:
        from coverage import Coverage

        self.root = Path(os.environ["PYTHONPATH"].partition(os.pathsep)[0]) / "rocport"
        self.out = out
        self.coverage = Coverage(data_file=None, config_file=False, include=[f"{self.root / package}/*"])
        self.coverage.start()
        self.seconds: dict[str, float] = {}
        self.elsewhere: set[str] = set()
        self.failing: set[str] = set()
        self.test = ""
        sys.addaudithook(self._asked)

    def _asked(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.test and event == "subprocess.Popen" and "python" in repr(arguments[:2]):
            self.elsewhere.add(self.test)

    @contextlib.contextmanager
    def around(self, test: str) -> Iterator[None]:
        self.test = test
        self.coverage.switch_context(test)
        started = time.process_time() + sum(os.times()[2:4])
        yield
        self.seconds[test] = round(time.process_time() + sum(os.times()[2:4]) - started, 4)
        self.coverage.switch_context("")
        self.test = ""

    def save(self) -> None:
        self.coverage.stop()
        data = self.coverage.get_data()
        lines: dict[str, dict[int, list[str]]] = {}
        for file in data.measured_files():
            found = {line: sorted(tests) for line, tests in data.contexts_by_lineno(file).items()}
            lines[Path(file).relative_to(self.root).as_posix()] = found
        body = {"lines": lines, "seconds": self.seconds, "elsewhere": sorted(self.elsewhere)}
        part = self.out.with_suffix(".part")
        part.write_text(json.dumps(body | {"failing": sorted(self.failing)}) + "\n")
        part.replace(self.out)


_WATCH = _Watch(_task()["watch"], Path(_task()["out"])) if _task().get("watch") else None
_LIMITS: dict[str, float] = {}
"""In the child of a mutant: what each of its tests takes. SIGPROF ends the child at the first that takes far longer."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    if _LIMITS:
        signal.setitimer(signal.ITIMER_PROF, max(_LEAST_S, 10 * _LIMITS.get(item.nodeid, 0.0)))
    with _WATCH.around(item.nodeid) if _WATCH is not None else contextlib.nullcontext():
        return (yield)


_FAILED: list[int] = []
"""In the child of a mutant: where the first test that fails is written."""


def pytest_runtest_logreport(report: Any) -> None:
    if _FAILED and report.failed:
        os.write(_FAILED.pop(), f"{report.nodeid}\n".encode())
    if _WATCH is not None and report.failed:
        _WATCH.failing.add(report.nodeid)


def pytest_sessionfinish() -> None:
    if _WATCH is not None:
        _WATCH.save()


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    if (only := _task().get("only")) is not None:
        found = {item.nodeid: item for item in items}
        items[:] = [found[test] for test in only if test in found]
        config.option.maxfail = 1


def pytest_runtestloop(session: Any) -> bool | None:
    """Where there are mutants to try: a child for each of them, in place of the tests."""
    mutants_ = _task().get("mutants")
    if mutants_ is None or session.testsfailed:
        return None
    items = {item.nodeid: item for item in session.items}
    with Path(_task()["out"]).open("a") as out:
        for row in mutants_:
            place = Path(row["place"])
            data = place.read_bytes()
            mutated = data[: row["start"]] + row["text"].encode() + data[row["end"] :]
            place.write_bytes(mutated)
            _forget(place)
            started = sum(os.times()[2:4])
            try:
                status = _judged(session, row, mutated, data, items)
            finally:
                place.write_bytes(data)
            answer = {0: "lives", 1: "dead", 3: "fresh"}.get(status, "dead")
            taken = round(sum(os.times()[2:4]) - started, 2)
            out.write(json.dumps({"key": row["key"], "answer": answer, "cpu_s": taken}) + "\n")
            out.flush()
    return True


_SOUND: dict[tuple[str, str], bool] = {}
"""A function and a test that failed under a mutant of it -> whether the test passes with the function's own code."""


def _judged(session: Any, row: dict[str, Any], mutated: bytes, data: bytes, items: dict[str, Any]) -> int:
    """The exit status that `_forked` gives. A test that fails with the function's own code as well is left out: it
    holds an object that was made before the caches were emptied."""
    function = f"{row['place']}:{row['function']}"
    while True:
        chosen = [items[test] for test in row["tests"] if test in items and _SOUND.get((function, test), True)]
        status, failed = _forked(session, row, mutated, chosen)
        if status != 1 or failed not in items:
            return status
        if (function, failed) not in _SOUND:
            _SOUND[function, failed] = _forked(session, row, data, [items[failed]])[0] == 0
        if _SOUND[function, failed]:
            return status


def _forked(session: Any, row: dict[str, Any], mutated: bytes, items: list[Any]) -> tuple[int, str]:
    """(the exit status of a child that runs the tests of a mutant: 0 passed, 1 failed or too long, 3 cannot be tried;
    the test that failed)."""
    sys.stdout.flush()
    sys.stderr.flush()
    said, says = os.pipe()
    child = os.fork()
    if child == 0:
        status = 3
        _FAILED.append(says)
        try:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (1, 2):
                os.dup2(nothing, stream)
            status = _tried(session, row, mutated, items)
        finally:
            os._exit(status)
    os.close(says)
    started = time.monotonic()
    with os.fdopen(said, encoding="utf-8") as failed:
        while time.monotonic() - started < row["limit_s"] * max(1.0, os.getloadavg()[0]):
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(child, signal.SIGKILL)
                return os.waitstatus_to_exitcode(status), failed.readline().strip()
            time.sleep(0.003)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return 1, ""


def _tried(session: Any, row: dict[str, Any], mutated: bytes, items: list[Any]) -> int:
    from _pytest.main import pytest_runtestloop as run

    if not _replaced(row["place"], mutated, row["function"]):
        return 3
    package = row["path"].partition("/")[0]
    low = ("rocport.facts", "rocport.model", "rocport.syntax")
    kept = () if f"rocport.{package}" in low else low
    for one in gc.get_objects():
        if type(one) is functools._lru_cache_wrapper:
            module = str(getattr(one, "__module__", ""))
            if module.startswith("rocport") and not module.startswith(kept or ("-",)):
                one.cache_clear()
    session.items = items
    session.config.option.maxfail = 1
    _LIMITS.update(row["seconds"])
    with contextlib.suppress(session.Failed):
        run(session)
    return int(session.testsfailed > 0)


def _replaced(place: str, mutated: bytes, line: int) -> bool:
    """Give every function made of the outermost one that begins at `line` its mutated code; False without one."""

    def below(code: types.CodeType) -> Iterator[types.CodeType]:
        for part in code.co_consts:
            if isinstance(part, types.CodeType):
                yield part
                yield from below(part)

    fresh: dict[str, types.CodeType] = {}
    for code in below(compile(mutated, place, "exec", dont_inherit=True)):
        if code.co_firstlineno == line and "<locals>" not in code.co_qualname:
            fresh = {code.co_qualname: code, **{part.co_qualname: part for part in below(code)}}
    found = False
    gc.unfreeze()  # the tests' collection freezes what there is, and what is frozen is not among the objects
    for one in gc.get_objects():
        if type(one) is types.FunctionType and one.__code__.co_filename == place:  # isinstance asks a dead weak proxy
            made = fresh.get(one.__code__.co_qualname)
            if made is not None:
                if len(made.co_freevars) != len(one.__code__.co_freevars):
                    return False
                one.__code__ = made
                found = True
    return found


def _digest(root: Path, package: str) -> str:
    """Of the sources and the tests of a package."""
    files = [file for kind in ("src/rocport", "tests") for file in sorted((root / kind / package).rglob("*.py"))]
    return hashlib.sha256("\0".join(file.read_text(encoding="utf-8") for file in files).encode()).hexdigest()[:16]


def sample(root: Path, package: str, most: int, seed: str, named: str = "") -> list[Mutant]:
    """Mutants of a package, chosen by the hash of their names and the seed; as many of each half as there are."""
    sources = {file.relative_to(root / "src" / "rocport").as_posix(): file.read_text(encoding="utf-8")
               for file in sorted((root / "src" / "rocport" / package).rglob("*.py"))}  # fmt: skip
    found = [mutant for path, source in sources.items() for mutant in mutants(path, source)
             if named in path and not (named and mutant.aside)]  # fmt: skip
    found.sort(key=lambda one: hashlib.sha256(f"{seed}{one.name}{one.start}".encode()).hexdigest())
    chosen: dict[bool, list[Mutant]] = {True: [], False: []}
    for mutant in found:
        half = chosen[mutant.aside]
        if len(half) < most // 2 and _parses(sources[mutant.path].encode(), mutant):
            half.append(mutant)
    return [*chosen[True], *chosen[False]]


def _parses(data: bytes, mutant: Mutant) -> bool:
    try:
        ast.parse(mutant.of(data))
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
    def key(root: Path, mutant: Mutant, tests: Sequence[str]) -> str:
        files = sorted({test.partition("::")[0] for test in tests})
        texts = [root / "src" / "rocport" / mutant.path, *(root / file for file in files)]
        words = [mutant.name, str(mutant.start), *tests, *(file.read_text(encoding="utf-8") for file in texts)]
        return hashlib.sha256("\0".join(words).encode()).hexdigest()

    def get(self, key: str) -> bool | None:
        return self._known.get(key)

    def put(self, key: str, mutant: Mutant, dead: bool) -> None:
        self._known[key] = dead
        if self._place is not None:
            with self._place.open("a") as stream:
                stream.write(json.dumps({"key": key, "dead": dead, "mutant": mutant.name}) + "\n")


@dataclass(frozen=True)
class Outcome:
    mutant: Mutant
    tests: int
    dead: bool
    equivalent: str = ""
    """Why no caller can see the mutant; empty where one can."""


def outcomes(
    shadow: Shadow, package: str, chosen: Sequence[Mutant], folder: Path | None, within: bool = False
) -> list[Outcome]:
    """What becomes of the mutants of a package, with the tests as they are. `within`: without the tests that start a
    Python of their own."""
    reached, kept = shadow.reached(package, folder), Kept(folder)
    if reached.failing:
        print(f"left out, they fail as things are: {' '.join(reached.failing)}", file=sys.stderr)
    if within:
        reached = replace(reached, elsewhere=(), failing=(*reached.failing, *reached.elsewhere))
    same = tomllib.loads((ROOT / "benchmarks" / "mutants_equivalent.toml").read_text())["mutant"]
    why = {(row["file"], row["text"], row["becomes"]): row["reason"] for row in same}
    rows: list[dict[str, Any]] = []
    keys, outside = {}, set()
    for mutant in chosen:
        place = shadow.folder / "src" / "rocport" / mutant.path
        statement, function = begins(place.read_text(encoding="utf-8"), mutant.line)
        tests = reached.by(mutant, statement)
        key = Kept.key(shadow.folder, mutant, tests)
        keys[mutant] = key, tests
        if reached.outside(mutant, statement):
            outside.add(mutant)
        if kept.get(key) is None and not tests and mutant not in outside:
            kept.put(key, mutant, False)
        if kept.get(key) is None:
            rows.append({"key": key, "path": mutant.path, "place": str(place), "function": function, "tests": tests,
                         "start": mutant.start, "end": mutant.end, "text": mutant.text,
                         "limit_s": _limit(reached, tests),
                         "seconds": {test: reached.seconds[test] for test in tests}})  # fmt: skip
    by_key = {key: mutant for mutant, (key, _) in keys.items()}
    # What a run that was stopped has answered counts: its keys say of which texts.
    answers = (folder or shadow.folder).absolute() / f"answers-{package}.jsonl"
    answers.touch()
    answered = {json.loads(line)["key"] for line in answers.read_text().splitlines()}
    rows = [row for row in rows if row["key"] not in answered]
    if rows:
        own = own_code(next((row for row in rows if row["tests"]), rows[0]), shadow)
        shadow.pytest(package, {"mutants": [own, *rows], "out": str(answers)})
        if _last(answers, own["key"]) == "dead":
            raise SystemExit(f"the tests of {package} fail with a function's own code put in its place")
    for answer in map(json.loads, answers.read_text().splitlines()):
        if answer["key"] not in by_key or kept.get(answer["key"]) is not None:
            continue
        mutant, dead = by_key[answer["key"]], answer["answer"] == "dead"
        if answer["answer"] == "fresh" or (not dead and mutant in outside):
            tests = keys[mutant][1] or list(reached.seconds)
            dead = shadow.fresh(package, mutant, tests, _limit(reached, tests))
        kept.put(answer["key"], mutant, dead)
    found = []
    for mutant in chosen:
        key, tests = keys[mutant]
        dead = kept.get(key)
        if dead is None:
            raise SystemExit(f"the tests of {package} could not be collected: run pytest on tests/{package}")
        said = (ROOT / "src" / "rocport" / mutant.path).read_bytes().splitlines()[mutant.line - 1].decode().strip()
        change = f"{mutant.was} -> {mutant.text}"
        found.append(Outcome(mutant, len(tests), dead, "" if dead else why.get((mutant.path, said, change), "")))
    return found


def own_code(row: Mapping[str, Any], shadow: Shadow) -> dict[str, Any]:
    """What is tried for a mutant, with what it changes left as it is: nothing may fail."""
    text = (shadow.folder / "src" / "rocport" / row["path"]).read_bytes()[row["start"] : row["end"]].decode()
    return {**row, "key": f"own code, {row['key']}", "text": text}


def _last(answers: Path, key: str) -> str:
    found = [row["answer"] for row in map(json.loads, answers.read_text().splitlines()) if row["key"] == key]
    return found[-1] if found else ""


def _limit(reached: Reached, tests: Sequence[str]) -> float:
    return max(_LEAST_S, 10 * sum(reached.seconds[test] for test in tests))


def _share(found: Sequence[Outcome]) -> tuple[int, int]:
    counted = [one for one in found if not one.equivalent]
    return sum(one.dead for one in counted), len(counted)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", action="append", choices=PACKAGES, help="only these; all by default")
    parser.add_argument("--most", type=int, default=70, help="mutants of each package")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--half", choices=("aside", "looked-at"), help="only the files of this half")
    parser.add_argument("--file", help="only the files of a package whose path holds this; none of those set aside")
    parser.add_argument(
        "--within",
        action="store_true",
        help="without the tests that start a Python of their own: a lower bound in much less time",
    )
    parser.add_argument("--kept", type=Path, metavar="FOLDER", help="where outcomes are kept, to go on later")
    parser.add_argument("--out", type=Path, metavar="CSV", help="one row a mutant; rows of other packages stay")
    parser.add_argument("--show", action="store_true", help="name the survivors of the half that may be looked at")
    given = parser.parse_args()
    if importlib.util.find_spec("coverage") is None:
        parser.error("coverage.py is needed, to see which tests run a line: pip install coverage")
    low = False
    print(f"{'package':9} {'set aside':>22} {'looked at':>22}   equivalent   cpu_s")
    with tempfile.TemporaryDirectory(prefix="mutants-") as name:
        # The tree may change meanwhile: everything is read from the copy.
        shadow = Shadow(Path(name).resolve())
        for package in given.package or PACKAGES:
            chosen = [
                mutant for mutant in sample(shadow.folder, package, given.most, given.seed, given.file or "")
                if given.half is None or mutant.aside is (given.half == "aside")
            ]  # fmt: skip
            before = sum(os.times()[2:4])
            found = outcomes(shadow, package, chosen, given.kept, given.within)
            taken = sum(os.times()[2:4]) - before
            halves = {aside: [one for one in found if one.mutant.aside is aside] for aside in (True, False)}
            shares = {aside: _share(half) for aside, half in halves.items()}
            said = [f"{dead} of {of} = {dead / of:.2f}" if of else "not run" for dead, of in shares.values()]
            low |= any(of and dead / of < BAR for dead, of in shares.values())
            same = sum(bool(one.equivalent) for one in found)
            print(f"{package:9} {said[0]:>22} {said[1]:>22}   {same:>10}   {taken:5.0f}", flush=True)
            if given.show:
                for one in halves[False]:
                    if not one.dead and not one.equivalent:
                        print(f"    survives {one.tests} tests: {one.mutant.name}", file=sys.stderr, flush=True)
            if given.out is not None:
                _write(given.out, package, found)
    return 1 if low else 0


def _write(place: Path, package: str, found: Sequence[Outcome]) -> None:
    names = ("package", "half", "file", "line", "was", "becomes", "tests", "outcome")
    rows = []
    if place.exists():
        with place.open(newline="", encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
    halves = {("aside" if one.mutant.aside else "looked-at") for one in found}
    rows = [row for row in rows if row["package"] != package or row["half"] not in halves]
    for one in found:
        mutant, outcome = one.mutant, "killed" if one.dead else "equivalent" if one.equivalent else "survives"
        values = (package, "aside" if mutant.aside else "looked-at", mutant.path, mutant.line, mutant.was,
                  mutant.text, one.tests, outcome)  # fmt: skip
        rows.append({name: str(value) for name, value in zip(names, values, strict=True)})
    rows.sort(key=lambda row: (row["package"], row["half"], row["file"], int(row["line"]), row["was"], row["becomes"]))
    with place.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    sys.exit(main())
