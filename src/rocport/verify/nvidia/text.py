"""Who reads a file as a text, by its name: for it a gate is not nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator

_READS = re.compile(
    rb"\bopen\s*\(|\bread_?(?:text|bytes|file\w*)\b|(?i:readfile\w*)|\bget_data\b|\bget(?:lines|size|mtime)\b|\bhash_?file\b"
    rb"|\bmd5\w*|\bsha\d+\w*|\bfile\s*\(\s*(?i:READ|STRINGS|SHA\d*|MD5)\b|\bconfigure_file\b|\bxxd\b|\bbin2c\b|\bobjcopy\b"
    rb"|\.incbin\b|#\s*embed\b|go:embed|\binclude_(?:str|bytes)\b|\bifstream\b|\bfopen\b|\bmmap\b"
    rb"|(?<![\w.-])(?:sed|awk|head|tail|perl|patch|cut|wc|cmp|diff|stringify\w*)\s|\bGet-Content\b"
)
_OF_TORCH = re.compile(rb"\bversion\.(?:hip|cuda)\b|HIP_VERSION|ROCM_VERSION")
_HASH = re.compile(rb"\b[0-9a-fA-F]{32,}\b")


_VERSION = re.compile(rb"(?i)version")


def named(path: str, content: bytes, names: re.Pattern[bytes]) -> Iterator[tuple[int, str, bool]]:
    """Places that name a file where its text is read: (line, name, whether only its version is looked for). A patch is
    made for the text it names."""
    patch = path.endswith((".patch", ".diff"))
    lines = content.split(b"\n")
    for number, line in enumerate(lines):
        for match in names.finditer(line):
            near = b"\n".join(lines[max(0, number - 1) : number + 2])
            if patch or _READS.search(near) or _HASH.search(line):
                yield number + 1, match.group().decode(), not patch and _VERSION.search(near) is not None


def adds_version(new: bytes, old: bytes) -> bool:
    """Whether a line that was added says something of a version."""
    added = set(new.split(b"\n")) - set(old.split(b"\n"))
    return any(_VERSION.search(line) and not _OF_TORCH.search(line) for line in added)
