"""One tree for both platforms: the HIP translations in a folder of their own that mirrors the sources.

The CUDA sources stay as they are. A translation lies at the same relative place below the folder, so that quoted
includes between translations resolve as they did; what stands between a translation and a translated header is
mirrored too, and so is every unchanged header a mirrored file includes from beside itself.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from rocport.model import PatchFile
from rocport.port.mark import marked
from rocport.syntax.project import mirrored

FOLDERS = ("hip", "rocm", "hip_port")
README = "README.md"
_MARK = b"Written by `rocport port --layout both`"
_INCLUDE = re.compile(rb"^([ \t]*#[ \t]*(?:include|include_next|import)[ \t]*)([<\"])([^>\"\n]+)([>\"])", re.MULTILINE)
_RENAMED = (".cu", ".cup")


def folder_for(root: Path) -> tuple[str, bool]:
    """(name of the folder, True when an earlier port made it). The repository's own folders are never taken.

    Raises FileExistsError when all names are taken.
    """
    for name in FOLDERS:
        if not (root / name).exists():
            return name, False
        readme = root / name / README
        if readme.is_file() and _MARK in readme.read_bytes():
            return name, True
    raise FileExistsError(f"{root}: the folders {', '.join(FOLDERS)} are all taken; use --layout hip")


def mirror(
    folder: str,
    translated: Mapping[str, bytes],
    sources: Iterable[str],
    files: frozenset[str],
    read: Callable[[str], bytes],
) -> list[PatchFile]:
    """The files of the mirror: path below `folder` and bytes.

    `translated` maps a CUDA or C++ source that the port changes to its translation, `sources` are all of these
    languages, `files` all paths of the tree. Raises OSError when a file cannot be read.
    """
    sources = sorted(sources)
    if not translated and not any(path.endswith(_RENAMED) for path in sources):
        return []
    includes = {path: _includes(translated[path] if path in translated else read(path)) for path in sources}
    members = _with_includers({*translated, *(path for path in sources if path.endswith(_RENAMED))}, includes)
    todo = sorted(members)
    while todo:
        path = todo.pop()
        if path not in includes:
            includes[path] = _includes(read(path))
        for quoted, name in includes[path]:
            beside = _beside(path, name)
            if quoted and beside in files and beside not in members:
                members.add(beside)
                todo.append(beside)
    found = []
    for path in sorted(members):
        data = translated.get(path)
        why = f"HIP translation of {path}"
        if data is None:
            data = read(path)
            why = f"{path}, which a translation includes" if not path.endswith(_RENAMED) else why
        found.append(PatchFile(mirrored(path, folder), marked(_renamed(path, data, members)), why, path))
    return [*found, PatchFile(f"{folder}/{README}", _readme(folder), "says what the folder is")]


def _includes(data: bytes) -> list[tuple[bool, str]]:
    """(quoted?, name as spelled) of every include, those in comments too: that mirrors one file too many at worst."""
    return [
        (match[2] == b'"', match[3].strip().decode("utf-8", "surrogateescape")) for match in _INCLUDE.finditer(data)
    ]


def _beside(path: str, name: str) -> str:
    return posixpath.normpath(posixpath.join(posixpath.dirname(path), name.replace("\\", "/")))


def _with_includers(start: set[str], includes: Mapping[str, list[tuple[bool, str]]]) -> set[str]:
    """The files and every file that includes one of them, directly or through others, by place or by search path."""
    by_name: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for path, names in includes.items():
        for quoted, name in names:
            if quoted or "/" in name:
                by_name[name.rsplit("/", 1)[-1]].append((path, name))
    members = set(start)
    todo = sorted(start)
    while todo:
        member = todo.pop()
        for path, name in by_name[member.rsplit("/", 1)[-1]]:
            tail = posixpath.normpath(name).lstrip("./")
            if path not in members and (_beside(path, name) == member or f"/{member}".endswith(f"/{tail}")):
                members.add(path)
                todo.append(path)
    return members


def _renamed(path: str, data: bytes, members: set[str]) -> bytes:
    """The text with includes of mirrored `.cu` files under their new name."""

    def spell(match: re.Match[bytes]) -> bytes:
        name = match[3].decode("utf-8", "surrogateescape")
        if match[2] != b'"' or not name.endswith(_RENAMED) or _beside(path, name) not in members:
            return match[0]
        return match[1] + b'"' + mirrored(name, "").lstrip("/").encode("utf-8", "surrogateescape") + b'"'

    return _INCLUDE.sub(spell, data)


def _readme(folder: str) -> bytes:
    return f"""\
# HIP sources

{_MARK.decode()} from the CUDA sources of this repository: `{folder}/csrc/a.hip` is the translation of
`csrc/a.cu`, headers keep their names. A build for ROCm compiles what is here in place of the CUDA sources; a build for
CUDA never looks here. After a change to the CUDA sources run the same command again: edits made here are merged.
""".encode()
