"""A revision of a repository as a tree of its own, and what git knows of the way from one to another.

Files are read with `git cat-file`, which starts none of the filters a repository may name in its configuration.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from rocport.scan.ignored import GIT


class RevisionError(Exception):
    """A folder is in no repository, or git knows no such revision; the message says which."""


def top(folder: Path) -> Path:
    """The repository that a folder lies in. Raises RevisionError."""
    return Path(os.fsdecode(_git(folder, "rev-parse", "--show-toplevel").rstrip(b"\n")))


def commit(folder: Path, name: str) -> str:
    """The full name of a commit. Raises RevisionError."""
    return _git(folder, "rev-parse", "--verify", "--end-of-options", f"{name}^{{commit}}").decode().strip()


def merge_base(folder: Path, one: str, other: str) -> str:
    """The commit where two part. Raises RevisionError."""
    return _git(folder, "merge-base", commit(folder, one), commit(folder, other)).decode().strip()


def extract(git_dir: Path, name: str, into: Path, below: str = "") -> None:
    """Write the files of a commit (those below a folder of it) into a folder; no links, no submodules.

    Raises RevisionError. A blob that the repository lacks (a partial copy) is left out.
    """
    listed = _git(git_dir, "ls-tree", "-r", "-z", "--full-tree", name, *(["--", below] if below else []))
    blobs = []
    for entry in listed.split(b"\0"):
        fields, _, name_ = entry.partition(b"\t")
        if name_ and fields.split()[1] == b"blob" and not fields.startswith(b"120000"):
            blobs.append((fields.split()[2], os.path.relpath(os.fsdecode(name_), below or ".")))
    into.mkdir(parents=True, exist_ok=True)
    command = [*GIT, "-C", os.fspath(git_dir), "cat-file", "--batch"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as git:
        assert git.stdin is not None and git.stdout is not None
        for sha, path in blobs:
            git.stdin.write(sha + b"\n")
            git.stdin.flush()
            said = git.stdout.readline().split()
            if len(said) < 3:
                continue
            data = git.stdout.read(int(said[2]))
            git.stdout.read(1)
            place = into / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)


def renames(folder: Path, base: str, head: str) -> dict[str, str]:
    """Path in `head` (empty: the work tree) -> its path in `base`, of files that moved. Raises RevisionError."""
    words = ["diff", "--no-ext-diff", "--no-textconv", "--name-status", "-z", "-M", "--diff-filter=R", base]
    fields = _git(folder, *words, *([head] if head else [])).split(b"\0")
    return {os.fsdecode(fields[at + 2]): os.fsdecode(fields[at + 1]) for at in range(0, len(fields) - 2, 3)}


def _git(folder: Path, *words: str) -> bytes:
    try:
        done = subprocess.run([*GIT, "-C", os.fspath(folder), *words], capture_output=True, check=False)
    except OSError as error:
        raise RevisionError(f"git cannot be started ({error.strerror}); a change is read from its history") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise RevisionError(f"{folder}: git {words[0]}: {said[-1] if said else 'failed'}")
    return done.stdout
