"""The two trees that are compared: a folder, a work tree or a revision of git, read by content and file mode."""

from __future__ import annotations

import codecs
import hashlib
import importlib.util
import json
import marshal
import os
import stat
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

MANIFEST = "rocport-manifest.json"
_SKIPPED_FOLDERS = frozenset(
    [
        ".git",
        ".hg",
        ".svn",
        "__pycache__",
        ".venv",
        "node_modules",
        ".tox",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".rocport",
    ]
)
_TOOL_FOLDERS = frozenset((".venv", "node_modules", ".tox"))
"""Skipped, but tools find what lies in them: one that is new is not decided."""
_REPOSITORIES = frozenset((".git", ".hg", ".svn"))
_GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
_TIMEOUT_S = 3600


class TreeError(Exception):
    """A tree that cannot be read, or an original that cannot be found: place, expectation, next step."""


_CONTROL = bytes(item for item in range(32) if item not in b"\a\b\t\n\v\f\r\x1b")
_ASCII = bytes(range(128))


def _is_binary(data: bytes) -> bool:
    """Whether bytes without a zero among them are a picture, or packed, all the same: no text has so many that stand
    for no letter."""
    other = len(data.translate(None, _ASCII))
    return (len(data) - len(data.translate(None, _CONTROL))) * 100 > len(data) or (
        other * 2 > len(data) and "\ufffd" in data.decode("utf-8", "replace")
    )


class Tree:
    """Files by relative path with `/`. Content is read when it is asked for, and kept.

    `modes`: `file`, `exec`, `link` (its content is what it points to) or `submodule`: that, or anything else that is
    not read (an environment of a tool, a repository inside the tree, a pipe).
    """

    def __init__(self, modes: Mapping[str, str], read: Callable[[str], bytes], words: str) -> None:
        self.modes = dict(modes)
        self.words = words
        """What tree it is, for a reader."""
        self.permissions: dict[str, int] = {}
        """Read, write and execute bits of each file of a folder; git keeps none but `exec`."""
        self.empty: frozenset[str] = frozenset()
        """Folders without a file or folder in them; git keeps none."""
        self._read = read
        self._data: dict[str, bytes] = {}

    def __contains__(self, path: str) -> bool:
        return path in self.modes

    def data(self, path: str) -> bytes:
        """Content of a file of the tree. Raises TreeError when it cannot be read any more."""
        if path not in self._data:
            self._data[path] = self._read(path)
        return self._data[path]

    def text(self, path: str) -> bytes:
        """Content of a file as a text: UTF-8 of what is UTF-16, of a script what stands before its payload, and nothing
        of what is no text."""
        data = self.data(path)
        if b"\0" not in data:
            return b"" if _is_binary(data) else data
        if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return data.decode("utf-16", "replace").encode("utf-8", "replace")
        return data[: data.index(b"\0")] if data.startswith(b"#!") else b""

    @cached_property
    def folders(self) -> frozenset[str]:
        """Every folder that holds a file, at any depth; `""` is the root."""
        found = {""}
        for path in self.modes:
            for parent in PurePosixPath(path).parents:
                name = "" if str(parent) == "." else str(parent)
                if name in found:
                    break
                found.add(name)
        return frozenset(found)

    def children(self, folder: str) -> frozenset[str]:
        """Names of the files directly in a folder (`""`: the root)."""
        return self._by_folder.get(folder, frozenset())

    @cached_property
    def _by_folder(self) -> dict[str, frozenset[str]]:
        found: dict[str, set[str]] = {}
        for path in self.modes:
            folder, _, name = path.rpartition("/")
            found.setdefault(folder, set()).add(name)
        return {folder: frozenset(names) for folder, names in found.items()}


def read_folder(root: Path) -> Tree:
    """A folder as it lies on the disk, without version control, caches and virtual environments."""
    if not root.is_dir():
        raise TreeError(f"{root}: not a folder; name the folder of the sources")
    modes: dict[str, str] = {}
    permissions: dict[str, int] = {}
    empty: set[str] = set()

    def walk(folder: str, prefix: str) -> None:
        with os.scandir(folder) as entries:
            for entry in entries:
                path = prefix + entry.name
                if entry.is_symlink():
                    modes[path] = "link"
                elif entry.is_dir():
                    if entry.name not in _SKIPPED_FOLDERS:
                        walk(entry.path, f"{path}/")
                        if not any(os.scandir(entry.path)):
                            empty.add(path)
                    elif entry.name == "__pycache__":
                        modes.update((f"{path}/{name}", "file") for name in _unchecked(Path(entry.path)))
                    elif entry.name in _TOOL_FOLDERS or (prefix and entry.name in _REPOSITORIES):
                        modes[path] = "submodule"
                elif not entry.is_file():
                    # A pipe, a socket, a device.
                    modes[path] = "submodule"
                else:
                    bits = entry.stat().st_mode
                    modes[path] = _mode(bits)
                    permissions[path] = bits & 0o777

    try:
        walk(str(root), "")
    except OSError as error:
        raise TreeError(f"{error.filename}: {error.strerror}; every folder of the tree must be readable") from error
    modes.pop(MANIFEST, None)
    made = Tree(modes, _reader(root, modes), f"the folder {root}")
    made.permissions = permissions
    made.empty = frozenset(empty)
    return made


def _mode(bits: int) -> str:
    """`exec` or `file`; with the set-user-ID, set-group-ID and sticky bits in words where there are any."""
    name = "exec" if bits & stat.S_IXUSR else "file"
    special = bits & (stat.S_ISUID | stat.S_ISGID | stat.S_ISVTX)
    return f"{name} with mode {special:o}" if special else name


def _unchecked(folder: Path) -> list[str]:
    """Compiled modules that Python runs without a look at the source (PEP 552: by hash, not checked), and those that
    claim to be made of the source beside them and are not, or are of another Python, so that nobody can tell."""
    found: list[str] = []
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".pyc"):
            found += [name] if (folder / name).is_file() else []
            continue
        data = (folder / name).read_bytes()
        flags = int.from_bytes(data[4:8], "little")
        source = folder.parent / f"{name.partition('.')[0]}.py"
        if len(data) < 16 or flags > 0b11 or not source.is_file():
            continue
        if flags == 0b01 or (_claims(data, flags, source) and data[16:] != _compiled(data, source)):
            found.append(name)
    return found


def _claims(data: bytes, flags: int, source: Path) -> bool:
    """Whether Python would take a compiled module for that of its source: the same time and size, or the same hash."""
    if flags:
        return data[8:16] == importlib.util.source_hash(source.read_bytes())
    status = source.stat()
    stamp = (int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF)
    return (int.from_bytes(data[8:12], "little"), int.from_bytes(data[12:16], "little")) == stamp


def _compiled(data: bytes, source: Path) -> bytes:
    """What this Python makes of a source, as it writes it, where it is the one that wrote the compiled module; else
    nothing. The module is not read by `marshal`, which a crafted one can crash."""
    if data[:4] != importlib.util.MAGIC_NUMBER:
        return b""
    try:
        for optimize in (-1, 1, 2):
            made = compile(source.read_bytes(), str(source), "exec", dont_inherit=True, optimize=optimize)
            if marshal.dumps(made) == data[16:]:
                return data[16:]
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        pass
    return b""


_LARGEST = 2 << 30
"""Bytes of a file that is read."""


def _reader(root: Path, modes: Mapping[str, str]) -> Callable[[str], bytes]:
    def read(path: str) -> bytes:
        place = root / path
        if modes[path] == "submodule":
            return b""
        try:
            if modes[path] != "link" and (size := place.stat().st_size) > _LARGEST:
                raise TreeError(f"{place}: {size} bytes are more than this check reads; compare it, and take it out")
            return os.fsencode(os.readlink(place)) if modes[path] == "link" else place.read_bytes()
        except OSError as error:
            raise TreeError(f"{place}: {error.strerror}; every file of the tree must be readable") from error

    return read


def in_git(folder: Path) -> bool:
    """Whether a folder lies in a work tree of git that has a commit, and is not ignored by it."""
    try:
        _git(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return not _git(folder, "rev-parse", "--is-inside-work-tree").startswith(b"false") and bool(
            _git(folder, "ls-tree", "--name-only", "HEAD")
        )
    except TreeError:
        return False


def read_work_tree(root: Path) -> Tree:
    """The files of a git work tree: those git knows and those it would add."""
    listed = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    staged = _git(root, "ls-files", "-z", "--stage")
    submodules = {os.fsdecode(item.partition(b"\t")[2]) for item in staged.split(b"\0") if item.startswith(b"160000 ")}
    modes: dict[str, str] = {}
    for raw in listed.split(b"\0"):
        path = os.fsdecode(raw)
        if not path or path == MANIFEST or path.endswith("/"):
            continue
        if path in submodules:
            modes[path] = "submodule"
            continue
        try:
            status = os.lstat(root / path)
        except OSError:
            continue
        if stat.S_ISLNK(status.st_mode):
            modes[path] = "link"
        elif stat.S_ISREG(status.st_mode):
            modes[path] = "exec" if status.st_mode & stat.S_IXUSR else "file"
    return Tree(modes, _reader(root, modes), f"the work tree {root}")


_MODES = {"100644": "file", "100755": "exec", "120000": "link", "160000": "submodule"}


def read_revision(root: Path, revision: str) -> Tree:
    """The part of a revision that lies at `root`, a folder of the repository. Raises TreeError for no such revision."""
    commit = _git(root, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", what=revision).decode().strip()
    listed = _git(root, "ls-tree", "-r", "-z", commit)
    modes: dict[str, str] = {}
    blobs: dict[str, str] = {}
    for raw in listed.split(b"\0"):
        meta, _, name = raw.partition(b"\t")
        if name:
            mode, _, blob = meta.decode().split(" ")
            path = os.fsdecode(name)
            modes[path] = _MODES.get(mode, "file")
            blobs[path] = blob
    modes.pop(MANIFEST, None)
    prefix = os.fsdecode(_git(root, "rev-parse", "--show-prefix").rstrip(b"\n"))
    without = _without_programs(root)

    def read(path: str) -> bytes:
        if modes[path] == "submodule":
            return b""
        if modes[path] == "link":
            return _git(root, "cat-file", "blob", blobs[path])
        # As a checkout would write it: line endings of .gitattributes applied. A filter program is not started.
        return _git(root, *without, "cat-file", "--filters", f"{commit}:{prefix}{path}")

    tree = _Revision(modes, read, f"revision {revision} ({commit[:12]})")
    tree.blobs = blobs
    return tree


class _Revision(Tree):
    """A tree of git: a file of the work tree with the same object name is the same without being read from git."""

    blobs: Mapping[str, str] = {}

    def is_blob(self, path: str, data: bytes) -> bool:
        name = self.blobs[path]
        head = b"blob %d\0" % len(data)
        made = hashlib.sha256(head + data) if len(name) == 64 else hashlib.sha1(head + data)
        return made.hexdigest() == name


def same_bytes(ported: Tree, original: Tree, path: str) -> bool:
    """Whether a file that both trees have holds the same bytes."""
    data = ported.data(path)
    if isinstance(original, _Revision) and original.modes[path] != "submodule" and original.is_blob(path, data):
        return True
    return data == original.data(path)


def _without_programs(root: Path) -> tuple[str, ...]:
    """Options that switch off the filter programs a repository's configuration names: looking must not run them."""
    try:
        named = _git(root, "config", "--name-only", "-z", "--get-regexp", r"^filter\..*\.(smudge|process|required)$")
    except TreeError:
        return ()
    options: list[str] = []
    for raw in named.split(b"\0"):
        key = os.fsdecode(raw)
        if key:
            options += ["-c", f"{key}={'false' if key.endswith('.required') else ''}"]
    return tuple(options)


def _git(folder: Path, *arguments: str, what: str = "") -> bytes:
    try:
        done = subprocess.run(
            [*_GIT, "-C", str(folder), *arguments], capture_output=True, check=False, timeout=_TIMEOUT_S
        )
    except FileNotFoundError:
        raise TreeError("git is not installed; install it, or name the original with --original DIR") from None
    except subprocess.TimeoutExpired:
        raise TreeError(f"git {arguments[0]} took more than {_TIMEOUT_S} s in {folder}") from None
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().splitlines()
        if what:
            raise TreeError(f"{what}: no such revision in {folder}; `git log` lists them")
        raise TreeError(f"git {arguments[0]} failed in {folder}: {reason[0] if reason else 'no reason given'}")
    return done.stdout


@dataclass(frozen=True)
class Recorded:
    """What the manifest of a port says: its source, and the hash each source had when it was ported."""

    source_root: Path
    layout: str
    sources: Mapping[str, str]
    """Source path -> SHA-256."""
    translated: frozenset[str]
    """Outputs that are translations of a CUDA source under its own name."""


def read_manifest(root: Path) -> Recorded | None:
    """What the ported tree says of its original; None without a manifest. Raises TreeError for an unreadable one."""
    place = root / MANIFEST
    try:
        if place.exists() and not place.is_file():
            raise OSError("not a regular file")
        body = json.loads(place.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise TreeError(f"{place}: cannot be read ({error}); name the original with --original DIR") from error
    try:
        files = body["files"]
        return Recorded(
            (root / body.get("source_root", "")).resolve(),
            str(body.get("options", {}).get("layout", "hip")),
            {item["source"]: item["source_sha256"] for item in files if item["source"] and item["source_sha256"]},
            frozenset(
                item["output"]
                for item in files
                if item["source"] == item["output"] and item["source_sha256"] != item["output_sha256"]
            ),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise TreeError(f"{place}: not a manifest of rocport ({error!r}); name the original with --original") from error
