"""Who reads a file as a text, by its name: for it a gate is not nothing."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Iterator

from rocport.verify.nvidia import reach_python, reads
from rocport.verify.nvidia.languages import language
from rocport.verify.nvidia.listers import SCRIPTS
from rocport.verify.nvidia.paths import UNKNOWN, matcher, normal

_READS = re.compile(
    rb"\bopen\s*\(|\bread_?(?:text|bytes|file\w*)\b|(?i:readfile\w*)|\bget_data\b|\bget(?:lines|size|mtime)\b|\bhash_?file\b"
    rb"|\bmd5\w*|\bsha\d+\w*|\bfile\s*\(\s*(?i:READ|STRINGS|SHA\d*|MD5)\b|\bconfigure_file\b|\bxxd\b|\bbin2c\b|\bobjcopy\b"
    rb"|\.incbin\b|#\s*embed\b|go:embed|\binclude_(?:str|bytes)\b|\bifstream\b|\bfopen\b|\bmmap\b"
    rb"|(?<![\w.-])(?:sed|awk|head|tail|perl|patch|cut|wc|cmp|diff|grep|cat|sort|hash-object|stringify\w*)\s|\bGet-Content\b"
    rb"|\bslurp\w*|\bget_template\b|\bload_?(?:text|source)\b|\bld\s[^\n]{0,200}\s-b\b|\$\(<"
)
_REDIRECTS = re.compile(rb"(?m)[^<\n]<[ \t]*[\w./${}@-]+(?:[ \t]*(?:$|[;|&)])|[ \t]+\d?>)")
_PATTERN = re.compile(rb"(?<![\w*\\])[\w./${}()@%-]{0,200}\*[\w./*-]*")
_STRING = re.compile(rb"\"([^\"\n]*)\"|'([^'\n]*)'")
_NEAR = 3
_OF_TORCH = re.compile(rb"\bversion\.(?:hip|cuda)\b|HIP_VERSION|ROCM_VERSION")
_HASH = re.compile(rb"\b[0-9a-fA-F]{32,}\b")
_LONGEST = 2000
_QUOTED = ("c", "python", "notebook", "cython")
"""Languages whose paths are in strings."""
_VERSION = re.compile(rb"(?i)version")


def named(path: str, content: bytes, names: re.Pattern[bytes]) -> Iterator[tuple[int, str, bool]]:
    """Places that name a file where its text is read: (line, name, whether only its version is looked for). A patch is
    made for the text it names."""
    patch = path.endswith((".patch", ".diff"))
    lines = content.split(b"\n")
    for number, line in enumerate(lines):
        said = {match.group() for match in names.finditer(line)}
        if not said:
            continue
        near = b"\n".join(lines[max(0, number - 1) : number + 2])
        if patch or _reads(path, near) or _HASH.search(line):
            version = not patch and _VERSION.search(near) is not None
            yield from ((number + 1, os.fsdecode(name), version) for name in sorted(said))


def _reads(path: str, content: bytes) -> bool:
    """Whether something in it reads a text. `<` redirects where it does not compare."""
    if _READS.search(content):
        return True
    compares = language(path) in (*_QUOTED, "meson") or path.endswith(SCRIPTS)
    return not compares and _REDIRECTS.search(content) is not None


def patterns(path: str, content: bytes) -> list[tuple[int, str]]:
    """Patterns of files near something that reads a text: (line, pattern). In code only those in strings."""
    if b"*" not in content or not _reads(path, content):
        return []
    quoted = language(path) in _QUOTED
    found: list[tuple[int, str]] = []
    far: list[tuple[int, str]] = []
    lines = content.split(b"\n")
    for number, line in enumerate(lines):
        if b"*" not in line:
            continue
        for start in range(0, len(line), _LONGEST // 2) if len(line) > _LONGEST else (0,):
            piece = line[start : start + _LONGEST]
            text = b" ".join(b"".join(item) for item in _STRING.findall(piece)) if quoted else piece
            words = [word for word in _PATTERN.findall(text) if re.search(rb"\*\.\w|[\w)}]/\*+\Z", word)]
            if words:
                beside = lines[max(0, number - 1) : number + _NEAR + 1] if len(line) <= _LONGEST else [piece]
                near = _reads(path, b"\n".join(beside))
                (found if near else far).extend((number + 1, word.decode("utf-8", "replace")) for word in words)
    tree = reach_python.parsed(content) if far and language(path) == "python" else None
    if tree is not None:
        at = reads.later(tree, sorted({number for number, _ in far}), lambda call: _READS.search(call) is not None)
        found += [item for item in far if item[0] in at]
    return found


def taken(where: str, pattern: str, paths: Iterable[str]) -> list[str]:
    """The paths that a pattern of a file takes, from the root or from the file's folder."""
    text = re.sub(r"\$\$?\{[^{}]*\}|\$\$?\([^()]*\)|\$\$?\w+|\{[^{}]*\}", UNKNOWN, pattern).strip("(){}")
    folder = posixpath.dirname(where)
    if UNKNOWN in text:
        tried = {f"**/{text.rpartition(UNKNOWN)[2].lstrip('/')}"}
    else:
        tried = {normal(text), normal(posixpath.join(folder, text))}
        if "/" not in text and where.endswith(".py"):
            # `Path("csrc").glob("*.cu")`
            tried.add(f"**/{text}")
    return [path for path in paths if any(matcher(item).match(path) for item in tried)]


def adds_version(new: bytes, old: bytes) -> bool:
    """Whether a line that was added says something of a version."""
    added = set(new.split(b"\n")) - set(old.split(b"\n"))
    return any(_VERSION.search(line) and not _OF_TORCH.search(line) for line in added)
