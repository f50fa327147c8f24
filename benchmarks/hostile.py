"""Input that attacks: every class of attack, how many were tried, and how many got through.

    python benchmarks/hostile.py                      # all of it, about an hour
    python benchmarks/hostile.py --only linear --kept FILE --budget 300    # a piece of it; again goes on from there

Most attacks are tests, of which this counts the outcomes; a test that is skipped says why. Three are larger here: what
is no tree, no text and no file, under every command that looks at one (hostile_inputs.py); kill -9 at 200 random points
of `port`, `port --in-place`, `--undo`, `sdk install` and `fleet`, after which nothing may be lost and the next run
completes; and every reader over every repeated hostile text, at 4, 16 and 64 KB. A text is read on, at 512 KB and then
at 8 MB, where a byte more cost half as much again in the last step as in the one before, where the longer reading would
take no more than a quarter of a second of processor time in proportion (`--seconds`), and, one text in 400 of each
reader (`--sample`), by a hash, whatever it takes. A reading that takes more than twice the time
that would be in proportion got through, where a quarter of the text is read in less than an eighth of the time, too.
The readers are those of tests/cli/test_hostile_size.py: every rule, by a file of each language that a rule or the proof
of the NVIDIA path knows, over what begins something and never ends it and over an example of each rule, so that a new
rule is among them without being named. What each text gave stays in `--kept`, by reader, text, limits and a hash of
src/rocport, so that no reading of other code counts. `--budget` ends a run after so many seconds of processor time, in
equal parts for the readers, whose texts are taken by a hash, the one to 8 MB last; the next run goes on there. Rows and
total are of all texts read so far; those left are counted as skipped, and the last line but one says how many texts
were read how far.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import hashlib
import io
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import click
from hostile_inputs import inputs

from rocport.model.digest import code_digest

ROOT = Path(__file__).resolve().parents[1]
STEPS = (4 << 10, 16 << 10, 64 << 10, 512 << 10, 8 << 20)
ALWAYS = 64 << 10
"""Bytes: every text is read to here."""
sys.path[:0] = [str(ROOT / "tests" / "cli"), str(ROOT / "tests" / "port")]

TREE, BOX = "tests/verify/test_hostile_tree.py", "tests/sandbox"
ATTACKS = {
    "file names as options; plug-ins, @files, folders from build files": [TREE, "-k", "option or allow_list or folder"],
    "#include, .incbin and links to the user's files": [TREE, "-k", "reads_nothing"],
    "git's configuration: monitor, hooks, filters": [TREE, "-k", "configuration"],
    "make -n and setup.py": [BOX, "-k", "makefile or setup_py"],
    "programs: files, network, signals, processes, memory": [BOX, "-k", "not makefile and not setup_py"],
    "programs under capture and compare": ["tests/numerics/test_process.py", "-k", "confined"],
    "recordings": ["tests/numerics/test_trusted.py"],
    "manifests, undo records, archives, links, second process": ["tests/port/test_state.py", "-k", "not killed"],
    "names, logs, findings on terminals, in CI, in every format": ["tests/cli/test_hostile_text.py"],
    "the SDK's files, killed installations": ["tests/toolchain/test_sdk_trust.py"],
}


def tests(arguments: list[str]) -> tuple[int, int, int]:
    """(held, got through, skipped)."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "junit.xml")
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", f"--junitxml={out}", *arguments]
        subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
        (suite,) = ElementTree.parse(out).getroot().iter("testsuite")
    count, skipped = int(suite.get("tests", 0)), int(suite.get("skipped", 0))
    failed = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
    return count - failed - skipped, failed, skipped


def ended(act: Callable[[], object], below: Path, at: int) -> int | None:
    """Run something in a child that kills itself before its `at`-th change of a file below a folder; how many changes
    it made where it was not killed."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        count = 0

        def see(event: str, given: tuple[object, ...]) -> None:
            nonlocal count
            if not given or not str(given[0]).startswith(str(below)):
                return
            made = event == "open" and isinstance(given[2], int) and given[2] & os.O_CREAT
            if made or event in ("os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.chmod"):
                count += 1
                if count == at:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(see)
        quiet, said = io.StringIO(), ""
        try:
            with contextlib.redirect_stdout(quiet), contextlib.redirect_stderr(quiet):
                act()
        except (SystemExit, click.ClickException):
            pass  # how a command ends, and how it refuses
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, (said or str(count)).encode())
        os._exit(0)
    os.close(writing)
    answer = os.read(reading, 4096)
    os.close(reading)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return None
    if not answer.isdigit():
        raise SystemExit(f"what is attacked failed by itself: {answer.decode(errors='replace')}")
    return int(answer)


def port(*words: str | Path) -> Callable[[], object]:
    from rocport.cli import cli

    return lambda: cli.main(["port", *map(str, words)], prog_name="rocport", standalone_mode=False)


def sources(folder: Path) -> Path:
    for number in range(6):
        place = folder / f"d{number % 3}" / f"{number}.cu"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"#include <cuda_runtime.h>\nvoid f{number}(void **p) {{ cudaMalloc(p, {number}); }}\n")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in found.items() if ".rocport" not in name.split("/")}


def kill_port(scratch: Path, at: int) -> tuple[int | None, bool]:
    tree = sources(scratch / "tree")
    count = ended(port(tree, "--out", scratch / "out"), scratch, at)
    ended(port(tree, "--out", scratch / "out"), scratch, 0)
    ended(port(tree, "--out", scratch / "whole"), scratch, 0)
    same = contents(scratch / "out") == contents(scratch / "whole")
    return count, same and contents(tree) == contents(sources(scratch / "again"))


def kill_in_place(scratch: Path, at: int) -> tuple[int | None, bool]:
    tree = sources(scratch / "tree")
    before = contents(tree)
    count = ended(port(tree, "--in-place", "--allow-dirty"), scratch, at)
    ended(port(tree, "--in-place", "--allow-dirty"), scratch, 0)
    after = contents(tree)
    ended(port(tree, "--undo"), scratch, 0)
    return count, after != before and contents(tree) == before


def kill_undo(scratch: Path, at: int) -> tuple[int | None, bool]:
    tree = sources(scratch / "tree")
    before = contents(tree)
    ended(port(tree, "--in-place", "--allow-dirty"), scratch, 0)
    count = ended(port(tree, "--undo"), scratch, at)
    ended(port(tree, "--undo"), scratch, 0)
    return count, contents(tree) == before and not (tree / ".rocport").exists()


def kill_install(scratch: Path, at: int) -> tuple[int | None, bool]:
    """Of an SDK over another one, its packages made here: nothing is fetched, no compiler is run."""
    from rocport.toolchain import sdk

    def unpack(files: object, root: Path, scratch: Path) -> None:
        for number in range(8):
            root.mkdir(parents=True, exist_ok=True)
            (root / str(number)).write_text("x")

    unpack(None, scratch / "pinned", scratch)
    pins = replace(sdk.load_pins(), unpacked=sdk.unpacked_sha256(scratch / "pinned"))

    def act() -> None:
        answers = {"_shape": None, "_missing_libraries": set(), "self_test": None, "_add_isa_constants": []}
        for name, answer in (answers | {"_fetch": []}).items():
            setattr(sdk, name, lambda *given, answer=answer: answer)
        sdk._unpack = unpack
        sdk.load_pins = lambda text=None: pins
        sdk.install(path=scratch / "sdk", mirror="none:", force=True)

    ended(act, scratch, 0)
    count = ended(act, scratch, at)
    lost = not any((place / sdk.MANIFEST).is_file() for place in [scratch / "sdk", *scratch.glob(".sdk.*/old")])
    ended(act, scratch, 0)
    left = [path.name for path in scratch.iterdir() if path.is_dir() and path.name not in ("sdk", "pinned")]
    return count, not lost and sdk.read_manifest(scratch / "sdk") is not None and not left


def kill_fleet(scratch: Path, at: int) -> tuple[int | None, bool]:
    """Of the driver and of what it does in one process; workers of their own are killed in benchmarks/fleet.py."""
    from rocport.fleet import driver, tasks
    from rocport.fleet import sources as listed
    from rocport.fleet.child import Ended
    from rocport.fleet.store import write_result

    trees = [sources(scratch / name) for name in ("one", "two")]
    before = [contents(tree) for tree in trees]
    given = [source for tree in trees for source in listed.read_sources(tree)]
    options = driver.Options(("gfx942",), build=False)

    def lead(places: tasks.Places) -> driver.Fleet:
        def do(task: tasks.Task, where: tasks.Places) -> Ended:
            write_result(where.opened(), task.key, tasks.perform(task, where))
            return Ended("ok")

        return driver.lead(given, options, places, places.opened(), do, lambda *said: None)

    def pages(name: str, fleet: driver.Fleet) -> list[int]:
        store = tasks.Places("", str(scratch / name / "store")).opened()
        return [len(store.read(row.page) or b"") for row in fleet.rows]

    cut, whole = (
        tasks.Places(str(scratch / name / "work"), str(scratch / name / "store")) for name in ("cut", "whole")
    )
    count = ended(lambda: lead(cut), scratch, at)
    first, other, again = lead(cut), lead(whole), lead(cut)
    done = [(row.prepared or {}).get("state") for row in first.rows] == ["done", "done"] and not again.made
    same = pages("cut", first) == pages("whole", other) and all(pages("cut", first))
    return count, done and same and [contents(tree) for tree in trees] == before


def kills(points: int, seed: str) -> Iterator[tuple[str, int, int]]:
    """(what is killed, held, lost)."""
    import rocport.api  # imported once, for all children
    import rocport.port.landing  # noqa: F401

    chosen = random.Random(seed)
    acts = {"port": kill_port, "--in-place": kill_in_place, "--undo": kill_undo, "sdk install": kill_install,
            "fleet": kill_fleet}  # fmt: skip
    for name, act in acts.items():
        outcomes = []
        most = 0
        for number in range(-(-points // len(acts)) + 1):
            scratch = Path(tempfile.mkdtemp(prefix="hostile-"))
            try:
                count, held = act(scratch, chosen.randint(1, most) if number else 0)
            finally:
                shutil.rmtree(scratch)
            if number == 0:
                most = count or 0
            else:
                outcomes.append(held)
        yield f"kill -9 in {name}, one of {most} changes", sum(outcomes), len(outcomes) - sum(outcomes)


@dataclass
class Kept:
    """What this code was read to give before, a line each: (reader, text, limits) -> (whether in linear time, up to how
    many bytes)."""

    place: Path | None
    budget: float
    """Seconds of processor time."""
    code: str = field(default_factory=partial(code_digest, by_content=True))
    known: dict[str, tuple[bool, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ends = self.budget
        if self.place is not None and self.place.exists():
            self.known = {
                row["key"]: (row["held"], row["bytes"]) for row in map(json.loads, self.place.read_text().splitlines())
            }

    def share(self, readers: int) -> None:
        """Leave the next of so many readers an equal part of what is left of the budget."""
        spent = sum(os.times()[:4])
        self.ends = spent + (self.budget - spent) / readers

    def of(self, key: str, ask: Callable[[], tuple[bool, int]]) -> tuple[bool, int] | None:
        """The answer; None where it would have to be asked after the budget is spent."""
        key = f"{self.code} {key}"
        if key not in self.known:
            if sum(os.times()[:4]) > self.ends:
                return None
            self.known[key] = ask()
            if self.place is not None:
                with self.place.open("a") as stream:
                    held, far = self.known[key]
                    stream.write(json.dumps({"key": key, "held": held, "bytes": far}) + "\n")
        return self.known[key]


def linear(limit: int, most: float, sample: int, kept: Kept, far: Counter[int]) -> Iterator[tuple[str, int, int, int]]:
    """(reader, texts it reads in proportion to their length, others, texts left); `far` counts the texts by the bytes
    they were read to."""
    import test_hostile_size as size

    for number, (name, read) in enumerate(size.READERS.items()):
        kept.share(len(size.READERS) - number)
        rank = {piece: hashlib.sha256(f"{name} {piece!r}".encode()).digest() for piece in size.texts(name)}
        whole = set(sorted(rank, key=rank.__getitem__)[: -(-len(rank) // sample)])
        answers = []
        for piece in sorted(rank, key=lambda piece: (piece in whole, rank[piece])):
            allowed = float("inf") if piece in whole else most
            answers.append(
                kept.of(repr((name, piece, limit, allowed)), partial(_read, name, read, piece, limit, allowed))
            )
        reached = Counter(answer[1] for answer in answers if answer is not None)
        held = sum(answer is not None and answer[0] for answer in answers)
        far.update(reached)
        yield f"linear: {name} ({distances(reached)})", held, sum(reached.values()) - held, answers.count(None)


def distances(reached: Counter[int]) -> str:
    return ", ".join(f"{reached[step]} to {step >> 10} KB" for step in sorted(reached))


def _read(name: str, read: Callable[[bytes], object], piece: bytes, limit: int, most: float) -> tuple[bool, int]:
    """Whether a text is read in linear time, and up to how many bytes it was asked: in a process of its own, since what
    earlier texts left in memory is gone through by the garbage collector while a long one is read."""
    read(b"")  # what it imports is there in every child
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        gc.freeze()
        os.write(writing, json.dumps(_linear(read, piece, limit, most)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        answer = stream.read()
    os.waitpid(child, 0)
    held, far = json.loads(answer) if answer else (False, 0)
    if not held:
        print(f"    not linear: {name}: {piece!r} repeated to {far} bytes", file=sys.stderr, flush=True)
    return held, far


def _linear(read: Callable[[bytes], object], piece: bytes, limit: int, most: float) -> tuple[bool, int]:
    import test_hostile_size as size

    took = [size.seconds(read, piece * (STEPS[0] // len(piece)))]
    for before, step in pairwise(STEPS):
        times = step // before
        due = times * max(took[-1], 0.004)
        if step > limit or (step > ALWAYS and due > most and not _grows(took)):
            return True, before
        took.append(size.seconds(read, piece * (step // len(piece)), 3 * due))
        if (
            took[-1] > 2 * due
            and size.growth(read, piece, before, times) > 2 * times
            and size.growth(read, piece, step // 4) > size.WIDE
        ):
            return False, step
    return True, STEPS[-1]


def _grows(took: list[float]) -> bool:
    """Whether a byte more cost half as much again in the last step as in the step before it."""
    sizes = STEPS[len(took) - 3 : len(took)]
    early, late = (
        (after - before) / (b - a) for (before, a), (after, b) in pairwise(zip(took[-3:], sizes, strict=True))
    )
    return late > 1.5 * early


def nesting() -> Iterator[tuple[str, int, int]]:
    """(reader, what it reads 100,000 deep, what it does not)."""
    import test_hostile_size as size

    for path in size.FILES:
        held = through = 0
        for piece in size.NESTED:
            try:
                size.nested(path, piece)
                held += 1
            except (RecursionError, MemoryError) as error:
                through += 1
                print(f"    too deep: {path}: {piece!r}: {type(error).__name__}", file=sys.stderr, flush=True)
        yield f"100,000 deep: {path}", held, through


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("tests", "kill", "inputs", "nesting", "linear"))
    parser.add_argument("--points", type=int, default=200, help="to kill at, over five commands")
    parser.add_argument("--limit", type=int, default=8 << 20, help="bytes of the longest text")
    parser.add_argument(
        "--seconds", type=float, default=0.25, help="of a processor that one reading of the others may take"
    )
    parser.add_argument("--sample", type=int, default=400, help="one in so many texts of a reader is read to the limit")
    parser.add_argument("--kept", type=Path, metavar="FILE", help="where the texts read are noted, to go on later")
    parser.add_argument("--budget", type=float, default=float("inf"), help="seconds of processor time for `linear`")
    parser.add_argument("--seed", default="1")
    given = parser.parse_args()
    total = [0, 0, 0]
    far: Counter[int] = Counter()

    def row(name: str, held: int, through: int, skipped: int = 0) -> None:
        print(f"{name:74} {held:6} {through:12} {skipped:8}", flush=True)
        for place, count in enumerate((held, through, skipped)):
            total[place] += count

    print(f"{'attack':74} {'held':>6} {'got through':>12} {'skipped':>8}")
    started = time.monotonic()
    if given.only in (None, "tests"):
        for name, arguments in ATTACKS.items():
            row(name, *tests(arguments))
    if given.only in (None, "kill"):
        for outcome in kills(given.points, given.seed):
            row(*outcome)
    if given.only in (None, "inputs"):
        for outcome in inputs():
            row(*outcome)
    if given.only in (None, "nesting"):
        for outcome in nesting():
            row(*outcome)
    if given.only in (None, "linear"):
        for outcome in linear(given.limit, given.seconds, given.sample, Kept(given.kept, given.budget), far):
            row(*outcome)
    row("in all", *total)
    if far:
        print(f"texts of `linear` by how far they were read: {distances(far)}")
    print(f"{time.monotonic() - started:.0f} s")
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
