"""Rows of docs/measured.md that benchmarks record, with the day of the run.

    python benchmarks/measured.py      # the rows, as they stand in docs/measured.md and the README

A benchmark that is asked to `--record` calls `record`; results/measured.json keeps the last run of each.
"""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

RECORDED = Path(__file__).with_name("results") / "measured.json"


def record(key: str, what: str, figure: str, command: str, recorded: Path = RECORDED) -> None:
    """Keep a run's figure: `what` was measured, and the `command` that printed it."""
    rows = json.loads(recorded.read_text(encoding="utf-8")) if recorded.is_file() else {}
    rows[key] = {"what": what, "figure": figure, "command": command, "day": date.today().isoformat()}
    recorded.write_text(json.dumps(dict(sorted(rows.items())), indent=1) + "\n", encoding="utf-8")


def table(recorded: Path = RECORDED) -> list[str]:
    """A row of Markdown for each recorded run."""
    rows = json.loads(recorded.read_text(encoding="utf-8"))
    return ["| {what} | {figure} | `{command}`, {day} |".format(**row) for row in rows.values()]


if __name__ == "__main__":
    print("\n".join(table()))
