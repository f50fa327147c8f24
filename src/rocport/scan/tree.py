"""Reading a source tree: what is there, what it is, and what could not be read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rocport.model import Problem

CUDA_SUFFIXES = frozenset({".cu", ".cuh", ".cup", ".h", ".hpp", ".hh", ".hxx", ".h++", ".inl", ".inc", ".ipp", ".tpp"})
HOST_SUFFIXES = frozenset({".c", ".cc", ".cpp", ".cxx", ".c++"})
_SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "__pycache__", ".venv", "node_modules", ".tox", ".mypy_cache", ".rocport"}
)

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
    left_out: tuple[str, ...] = ()
    """Files and folders (with `/`) the caller left out; what lies in them was not looked at."""


def keep_all(path: str) -> bool:
    """Leaves nothing out."""
    return False


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
    ".bzl": "bazel",
    ".hip": "hip",
}
_NAMES = {
    "meson.build": "meson",
    "BUILD": "bazel",
    "BUILD.bazel": "bazel",
    "WORKSPACE": "bazel",
    "WORKSPACE.bazel": "bazel",
    "MODULE.bazel": "bazel",
    ".bazelrc": "bazel",
    "MANIFEST.in": "manifest",
    ".gitmodules": "gitmodules",
    ".env": "shell",
}


def language_of(path: str) -> str:
    """`cuda` for C, C++ and CUDA sources and headers; `python`, `notebook`, `cmake`, `make`, `requirements`, `toml`
    (with setup.cfg), `docker`, `shell`, `yaml`, `meson`, `bazel`, `manifest` (MANIFEST.in), `gitmodules`, `hip`;
    else `other`."""
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
    if os.path.basename(path) in _NAMES:
        return _NAMES[os.path.basename(path)]
    if name.startswith(".env.") or suffix == ".env":
        return "shell"
    return _LANGUAGES.get(suffix, "other")


def read_tree(root: Path, skip: frozenset[Path] = frozenset(), leave_out: Callable[[str], bool] = keep_all) -> Tree:
    """List every file below `root`, or the file itself.

    Symbolic links are listed and never followed, so a cycle of links ends here. Folders named in `skip` (resolved) are
    left out: the output of an earlier port that lies inside its input; so is what `leave_out` says of its relative path
    (folders end with `/`). Raises FileNotFoundError when `root` does not
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
    left_out: list[str] = []
    for path, kind, detail in _walk(os.fspath(root), "", skip, leave_out):
        if kind == "file":
            entries.append(Entry(path, language_of(path), int(detail)))
        elif kind == "link":
            links.append((path, detail))
        elif kind == "left out":
            left_out.append(path)
        else:
            problems.append(Problem(path, detail))
    return Tree(root, tuple(entries), tuple(links), tuple(problems), tuple(left_out))


def _walk(
    folder: str, prefix: str, skip: frozenset[Path], leave_out: Callable[[str], bool]
) -> Iterator[tuple[str, str, str]]:
    try:
        with os.scandir(folder) as listing:
            children = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        yield prefix[:-1] or ".", "problem", f"cannot list this folder: {error.strerror}; its files are not ported"
        return
    for child in children:
        path = prefix + child.name
        try:
            if child.is_symlink():
                yield path, "link", os.readlink(child.path)
            elif child.is_dir(follow_symlinks=False):
                if child.name in _SKIPPED_FOLDERS or (skip and Path(child.path).resolve() in skip):
                    continue
                if leave_out(path + "/"):
                    yield path + "/", "left out", ""
                else:
                    yield from _walk(child.path, path + "/", skip, leave_out)
            elif leave_out(path):
                yield path, "left out", ""
            else:
                status = child.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    yield path, "file", str(status.st_size)
                else:
                    yield path, "problem", "not a regular file (socket, pipe or device); left out"
        except OSError as error:
            yield path, "problem", f"cannot be read: {error.strerror}; left out"
