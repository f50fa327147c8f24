"""Runs a program of somebody else's: it writes where it may, reaches no network, and none of its children outlive it.

`confine` returns what a child does between fork and exec (`preexec_fn` of subprocess), `tied` only the last of what
follows; `looking` writes the command that starts a compiler or a build tool over a tree that may be hostile. None needs
root:

- Landlock (Linux 5.13) lets it write below the folders named, and to harmless devices and those of GPUs, nowhere else;
  reading is restricted by `looking` only. From Linux 6.12 on it sends no signal to what is outside.
- seccomp leaves it sockets of this machine only: no TCP, UDP, raw or packet sockets.
- Capabilities of root are dropped but those over files.
- Between us and the program stands a process that adopts what the program leaves behind, and ends it with the program,
  also what has moved to a session of its own, and ends all of it when there are too many processes.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import FrameType

from rocport.sandbox import seccomp
from rocport.sandbox.landlock import Ruleset, abi

_PR_SET_PDEATHSIG = 1  # Linux, prctl(2)
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_OVER_FILES = (0, 1, 3)  # CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER: root of a container writes folders of others
_CAPABILITIES = 64
END = signal.SIGUSR1
"""Sent to the process that `confine` leaves in the place of the child: it ends the program and all it started."""
MOST_PROCESSES = 1024
"""Of a confined program and all it starts, at once."""
_WATCH_S = 0.25
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm", "kfd", "dri")
_NETWORK_SINCE = 4
_SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/nix/store", "/etc/alternatives",
           "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/dev/null", "/dev/zero")  # fmt: skip
"""Programs, libraries and headers of the system: nothing of a user's."""


def why_not() -> str:
    """Why programs cannot be confined here; empty where they can."""
    version = abi()
    if version <= 0:
        return "this system has no Landlock (Linux 5.13 or later with lsm=landlock)"
    if version < _NETWORK_SINCE and not seccomp.works():
        return f"Landlock {version} restricts files only, and there is no seccomp; Linux 6.7 restricts TCP, too"
    return ""


def looking(command: Sequence[str | Path], readable: Iterable[Path], writable: Iterable[Path] = ()) -> list[str]:
    """The command that runs `command` so that it reads, and starts, what lies below `readable`, the Python at hand or
    the system's programs and headers, writes below `writable`, and reaches no network.

    For a compiler over somebody's sources, whose `#include` and `.incbin` can name any file. Where the system has no
    Landlock it is the command itself.
    """
    words = [os.fspath(word) for word in command]
    if abi() <= 0:
        return words
    python = {sys.prefix, sys.base_prefix, os.path.realpath(sys.executable)}
    reads = [f"-r{os.path.realpath(path)}" for path in [*map(str, readable), *_SYSTEM, *sorted(python)]]
    writes = [f"-w{os.path.realpath(path)}" for path in [*map(str, writable), "/dev/null"]]
    enter = str(Path(__file__).with_name("enter.py"))
    return [sys.executable, "-I", "-S", enter, *dict.fromkeys(reads), *dict.fromkeys(writes), "--", *words]


def confine(writable: Sequence[Path], before: Callable[[], None] | None = None) -> Callable[[], None]:
    """What a child calls after fork: it may write below `writable` only, and everything it starts ends with it.

    `before` is called first, in the program's own process (limits of resources). Where the system has no Landlock only
    the last holds; `why_not` says so. The child must be the leader of its session (`start_new_session=True`).
    """
    devices = [Path("/dev", name) for name in _DEVICES] + sorted(Path("/dev").glob("nvidia*"))
    ruleset = Ruleset([*writable, *devices]) if abi() > 0 else None
    sockets = seccomp.Filter() if seccomp.works() else None
    libc = ctypes.CDLL(None)

    def enter() -> None:
        if sys.platform == "linux":
            _stand_between(libc, MOST_PROCESSES)
            for capability in set(range(_CAPABILITIES)).difference(_OVER_FILES):
                libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
        if before is not None:
            before()
        if ruleset is not None:
            ruleset.enforce()
        if sockets is not None:
            sockets.enforce()

    return enter


def tied() -> Callable[[], None]:
    """What a child calls after fork: everything it starts ends with it, and with rocport; nothing else is restricted.

    SIGTERM to the child reaches the program.
    """
    libc = ctypes.CDLL(None)

    def enter() -> None:
        if sys.platform == "linux":
            _stand_between(libc)

    return enter


def _stand_between(libc: ctypes.CDLL, most: int | None = None) -> None:
    """Fork: the child returns and becomes the program; the parent waits, ends what is left, and ends as it did.

    With `most` processes allowed the program leads a session, whose signals reach both.
    """
    libc.prctl(_PR_SET_PDEATHSIG, END)  # also when rocport is killed
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    program = os.fork()
    if program == 0:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)  # of the parent, which dies with rocport
        return
    # The pipe on which subprocess hears of exec must close when the program's copy does.
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))

    def pass_on(number: int, _frame: FrameType | None) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(program, signal.SIGKILL if number == END else number)

    # The program, in the same group, decides what those of a terminal mean.
    for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN if most else pass_on)
    signal.signal(END, pass_on)
    try:
        status = _wait(program, most)
    finally:
        _end_children()
    if os.WIFSIGNALED(status):
        how = os.WTERMSIG(status)
        with contextlib.suppress(OSError, ValueError):
            signal.signal(how, signal.SIG_DFL)
        os.kill(os.getpid(), how)
    os._exit(os.WEXITSTATUS(status))


def _wait(program: int, most: int | None) -> int:
    """The program's status; all of it is ended when it has become more than `most` processes."""
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    while True:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended == program:
            return status
        if ended:
            continue
        if signal.sigtimedwait({signal.SIGCHLD}, _WATCH_S) is None and most and len(_below(os.getpid())) > most:
            os.write(2, f"rocport: more than {most} processes at once; ended\n".encode())
            os.kill(program, signal.SIGKILL)


def _below(ancestor: int) -> list[int]:
    """Every process that it, or one that it started, has started and that is still there."""
    children = defaultdict(list)
    for entry in os.listdir("/proc"):
        if entry.isdigit() and (parent := _parent(entry)):
            children[parent].append(int(entry))
    found: list[int] = []
    queue = [ancestor]
    while queue:
        found += (below := children[queue.pop()])
        queue += below
    return found


def _end_children() -> None:
    """Kill what the program left behind, and what that leaves behind: stopped first, so that none starts another."""
    while True:
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for process in _below(os.getpid()):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, number)
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
