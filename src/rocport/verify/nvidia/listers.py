"""Who lists files in languages and tools that are not read: what in the original could pick a new file up.

Bazel, Buck, GN, Cargo's build scripts, qmake, premake, npm, just, shell, CI steps, directory iterators of C++, Go and
JavaScript, Make's implicit rules, and whatever asks whether a path exists. Nothing here is computed exactly: a
pattern or a folder in the text that could mean a new file makes it undecided, and the place is named. No list of the
calls that read a folder is ever whole, so a folder of the original that holds a new file is enough where it is named.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rocport.verify.nvidia.languages import language
from rocport.verify.nvidia.paths import UNKNOWN, matcher, normal
from rocport.verify.nvidia.tree import Tree

_LARGEST = 1 << 20
_NO_BUILD = re.compile(
    r"(?:^|/)(?:\.gitignore|\.dockerignore|\.npmignore|\.prettierignore|\.eslintignore|\.gitattributes|CODEOWNERS"
    r"|\.clang-format(?:-ignore)?|\.clang-tidy|\.editorconfig|\.flake8|\.coveragerc|codecov\.ya?ml|\.codecov\.ya?ml"
    r"|labeler\.ya?ml|dependabot\.ya?ml|\.readthedocs\.ya?ml|MANIFEST\.in|LICENSE[^/]*"
    r"|[^/]*\.(?:svg|csv|tsv|lock|po|html?|css|tex|bib|ipynb|patch|diff|log|xml|ptx|pbtxt|prototxt))\Z",
    re.IGNORECASE,
)
_OF_ROCM = re.compile(r"(?i)rocm|(?:^|[/_.-])(?:hip|amd)(?=[/_.-]|\Z)")
_EXACT = ("cmake", "make", "python", "notebook", "text", "manifest", "requirements", "toml", "ini", "cython")
"""Languages whose patterns are computed elsewhere, or that do not list files."""
_GLOB = re.compile(r"(?<![\w*\\])[\w./${}()@%:~+-]*\*[\w./*{},$?-]*")
_LISTERS = tuple(
    (word, re.compile(expression))
    for word, expression in (
        ("directory_iterator", r"directory_iterator"),
        ("dir", r"\bopendir\b|\bscandir\b|\breaddir(?:Sync\b|\w*\s*\()|\bread_dir\b|\bsubdir_glob\b|\.iterdir\("),
        ("Dir", r"WalkDir|\bReadDir\b|\bDir(?:\[|\.(?:glob|entries|children|foreach))"),
        ("filepath.", r"filepath\.(?:Walk|Glob)"),
        ("match", r"\bmatch(?:files|dirs)\b"),
        ("FindFirstFile", r"FindFirstFile"),
        ("Files.", r"\bFiles\.(?:walk|list)\b"),
        (
            "find",
            r"(?:^|[;&|(`\"'=:]|\bshell\b|\bCOMMAND\b)\s*(?:sudo\s+)?find\s+"
            r"(?:[\"']?[./$]|[\w./-]+(?:\s+-\w|\s*[|)\"'`]|\s*\Z))",
        ),
        ("ls-files", r"\bgit\s+ls-files\b"),
        ("os.", r"\bos\.(?:fwalk|walk|listdir|scandir)\b"),
        ("glob", r"\brglob\(|\bfs\.glob|\bglob(?:Sync)?\s*\("),
        ("files(", r"\$\$?files\("),
        ("ls", r"(?:(?:^|[;&|(`\"']|\bshell\b|\bCOMMAND\b)\s*)ls\s"),
        ("for", r"\bfor\s+\w+\s+in\s+\S*\*"),
        ("exec_script", r"\bexec_script\b"),
    )
)
"""What lists a folder: a word that every line of the kind holds, and how it is written."""
_DEEP = re.compile(r"recursive|WalkDir|filepath\.Walk|\bfind\s|ls-files|\bwalk\b|fwalk|rglob|Files\.walk|\*\*")
_ASKS = tuple(
    (word, re.compile(expression))
    for word, expression in (
        ("EXISTS", r"\bEXISTS\b"),
        ("IS_DIRECTORY", r"\bIS_DIRECTORY\b"),
        ("xists", r"\bexists\w*\b|\bpath_exists\b|\bpathExists\w*\b|\bfiles\.exists\b"),
        ("is", r"\bis_?(?:dir|file|directory|regular_file)\w*\b"),
        ("access", r"\baccess\s*\("),
        ("stat", r"\bstat\s*\("),
        ("fopen", r"\bfopen\s*\("),
        (" -", r"(?:\[|\btest)\s+!?\s*-[defrsx]\b"),
        ("wildcard", r"\$\(wildcard\b"),
    )
)
"""What asks whether a path is there."""
_STARS = (("*", re.compile(r"\*")),)
_FOLDERS = (("*/", re.compile(r"\*/")),)
_STRING = re.compile(r"\"([^\"\n]{1,200})\"|'([^'\n]{1,200})'|`([^`\n]{1,200})`")
_ENDING = re.compile(r"[\"'*](\.[A-Za-z][\w+]{0,6})[\"'\s)]")
SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts", ".go", ".rs", ".java", ".kt", ".cs", ".swift", ".zig")
_BLOCK_COMMENTS = (
    *(".css", ".scss", ".sass", ".less", ".php", ".vue", ".svelte", ".dart", ".scala", ".groovy", ".gradle", ".kts"),
    *(".proto", ".g4", ".thrift", ".fbs", ".sql", ".d", ".v", ".sv", ".glsl", ".hlsl", ".metal", ".wgsl", ".vert"),
    *(".frag", ".comp", ".y", ".l", ".ll", ".td", ".ld", ".lds", ".tf", ".hcl", ".rc", ".idl", ".ptx", ".S", ".def"),
)
"""Endings, besides those of C and of scripts, of languages that have /* */ comments."""
_COMMENT = {"script": "//", "shell": "#", "docker": "#", "yaml": "#", "bazel": "#", "c": "//", "json": "\0"}
_ELSEWHERE = re.compile(r"(?i)\$(?:ENV)?[{(]?(?:ROCM|HIP|HSA|CUDA)_\w+[)}]?[\w./-]*|/(?:opt|usr)/[\w./-]*")
"""Paths below an installed toolkit."""
_REMOVES = re.compile(r"-delete\b|-exec\s+rm\b|\|\s*xargs\s+(?:-\w+\s+)*rm\b")
_NEAR = 12
_LONGEST = 2000
"""Characters of a line that somebody wrote; longer ones are data."""
_CODE = ("c", "python", "notebook", "cython", "script")
"""Languages whose paths are in strings."""
_HEADERS = (".h", ".hh", ".hpp", ".hxx", ".cuh", ".inl", ".inc")
_FOR_HEADERS = re.compile(
    r"(?i)-i(?:system)?\s*[\"']?[^\s\"']*\Z|includ\w*_?(?:dir|path)[^\n]*\Z|include_directories[^\n]*\Z"
)
_FILTER = re.compile(
    r"\s*(?:#|(?:-\s+)?(?:[\w-]+\s*:\s*)?(?:[\"'!][^\"']*[\"']|[^\s\"'`({|;&]+|\[[^\]]*\])\s*(?:#.*)?\Z)"
)
"""A line of YAML that is a path or a list of paths, and no command."""
_IMPLICIT = (".c", ".cc", ".cpp", ".C", ".p", ".f", ".F", ".r", ".s", ".S", ".m", ".mod", ".sh", ".y", ".l")


@dataclass(frozen=True)
class Reached:
    """A new path that `words` of `where` could pick up."""

    path: str
    where: str
    line: int
    words: str


def _above(path: str) -> Iterator[str]:
    """The folders a path lies in, without the root."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


@dataclass(frozen=True)
class Lines:
    """Lines of a text that could find a file, comments aside: (number, line, its patterns), (number, line, what lists),
    (number, line)."""

    patterns: tuple[tuple[int, str, tuple[str, ...]], ...]
    listings: tuple[tuple[int, str, str], ...]
    questions: tuple[tuple[int, str], ...]


def lines_of(kind: str, text: str) -> Lines:
    """What is read off a text alone, in one pass over it for each word of the tables."""
    # Patterns of a Makefile are computed elsewhere, but for the folders that its `*/` takes.
    stars = _holding(kind, text, _FOLDERS if kind == "make" else _STARS) if kind == "make" or kind not in _EXACT else []
    patterns = ((number, line, tuple(_words(kind, line))) for number, line, _ in stars)
    lists = _holding(kind, text, _LISTERS) if kind not in ("toml", "ini") else []
    asks = ((number, line) for number, line, _ in _holding(kind, text, _ASKS))
    return Lines(tuple(patterns), tuple(lists), tuple(asks))


def _words(kind: str, line: str) -> list[str]:
    if kind in ("c", "script"):
        return [item for found in _STRING.findall(line) for item in found if "*" in item]
    words = _GLOB.findall(line)
    return [word for word in words if word.endswith("*/")] if kind == "make" else words


def _holding(kind: str, text: str, table: Sequence[tuple[str, re.Pattern[str]]]) -> list[tuple[int, str, str]]:
    mark = _COMMENT.get(kind, "#")
    found: dict[int, tuple[str, str]] = {}
    for word, expression in table:
        place = text.find(word)
        while place >= 0:
            start = text.rfind("\n", 0, place) + 1
            end = text.find("\n", place)
            end = len(text) if end < 0 else end
            line = text[start:end]
            if start not in found and len(line) <= _LONGEST and not line.lstrip().startswith((mark, "* ", "/*")):
                match = expression.search(line)
                if match:
                    found[start] = (line, match.group())
            place = text.find(word, end)
    numbered: list[tuple[int, str, str]] = []
    number, last = 1, 0
    for start, (line, words) in sorted(found.items()):
        number += text.count("\n", last, start)
        last = start
        numbered.append((number, line, words))
    return numbered


def finds(original: Tree, new: Sequence[str], new_folders: Sequence[str]) -> Iterator[Reached]:
    """Every new path that a pattern, a listed folder or a question of the original could mean."""
    folders: dict[str, list[str]] = {}
    for item in new:
        for folder in _above(item):
            if folder in original.folders:
                folders.setdefault(folder, []).append(item)
    for path, mode in original.modes.items():
        if mode in ("link", "submodule") or _NO_BUILD.search(path) or _OF_ROCM.search(path):
            continue
        kind = language(path)
        if path.endswith(SCRIPTS):
            kind = "script"
        if kind in ("text", "notebook"):
            continue
        content = original.data(path)
        if len(content) > _LARGEST or b"\0" in content:
            continue
        text = content.decode("utf-8", errors="replace")
        lines = lines_of(kind, text)
        yield from _patterns(path, kind, lines, original, new)
        yield from _mentioned(path, kind, text, folders)
        if lines.listings:
            yield from _folders(path, kind, text, lines, original, new)
        if lines.questions:
            yield from _questions(path, lines, new, new_folders)
        if kind == "make":
            yield from _implicit(path, text, original, new)
            yield from _included(path, lines_with(text, "include"), original, new)


def _braces(word: str) -> list[str]:
    found = re.search(r"\{([^{}]*,[^{}]*)\}", word)
    if not found:
        return [word]
    return [
        item
        for part in found.group(1).split(",")[:16]
        for item in _braces(word[: found.start()] + part + word[found.end() :])
    ]


def _patterns(path: str, kind: str, lines: Lines, original: Tree, new: Sequence[str]) -> Iterator[Reached]:
    job = kind == "yaml"
    listing = {number for number, _, _ in lines.listings}
    for number, line, words in lines.patterns:
        if job and _FILTER.match(line) and number not in listing:
            # A filter of paths that starts a job, not one that reads the files.
            continue
        for word in words:
            before, _, after = line.partition(word)
            if word.endswith("*/") and (after.startswith("\\") or _ends_comment(path, kind, before)):
                # Not folders: `'*/\.*'` goes on.
                continue
            if "/" not in word and re.search(rf"(?:^|\s)--?[\w-]+[= ][\"']?{re.escape(word)}", line):
                # A pattern that an option takes is for names in whatever folder.
                word = f"**/{word}"
            for pattern in _braces(word):
                yield from (Reached(item, path, number, word) for item in _match(path, pattern, original, new))


def _ends_comment(path: str, kind: str, before: str) -> bool:
    """Whether `*/` ends a comment, or stands in one, and is not the folders of a shell. `before`: the line up to it."""
    if kind in ("c", "script") or path.endswith(_BLOCK_COMMENTS):
        return True
    hash_mark = re.search(r"\s#", before) if _COMMENT.get(kind, "#") == "#" else None
    return (
        (hash_mark is not None and not _in_string(before[: hash_mark.start()]))
        or re.search(r"(?<![\w.*/)}$-])/\*", before) is not None
        or (not before.strip() and kind != "make")
    )


def _match(where: str, word: str, original: Tree, new: Sequence[str]) -> Iterator[str]:
    text = re.sub(r"\$\$?\{[^{}]*\}|\$\$?\([^()]*\)|\$\$?\w+|%\{[^{}]*\}|<\([^()]*\)", UNKNOWN, word)
    text = re.sub(r"^(?:@\w*)?//|^:", "", text).strip("\"'()")
    name = text.rpartition("/")[2]
    # `*` alone in an expression or a comment says nothing; after a folder, or with an ending, it is a pattern. `*/` are
    # folders.
    folders = re.fullmatch(r"(?:[\w.-]+/)*\*/", text) is not None
    text = text.rstrip("/") if folders else text
    if not (folders or re.search(r"\*\.\w|\w\*", name) or re.search(r"[\w\0]/(?:.*/)?\*", text)) or text.startswith(
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
        # A pattern takes a folder too, and whoever copies or installs it what lies in it.
        made = (place for place in _above(item) if place not in original.folders)
        if not any(expression.match(place) for place in (item, *made) for expression in expressions):
            continue
        if UNKNOWN in text and "**" not in text and posixpath.dirname(item) not in original.folders:
            continue
        yield item


def _mentioned(path: str, kind: str, text: str, folders: Mapping[str, Sequence[str]]) -> Iterator[Reached]:
    """A folder of the original that holds a new file, named as a whole or with a pattern: not a file in it."""
    here = posixpath.dirname(path)
    for folder, inside in folders.items():
        name = folder.rpartition("/")[2]
        if name not in text:
            continue
        for found in _mention(name).finditer(text):
            start = text.rfind("\n", 0, found.start()) + 1
            before, line = text[start : found.start()], text[start:].partition("\n")[0]
            if before.lstrip().startswith((_COMMENT.get(kind, "#"), "* ", "/*")) or len(line) > _LONGEST:
                continue
            if kind in _CODE and not _in_string(before):
                continue
            named = normal(re.sub(r"^.*[)}>%]", "", found.group(1).replace("\\", "/")) + name)
            if not any(_tail(folder, word) for word in (named, normal(posixpath.join(here, named)))):
                continue
            items = [item for item in inside if item.endswith(_HEADERS)] if _FOR_HEADERS.search(before) else inside
            if found.group(2):
                if kind not in _EXACT and "\\" not in found.group(2):
                    # As the patterns above: a job's filter of paths reads no file.
                    continue
                pattern = matcher(f"{folder}/{found.group(2).replace(chr(92), '/').lstrip('/')}")
                items = [item for item in items if pattern.match(item)]
            number = text.count("\n", 0, start) + 1
            yield from (Reached(item, path, number, " ".join(line.split())[:60]) for item in items)


@lru_cache(maxsize=256)
def _mention(name: str) -> re.Pattern[str]:
    return re.compile(
        rf"((?:[\w.$@(){{}}<>%:~+-]*[/\\])*)(?<![\w.-]){re.escape(name)}"
        r"(?:((?:[/\\][\w.*?-]*)*[/\\][\w.-]*\*[\w.*?/\\-]*)|(?![\w-]|\.\w|[/\\][\w.]))"
    )


def _tail(folder: str, word: str) -> bool:
    """Whether one path is the end of the other."""
    return word == folder or folder.endswith(f"/{word}") or word.endswith(f"/{folder}")


def _in_string(before: str) -> bool:
    return before.count('"') % 2 == 1 or before.count("'") % 2 == 1 or before.count("`") % 2 == 1


def _folders(path: str, kind: str, text: str, found: Lines, original: Tree, new: Sequence[str]) -> Iterator[Reached]:
    """Folders whose files are listed: named near the call; without a name, where files of the wanted ending lie."""
    lines = text.split("\n")
    here = posixpath.dirname(path)
    for number, line, how in found.listings:
        if _REMOVES.search(line) or (kind == "python" and not re.search(r"\bfind\s|ls-files|fwalk", how)):
            continue
        near = "\n".join(lines[max(0, number - _NEAR) : number + _NEAR])
        endings = tuple(set(_ENDING.findall(f"{near} ")))
        words = [item for group in _STRING.findall(near) for item in group if item]
        words += re.findall(r"[\w./-]+", line[line.index(how) :])
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


def _questions(path: str, lines: Lines, new: Sequence[str], new_folders: Sequence[str]) -> Iterator[Reached]:
    """Lines that ask whether a path is there, and name one that is new."""
    here = posixpath.dirname(path)
    for number, line in lines.questions:
        words = {item.strip("/") for item in re.findall(r"[\w.+/-]+", _ELSEWHERE.sub("", line))}
        for item in (*new, *new_folders):
            names = {item, posixpath.relpath(item, here or ".")} if not here or item.startswith(f"{here}/") else {item}
            if any(word == name or (word.endswith(f"/{name}")) for name in names for word in words):
                inside = item if item in new else next(one for one in new if one.startswith(f"{item}/"))
                yield Reached(inside, path, number, " ".join(line.split())[:60])


def lines_with(text: str, word: str) -> list[tuple[int, str]]:
    """Numbered lines that hold a word."""
    return [(number, line) for number, line in enumerate(text.split("\n"), 1) if word in line] if word in text else []


def _included(path: str, lines: Sequence[tuple[int, str]], original: Tree, new: Sequence[str]) -> Iterator[Reached]:
    """Make includes files whose names it computes: `-include $(OBJECTS:.o=.d)`."""
    for number, line in lines:
        if not re.match(r"\s*[-s]?include\s[^#]*\$", line):
            continue
        endings = tuple(set(re.findall(r"[=,%](\.\w+)(?=[),\s])", line))) or (".d", ".dep", ".depend", ".mk", ".make")
        for item in new:
            if item.endswith(endings) and posixpath.dirname(item) in original.folders:
                yield Reached(item, path, number, " ".join(line.split())[:60])


def _implicit(path: str, text: str, original: Tree, new: Sequence[str]) -> Iterator[Reached]:
    """Implicit and pattern rules take a source by its ending: a new one beside, or in a folder of VPATH."""
    endings: dict[str, int] = {}
    searched: set[str] = set()
    here = posixpath.dirname(path)
    for number, line in enumerate(text.split("\n"), 1):
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
