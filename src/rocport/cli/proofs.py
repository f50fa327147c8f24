"""The result of a comparison of numbers as a report."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from rocport.model import Finding, Mark, Plot, Report, Section, Series, Severity
from rocport.model.report import anchor
from rocport.model.terminal import paint as painted
from rocport.verify.reports import finding_of, report_of

if TYPE_CHECKING:
    from rocport.model import Cell

LAYERS = "Layer by layer"


def of_comparison(result: dict[str, Any], root: str, command: str = "verify") -> Report:
    """Level `numerical` and `compare`: one finding, where the numbers part."""
    from rocport.numerics.text import comparison_lines

    verdict = result["verdict"]
    findings: tuple[Finding, ...] = ()
    if verdict != "equal":
        where = result["first"] or result["first_bits"]
        message, path, line = f"the verdict is {verdict}", root, "1"
        if where:
            message += f", first at {where['call']} in {where['scope'] or 'the script'}"
            place = re.match(r"(.+?):(\d+)", where["site"] or "")
            path, line = (place[1], place[2]) if place else (root, "1")
        severity = Severity.COSMETIC if verdict == "rounding" else Severity.WRONG_RESULT
        findings = (finding_of(f"numbers-{verdict}", path, int(line), message, severity),)

    def text(colour: bool) -> str:
        def paint(words: str, name: str) -> str:
            return painted(words, name) if colour else words

        return "\n".join(comparison_lines(result, paint)) + "\n"

    tone = {"equal": "good", "rounding": "good", "diverges": "bad"}.get(verdict, "warn")
    return replace(
        report_of("numerical", root, findings, result, (text(False), text(True)), command),
        sections=tuple(_numbers(result)),
        verdict=Mark(next(comparison_lines(result, lambda words, _: words)), tone),
        evidence=(("numbers", Mark(verdict, tone, "#" + anchor(LAYERS) if result["modules"] else "")),),
    )


def _numbers(result: dict[str, Any]) -> Iterator[Section]:
    """Each module's error in the order the modules ran, the losses and parameters of a training, the counts."""
    modules = [row for row in result["modules"] if row["relative"] is not None]
    if modules:
        named = [(n, row, f"{row['scope'] or 'the script'} ({row['phase']}, step {row['step']})")
                 for n, row in enumerate(modules, 1)]  # fmt: skip
        series = (
            Series("relative difference", tuple((n, row["relative"], name) for n, row, name in named)),
            Series("bound", tuple((n, row["bound"], name) for n, row, name in named if row["bound"])),
        )
        yield Section(
            LAYERS,
            ("module", "kind", "phase", "step", "inputs differ by", "outputs differ by", "bound"),
            tuple(
                (
                    Mark(row["scope"] or "the script", "code"), row["kind"], row["phase"], row["step"], row["inputs"],
                    _over(row["relative"], row["bound"]), row["bound"],
                )
                for row in result["modules"]
            ),
            "Relative to the size of what the reference computed, in the order the modules ran; the bound is what "
            "rounding explains (ADR 40). 0 lies on the lower edge of the plot.",
            plot=Plot("module, in the order of execution", "relative difference", series, log=True),
        )  # fmt: skip
    training = result["training"] or {"losses": [], "parameters": []}
    if training["losses"]:
        columns = ("step", "reference", "candidate", "relative", "noise")
        rows = tuple(tuple(row[name] for name in columns) for row in training["losses"])
        yield Section("Losses", columns, rows, "Noise is the difference between two runs of the reference.")
    yield Section("Calls", ("outcome", "calls"), tuple(result["counts"].items()), "; ".join(result["notes"]))


def _over(value: float | None, bound: float | None) -> Cell:
    over = value is not None and bound and value > bound
    return Mark(f"{value:.3g}", "bad") if over else value
