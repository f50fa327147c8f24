"""How often `rocport explain` is right on logs people posted, and how often it says something false.

The logs are not part of the repository: a folder with one file a log and `labels.json` is given on the command line.

    python benchmarks/explain.py --logs FOLDER
    python benchmarks/explain.py --unrelated FOLDER
    python benchmarks/explain.py --speed CAPTURE

labels.json is a list of {"source": "owner/repo#number", "file": "x.log", "cause": "...", "must": ["regex", ...]}.
`cause` is what the thread's maintainers said, in the labeller's words, written before the tool was asked; `must` are
patterns of which every one has to be found in the title, cause or fix of the first answer, upper and lower case the
same. An empty list asks for silence. A case belongs to the half kept aside when sha256(source) is odd.

right: the first claim holds every pattern (or no claim where silence is asked).
possible: nothing is claimed, and one of the first three possible causes holds every pattern.
wrong: another claim is made, or any where silence is asked.
silent: nothing is claimed and no such possibility is named where something should be said.
A log with a cause and one that asks for silence are counted apart, too: silence is easier. So is a log that a record
cites: somebody read it when the record was written. `uncited` are the others. A log counts as cited where a source has
the same number in a repository of the same name, whoever owns it: repositories move.

--aside: every log is kept aside (a set that was never tuned on). --record NAME: keep the figures of both halves in
results/measured.json under a name.

--unrelated: a folder of text that has nothing to do with AMD (logs of servers, of training on other GPUs, manuals,
sources). Every signature runs over every file as if an AMD GPU were named; no claim may be made. Exit code 1: one is.

--speed: the processor's seconds of `rocport explain` and `rocport doctor --from`, least of three runs, for 14 MB made
of a capture of rocminfo: as it is, with each long number another one each time, and with a letter beyond ASCII.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from measured import record

from rocport.explain.match import Match
from rocport.explain.reading import Reading, read_bytes, read_stream
from rocport.facts.failures import load_failures

OUTCOMES = ("right", "possible", "wrong", "silent")


def held_out(source: str) -> bool:
    """True for a case of the half kept aside."""
    return int(hashlib.sha256(source.encode()).hexdigest(), 16) % 2 == 1


MOVED = {"legacy-rocm-build": "rocm"}
"""Repositories that have another name now."""


def thread(address: str) -> tuple[str, str]:
    """Repository (without owner) and number of a thread, from `owner/repo#7` or an address; else the address."""
    found = re.search(r"(?:^|github\.com/)[^/\s]+/([^/#\s]+)(?:#|/(?:issues|pull|discussions)/)(\d+)", address)
    if found is None:
        return address.lower(), ""
    name = found.group(1).lower()
    return MOVED.get(name, name), found.group(2)


def cited_threads() -> frozenset[tuple[str, str]]:
    """Every thread that a record of facts/failures names as its source."""
    return frozenset(thread(source) for failure in load_failures() for source in failure.sources)


def outcome(reading: Reading, must: Sequence[str]) -> str:
    """`right`, `possible`, `wrong` or `silent` for what rocport says to one paste."""
    if reading.matches:
        return "right" if must and _holds(reading.matches[0], must) else "wrong"
    if not must:
        return "right"
    return "possible" if any(_holds(match, must) for match in reading.possible[:3]) else "silent"


def _holds(match: Match, must: Sequence[str]) -> bool:
    said = match.filled(" ".join((match.failure.title, match.failure.cause, *match.failure.fix)))
    return all(re.search(pattern, said, re.IGNORECASE) for pattern in must)


def unrelated(folder: Path) -> int:
    """Read every file as an AMD machine's; print what matched and what was claimed, and return the number of claims."""
    files, size, hits, claims = 0, 0, Counter[str](), 0
    for path in sorted(file for file in folder.rglob("*") if file.is_file()):
        files, size = files + 1, size + path.stat().st_size
        with path.open("rb") as stream:
            reading = read_stream(stream, path.name, "amd")
        hits.update(match.failure.id for match in reading.weighed)
        for match in reading.matches:
            claims += 1
            print(f"claimed: {match.failure.id} {path.name}:{match.lines[0]}: {match.text[:160]}")
    signatures = sum(len(failure.signatures) for failure in load_failures())
    print(f"{signatures} signatures over {files} files, {size / 1e6:.1f} MB: {claims} claims; doubted: {dict(hits)}")
    return claims


MEGABYTES = 14


def long_captures(capture: str) -> dict[str, str]:
    """Texts of MEGABYTES made of one capture, by what is done to each repetition."""
    times = MEGABYTES * 1_000_000 // len(capture) + 1
    other = [re.sub(r"\d{5,}", lambda one, by=by: str(int(one.group()) + by), capture) for by in range(times)]
    letter = f"{capture}é\n" * times
    return {"as it is": capture * times, "other numbers": "".join(other), "a letter beyond ASCII": letter}


def speed(capture: Path) -> None:
    """Print the seconds that each command takes for each text."""
    for kind, text in long_captures(capture.read_text(encoding="utf-8")).items():
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            for command in (("explain",), ("doctor", "--from")):
                seconds = min(_seconds(*command, file.name) for _ in range(3))
                print(f"{MEGABYTES} MB, {kind}: {' '.join(command)} {seconds:.1f} s")


def _seconds(*arguments: str) -> float:
    """Processor's seconds of one run of rocport."""
    before = os.times()
    subprocess.run([sys.executable, "-m", "rocport", *arguments], check=False, stdout=subprocess.DEVNULL)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def _figure(tally: Counter[str]) -> str:
    rates = ", ".join(f"{tally[key]} ({tally[key] / tally.total():.2f})" for key in OUTCOMES)
    return f"{tally.total()} logs: {rates}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--logs", type=Path, help="folder with the logs and labels.json")
    what.add_argument("--unrelated", type=Path, help="folder of text in which nothing may be found")
    what.add_argument("--speed", type=Path, metavar="CAPTURE", help="a capture of rocminfo")
    parser.add_argument("--show", action="store_true", help="list what is not right in the half tuned on")
    parser.add_argument("--aside", action="store_true", help="every log is kept aside")
    parser.add_argument("--record", metavar="NAME", help="keep the figures of both halves")
    parser.add_argument("--group", default="", help="also print rates per value of this label field")
    options = parser.parse_args()
    if options.unrelated:
        return 1 if unrelated(options.unrelated) else 0
    if options.speed:
        speed(options.speed)
        return 0
    labels = json.loads((options.logs / "labels.json").read_text(encoding="utf-8"))
    counts: dict[str, Counter[str]] = {}
    cited = cited_threads()
    for label in labels:
        reading = read_bytes((options.logs / label["file"]).read_bytes(), label["file"])
        result = outcome(reading, label["must"])
        halves = ["kept aside" if options.aside or held_out(label["source"]) else "tuned on"]
        kind = "with a cause" if label["must"] else "silence asked"
        known = "cited" if thread(label["source"]) in cited else "uncited"
        halves += [f"{halves[0]}, {kind}", f"{halves[0]}, {known}", f"{halves[0]}, {known}, {kind}"]
        if options.group:
            halves.append(f"{options.group}={label.get(options.group, '')}, {halves[0]}")
        for half in halves:
            counts.setdefault(half, Counter())[result] += 1
        if options.show and result != "right" and halves[0] == "tuned on":
            answer = [match.failure.id for match in reading.matches[:3]]
            answer += [f"{match.failure.id}? {'; '.join(match.doubts)}" for match in reading.possible[:3]]
            print(f"{result:8} {label['source']}: {answer} wanted {label['cause']} [{reading.vendor}]")
    uncited = sum(thread(label["source"]) not in cited for label in labels)
    print(f"{len(labels)} logs, {uncited} of them uncited")
    print(f"{'half':36} {'logs':>5}" + "".join(f" {name:>8}" for name in OUTCOMES))
    for half, tally in sorted(counts.items()):
        total = sum(tally.values())
        rates = "".join(f" {tally[key] / total:8.3f}" for key in OUTCOMES)
        print(f"{half:36} {total:5}{rates}")
    if options.record:
        figures = {half: _figure(counts[half]) for half in ("kept aside", "tuned on") if half in counts}
        what = f"pasted logs labelled before the run, {', '.join(figures)}, {options.record}"
        what += ": right, possible, wrong, silent"
        record(f"explain, {options.record}", what, "; ".join(figures.values()), "benchmarks/explain.py --logs FOLDER")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
