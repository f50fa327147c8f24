"""Reading a source tree: what is there, what it is, and what could not be read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from rocport.model import Problem, SourceFile, SourceTree
from rocport.project.languages import language_of

_SKIPPED_FOLDERS = frozenset(
    {".git", ".hg", ".svn", "__pycache__", ".venv", "node_modules", ".tox", ".mypy_cache", ".rocport"}
)

_BUILT_FOLDERS = frozenset({"CMakeFiles"})
"""What a build has left between the sources: its tool's probes of compilers, and objects."""


def keep_all(path: str) -> bool:
    """Leaves nothing out."""
    return False


def read_tree(
    root: Path,
    skip: frozenset[Path] = frozenset(),
    leave_out: Callable[[str], bool] = keep_all,
    whole: bool = False,
) -> SourceTree:
    """List every file below `root`, or the file itself; nothing is opened.

    Symbolic links are listed and never followed, so a cycle of links ends here. Folders named in `skip` (resolved) are
    no part of the tree: the output of an earlier port that lies inside its input. What `leave_out` says of its relative
    path (folders end with `/`) is not listed, or with `whole` listed as `other`: a port takes it over as it is. Raises
    FileNotFoundError when `root` does not exist.
    """
    if not root.exists():
        raise FileNotFoundError(f"{root}: no such file or folder; name the folder of the CUDA sources")
    if root.is_file():
        file = SourceFile(root.parent, root.name, language_of(root.name), root.stat().st_size)
        return SourceTree(root.parent, (file,), single=True)
    listing = _Listing(root, skip, leave_out, whole)
    listing.add(os.fspath(root), "", False)
    return SourceTree(
        root, tuple(listing.files), tuple(listing.links), tuple(listing.problems), tuple(listing.left_out)
    )


class _Listing:
    """What a walk over a tree has met so far."""

    def __init__(self, root: Path, skip: frozenset[Path], leave_out: Callable[[str], bool], whole: bool) -> None:
        self._root, self._skip, self._leave_out, self._whole = root, skip, leave_out, whole
        self.files: list[SourceFile] = []
        self.links: list[tuple[str, str]] = []
        self.problems: list[Problem] = []
        self.left_out: list[str] = []

    def add(self, folder: str, prefix: str, out: bool) -> None:
        """Add what a folder holds, however deep; `out` says that it lies in one that was left out."""
        below = [(self._children(folder, prefix), prefix, out)]
        while below:
            children, prefix, out = below[-1]
            child = next(children, None)
            if child is None:
                below.pop()
                continue
            path = prefix + child.name
            try:
                inner = self._add(child, path, out)
            except OSError as error:
                self.problems.append(Problem(path, f"cannot be read: {error.strerror}; left out"))
                continue
            if inner is not None:
                below.append((self._children(child.path, f"{path}/"), f"{path}/", inner))

    def _children(self, folder: str, prefix: str) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(folder) as found:
                return iter(sorted(found, key=lambda child: child.name))
        except OSError as error:
            message = f"cannot list this folder: {error.strerror}; its files are not ported"
            self.problems.append(Problem(prefix[:-1] or ".", message))
            return iter(())

    def _add(self, child: os.DirEntry[str], path: str, out: bool) -> bool | None:
        """Whether a folder to go into was left out; None where there is none."""
        if child.is_symlink():
            self.links.append((path, os.readlink(child.path)))
            return None
        folder = child.is_dir(follow_symlinks=False)
        if folder:
            if child.name in _SKIPPED_FOLDERS or (self._skip and Path(child.path).resolve() in self._skip):
                return None
            path += "/"
        if not out and ((folder and child.name in _BUILT_FOLDERS) or self._leave_out(path)):
            out = True
            self.left_out.append(path)
        if out and not self._whole:
            return None
        if folder:
            return out
        status = child.stat(follow_symlinks=False)
        if stat.S_ISREG(status.st_mode):
            language = "other" if out else language_of(path)
            self.files.append(SourceFile(self._root, path, language, status.st_size))
        else:
            self.problems.append(Problem(path, "not a regular file (socket, pipe or device); left out"))
        return None
