"""What kind of text a paste is: somebody tells what happened to them, or a text explains errors to its readers.

A commit message, a pull request, a page of documentation and a design record quote messages word for word. What gives
them away is what they say of themselves (`this PR`), their headings and markup, and that nobody in them says I, asks
for help or fills in a form for reports.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_HEADINGS = (
    r"(?:the )?fix(?:e[sd])?|(?:proposed )?solutions?|root causes?|causes?|decision|consequences|rationale"
    r"|motivation(?: and context)?|(?:summary|description) of changes|changes(?: made)?|(?:files )?changed"
    r"|added|removed|test (?:plan|results?)|(?:how )?tested|testing|technical details"
    r"|(?:known|resolved|common) (?:issues|errors|problems)|troubleshooting|work ?arounds?|change ?log"
    r"|release notes|faq|prerequisites|background|introduction|submission checklist"
    r"|解决方案|解决办法|根本原因|原因分析|背景"
    r"|総括|原因|対策|решение|причина"
)
_EXPLAINS = re.compile(
    r"\bthis (?:PR|pull request|MR|merge request|patch(?: ?set)?|commit|ADR)\b"
    r"|\bthis (?:page|guide|article|tutorial|section|document|chapter|post|FAQ) "
    r"(?:(?:list|describe|explain|show|cover|document|provide|contain|walk|assume|summari[sz]e|break|outline|detail"
    r"|demonstrate|help)s?\b"
    r"|is (?:about|for|a)\b)"
    r"|^[ \t]{0,4}(?:Signed-off-by|Co-authored-by|Reviewed-by|Acked-by|Change-Id|git-svn-id|Differential Revision"
    r"|Reviewed-on|\[git-p4): ?\S"
    r"|^[ \t]{0,4}(?:[-*] )?(?:Fixe?[sd]?|Close[sd]?|Resolve[sd]?|Reverts?):? (?:#\d|https?://|[\w.-]+/[\w.-]+#\d)"
    r"|^[^\n]{0,100} \((?:[\w./-]{1,60})?#\d{1,6}\)[ \t]*\n"
    r"|\[ROCm/[\w-]{1,40} commit: [0-9a-f]{7,40}\]|^P4 to Git Change \d"
    rf"|^(?:#{{1,6}} )?(?:\W{{0,4}} ?)?(?:\d[\d.]{{0,6}} )?(?:{_HEADINGS})[*:#]{{0,3}}[ \t]*$"
    r"|^[ \t]{0,12}\.\. (?:list-table|code-block|note|warning|tip|meta|glossary|contents|toctree|_[\w-]{1,60}:)"
    r"|:(?:ref|doc|term|cpp:func|envvar):`"
    r"|<(?:dd|dt|li|p|h[1-6])(?: [^>\n]{0,80})?>"
    r"|^[A-Z][^\n.:#]{2,60}(?:#|\[#\]\([^)\n]{1,120}\))$",
    re.MULTILINE | re.IGNORECASE,
)
_FORMS = (
    r"problem description|describe the (?:bug|issue|problem)|(?:bug|issue) description|steps? to reproduce"
    r"|to reproduce|reproduction|(?:expected|actual|current|observed) (?:behaviou?r|results?)"
    r"|operating systems?|system info(?:rmation)?|what happened|what is the issue"
    r"|(?:console|debug|error|relevant|full|server)? ?logs?(?: output)?|name and version"
    r"|(?:your )?(?:current )?environment|gpu(?: model| vendor)?|cpu|rocm version|hardware|python version"
    r"|(?:additional|other) (?:context|information|notes?)|is there an existing issue[^\n]{0,20}"
    r"|your question|which component[^\n]{0,30}|backend|urgency|custom node testing|issue description"
    r"|version platform description"
)
_CHANGES = re.compile(
    r"^#{1,4} (?:motivation(?: and context)?|technical details|test plan|submission checklist|things done)\b"
    r"|^(?:Signed-off-by|Co-authored-by|Reviewed-by|Change-Id|Differential Revision): ?\S"
    r"|^(?:[-*] )?this (?:PR|pull request|commit|patch|change) (?!(?:did|does|has|is)(?:n't| not))[a-z]",
    re.MULTILINE | re.IGNORECASE,
)
_FORM = rf"(?i:^(?:#{{1,6}} |\*\*)(?:\W{{0,4}} ?)?(?:{_FORMS})\b)"
_FILLED = re.compile(_FORM, re.MULTILINE)
_TELLS = re.compile(
    r"(?<![\w'\"/.-])(?:I(?:'[a-z]{1,2})? (?=[a-z])|(?:[Mm]y|[Mm]e)\b(?! ?=))"
    r"|\b(?:[Aa]ny (?:idea|advice|help|clue|suggestion)|[Pp]lease help|[Hh]elp (?:me|needed|please))\b"
    r"|\b[Cc]an (?:some|any)(?:one|body)\b|^\W{0,4}(?:\+1\b(?![.,:]?\d|:)|[Ss]ame (?:problem|issue|error|here)\b)"
    rf"|{_FORM}|(?i:^#{{1,4}} (?:\[(?:issue|bug)\]|(?:eval|compile|misc\.) bug):? )"
    r"|(?<!自)我|请问|求助|怎么(?:办|解决)|(?:^|\s)[Яя] |(?:^|\s)[Уу] меня|[Пп]омогите|(?:^|\s)[Ii]ch "
    r"|(?:^|\s)[Mm]ein(?:e[nmr]?)? "
    r"|(?:^|\s)[Jj]e |(?:^|\s)[Mm]on |(?:^|\s)[Mm]i (?:tarjeta|gpu|equipo)|教えて|助けて|困って|도와|저는",
    re.MULTILINE,
)


def fills_form(text: str) -> bool:
    """True for a form for reports that somebody filled in: what follows an error there did not happen after it."""
    return bool(_FILLED.search(text))


def tells(text: str) -> bool:
    """True where somebody tells what happened to them, asks for help or fills in a form for reports."""
    return bool(_TELLS.search(text))


def explains(text: str) -> bool:
    """True where a text explains errors, and nobody in it tells what happened to them; a commit and a form for pull
    requests do, whoever says I in them."""
    decided = _CHANGES.search(text) is not None and not fills_form(text)
    return decided or (_EXPLAINS.search(text) is not None and not tells(text))


_FENCE = re.compile(r"\s{0,12}(?:```|~~~)")
_NO_WORDS = re.compile(r"[\s`>~*\-]*|\s*\.\. [\w-]+::[^\n]*|\s*:[\w-]+:[^\n]*")


def introduction(above: Sequence[str]) -> str:
    """The paragraph that introduces what stands below these lines; of a fenced block, what stands above its fence."""
    lines = list(above)
    fences = [at for at, line in enumerate(lines) if _FENCE.match(line)]
    if len(fences) % 2:
        del lines[fences[-1] :]
    while lines and _NO_WORDS.fullmatch(lines[-1][:400]):
        lines.pop()
    start = len(lines)
    while start and lines[start - 1].strip() and not _FENCE.match(lines[start - 1]):
        start -= 1
    return " ".join(line.strip() for line in lines[start:])
