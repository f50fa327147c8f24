"""One task in a process of its own: what it uses is bounded, and its end, whatever ends it, ends nothing else.

`python -m rocport.fleet.child` reads a task and places from stdin, does the task, and stores its result. It ends when
the process that started it does.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass

from rocport.fleet.store import write_result
from rocport.fleet.tasks import Places, Task, from_json, perform
from rocport.model.parent import ended_with_parent
from rocport.sandbox.usage import members, resident

STOP = threading.Event()
"""Set when the driver gives up: children are ended, and nothing is stored of them."""
_POLL_S = 0.2
_SAID = 2_000


@dataclass(frozen=True)
class Limits:
    """Of one task: wall-clock seconds, and resident bytes of it and its children; None: no limit."""

    seconds: float = 3600.0
    memory: int | None = None


@dataclass(frozen=True)
class Ended:
    """How a child ended: `ok`, `limit` (it was ended for time or memory) or `lost` (something else ended it)."""

    how: str
    reason: str = ""
    seconds: float = 0.0
    peak_memory: int = 0


def run(task: Task, places: Places, limits: Limits) -> Ended:
    """Do a task in a child. What it prints is kept for the reason of its end only."""
    words = [sys.executable, "-m", "rocport.fleet.child"]
    started, peak, why = time.monotonic(), 0, ""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryDirectory(prefix="rocport-fleet-") as scratch:
        child = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=said, stderr=subprocess.STDOUT, start_new_session=True,
            env={**os.environ, **places.environment, "TMPDIR": scratch},
        )  # fmt: skip
        try:
            assert child.stdin is not None
            with suppress(BrokenPipeError):
                child.stdin.write(json.dumps({"task": asdict(task), "places": asdict(places)}).encode())
                child.stdin.close()
            while child.poll() is None and not why:
                memory = resident(child.pid)
                peak = max(peak, memory)
                if STOP.is_set():
                    why = "interrupted"
                elif time.monotonic() - started > limits.seconds:
                    why = f"still running after {limits.seconds:g} s"
                elif limits.memory is not None and memory > limits.memory:
                    why = f"used {memory >> 20} MiB of memory, the limit is {limits.memory >> 20} MiB"
                else:
                    with suppress(subprocess.TimeoutExpired):
                        child.wait(_POLL_S)
        finally:
            _end(child)
        seconds = time.monotonic() - started
        if why:
            return Ended("limit", why, seconds, peak)
        if child.returncode == 0:
            return Ended("ok", "", seconds, peak)
        said.seek(0, os.SEEK_END)
        said.seek(max(0, said.tell() - _SAID))
        last = said.read().decode(errors="replace").strip().splitlines()[-1:]
        code = child.returncode
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        return Ended("lost", " ".join([f"ended by {name}" if code < 0 else name, *last]), seconds, peak)


def _end(child: subprocess.Popen[bytes]) -> None:
    """End a child that still runs, and what it started in sessions of their own."""
    if child.poll() is not None:
        return
    for pid in reversed(members(child.pid)):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    child.wait()


def _interrupt(number: int, frame: object) -> None:
    raise KeyboardInterrupt


def main() -> int:
    """The child."""
    parent = os.getppid()
    signal.signal(signal.SIGTERM, _interrupt)
    # Compilers that run are ended on the way out.
    ended_with_parent(signal.SIGTERM)()
    if os.getppid() != parent:
        return 1
    task, places = from_json(json.load(sys.stdin))
    try:
        result = perform(task, places)
    except KeyboardInterrupt:
        return 1
    store = places.opened()
    write_result(store, task.key, result)
    # How often a task was brought to its end, for whoever wants to know that nothing was done twice.
    store.write(f"ended/{task.key}.{os.getpid()}.{time.time_ns()}", b"")
    return 0


if __name__ == "__main__":
    sys.exit(main())
