"""Status codes of HIP and the ROCm libraries in a log: by name, by the text they print, by number."""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Iterator

from rocport.explain.evidence import returned, spoken_of
from rocport.explain.text import Block
from rocport.facts.failures import Failure
from rocport.facts.status import numbers, status_failures, texts

MOST = 2000
"""Places kept of one block: a log that repeats one error a million times says nothing new."""

_PREFIXES = (
    "hipError",
    "HIP_ERROR_",
    "HSA_STATUS_ERROR",
    "HIPRTC_ERROR_",
    "HIPFFT_",
    "nccl",
    "miopenStatus",
    "_status_",
    "_STATUS_",
)
_NAME = re.compile(r"\w{0,12}(?:hipError|_ERROR|HIPFFT_|nccl|miopenStatus|_status_|_STATUS_)\w{0,60}")
_SPEAKERS = (
    (
        "HIP",
        re.compile(
            r"(?:(?:hip|rocm|cuda)(?:rt)? ?(?:runtime |kernel )?(?:error|failure)[ :=]{1,3}['\"(]{0,2}"
            r"|failed with error |(?:rocm|hip) ?: |hip function failed \([^)\n]{1,110}\) )\Z"
        ),
    ),
    ("RCCL", re.compile(r"nccl (?:error|failure)[^\n]{0,80}?[,:] \Z")),
)
"""Who prints a code's text: what stands before it, in lower case."""

_NUMBERS = (
    (
        "HIP",
        ("hip error", "rocm error", "hiperror"),
        re.compile(r"\b(?:hip|rocm) ?error(?:_t| code)?[ :=#(]{1,3}(\d{1,4})\b"),
        10,
    ),
    (
        "HSA",
        ("hsa error (code #", "call returned ", "hsa_init failed with ", "status: "),
        re.compile(r"\b(?:hsa error \(code #|call returned |hsa_init failed with |status: )(4[01]\d\d)\b"),
        10,
    ),
    ("HSA", ("code: 0x", "status: 0x"), re.compile(r"\b(?:code|status): 0x(10[0-2][0-9a-f]|2[89a-e])\b"), 16),
    ("HSA", ("hsa_",), re.compile(r"hsa_\w{2,60}\W[^\n]{0,60}?\b0x(10[0-2][0-9a-f])\b"), 16),
    ("MIOpen", ("miopen failure ",), re.compile(r"\bmiopen failure (\d{1,2})\b"), 10),
    ("RCCL", ("nccl error ",), re.compile(r"\bnccl error ([1-6])\b"), 10),
)
_texts = functools.lru_cache(maxsize=8)(lambda component: tuple(texts(component)))
_numbers = functools.lru_cache(maxsize=8)(numbers)


def find_codes(block: Block) -> Iterator[tuple[Failure, int, str, bool, bool]]:
    """(failure, line number, line, whether it is the bare name, whether the line only speaks of it) of each status code
    a block names, in the order of the log."""
    failures = status_failures()
    places = sorted({place for place in _places(block) if place[1] in failures})[:MOST]
    if not places:
        return
    starts = [0, *(match.end() for match in re.finditer("\n", block.text))]
    for start, name, length in places:
        line = bisect_right(starts, start) - 1
        end = starts[line + 1] if line + 1 < len(starts) else len(block.text)
        before, after = block.text[max(starts[line], start - 200) : start], block.text[start : min(end, start + 400)]
        said = before + after
        yield (
            failures[name],
            block.first_line + line,
            said,
            length > 0 and not returned(said, len(before), len(before) + length),
            spoken_of(said, len(before), len(before)),
        )


def _places(block: Block) -> Iterator[tuple[int, str, int]]:
    """(position, name of a code, length of the name where that is what stands there), in no order and with names that
    are none."""
    for prefix in _PREFIXES:
        for position in _positions(block.text, prefix):
            begin = max(0, position - 12)
            for match in _NAME.finditer(block.text, begin, position + 80):
                yield match.start(), match.group().replace("HIP_ERROR_", "hipError", 1), len(match.group())
    for component, speaker in _SPEAKERS:
        for text, name in _texts(component):
            for position in _positions(block.lower, text):
                if speaker.search(block.lower, max(0, position - 120), position):
                    yield position, name, 0
    for component, needles, pattern, base in _NUMBERS:
        for needle in needles:
            for position in _positions(block.lower, needle):
                found = pattern.match(block.lower, position)
                name = _numbers(component).get(int(found.group(1), base), "") if found else ""
                if name:
                    yield position, name, 0


def _positions(text: str, needle: str) -> Iterator[int]:
    position, found = text.find(needle), 0
    while position >= 0 and found < MOST:
        yield position
        found += 1
        position = text.find(needle, position + len(needle))
