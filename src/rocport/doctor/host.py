"""The edge to the machine: files under a root, the environment, and commands. A test hands in a folder as the root."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

Runner = Callable[[list[str], float], "str | None"]


def run_command(command: list[str], seconds: float) -> str | None:
    """stdout and stderr of a command; None when it is not installed or runs longer than `seconds`."""
    if shutil.which(command[0]) is None:
        return None
    try:
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", errors="replace")


def no_command(command: list[str], seconds: float) -> str | None:
    """A runner that runs nothing: for a root that is not this machine."""
    return None


@dataclass(frozen=True)
class Host:
    """One machine to probe. With a `root` other than `/` no command is run and no node is opened by default."""

    root: Path = Path("/")
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    run: Runner = run_command
    platform: str = sys.platform
    site_packages: tuple[Path, ...] | None = None
    """Folders with installed distributions; None: those of this interpreter and of an active virtual environment."""

    @property
    def real(self) -> bool:
        return self.root == Path("/")

    def path(self, name: str) -> Path:
        """`/sys/module/amdgpu` below the root."""
        return self.root / name.lstrip("/")

    def read(self, name: str, limit: int = 1 << 20) -> str | None:
        """Text of a file, stripped; None when it cannot be read."""
        try:
            with self.path(name).open("rb") as file:
                return file.read(limit).decode("utf-8", errors="replace").strip()
        except (OSError, ValueError):  # ValueError: a path made from damaged content holds a zero byte
            return None

    def exists(self, name: str) -> bool:
        try:
            return self.path(name).exists()
        except (OSError, ValueError):
            return False

    def glob(self, folder: str, pattern: str) -> list[Path]:
        """Sorted matches below a folder; empty when it cannot be read."""
        try:
            return sorted(self.path(folder).glob(pattern))
        except (OSError, ValueError):
            return []

    def shown(self, path: Path) -> str:
        """A path as the user of that machine sees it."""
        try:
            return "/" + str(path.relative_to(self.root))
        except ValueError:
            return str(path)
