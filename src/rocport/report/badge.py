"""A badge as SVG: what is known of ROCm in one word, for a README. Nothing is fetched to draw it."""

from __future__ import annotations

from xml.sax.saxutils import escape

from rocport.model import Report

LABEL = "ROCm"
COLOURS = {"good": "#1a7f4b", "warn": "#8a5a00", "bad": "#b3261e", "dim": "#5b6470", "": "#5b6470"}
_WIDTH = 6.7
"""Of a letter of Verdana at 11 pixels, about; the text is fitted into it."""


def words(report: Report) -> tuple[str, str]:
    """(message, tone): the first level of evidence, or the sites that are left for a person."""
    if report.evidence:
        level, mark = report.evidence[0]
        return f"{level} {mark.text}", mark.tone
    if report.verdict is not None:
        return report.verdict.text, report.verdict.tone
    counts = report.count()
    if counts["manual"]:
        return f"{counts['manual']} by hand, {counts['review']} to review", "bad"
    return (f"{counts['review']} to review", "warn") if counts["review"] else ("ready", "good")


def render(report: Report, colour: bool = False) -> str:
    message, tone = words(report)
    left, right = (round(_WIDTH * len(text)) + 12 for text in (LABEL, message))
    label, said = (escape(text, {'"': "&quot;"}) for text in (LABEL, message))

    def text(value: str, start: int, width: int) -> str:
        return f'<text x="{start + width / 2:g}" y="14" textLength="{width - 12}">{value}</text>'

    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{label}: {said}"><title>{label}: {said}</title><rect width="{left}" height="20" fill="#3a4048"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{COLOURS[tone]}"/><g fill="#fff" text-anchor="middle" '
        f'font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{text(label, 0, left)}{text(said, left, right)}'
        "</g></svg>\n"
    )
