"""Runs a program of somebody else's: it writes where it may, reaches no network, and none of its children outlive it.

`confine` returns what a child does between fork and exec (`preexec_fn` of subprocess). It needs no root:

- Landlock (Linux 5.13) lets it write below the folders named, and to harmless devices and those of GPUs, nowhere else;
  reading is not restricted. From Linux 6.7 on TCP is refused, too.
- Between us and the program stands a process that adopts what the program leaves behind, and ends it with the program,
  also what has moved to a session of its own.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from rocport.sandbox.landlock import Ruleset, abi

_PR_SET_PDEATHSIG = 1  # Linux, prctl(2)
_PR_SET_CHILD_SUBREAPER = 36
END = signal.SIGUSR1
"""Sent to the process that `confine` leaves in the place of the child: it ends the program and all it started."""
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "kfd", "dri")
_NETWORK_SINCE = 4


def why_not() -> str:
    """Why programs cannot be confined here; empty where they can."""
    version = abi()
    if version <= 0:
        return "this system has no Landlock (Linux 5.13 or later with lsm=landlock)"
    if version < _NETWORK_SINCE:
        return f"Landlock {version} restricts files only; Linux 6.7 restricts the network, too"
    return ""


def confine(writable: Sequence[Path], before: Callable[[], None] | None = None) -> Callable[[], None]:
    """What a child calls after fork: it may write below `writable` only, and everything it starts ends with it.

    `before` is called first, in the program's own process (limits of resources). Where the system has no Landlock only
    the last holds; `why_not` says so. The child must be the leader of its session (`start_new_session=True`).
    """
    devices = [Path("/dev", name) for name in _DEVICES] + sorted(Path("/dev").glob("nvidia*"))
    ruleset = Ruleset([*writable, *devices]) if abi() > 0 else None
    libc = ctypes.CDLL(None)

    def enter() -> None:
        if sys.platform == "linux":
            _stand_between(libc)
            # Of the supervisor, which dies with rocport.
            libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if before is not None:
            before()
        if ruleset is not None:
            ruleset.enforce()

    return enter


def _stand_between(libc: ctypes.CDLL) -> None:
    """Fork: the child returns and becomes the program; the parent waits, ends what is left, and ends as it did."""
    libc.prctl(_PR_SET_PDEATHSIG, END)  # also when rocport is killed
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    program = os.fork()
    if program == 0:
        return
    # The pipe on which subprocess hears of exec must close when the program's copy does.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)  # the program, in the same group, decides what they mean

    def end(_number: int, _frame: FrameType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(program, signal.SIGKILL)

    signal.signal(END, end)
    try:
        status = _wait(program)
    finally:
        _end_children()
    if os.WIFSIGNALED(status):
        how = os.WTERMSIG(status)
        with contextlib.suppress(OSError, ValueError):
            signal.signal(how, signal.SIG_DFL)
        os.kill(os.getpid(), how)
    os._exit(os.WEXITSTATUS(status))


def _wait(program: int) -> int:
    while True:
        ended, status = os.waitpid(-1, 0)
        if ended == program:
            return status


def _end_children() -> None:
    """Kill what the program left behind, and what that leaves behind."""
    while True:
        for entry in os.listdir("/proc"):
            if entry.isdigit() and _parent(entry) == os.getpid():
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(int(entry), signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _parent(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # After the name, which may hold anything, in parentheses: state, parent.
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0
