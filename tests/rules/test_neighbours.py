"""What stands beside a site, and the words it consists of: what of that a rule's answer rests on.

A rule goes on behind a near miss, and finds a site again further down. Where that is not so (an include, a definition
or a guard speaks for the whole file), the pair is kept in `neighbours/`, with one line for each example and near miss:
a mark for each of some words of it, taken away or changed. `.` says that the findings stay, `-` that there are none,
`!` that it is no Python any more; any other sign stands for what they become.

`ROCPORT_SNAPSHOTS=write pytest -n 0 tests/rules/test_neighbours.py` writes them anew. A mark that changed is a site
that the rule now judges otherwise: look at it before you keep it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import snapshot
from test_rules import _context

from rocport.model import Edit, Example, Finding, Span
from rocport.project.build import BuildSource
from rocport.project.languages import language_of
from rocport.rules import LoadedRule, discover
from rocport.scan.engine import known_names
from rocport.syntax.cuda import CudaSource
from rocport.syntax.python import PythonSource

KEPT = Path(__file__).parent / "neighbours"
WORDS = 10
"""Words of each example that are taken away, and that are changed."""
SIGNS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_WORD = re.compile(rb"\w+|[^\w\s]")


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
    findings = loaded.check(source, _context(case.path, text, dict(case.options)))
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
            said = repr([told(item, 0, 0) for item in now]).encode()
            signs.append(SIGNS[zlib.crc32(said) % len(SIGNS)] if now else "-")
    return "".join(signs)


def told(item: Finding, by: int, after: int) -> tuple[object, ...]:
    """A finding as it stands in the text that was `by` bytes shorter up to `after`."""

    def back(at: int) -> int:
        return at - by if at - by >= after else at

    edits = [(back(edit.span.start), back(edit.span.end), edit.text) for edit in item.edits]
    needs = sorted(item.headers | item.compat)
    return back(item.span.start), back(item.span.end), edits, needs, item.applicability.value, item.confidence.value


def deleted(word: bytes) -> bytes:
    return b""


def changed(word: bytes) -> bytes:
    """Another word of its kind."""
    if word.isdigit():
        return b"%d" % (int(word) + 1)
    return {b"<": b">=", b">": b"<=", b"+": b"-", b"=": b"!=", b"!": b"", b"&": b"|"}.get(word, word + b"x")


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("pasted-name", b"#define NAME(x) nvml##\nint a = NAME(Init);\n"),
        ("cub-warp-layout", b"using L = cub::BlockLoad<int, N, 4, ::BLOCK_LOAD_WARP_TRANSPOSE>;\n"),
    ],
)
def test_text_that_no_compiler_takes_ends_no_rule(rule: str, text: bytes) -> None:
    """One searched for ever, one raised IndexError."""
    (loaded,) = (one for one in discover() if one.rule.name == rule)
    assert len(found(loaded, Example("", path="a.cu"), text) or ()) <= 1


@pytest.mark.parametrize("loaded", discover(), ids=lambda loaded: loaded.rule.name)
def test_what_a_rules_answer_rests_on(loaded: LoadedRule) -> None:
    lines = list(pairs(loaded))
    for kind, most in (("examples", WORDS), ("clean", WORDS)):
        for number, case in enumerate(cases(loaded, kind)):
            made = " ".join(marks(loaded, case, change, most) for change in (deleted, changed))
            lines.append(f"{'example' if kind == 'examples' else 'near miss'} {number}: {made}")
    now = "\n".join(lines) + "\n"
    place = KEPT / f"{loaded.rule.name}.txt"
    if snapshot.WRITE:
        KEPT.mkdir(exist_ok=True)
        place.write_text(now, encoding="utf-8")
    assert now == place.read_text(encoding="utf-8"), __doc__
