"""Counts warp sites of a translated file that are silently wrong on 64-lane wavefronts.

The same counter for every tool. It reads the output text, shares nothing with rocport's lexer or rules, and forgives a
site only when the tool named it: a finding on the line of the original it came from, or on a line beside it.
"""

from __future__ import annotations

import difflib
import re

_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.S)
_SITES = (
    # a 32-bit full mask given to a *_sync intrinsic of HIP, whose waves have 64 lanes
    re.compile(
        rb"(?<![\w:])__(?:shfl(?:_up|_down|_xor)?|ballot|any|all|match_any|match_all)_sync\s*\(\s*(?:0[xX][fF]{8}[uU]?\b|FULL_MASK\b|~0u?\s*,|-1\s*,)"
    ),
    # a ballot or active mask kept in 32 bits
    re.compile(
        rb"\b(?:unsigned(?:\s+int)?|uint|int|uint32_t|u32)\s+\w+\s*=\s*(?:\([^()]*\)\s*)?(?<![\w:])__(?:ballot|activemask|match_any)(?:_sync)?\s*\("
    ),
    re.compile(rb"(?<![\w:])__popc\s*\(\s*__(?:ballot|activemask)(?:_sync)?\s*\("),
    re.compile(rb"(?<![\w:])__ffs\s*\(\s*__(?:ballot|activemask)(?:_sync)?\s*\("),
    # lane arithmetic with 32 in it
    re.compile(rb"\bthreadIdx\.x\s*(?:&\s*(?:31|0x1[fF])|%\s*32|>>\s*5|/\s*32)\b"),
    # a constant that says what a warp is
    re.compile(rb"(?m)^[ \t]*#[ \t]*define[ \t]+\w*(?:WARP_?SIZE|WARPSIZE)\w*[ \t]+\(?32\)?\s*$"),
    re.compile(rb"\b(?:constexpr|const)\s+\w+(?:\s+\w+)?\s+k?[Ww]arp_?[Ss]ize\w*\s*=\s*32\b"),
)


def silent_sites(data: bytes, findings: set[int], original: bytes) -> int:
    """Sites of a translated file that no finding names; `findings` are 1-based lines of the original."""
    blank = _COMMENT.sub(lambda match: re.sub(rb"[^\n]", b" ", match.group()), data)
    lines = sorted(blank.count(b"\n", 0, match.start()) for pattern in _SITES for match in pattern.finditer(blank))
    if not lines or not findings:
        return len(lines)
    origin = _line_map(original.split(b"\n"), data.split(b"\n"))
    return sum(not any(near + 1 in findings for near in range(origin[line] - 1, origin[line] + 2)) for line in lines)


def _line_map(before: list[bytes], after: list[bytes]) -> list[int]:
    """0-based line of the original for every line of the translation."""
    origin = [0] * len(after)
    for _, start, stop, first, last in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        for line in range(first, last):
            origin[line] = min(start + line - first, max(start, stop - 1))
    return origin
