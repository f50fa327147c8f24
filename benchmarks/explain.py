"""How often `rocport explain` is right on logs people posted, and how often it says something false.

The logs are not part of the repository: a folder with one file a log and `labels.json` is given on the command line.

    python benchmarks/explain.py --logs FOLDER

labels.json is a list of {"source": "owner/repo#number", "file": "x.log", "cause": "...", "must": ["regex", ...]}.
`cause` is what the thread's maintainers said, in the labeller's words, written before the tool was asked; `must` are
patterns of which every one has to be found in the title, cause or fix of the first answer, upper and lower case the
same. An empty list asks for silence. A case belongs to the half kept aside when sha256(source) is odd.

right: the first answer holds every pattern (or silence where silence is asked).
general: the first answer is one of those that only say what the words mean (specificity of at most 15).
wrong: another answer is given, or any is given where silence is asked.
silent: nothing is said where something should be.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rocport.explain.engine import Match
from rocport.explain.reading import read_bytes

GENERAL = 15
OUTCOMES = ("right", "general", "wrong", "silent")


def held_out(source: str) -> bool:
    """True for a case of the half kept aside."""
    return int(hashlib.sha256(source.encode()).hexdigest(), 16) % 2 == 1


def outcome(answers: Sequence[Match], must: Sequence[str]) -> str:
    """`right`, `general`, `wrong` or `silent` for the answers rocport gave, best first."""
    if not answers:
        return "silent" if must else "right"
    first = answers[0].failure
    said = answers[0].filled(" ".join((first.title, first.cause, *first.fix)))
    if must and all(re.search(pattern, said, re.IGNORECASE) for pattern in must):
        return "right"
    return "general" if must and first.specificity <= GENERAL else "wrong"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=Path, required=True, help="folder with the logs and labels.json")
    parser.add_argument("--show", action="store_true", help="list what is not right in the half tuned on")
    parser.add_argument("--group", default="", help="also print rates per value of this label field")
    options = parser.parse_args()
    labels = json.loads((options.logs / "labels.json").read_text(encoding="utf-8"))
    counts: dict[str, Counter[str]] = {}
    for label in labels:
        reading = read_bytes((options.logs / label["file"]).read_bytes(), label["file"])
        result = outcome(reading.matches, label["must"])
        halves = ["kept aside" if held_out(label["source"]) else "tuned on"]
        if options.group:
            halves.append(f"{options.group}={label.get(options.group, '')}, {halves[0]}")
        for half in halves:
            counts.setdefault(half, Counter())[result] += 1
        if options.show and result != "right" and not held_out(label["source"]):
            answer = [match.failure.id for match in reading.matches[:3]]
            print(f"{result:7} {label['source']}: {answer} wanted {label['cause']} [{reading.vendor}]")
    print(f"{'half':30} {'logs':>5}" + "".join(f" {name:>8}" for name in OUTCOMES))
    for half, tally in sorted(counts.items()):
        total = sum(tally.values())
        rates = "".join(f" {tally[key] / total:8.3f}" for key in OUTCOMES)
        print(f"{half:30} {total:5}{rates}")


if __name__ == "__main__":
    main()
