"""A comparison as lines for people. No PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

_SENTENCE = {
    "equal": "equal: every measured bit agrees",
    "rounding": "within bounds: the differences are what rounding explains",
    "diverges": "DIVERGES",
    "nothing compared": "nothing compared: the runs have no measured call in common",
}
_COLOUR = {"equal": "green", "rounding": "green", "diverges": "red", "nothing compared": "yellow"}
_INPUTS = {
    "equal": "its inputs agree in every bit",
    "rounding": "its inputs agree to what rounding explains",
    "differ": "its inputs differ as well, and no call before it was measured out of bounds",
}
Paint = Callable[[str, str], str]


def percent(value: float | None) -> str:
    """A relative difference as people read it."""
    return "not measurable" if value is None else "0" if value == 0 else f"{value:.2g}"


def comparison_lines(result: dict[str, Any], paint: Paint) -> Iterator[str]:
    """Of the JSON of a comparison."""
    verdict = result["verdict"]
    yield paint(_SENTENCE[verdict], _COLOUR[verdict])
    counts = result["counts"]
    yield (
        f"{counts['pairs']} calls compared: {counts['equal']} equal, {counts['rounding']} differ within bounds, "
        f"{counts['diverging'] + counts['inherited']} out of bounds, {counts['unmeasured']} without values"
    )
    if result["first"] is not None:
        yield ""
        yield paint("First divergence", "red")
        yield from blame_lines(result["first"])
        others = result["others"]
        if others:
            yield f"  then: {', '.join(sorted({_named(other) for other in others}))[:300]}"
    elif result["first_bits"] is not None:
        yield ""
        yield "First call that differs in any bit"
        yield from blame_lines(result["first_bits"])
    yield from _module_lines(result["modules"])
    if result["training"] is not None:
        yield from _training_lines(result["training"])
    yield from (f"note: {note}" for note in result["notes"])


def _named(blame: dict[str, Any]) -> str:
    return f"{blame['call']} in {blame['scope'] or 'the script'}"


def blame_lines(blame: dict[str, Any]) -> Iterator[str]:
    """Where, how far, and what it looks like."""
    yield f"  {blame['verdict']}: {_named(blame)} ({blame['phase']}, step {blame['step']})"
    if blame["site"]:
        yield f"  at {blame['site']}"
    if blame["here"] and blame["here"] != blame["call"]:
        yield f"  this run has {blame['here']} there" + (f", at {blame['here_site']}" if blame["here_site"] else "")
    elif blame["here_site"] and blame["here_site"] != blame["site"]:
        yield f"  here at {blame['here_site']}"
    how = "measured" if blame["exact"] else "estimated"
    if blame["relative"] is not None:
        yield f"  relative difference {percent(blame['relative'])} ({how}), bound {percent(blame['bound'])}"
    if blame["inputs"]:
        yield f"  {_INPUTS.get(blame['inputs'], blame['inputs'])}"
    for symptom in blame["symptoms"]:
        yield f"  {symptom['name']}: {symptom['text']}"


def _module_lines(modules: list[dict[str, Any]], limit: int = 12) -> Iterator[str]:
    rows = [row for row in modules if row["kind"] == "module" and row["relative"] != 0]
    if not rows:
        return
    yield ""
    yield f"{'module':<44} {'phase':<9} step  {'inputs':>8} {'outputs':>8}"
    for row in rows[:limit]:
        yield (
            f"{row['scope'][-44:]:<44} {row['phase']:<9} {row['step']:>4}  "
            f"{percent(row['inputs']):>8} {percent(row['relative']):>8}"
        )
    if len(rows) > limit:
        yield f"... {len(rows) - limit} more; --format json has them all"


def _training_lines(training: dict[str, Any]) -> Iterator[str]:
    yield ""
    if training["losses"]:
        yield f"{'step':>4} {'loss then':>14} {'loss here':>14} {'relative':>9} {'noise':>9}"
        for row in training["losses"]:
            yield (
                f"{row['step']:>4} {_number(row['reference']):>14} {_number(row['candidate']):>14} "
                f"{percent(row['relative']):>9} {percent(row['noise']):>9}"
            )
    if training["parameters"]:
        yield f"{'step':>4} {'kind':<16} {'median':>9} {'worst':>9}  of"
        for row in training["parameters"]:
            yield (
                f"{row['step']:>4} {row['kind']:<16} {percent(row['median']):>9} {percent(row['relative']):>9}  "
                f"{row['worst']} ({row['count']})"
            )


def _number(value: float | None) -> str:
    return "nan" if value is None else f"{value:.8g}"


def _placed(row: dict[str, Any]) -> str:
    return f"{row['name']} in {row['scope'] or 'the script'}"


def replay_lines(result: dict[str, Any]) -> Iterator[str]:
    """Of the JSON of a replay."""
    counts = ", ".join(f"{count} {status}" for status, count in result["counts"].items() if count)
    yield f"replayed on {result['device']}: {counts or 'nothing'}"
    for row in result["findings"]:
        yield f"{row['status']}: {_placed(row)} ({row['phase']}) at {row['site'] or 'an unknown line'}"
        numbers = ""
        if row["error"] is not None:
            then = f", recorded {percent(row['recorded_error'])}" if row["recorded_error"] is not None else ""
            numbers = f"; {percent(row['error'])} from float64{then}, bound {percent(row['bound'])}"
        yield f"  {row['reason']}{numbers}"
    for row in result["worst"]:
        share = row["error"] / row["bound"]
        yield f"nearest to its bound: {_placed(row)}, {share:.0%} of {percent(row['bound'])}"
    for reason, count in result["skipped"].items():
        yield f"{count} skipped: {reason}"
