"""How often `rocport explain` is right on logs people posted, and how often it says something false.

The logs are not part of the repository: a folder with one file a log and `labels.json` is given on the command line.

    python benchmarks/explain.py --logs FOLDER

labels.json is a list of {"source": "owner/repo#number", "file": "x.log", "diagnosis": ["failure-id", ...],
"vendor": "nvidia" or ""}. `diagnosis` names every failure that is right as the first answer; an empty list asks for
silence. A case belongs to the half kept aside when sha256(source) is odd.

right: the first answer is one of the labels (or silence where silence is asked).
wrong: an answer is given and it is not the first of any label, or one is given where silence is asked.
silent: nothing is said where something should be.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter
from pathlib import Path

from rocport.explain.reading import read_bytes


def held_out(source: str) -> bool:
    """True for a case of the half kept aside."""
    return int(hashlib.sha256(source.encode()).hexdigest(), 16) % 2 == 1


def outcome(answer: list[str], wanted: list[str]) -> str:
    """`right`, `wrong` or `silent` for the ids rocport gave, best first."""
    if not answer:
        return "silent" if wanted else "right"
    return "right" if answer[0] in wanted else "wrong"


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
        answer = [match.failure.id for match in reading.matches]
        result = outcome(answer, label["diagnosis"])
        halves = ["kept aside" if held_out(label["source"]) else "tuned on"]
        if options.group:
            halves.append(f"{options.group}={label.get(options.group, '')}, {halves[0]}")
        for half in halves:
            counts.setdefault(half, Counter())[result] += 1
        if options.show and result != "right" and not held_out(label["source"]):
            print(f"{result:6} {label['source']}: {answer[:3]} wanted {label['diagnosis']} [{reading.vendor}]")
    print(f"{'half':30} {'logs':>5} {'right':>6} {'wrong':>6} {'silent':>6}")
    for half, tally in sorted(counts.items()):
        total = sum(tally.values())
        rates = "".join(f"{tally[key] / total:7.3f}" for key in ("right", "wrong", "silent"))
        print(f"{half:30} {total:5}{rates}")


if __name__ == "__main__":
    main()
