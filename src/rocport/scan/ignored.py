"""What git leaves alone in a tree: files and folders that a .gitignore, or the user's own list, names."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

GIT = ("git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null")
"""git as it is asked about a tree that may be hostile: nothing that the tree's own configuration names is started."""


def ignored_by_git(root: Path) -> frozenset[str]:
    """Paths below `root`, relative, that git ignores; folders end with `/`. Empty when git is missing or `root` lies in
    no work tree; a root that is ignored as a whole was named by the user and is scanned."""
    try:
        done = subprocess.run(
            [*GIT, "-C", os.fspath(root), "ls-files", "-oi", "--exclude-standard", "--directory", "-z"],
            capture_output=True,
            check=False,
            timeout=60,
        )
    except (OSError, subprocess.TimeoutExpired):
        return frozenset()
    names = frozenset(os.fsdecode(name) for name in done.stdout.split(b"\0") if name)
    return frozenset() if done.returncode or "./" in names else names


def is_ignored(path: str, ignored: frozenset[str]) -> bool:
    """True for an ignored file, or one below an ignored folder."""
    if path in ignored:
        return True
    end = path.find("/")
    while end >= 0:
        if path[: end + 1] in ignored:
            return True
        end = path.find("/", end + 1)
    return False
