"""Who lists files in languages and tools that are not read: what in the original could pick a new file up.

Bazel, Buck, GN, Cargo's build scripts, qmake, premake, npm, just, shell, CI steps, directory iterators of C++, Go and
JavaScript, Make's implicit rules, and whatever asks whether a path exists. Nothing here is computed exactly: a
pattern or a folder in the text that could mean a new file makes it undecided, and the place is named. No list of the
calls that read a folder is ever whole, so a folder of the original that holds a new file is enough where it is named.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from rocport.verify.nvidia import cmake
from rocport.verify.nvidia.languages import language
from rocport.verify.nvidia.paths import UNKNOWN, matcher, normal
from rocport.verify.nvidia.tokens import LexError
from rocport.verify.nvidia.tree import Tree

_NO_BUILD = re.compile(
    r"(?:^|/)(?:\.gitignore|\.dockerignore|\.npmignore|\.prettierignore|\.eslintignore|\.gitattributes|CODEOWNERS"
    r"|\.clang-format(?:-ignore)?|\.clang-tidy|\.editorconfig|\.flake8|\.coveragerc|codecov\.ya?ml|\.codecov\.ya?ml"
    r"|labeler\.ya?ml|dependabot\.ya?ml|\.readthedocs\.ya?ml|MANIFEST\.in|LICENSE[^/]*"
    r"|[^/]*\.(?:svg|csv|tsv|lock|po|html?|css|tex|bib|patch|diff|log|ptx|pbtxt|prototxt))\Z",
    re.IGNORECASE,
)
_OF_ROCM = re.compile(r"(?i)rocm|(?:^|[/_.-])(?:hip|amd)(?=[/_.-]|\Z)")
_EXACT = ("cmake", "make", "python", "notebook", "text", "manifest", "requirements", "toml", "ini", "cython")
"""Languages whose patterns are computed elsewhere, or that do not list files."""
_NONE = ("notebook", "manifest", "requirements", "toml", "ini", "cython")
"""Those in which no other pattern is looked for."""
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
_STRING = re.compile(r"\"([^\"\n]{1,200})\"|'([^'\n]{1,200})'|`([^`\n]{1,200})`")
_ENDING = re.compile(r"[\"'*]\\?(\.[A-Za-z][\w+]{0,6})[\"'\s)$]")
_WHOLE = re.compile(
    r"\bfind\s+[\"']?(?:\$\{?(?:PWD|GITHUB_WORKSPACE|CI_PROJECT_DIR)\b|\$\(pwd\)|`pwd`)|--show-toplevel"
    r"|\bls-files\s*(?:[|;&)`\"']|\Z)"
)
"""What lists the whole tree, without a name."""
SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".mts", ".go", ".rs", ".java", ".kt", ".cs", ".swift", ".zig")
_BLOCK_COMMENTS = (
    *(".css", ".scss", ".sass", ".less", ".php", ".vue", ".svelte", ".dart", ".scala", ".groovy", ".gradle", ".kts"),
    *(".proto", ".g4", ".thrift", ".fbs", ".sql", ".d", ".v", ".sv", ".glsl", ".hlsl", ".metal", ".wgsl", ".vert"),
    *(".frag", ".comp", ".y", ".l", ".ll", ".td", ".ld", ".lds", ".tf", ".hcl", ".rc", ".idl", ".ptx", ".S", ".def"),
)
"""Endings, besides those of C and of scripts, of languages that have /* */ comments."""
_COMMENT = {
    "script": "//",
    "text": "\0",
    "shell": "#",
    "docker": "#",
    "yaml": "#",
    "bazel": "#",
    "c": "//",
    "json": "\0",
}
_ELSEWHERE = re.compile(r"(?i)\$(?:ENV)?[{(]?(?:ROCM|HIP|HSA|CUDA)_\w+[)}]?[\w./-]*|/(?:opt|usr)/[\w./-]*")
"""Paths below an installed toolkit."""
_REMOVES = re.compile(r"-delete\b|-exec\s+rm\b|\|\s*xargs\s+(?:-\w+\s+)*rm\b")
_NEAR = 12
_LONGEST = 2000
"""Characters of a line that are looked at together; of a longer one what stands near a word."""
_BESIDE = 200
"""Characters of such a line beside the name of a folder."""
_CODE = ("c", "python", "notebook", "cython", "script")
"""Languages whose paths are in strings."""
_DIRECTIVE = re.compile(r"//go:\w")
"""A comment that Go's compiler reads (https://pkg.go.dev/embed, https://pkg.go.dev/cmd/compile)."""
_MOVES = re.compile(
    r"(?:^|[\s;&|(\"'])(?:cd|pushd)\s|\bWORKING_DIRECTORY\b|\bWORKDIR\s|\bcwd\b|working-directory\s*:|\bchdir\b"
)
"""What makes a pattern without a folder mean another one than its file's."""
_MOVING = ("shell", "docker", "yaml", "other", "c", "script", "python", "cmake")
_RUNS_COMMANDS = frozenset(
    (
        "execute_process",
        "exec_program",
        "add_custom_command",
        "add_custom_target",
        "add_test",
        "install",
        "cmake_language",
    )
)
"""Commands of CMake whose arguments are commands of a shell, or more CMake."""
_FILTERS = frozenset(("paths", "paths-ignore", "paths_ignore", "branches", "branches-ignore", "tags", "tags-ignore"))
_FILTERS |= frozenset(("changes", "only", "except", "filters", "exclude", "ignore", "on", "triggers"))
"""Keys of a job of CI below which patterns start it, and read no file."""
_COLLECTS = frozenset(("artifacts", "cache", "with", "steps", "script", "run"))
"""Keys below which they are read all the same."""
_KEY = re.compile(r"([ ]*)((?:-[ ]+)*)[\"']?([\w.-]+)[\"']?[ ]*:")
_PROSE = re.compile(
    r"(?:^|/)(?:PKG-INFO|METADATA|README|CHANGELOG|CHANGES|HISTORY|NEWS|AUTHORS|COPYING|NOTICE|CITATION[^/]*)\Z"
)
_SUITE = re.compile(r"(?:^|/)lit(?:\.local|\.site)?\.cfg(?:\.py)?\Z")
"""Test suites of lit: `config.suffixes` says which files of its folder and below are tests."""
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


_New = Sequence[tuple[str, tuple[str, ...]]]
"""Each new file, with itself and its new folders: a pattern takes a folder too, and what lies in it is copied."""


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
    moves: bool
    """Whether it goes into a folder that patterns without one are in then."""


def lines_of(kind: str, text: str) -> Lines:
    """What is read off a text alone, in one pass over it for each word of the tables."""
    stars = _commands(text) if kind == "cmake" else _holding(kind, text, _STARS) if kind not in _NONE else []
    patterns = tuple((number, line, tuple(_words(kind, line))) for number, line, _ in stars)
    lists = _holding(kind, text, _LISTERS) if kind not in ("toml", "ini", "text") else []
    asks = ((number, line) for number, line, _ in _holding(kind, text, _ASKS))
    moves = bool(patterns) and kind in _MOVING and _MOVES.search(text) is not None
    return Lines(patterns, tuple(lists), tuple(asks), moves)


def _words(kind: str, line: str) -> list[str]:
    """Patterns of a line. What a language computes itself is looked at elsewhere: there those of the shell are left."""
    if kind in ("c", "script", "python"):
        strings = [item for found in _STRING.findall(line) for item in found if "*" in item]
        commands = [word for item in strings if re.search(r"\s", item.strip()) for word in _GLOB.findall(item)]
        return commands if kind == "python" else [*strings, *commands]
    words = _GLOB.findall(line)
    if kind == "text":
        # In prose `name_*` is a family of functions.
        return [word for word in words if "/" in word or re.fullmatch(r"\*\.\w+", word)]
    if kind == "make":
        # Computed elsewhere, but for the folders that `*/` takes, and for a command that goes into a folder first.
        return [word for word in words if word.endswith("*/") or ("/" not in word and _MOVES.search(line))]
    return words


def _commands(text: str) -> list[tuple[int, str, str]]:
    """Words that commands of CMake hand to a shell, or evaluate."""
    found: list[tuple[int, str, str]] = []
    try:
        commands = cmake.commands(text.encode())
    except LexError:
        return []
    for command in commands:
        if command.name in _RUNS_COMMANDS:
            for item in command.arguments:
                if "*" in item.text:
                    found += [
                        (item.line, line[at : at + _LONGEST], "")
                        for line in item.text.split("\n")
                        for at in range(0, len(line), _LONGEST // 2)
                        if "*" in line
                    ]
    return found


def _cells(content: bytes) -> tuple[tuple[str, str], ...]:
    """A notebook's code as Python, and its magics and lines for a shell: each with its own lines only."""
    try:
        cells = [cell["source"] for cell in json.loads(content)["cells"] if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ()
    code: list[str] = []
    shell: list[str] = []
    for source in cells:
        text = source if isinstance(source, str) else "".join(map(str, source))
        magic = text.lstrip().startswith("%%")
        for line in text.split("\n"):
            runs = magic or line.lstrip().startswith(("!", "%"))
            shell.append(line.lstrip("!% \t") if runs else "")
            code.append("" if runs else line)
    return (("python", "\n".join(code)), ("shell", "\n".join(shell)))


def _is_comment(mark: str, line: str) -> bool:
    """Whether a line is one as a whole, and none that a compiler reads."""
    return line.lstrip().startswith((mark, "* ", "/*")) and not _DIRECTIVE.match(line)


def _holding(kind: str, text: str, table: Sequence[tuple[str, re.Pattern[str]]]) -> list[tuple[int, str, str]]:
    mark = _COMMENT.get(kind, "#")
    found: dict[int, tuple[str, str]] = {}
    for word, expression in table:
        place = text.find(word)
        while place >= 0:
            begins, ends = text.rfind("\n", 0, place) + 1, _end(text, place)
            start, end = (begins, ends) if ends - begins <= _LONGEST else _around(begins, ends, place, _LONGEST // 2)
            line = text[start:end]
            if start not in found and not (start == begins and _is_comment(mark, line)):
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


def _around(begins: int, ends: int, place: int, beside: int) -> tuple[int, int]:
    return max(begins, place - beside), min(ends, place + beside)


def finds(original: Tree, new: Sequence[str], new_folders: Sequence[str]) -> Iterator[Reached]:
    """Every new path that a pattern, a listed folder or a question of the original could mean."""
    folders: dict[str, list[str]] = {}
    for item in new:
        for folder in _above(item):
            if folder in original.folders or not _OF_ROCM.search(folder):
                folders.setdefault(folder, []).append(item)
    taken = [(item, (item, *(place for place in _above(item) if place not in original.folders))) for item in new]
    for path, mode in original.modes.items():
        if mode in ("link", "submodule") or _NO_BUILD.search(path) or _OF_ROCM.search(path):
            continue
        kind = language(path)
        if path.endswith(SCRIPTS):
            kind = "script"
        if _PROSE.search(path):
            kind = "text"
        content = original.text(path)
        if kind == "notebook":
            for language_of_it, cells in _cells(content):
                yield from _found(path, language_of_it, cells, original, new, new_folders, folders, taken)
            continue
        text = content.decode("utf-8", errors="replace")
        if kind == "text":
            yield from _patterns(path, kind, text, lines_of(kind, text), original, taken)
            continue
        yield from _found(path, kind, text, original, new, new_folders, folders, taken)
        if _SUITE.search(path):
            yield from _suite(path, text, new)


def _suite(path: str, text: str, new: Sequence[str]) -> Iterator[Reached]:
    """Files that a test suite takes by their endings."""
    said = re.search(r"\bsuffixes\b[^\n]*", text)
    endings = tuple(re.findall(r"[\"'](\.[\w.]+)[\"']", text)) if said else ()
    folder = posixpath.dirname(path)
    for item in new if said and endings else ():
        if item.endswith(endings) and (not folder or item.startswith(f"{folder}/")):
            yield Reached(item, path, text.count("\n", 0, said.start()) + 1 if said else 0, " ".join(endings))


def _found(
    path: str,
    kind: str,
    text: str,
    original: Tree,
    new: Sequence[str],
    new_folders: Sequence[str],
    folders: Mapping[str, Sequence[str]],
    taken: _New,
) -> Iterator[Reached]:
    lines = lines_of(kind, text)
    yield from _patterns(path, kind, text, lines, original, taken)
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


def _start_a_job(text: str) -> frozenset[int]:
    """Lines of YAML below a key that only says when a job starts."""
    found: set[int] = set()
    # Keys that a line is below, outermost first: how far in, and whether the nearest key that says so is a filter's.
    above: list[tuple[int, bool]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        inner = len(line) - len(line.lstrip(" "))
        key = _KEY.match(line)
        dashes = len(key.group(2)) if key else 0
        while (
            above
            and above[-1][0] >= inner + dashes
            and not (line.lstrip().startswith("-") and not key and above[-1][0] == inner)
        ):
            above.pop()
        filters = above[-1][1] if above else False
        if key:
            name = key.group(3)
            filters = name in _FILTERS or (filters and name not in _COLLECTS)
            above.append((inner + dashes, filters))
        if filters:
            found.add(number)
    return frozenset(found)


def _patterns(path: str, kind: str, text: str, lines: Lines, original: Tree, new: _New) -> Iterator[Reached]:
    listing = {number for number, _, _ in lines.listings}
    filters = _start_a_job(text) if kind == "yaml" and lines.patterns else frozenset()
    for number, line, words in lines.patterns:
        if _FILTER.match(line) and number not in listing and number in filters:
            # A filter of paths that starts a job, not one that reads the files.
            continue
        if lines.moves and re.search(r"\bin\s+(?:\./)?\*(?=\s*(?:;|\Z))", line):
            # All files of a folder that it went into.
            beside = [item for item, _ in new if posixpath.dirname(item) in original.folders]
            yield from (Reached(item, path, number, "*") for item in beside)
        for word in words:
            before, _, after = line.partition(word)
            if kind == "json" and not word.strip("*/"):
                # A word of a vocabulary, and no folders.
                continue
            if word.endswith("*/") and (after.startswith("\\") or _ends_comment(path, kind, before)):
                # Not folders: `'*/\.*'` goes on.
                continue
            if "/" not in word and re.search(rf"(?:^|\s)--?[\w-]+[= ][\"']?{re.escape(word)}", line):
                # A pattern that an option takes is for names in whatever folder. In prose it is an example.
                if kind == "text":
                    continue
                word = f"**/{word}"
            elif "/" not in word and (lines.moves or (kind == "make" and _MOVES.search(line))):
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


def _match(where: str, word: str, original: Tree, new: _New) -> Iterator[str]:
    text = re.sub(r"\$\$?\{[^{}]*\}|\$\$?\([^()]*\)|\$\$?\w+|%\{[^{}]*\}|<\([^()]*\)|%s|\{\w*\}", UNKNOWN, word)
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
    tail = re.split(r"[*?\]\0]", normal(text))[-1]
    for item, places in new:
        if not any(expression.match(place) for place in places if place.endswith(tail) for expression in expressions):
            continue
        if UNKNOWN in text and "**" not in text and posixpath.dirname(item) not in original.folders:
            continue
        yield item


def _mentioned(path: str, kind: str, text: str, folders: Mapping[str, Sequence[str]]) -> Iterator[Reached]:
    """A folder that holds a new file, named as a whole or with a pattern: not a file in it."""
    for folder, inside in folders.items():
        if folder.rpartition("/")[2] not in text:
            continue
        for mention in _mentions(path, kind, text, folder):
            items = [item for item in inside if item.endswith(_HEADERS)] if mention.for_headers else inside
            if mention.pattern:
                pattern = matcher(mention.pattern)
                items = [item for item in items if pattern.match(item)]
            yield from (Reached(item, path, mention.line, mention.words) for item in items)


@dataclass(frozen=True)
class _Mention:
    """A place that names a folder: its line, whether only headers are meant, the pattern behind it, the line's text."""

    line: int
    for_headers: bool
    pattern: str
    words: str


def _mentions(path: str, kind: str, text: str, folder: str) -> Iterator[_Mention]:
    here = posixpath.dirname(path)
    name = folder.rpartition("/")[2]
    number, start, end = 1, 0, -1
    for found in _mention(name).finditer(text):
        if found.start() > end:
            number += text.count("\n", start, found.start())
            start, end = text.rfind("\n", 0, found.start()) + 1, _end(text, found.start())
        near = (start, end) if end - start <= _LONGEST else _around(start, end, found.start(), _BESIDE)
        before, line = text[near[0] : found.start()], text[slice(*near)]
        if near[0] == start:
            if _is_comment(_COMMENT.get(kind, "#"), before):
                continue
            if kind in _CODE and not _in_string(before) and not _DIRECTIVE.match(before):
                continue
        named = normal(re.sub(r"^.*[)}>%]", "", found.group(1).replace("\\", "/")) + name)
        if not any(_tail(folder, word) for word in (named, normal(posixpath.join(here, named)))):
            continue
        # The start of a name, of which the rest is computed.
        pattern = f"{folder}/{found.group(3)}*" if found.group(3) else ""
        if found.group(2):
            if kind not in _EXACT and "\\" not in found.group(2):
                # As the patterns above: a job's filter of paths reads no file.
                continue
            more = "*" if text.startswith(("$", "%", "{", "<"), found.end()) else ""
            pattern = f"{folder}/{found.group(2).replace(chr(92), '/').lstrip('/')}{more}"
        yield _Mention(number, _FOR_HEADERS.search(before) is not None, pattern, " ".join(line.split())[:60])


def _end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end == -1 else end


@lru_cache(maxsize=256)
def _mention(name: str) -> re.Pattern[str]:
    return re.compile(
        rf"((?:[\w.$@(){{}}<>%:~+-]*[/\\])*)(?<![\w.-]){re.escape(name)}"
        r"(?:((?:[/\\][\w.*?-]*)*[/\\][\w.-]*\*[\w.*?/\\-]*)|[/\\]([\w.-]+)(?=[$%{<]|[\"'`]\s*[+.&~])"
        r"|(?![\w-]|\.\w|[/\\][\w.]))"
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

    def named(words: Iterable[str]) -> set[str]:
        return {
            place
            for word in words
            if "*" not in word
            for place in (normal(word), normal(posixpath.join(here, word)))
            if place in original.folders and (place or word in (".", "./"))
        }

    @cache  # a long line may list a thousand times
    def beside(number: int) -> tuple[tuple[str, ...], set[str], bool]:
        near = "\n".join(lines[max(0, number - _NEAR) : number + _NEAR])
        strings = named(item for group in _STRING.findall(near) for item in group if item)
        return tuple(set(_ENDING.findall(f"{near} "))), strings, _DEEP.search(near) is not None

    for number, line, how in found.listings:
        if _REMOVES.search(line) or (kind == "python" and not re.search(r"\bfind\s|ls-files|fwalk", how)):
            continue
        endings, strings, deep = beside(number)
        asked = strings | named(re.findall(r"[\w./-]+", line[line.index(how) :]))
        whole = _WHOLE.search(line) is not None
        for item in new:
            if endings and not item.endswith(endings):
                continue
            folder = posixpath.dirname(item)
            if asked:
                inside = any(folder == one or (deep and (not one or folder.startswith(f"{one}/"))) for one in asked)
            else:
                inside = (whole or bool(endings)) and folder in original.folders
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
        if (rule := re.match(r"(?:[^\t#=:]*:)+[^=:]*?%(\.\w+)", line)) or (rule := re.match(r"(\.\w+)\.\w+\s*:", line)):
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
