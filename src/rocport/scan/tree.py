"""Reading a source tree: what is there, what it is, and what could not be read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rocport.model import Problem

CUDA_SUFFIXES = frozenset({".cu", ".cuh", ".cup", ".h", ".hpp", ".hh", ".hxx", ".h++", ".inl", ".inc", ".ipp", ".tpp"})
HOST_SUFFIXES = frozenset({".c", ".cc", ".cpp", ".cxx", ".c++"})
_SKIPPED_FOLDERS = frozenset({".git", ".hg", ".svn", "__pycache__", ".venv", "node_modules", ".tox", ".mypy_cache"})

# A generated table can be this long and still be source; beyond it a file is copied, not parsed.
MAX_SOURCE_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Entry:
    """One regular file of a tree; `path` is relative with `/`, `language` as `language_of` names it."""

    path: str
    language: str
    size: int


@dataclass(frozen=True)
class Tree:
    root: Path
    entries: tuple[Entry, ...]
    links: tuple[tuple[str, str], ...]
    """Symbolic links, kept as they are: (path, target)."""
    problems: tuple[Problem, ...]


_LANGUAGES = {
    ".py": "python",
    ".pyi": "other",
    ".cmake": "cmake",
    ".ipynb": "notebook",
    ".sh": "shell",
    ".bash": "shell",
    ".toml": "toml",
    ".cfg": "toml",
    ".mk": "make",
    ".yml": "yaml",
    ".yaml": "yaml",
    ".dockerfile": "docker",
}


def language_of(path: str) -> str:
    """`cuda` for C, C++ and CUDA sources and headers; `python`, `notebook`, `cmake`, `make`, `requirements`, `toml`
    (with setup.cfg), `docker`, `shell`, `yaml`; else `other`."""
    name = os.path.basename(path).lower()
    stem, suffix = os.path.splitext(name)
    if suffix in CUDA_SUFFIXES or suffix in HOST_SUFFIXES:
        return "cuda"
    if name == "cmakelists.txt" or name.endswith(".cmake.in"):
        return "cmake"
    if name.startswith(("dockerfile", "containerfile")) and suffix not in (".py", ".md", ".sh"):
        return "docker"
    if name.startswith(("makefile", "gnumakefile")) and suffix not in (".py", ".am"):
        return "make"
    if suffix in (".txt", ".in") and ("requirements" in path.lower() or "constraints" in stem):
        return "requirements"
    return _LANGUAGES.get(suffix, "other")


def read_tree(root: Path, skip: frozenset[Path] = frozenset()) -> Tree:
    """List every file below `root`, or the file itself.

    Symbolic links are listed and never followed, so a cycle of links ends here. Folders named in `skip` (resolved) are
    left out: the output of an earlier port that lies inside its input. Raises FileNotFoundError when `root` does not
    exist.
    """
    if not root.exists():
        raise FileNotFoundError(f"{root}: no such file or folder; name the folder of the CUDA sources")
    if root.is_file():
        size = root.stat().st_size
        return Tree(root.parent, (Entry(root.name, language_of(root.name), size),), (), ())
    entries: list[Entry] = []
    links: list[tuple[str, str]] = []
    problems: list[Problem] = []
    for path, kind, detail in _walk(root, root, skip):
        if kind == "file":
            entries.append(Entry(path, language_of(path), int(detail)))
        elif kind == "link":
            links.append((path, detail))
        else:
            problems.append(Problem(path, detail))
    return Tree(root, tuple(entries), tuple(links), tuple(problems))


def _walk(root: Path, folder: Path, skip: frozenset[Path]) -> Iterator[tuple[str, str, str]]:
    try:
        children = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        yield _relative(root, folder), "problem", f"cannot list this folder: {error.strerror}; its files are not ported"
        return
    for child in children:
        path = Path(child.path)
        try:
            if child.is_symlink():
                yield _relative(root, path), "link", os.readlink(child.path)
            elif child.is_dir(follow_symlinks=False):
                if child.name not in _SKIPPED_FOLDERS and path.resolve() not in skip:
                    yield from _walk(root, path, skip)
            else:
                status = child.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    yield _relative(root, path), "file", str(status.st_size)
                else:
                    yield _relative(root, path), "problem", "not a regular file (socket, pipe or device); left out"
        except OSError as error:
            yield _relative(root, path), "problem", f"cannot be read: {error.strerror}; left out"


def _relative(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()
