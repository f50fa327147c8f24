"""Texts of public repositories in a folder: `OWNER+NAME/` holds files, a clone, or a bare clone as `repo`."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

_BLOB = re.compile(r"https://github\.com/([\w.-]+/[\w.-]+)/blob/([^/]+)/([^;\s#]+)")


@dataclass(frozen=True)
class Snapshot:
    """A folder of repositories. What it does not hold is None, never guessed."""

    folder: Path

    def text(self, repository: str, path: str, ref: str = "HEAD") -> str | None:
        """The text of a file at a commit, tag or branch; plain files are taken whatever `ref` says."""
        place = self.folder / repository.replace("/", "+")
        if (place / path).is_file():
            return (place / path).read_text(encoding="utf-8", errors="replace")
        for name in (ref, "HEAD"):
            done = self._git(place, "show", f"{name}:{path}")
            if done is not None:
                return done
        return None

    def text_at(self, repository: str, path: str, ref: str) -> str | None:
        """The text of a file at that commit, tag or branch and no other; None for plain files: they have no history."""
        return self._git(self.folder / repository.replace("/", "+"), "show", f"{ref}:{path}")

    def copied(self, text: str) -> bool:
        """True where `repository:path` is a plain file of the snapshot: somebody's copy, with no history to vouch."""
        repository, _, path = text.partition(":")
        return (self.folder / repository.replace("/", "+") / path).is_file()

    def history(self, repository: str, path: str) -> list[tuple[str, str]]:
        """(date, text) of every version of a file, oldest first; one without a date where there is no git."""
        place = self.folder / repository.replace("/", "+")
        log = self._git(place, "log", "--reverse", "--format=%H %cs", "--", path)
        if log is None:
            text = self.text(repository, path)
            return [] if text is None else [("", text)]
        found = []
        for line in log.splitlines():
            commit, day = line.split()
            text = self._git(place, "show", f"{commit}:{path}")
            if text is not None:
                found.append((day, text))
        return found

    def cited(self, source: str) -> tuple[str, str | None]:
        """(repository and path, text) that a source of the facts names; the text None where it cannot be read."""
        blob = _BLOB.search(source)
        if blob is None:
            return source, None
        return f"{blob[1]}:{blob[3]}", self.text(blob[1], blob[3], blob[2])

    @staticmethod
    def _git(place: Path, *words: str) -> str | None:
        git = place / "repo" if (place / "repo").is_dir() else place
        if not (git / "HEAD").is_file() and not (git / ".git").exists():
            return None
        done = subprocess.run(
            ["git", "-C", str(git), *words], capture_output=True, text=True, errors="replace", check=False
        )
        return done.stdout if done.returncode == 0 else None
