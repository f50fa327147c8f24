"""A child process that ends when what started it ends."""

from __future__ import annotations

import signal
from collections.abc import Callable


def ended_with_parent(number: int = signal.SIGKILL) -> Callable[[], None]:
    """What a child calls first, to get signal `number` when the thread that forked it ends, even killed.

    Made before the fork: a child of many threads must load nothing. Does nothing but on Linux (prctl(2),
    PR_SET_PDEATHSIG), and does not see a parent that ended before the call.
    """
    import ctypes

    libc = ctypes.CDLL(None)

    def end() -> None:
        if hasattr(libc, "prctl"):
            libc.prctl(1, number)

    return end
