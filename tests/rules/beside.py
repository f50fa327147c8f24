"""What stands beside a site, and the words it consists of: what of that a rule's answer rests on.

A rule goes on behind a near miss, and finds a site again further down. Where that is not so (an include, a definition
or a guard speaks for the whole file), the pair is kept in `rests_on/`, with one line for each example and near miss:
a mark for each of some words of it, taken away or changed. `.` says that the findings stay, `-` that there are none,
`!` that it is no Python any more; any other sign stands for what they become.

`ROCPORT_SNAPSHOTS=write pytest -n 0 tests/rules/test_rules.py` writes them anew. A mark that changed is a site that the
rule now judges otherwise: look at it before you keep it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from rocport.model import Context, Edit, Example, Finding, Options, ProjectIndex, Span
from rocport.project.build import BuildSource
from rocport.project.languages import language_of
from rocport.rules import LoadedRule
from rocport.scan.engine import known_names
from rocport.syntax.cuda import CudaSource
from rocport.syntax.project import build_index, names_of
from rocport.syntax.python import PythonSource

KEPT = Path(__file__).parent / "rests_on"
WORDS = {"examples": 24, "clean": 10}
"""How many words of each are taken away, and changed."""
SIGNS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_WORD = re.compile(rb"\w+|[^\w\s]")


def context_of(path: str, data: bytes, options: dict[str, str]) -> Context:
    ptx = frozenset(filter(None, [options.get("ptx")]))
    project: ProjectIndex = build_index([path], [names_of(data)], ptx)
    if pinned := options.get("bitsandbytes"):
        project = replace(project, pins={"bitsandbytes": (pinned,)})
    targets = tuple(filter(None, [options.get("target")]))
    return Context(Options(options.get("warp", "logical32"), targets, layout=options.get("layout", "hip")), project)


def found(loaded: LoadedRule, case: Example, text: bytes) -> list[Finding] | None:
    """What a rule finds; None where the text is no Python."""
    language = language_of(case.path)
    source: CudaSource | PythonSource | BuildSource
    if language == "cuda":
        source = CudaSource(case.path, text, known_names())
    elif language == "python":
        try:
            source = PythonSource(case.path, text)
        except (SyntaxError, ValueError):
            return None
    else:
        source = BuildSource(case.path, text, language)
    findings = loaded.check(source, context_of(case.path, text, dict(case.options)))
    return sorted(findings, key=lambda item: (item.span, item.message))


def moved(findings: list[Finding] | None, before: bytes) -> list[Finding]:
    """The findings where `before` stands in front of the text."""
    by, lines = len(before), before.count(b"\n")

    def span(at: Span) -> Span:
        return Span(at.start + by, at.end + by)

    return [
        replace(item, span=span(item.span), line=item.line + lines, end_line=item.end_line + lines,
                edits=tuple(Edit(span(edit.span), edit.text) for edit in item.edits))
        for item in findings or ()
    ]  # fmt: skip


def cases(loaded: LoadedRule, kind: str) -> list[Example]:
    every = [case if isinstance(case, Example) else Example(case) for case in getattr(loaded.rule, kind)]
    return [replace(case, before=case.before.rstrip("\n") + "\n") for case in every]


def pairs(loaded: LoadedRule) -> Iterator[str]:
    """The pairs in which one text changes what is found in the other."""
    misses = cases(loaded, "clean")
    for number, example in enumerate(cases(loaded, "examples")):
        text = example.before.encode()
        own = found(loaded, example, text)
        if found(loaded, example, text + text) != [*(own or ()), *moved(own, text)]:
            yield f"{number} twice"
        for other, miss in enumerate(misses):
            if (miss.path, miss.options) == (example.path, example.options):
                beside = miss.before.encode()
                if found(loaded, example, beside + text) != moved(own, beside):
                    yield f"{number} behind {other}"
                if found(loaded, example, text + beside) != own:
                    yield f"{number} before {other}"


def marks(loaded: LoadedRule, case: Example, change: Callable[[bytes], bytes], most: int) -> str:
    text = case.before.encode()
    own = found(loaded, case, text)
    words = list(_WORD.finditer(text))
    chosen = [words[at * len(words) // most] for at in range(most)] if len(words) > most else words
    signs = []
    for word in chosen:
        put = change(word[0])
        now = found(loaded, case, text[: word.start()] + put + text[word.end() :])
        by, after = len(put) - len(word[0]), word.end()
        if now is None:
            signs.append("!")
        elif [told(item, 0, 0) for item in own or ()] == [told(item, by, after) for item in now]:
            signs.append(".")
        else:
            said = repr([(*told(item, 0, 0), item.message) for item in now]).encode()
            signs.append(SIGNS[zlib.crc32(said) % len(SIGNS)] if now else "-")
    return "".join(signs)


def told(item: Finding, by: int, after: int) -> tuple[object, ...]:
    """A finding as it stands in the text that was `by` bytes shorter up to `after`."""

    def back(at: int) -> int:
        return at - by if at - by >= after else at

    edits = [(back(edit.span.start), back(edit.span.end), edit.text) for edit in item.edits]
    needs = sorted(item.headers | item.compat)
    kinds = item.applicability.value, item.confidence.value, item.severity.value
    return back(item.span.start), back(item.span.end), edits, needs, kinds


def deleted(word: bytes) -> bytes:
    return b""


def changed(word: bytes) -> bytes:
    """Another word of its kind."""
    if word.isdigit():
        return b"%d" % (int(word) + 1)
    return {b"<": b">=", b">": b"<=", b"+": b"-", b"=": b"!=", b"!": b"", b"&": b"|"}.get(word, word + b"x")


def rests_on(loaded: LoadedRule) -> str:
    """The lines that are kept of a rule."""
    lines = list(pairs(loaded))
    for kind, name in (("examples", "example"), ("clean", "near miss")):
        for number, case in enumerate(cases(loaded, kind)):
            made = " ".join(marks(loaded, case, change, WORDS[kind]) for change in (deleted, changed))
            lines.append(f"{name} {number}: {made}")
    return "\n".join(lines) + "\n"
