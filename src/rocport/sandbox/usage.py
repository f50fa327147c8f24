"""What a running process and its children use."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def resident(session: int, besides: bool = False) -> int:
    """Resident bytes of the child and of its children, which share its session, `besides`: of these only (the child
    stands between them and us); 0 where /proc is missing."""
    total = 0
    pages = os.sysconf("SC_PAGE_SIZE")
    for pid in members(session)[besides:]:
        with suppress(OSError, ValueError, IndexError):
            total += int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * pages
    return total


def members(session: int) -> list[int]:
    """A process and its children, and theirs."""
    found, front = [session], [session]
    while front:
        pid = front.pop()
        with suppress(OSError):
            for thread in os.listdir(f"/proc/{pid}/task"):
                children = Path(f"/proc/{pid}/task/{thread}/children").read_text().split()
                found += map(int, children)
                front += map(int, children)
    return found
