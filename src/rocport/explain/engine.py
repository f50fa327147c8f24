"""Match the failures against a log: each with the lines it was seen on, most specific first."""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import BinaryIO

from rocport.explain.codes import find_codes
from rocport.explain.evidence import (
    VAGUE,
    Setting,
    failed,
    first_person,
    informs,
    names_amd,
    returned,
    spoken_of,
    warns,
)
from rocport.explain.match import Match
from rocport.explain.telling import introduction, tells
from rocport.explain.text import Block, lowered, read_blocks, squeeze
from rocport.explain.vendor import AMD, has_amd, vendor_of
from rocport.facts.failures import CERTAINTIES, Failure, Signature, load_failures

MAX_LINES = 20
"""Line numbers kept for each failure; further ones are only counted."""
MAX_COUNT = 10_000
"""A failure seen this often is not searched for any more."""
MAX_SPAN = 5
"""A message wrapped over more lines than this is not put together."""
WINDOW = 700
BESIDE = 3
"""Lines before and after one that names a thing, in which the log may say what is wrong with it."""
INTRODUCED = 24
"""Lines above a message in which a text may say that it is an example."""
SUSPECTS = 8

_HEADING = re.compile(r"#{1,6} .*|\*\*[^*\n]+\*\*:?\s*")
_FRAMES = re.compile(r"^\s{0,12}(?:File \"[^\"\n]{1,300}\", line \d|#\d{1,3} {1,3}0x|Traceback )", re.MULTILINE)
_SUSPECT = re.compile(r"(?:[Ee]rror\b|ERROR\b|Error:|FAILED|[Ff]atal|Exception|Traceback|Aborted|Segmentation fault)")
# One of them is part of whatever the pattern matches, and each is looked for a hundred times as fast.
_SUSPECT_WORDS = ("rror", "ERROR", "FAILED", "atal", "Exception", "Traceback", "Aborted", "Segmentation fault")


@dataclass(frozen=True)
class Diagnosis:
    """What a log holds. `general` are failures whose every line a more specific one explains already."""

    matches: tuple[Match, ...]
    general: tuple[Match, ...]
    lines: int
    suspects: tuple[tuple[int, str], ...]
    """Lines that look like errors and that no match explains: (line number, text)."""
    setting: Setting = field(default_factory=Setting)


@dataclass(frozen=True)
class Hit:
    """One place where a failure was seen. `named`: the line only names the thing or speaks of it; `wide`: the words are
    anybody's and nothing beside them is AMD's; `amd`: the signature names AMD's stack."""

    text: str
    values: dict[str, str] = field(default_factory=dict)
    named: bool = False
    wide: bool = False
    amd: bool = True


class _Seen:
    def __init__(self, failure: Failure) -> None:
        self.failure = failure
        self.lines: list[int] = []
        self.last = 0
        self.count = 0
        self.text = ""
        self.values: dict[str, str] = {}
        self.informs = self.warns = self.named = self.wide = True
        self.amd = False

    def add(self, line: int, hit: Hit) -> None:
        text, values = hit.text, hit.values
        self.named = self.named and hit.named
        self.wide = self.wide and hit.wide
        self.amd = self.amd or hit.amd
        if line <= self.last:
            return
        self.last = line
        self.count += 1
        self.informs = self.informs and informs(text)
        self.warns = self.warns and (informs(text) or warns(text))
        if len(self.lines) < MAX_LINES:
            self.lines.append(line)
        if not self.text:
            self.text, self.values = " ".join(text.split())[:400], values

    def match(self) -> Match:
        return Match(
            self.failure,
            tuple(self.lines),
            self.count,
            self.text,
            self.values,
            informs=self.informs,
            warns=self.warns,
            named=self.named,
            wide=self.wide,
            amd=self.amd,
        )


def diagnose(stream: BinaryIO, failures: Iterable[Failure] | None = None) -> Diagnosis:
    """Read the log to its end, in bounded memory, and say which failures it holds.

    Raises OSError when the stream does.
    """
    probes = _known_probes() if failures is None else _probes(failures)
    seen: dict[str, _Seen] = {failure.id: _Seen(failure) for failure, _, _ in probes}
    suspects: deque[tuple[int, str]] = deque(maxlen=200)
    lines = 0
    setting = Setting()
    for block in read_blocks(stream):
        amd = _Amd(block)
        squeezed = block.squeezed
        setting.add(block)
        found: dict[str, list[tuple[int, Hit]]] = {}
        for failure, signature, probe in probes:
            left = MAX_COUNT - seen[failure.id].count
            if probe in squeezed and left > 0:
                hits = found.setdefault(failure.id, [])
                for line, text, values in _search(block, signature, left):
                    states = signature.states or (
                        (signature.named or failure.specificity >= VAGUE) and _states_beside(block, line)
                    )
                    states = states or (signature.named and _returned(signature, text))
                    states = states and not (_only_spoken_of(signature, text) or _introduced(block, line))
                    wide = signature.wide and not amd.beside(line)
                    hits.append((line, Hit(text, values, not states, wide, names_amd(signature.text))))
        if failures is None:
            for failure, line, text, bare, spoken in find_codes(block):
                spoken = spoken or (bare and not _states_beside(block, line)) or _introduced(block, line)
                seen.setdefault(failure.id, _Seen(failure)).add(line, Hit(text, named=spoken, amd=False))
        for failure_id, hits in found.items():
            for line, hit in sorted(hits, key=lambda item: item[0]):
                seen[failure_id].add(line, hit)
        suspects.extend(_suspects(block, suspects[-1][0] if suspects else 0))
        lines = max(lines, block.first_line + block.text.count("\n") - block.text.endswith("\n"))
    matched = sorted((item.match() for item in seen.values() if item.count), key=rank)
    matches, general = fold(matched)
    explained = {line + near for match in matched for line in match.lines for near in (-1, 0, 1)}
    rest = [(line, text) for line, text in suspects if line not in explained]
    return Diagnosis(matches, general, lines, tuple(rest[:SUSPECTS]), setting)


Probe = tuple[Failure, Signature, str]
"""A signature, and its literal squeezed: a block that lacks it cannot match."""


def _probes(failures: Iterable[Failure]) -> tuple[Probe, ...]:
    return tuple((known, one, squeeze(one.literal)) for known in failures for one in known.signatures)


@functools.lru_cache(maxsize=1)
def _known_probes() -> tuple[Probe, ...]:
    return _probes(load_failures())


def rank(match: Match) -> tuple[int, int, int, str]:
    """Most specific first, then the surer, then the earlier."""
    failure = match.failure
    return (-failure.specificity, CERTAINTIES.index(failure.certainty), match.lines[0], failure.id)


def fold(ranked: Iterable[Match]) -> tuple[tuple[Match, ...], tuple[Match, ...]]:
    """A failure whose every line is explained by more specific ones says nothing new."""
    matches: list[Match] = []
    general: list[Match] = []
    explained: dict[int, int] = {}
    for match in ranked:
        level = match.failure.specificity
        covered = all(explained.get(line, 0) > level for line in match.lines)
        (general if covered else matches).append(match)
        for line in match.lines:
            explained[line] = max(explained.get(line, 0), level)
    return tuple(matches), tuple(general)


def _search(block: Block, signature: Signature, most: int) -> Iterator[tuple[int, str, dict[str, str]]]:
    """(line number, line, values) of the first `most` places: whole lines first, then wrapped ones."""
    whole = list(islice(_search_lines(block, signature), most))
    yield from whole
    if whole:
        return
    for text, starts in (block.flowed, block.glued):
        wrapped = list(islice(_search_wrapped(text, starts, block.first_line, signature), most))
        if wrapped:
            yield from wrapped
            return


def _states_beside(block: Block, line: int) -> bool:
    """True where the line or one of its neighbours says that something failed."""
    return any(failed(text) for text in _beside(block, line))


@functools.lru_cache(maxsize=256)
def _only_spoken_of(signature: Signature, text: str) -> bool:
    """True where the sentence around the message shows that it is no message here."""
    found = signature.pattern.search(text)
    return found is not None and spoken_of(text, found.start(), found.end())


def _returned(signature: Signature, text: str) -> bool:
    """True where a program prints the name as the status that it got."""
    found = signature.pattern.search(text)
    return found is not None and returned(text, found.start(), found.end())


def _introduced(block: Block, line: int) -> bool:
    """True where the message is an example of the sentence above it (`If you see the following error:`), or a heading
    under which nobody tells of themselves and no stack is printed."""
    at = line - block.first_line
    above = block.lines[max(0, at - INTRODUCED) : at]
    if _HEADING.fullmatch(block.lines[at][:WINDOW]) and not (above and above[-1].strip()):
        below = "\n".join(block.lines[at + 1 : at + 1 + BESIDE])
        return not (first_person(below) or _FRAMES.search(below) or tells(block.text))
    return _announced(tuple(above))


@functools.lru_cache(maxsize=8)
def _announced(above: tuple[str, ...]) -> bool:
    """True where these lines end in a sentence that announces an example. Logs repeat themselves."""
    said = introduction(above)[-WINDOW:]
    return said.endswith((":", ",", "：")) and spoken_of(said, len(said), len(said))


class _Amd:
    """Where a block is of AMD's hardware or software. Logs repeat themselves, and most have nothing of AMD's."""

    def __init__(self, block: Block) -> None:
        self.block = block

    @functools.cached_property
    def _somewhere(self) -> bool:
        return has_amd(self.block.text)

    def beside(self, line: int) -> bool:
        """True where the line or one of its neighbours is of AMD's; a line with an address speaks of that alone."""
        own = self.block.lines[line - self.block.first_line][:WINDOW]
        if "://" in own:
            return self._somewhere and _is_of_amd(own)
        return self._somewhere and _is_of_amd("\n".join(text[:WINDOW] for text in _beside(self.block, line)))


@functools.lru_cache(maxsize=256)
def _is_of_amd(text: str) -> bool:
    return has_amd(text) and vendor_of(text).name == AMD


def _beside(block: Block, line: int) -> list[str]:
    at = line - block.first_line
    return block.lines[max(0, at - BESIDE) : at + BESIDE + 1]


def _search_lines(block: Block, signature: Signature) -> Iterator[tuple[int, str, dict[str, str]]]:
    text, line, counted = block.text, block.first_line, 0
    position = block.lower.find(signature.literal)
    while position >= 0:
        start = _line_start(text, position)
        # Wide enough for every literal up to WINDOW behind this one: a long line may hold nothing else.
        newline = text.find("\n", position, position + 2 * WINDOW)
        end = newline if newline >= 0 else min(len(text), position + 2 * WINDOW)
        match = signature.pattern.search(text[start:end])
        if match is not None:
            line += text.count("\n", counted, start)
            counted = start
            at = start + match.start()
            yield line, text[max(start, at - WINDOW) : min(end, at + WINDOW)], match.groupdict()
            position = text.find("\n", position)
            if position < 0:
                return
        else:
            position = min(end, position + WINDOW)
        position = block.lower.find(signature.literal, position + 1)


def _line_start(text: str, place: int) -> int:
    """Where the line of a place begins, at most WINDOW in front of it."""
    least = max(0, place - WINDOW)
    return max(least, text.rfind("\n", least, place) + 1)


def _search_wrapped(
    text: str, starts: list[int], first_line: int, signature: Signature
) -> Iterator[tuple[int, str, dict[str, str]]]:
    lower = lowered(text)
    position, done = lower.find(signature.literal), 0
    while position >= 0:
        start = max(done, position - WINDOW)
        match = signature.pattern.search(text[start : position + 2 * WINDOW])
        if match is not None:
            done = start + match.end()
            begin = bisect_right(starts, start + match.start()) - 1
            last = bisect_right(starts, done - 1) - 1
            if last - begin < MAX_SPAN:
                yield first_line + begin, match.group(0), match.groupdict()
            position = max(position + len(signature.literal), done)
        else:
            position += WINDOW
        position = lower.find(signature.literal, position)


def _suspects(block: Block, after: int) -> Iterator[tuple[int, str]]:
    """Lines that look like an error, at most 50 a block."""
    text, line, counted = block.text, block.first_line, 0
    if not any(word in text for word in _SUSPECT_WORDS):
        return
    for found, match in enumerate(_SUSPECT.finditer(text)):
        if found >= 50:
            return
        start = _line_start(text, match.start())
        line += text.count("\n", counted, start)
        counted = start
        if line > after:
            after = line
            end = text.find("\n", match.start())
            shown = text[start : min(len(text) if end < 0 else end, match.start() + 200)]
            yield line, " ".join(shown.split())[:200]
