"""Who lists files in languages and tools that are not read: what in the original could pick a new file up.

Bazel, Buck, GN, Cargo's build scripts, qmake, premake, npm, just, shell, CI steps, directory iterators of C++, Go and
JavaScript, Make's implicit rules, and whatever asks whether a path exists. Nothing here is computed exactly: a
pattern or a folder in the text that could mean a new file makes it undecided, and the place is named.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rocport.verify.nvidia.languages import language
from rocport.verify.nvidia.paths import UNKNOWN, matcher, normal
from rocport.verify.nvidia.tree import Tree

_LARGEST = 1 << 20
_NO_BUILD = re.compile(
    r"(?:^|/)(?:\.gitignore|\.dockerignore|\.npmignore|\.prettierignore|\.eslintignore|\.gitattributes|CODEOWNERS"
    r"|\.clang-format(?:-ignore)?|\.clang-tidy|\.editorconfig|\.flake8|\.coveragerc|codecov\.ya?ml|\.codecov\.ya?ml"
    r"|labeler\.ya?ml|\.pre-commit-config\.yaml|dependabot\.ya?ml|\.readthedocs\.ya?ml|MANIFEST\.in|LICENSE[^/]*"
    r"|[^/]*\.(?:svg|csv|tsv|lock|po|html?|css|tex|bib|ipynb|patch|diff|log|xml|ptx|pbtxt|prototxt))\Z",
    re.IGNORECASE,
)
_OF_ROCM = re.compile(r"(?i)rocm|(?:^|[/_.-])(?:hip|amd)(?=[/_.-]|\Z)")
_EXACT = ("cmake", "make", "python", "notebook", "text", "manifest", "requirements", "toml", "ini", "cython")
"""Languages whose patterns are computed elsewhere, or that do not list files."""
_GLOB = re.compile(r"(?<![\w*\\])[\w./${}()@%:~+-]*\*[\w./*{},$?-]*")
_LISTER = re.compile(
    r"directory_iterator|\bopendir\b|\bscandir\b|\breaddir\w*\s*\(|\bread_dir\b|WalkDir|filepath\.(?:Walk|Glob)"
    r"|\bReadDir\b|\bDir(?:\[|\.(?:glob|entries|children|foreach))|\bmatch(?:files|dirs)\b|FindFirstFile|\bsubdir_glob\b"
    r"|\bFiles\.(?:walk|list)\b|(?:^|[;&|(`\"'=:]|\bshell\b|\bCOMMAND\b)\s*(?:sudo\s+)?find\s+(?:[\"']?[./$]|[\w./-]+(?:\s+-\w|\s*[|)\"'`]|\s*\Z))"
    r"|\bgit\s+ls-files\b|\bos\.(?:fwalk|walk|listdir|scandir)\b"
    r"|\.iterdir\(|\brglob\(|\bfs\.glob|\breaddirSync\b|\bglob(?:Sync)?\s*\(|\$\$?files\(|(?:(?:^|[;&|(`\"']|\bshell\b|\bCOMMAND\b)\s*)ls\s"
    r"|\bfor\s+\w+\s+in\s+\S*\*|\bexec_script\b"
)
_DEEP = re.compile(r"recursive|WalkDir|filepath\.Walk|\bfind\s|ls-files|\bwalk\b|fwalk|rglob|Files\.walk|\*\*")
_ASKS = re.compile(
    r"\bEXISTS\b|\bIS_DIRECTORY\b|\bexists\w*\b|\bis_?(?:dir|file|directory|regular_file)\w*\b|\b(?:access|stat|fopen)\s*\("
    r"|(?:\[|\btest)\s+!?\s*-[defrsx]\b|\bpath_exists\b|\bpathExists\w*\b|\$\(wildcard\b|\bfiles\.exists\b"
)
_STRING = re.compile(r"\"([^\"\n]{1,200})\"|'([^'\n]{1,200})'|`([^`\n]{1,200})`")
_ENDING = re.compile(r"[\"'*](\.[A-Za-z][\w+]{0,6})[\"'\s)]")
_COMMENT = {"shell": "#", "docker": "#", "yaml": "#", "bazel": "#", "c": "//", "json": "\0"}
_ELSEWHERE = re.compile(r"(?i)\$(?:ENV)?[{(]?(?:ROCM|HIP|HSA|CUDA)_\w+[)}]?[\w./-]*|/(?:opt|usr)/[\w./-]*")
"""Paths below an installed toolkit."""
_REMOVES = re.compile(r"-delete\b|-exec\s+rm\b|\|\s*xargs\s+(?:-\w+\s+)*rm\b")
_NEAR = 12
_COMMAND = re.compile(
    r"(?:^|[\s;&|(`\"'=])(?:nvcc|gcc|g\+\+|c\+\+|cc|clang(?:\+\+)?|cmake|make|ninja|python[\d.]*|pip[\d.]*|uv|bash|sh|cp"
    r"|mv|cat|install|ln|tar|zip|rsync|patch|for|hipify\S*|node|cargo|go|ar|ld|source|\.)\s"
)
_IMPLICIT = (".c", ".cc", ".cpp", ".C", ".p", ".f", ".F", ".r", ".s", ".S", ".m", ".mod", ".sh", ".y", ".l")


@dataclass(frozen=True)
class Reached:
    """A new path that `words` of `where` could pick up."""

    path: str
    where: str
    line: int
    words: str


def finds(original: Tree, new: Sequence[str], new_folders: Sequence[str]) -> Iterator[Reached]:
    """Every new path that a pattern, a listed folder or a question of the original could mean."""
    for path, mode in original.modes.items():
        if mode in ("link", "submodule") or _NO_BUILD.search(path) or _OF_ROCM.search(path):
            continue
        kind = language(path)
        if kind in ("text", "notebook"):
            continue
        content = original.data(path)
        if len(content) > _LARGEST or b"\0" in content:
            continue
        text = content.decode("utf-8", errors="replace")
        if kind not in _EXACT and "*" in text:
            yield from _patterns(path, kind, text, original, new)
        if kind not in ("toml", "ini") and _LISTER.search(text):
            yield from _folders(path, kind, text, original, new)
        if _ASKS.search(text):
            yield from _questions(path, kind, text, new, new_folders)
        if kind == "make":
            yield from _implicit(path, text, original, new)


def _lines(kind: str, text: str) -> Iterator[tuple[int, str]]:
    mark = _COMMENT.get(kind, "#")
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.lstrip()
        if not stripped.startswith((mark, "* ", "/*")):
            yield number, line


def _braces(word: str) -> list[str]:
    found = re.search(r"\{([^{}]*,[^{}]*)\}", word)
    if not found:
        return [word]
    return [
        item
        for part in found.group(1).split(",")[:16]
        for item in _braces(word[: found.start()] + part + word[found.end() :])
    ]


def _patterns(path: str, kind: str, text: str, original: Tree, new: Sequence[str]) -> Iterator[Reached]:
    job = kind == "yaml"
    for number, line in _lines(kind, text):
        if "*" not in line:
            continue
        if kind == "c":
            words = [item for found in _STRING.findall(line) for item in found if "*" in item]
        elif job and not _COMMAND.search(line) and not _LISTER.search(line):
            # A filter of paths that starts a job, not one that reads the files.
            continue
        else:
            words = _GLOB.findall(line)
        for word in words:
            for pattern in _braces(word):
                yield from (Reached(item, path, number, word) for item in _match(path, pattern, original, new))


def _match(where: str, word: str, original: Tree, new: Sequence[str]) -> Iterator[str]:
    text = re.sub(r"\$\$?\{[^{}]*\}|\$\$?\([^()]*\)|\$\$?\w+|%\{[^{}]*\}|<\([^()]*\)", UNKNOWN, word)
    text = re.sub(r"^(?:@\w*)?//|^:", "", text).strip("\"'()")
    name = text.rpartition("/")[2]
    # `*` alone in an expression or a comment says nothing; after a folder, or with an ending, it is a pattern.
    if not (re.search(r"\*\.\w|\w\*", name) or re.search(r"[\w\0]/(?:.*/)?\*", text)) or text.startswith(
        ("/", "*=", "**=")
    ):
        return
    folder = posixpath.dirname(where)
    if UNKNOWN in text:
        tail = text.rpartition(UNKNOWN)[2].lstrip("/")
        expressions = [matcher(f"**/{tail}")]
    else:
        expressions = [matcher(item) for item in {normal(text), normal(posixpath.join(folder, text))}]
    for item in new:
        if not any(expression.match(item) for expression in expressions):
            continue
        if UNKNOWN in text and "**" not in text and posixpath.dirname(item) not in original.folders:
            continue
        yield item


def _folders(path: str, kind: str, text: str, original: Tree, new: Sequence[str]) -> Iterator[Reached]:
    """Folders whose files are listed: named near the call; without a name, where files of the wanted ending lie."""
    lines = text.split("\n")
    here = posixpath.dirname(path)
    for number, line in _lines(kind, text):
        found = _LISTER.search(line)
        if (
            not found
            or _REMOVES.search(line)
            or (kind == "python" and not re.search(r"\bfind\s|ls-files|fwalk", found.group()))
        ):
            continue
        near = "\n".join(lines[max(0, number - _NEAR) : number + _NEAR])
        endings = tuple(set(_ENDING.findall(f"{near} ")))
        words = [item for group in _STRING.findall(near) for item in group if item]
        words += re.findall(r"[\w./-]+", line[found.start() :])
        named = {
            place
            for word in words
            if "*" not in word
            for place in (normal(word), normal(posixpath.join(here, word)))
            if place in original.folders and (place or word in (".", "./"))
        }
        deep = _DEEP.search(near) is not None
        for item in new:
            if endings and not item.endswith(endings):
                continue
            folder = posixpath.dirname(item)
            if named:
                inside = any(folder == one or (deep and (not one or folder.startswith(f"{one}/"))) for one in named)
            else:
                inside = bool(endings) and folder in original.folders
            if inside:
                yield Reached(item, path, number, " ".join(line.split())[:60])


def _questions(path: str, kind: str, text: str, new: Sequence[str], new_folders: Sequence[str]) -> Iterator[Reached]:
    """Lines that ask whether a path is there, and name one that is new."""
    here = posixpath.dirname(path)
    for number, line in _lines(kind, text):
        if not _ASKS.search(line):
            continue
        words = {item.strip("/") for item in re.findall(r"[\w.+/-]+", _ELSEWHERE.sub("", line))}
        for item in (*new, *new_folders):
            names = {item, posixpath.relpath(item, here or ".")} if not here or item.startswith(f"{here}/") else {item}
            if any(word == name or (word.endswith(f"/{name}")) for name in names for word in words):
                inside = item if item in new else next(one for one in new if one.startswith(f"{item}/"))
                yield Reached(inside, path, number, " ".join(line.split())[:60])


def _implicit(path: str, text: str, original: Tree, new: Sequence[str]) -> Iterator[Reached]:
    """Implicit and pattern rules take a source by its ending: a new one beside, or in a folder of VPATH."""
    endings: dict[str, int] = {}
    searched: set[str] = set()
    here = posixpath.dirname(path)
    for number, line in _lines("make", text):
        if (rule := re.match(r"[^\t#=]*:[^=]*?%(\.\w+)", line)) or (rule := re.match(r"(\.\w+)\.\w+\s*:", line)):
            endings.setdefault(rule.group(1), number)
        if found := re.match(r"\s*(?:VPATH\s*[:+?]?=|vpath\s+\S+)\s*(.*)", line):
            searched |= {normal(posixpath.join(here, word)) for word in re.split(r"[\s:]+", found.group(1)) if word}
            endings |= {ending: number for ending in _IMPLICIT if ending not in endings}
    if re.search(r"\b[\w-]+\.o\b", text):
        endings |= {ending: 1 for ending in _IMPLICIT if ending not in endings}
    stems = {name.rpartition("/")[2].partition(".")[0] for name in original.modes}
    for item in new:
        stem, dot, ending = item.rpartition("/")[2].rpartition(".")
        folder = posixpath.dirname(item)
        if dot + ending not in endings or not (folder in original.folders or folder in searched):
            continue
        if stem in stems or re.search(rf"(?<![\w-]){re.escape(stem)}(?![\w-])", text):
            yield Reached(item, path, endings[dot + ending], f"%{dot}{ending}")
