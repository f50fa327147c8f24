"""The processes that share out the files of a tree."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

_SCAN = """
import os, time
from types import SimpleNamespace
from rocport.scan import engine

engine._PARALLEL_BYTES = 0

def work(file):
    os.write(1, b"%d\\n" % os.getpid())  # at once: print() may write the number and the end of the line apart
    time.sleep(3600)

list(engine.parallel(work, [SimpleNamespace(size=1, content=b"") for _ in range(2)], 2))
"""


def _runs(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        return False
    return state.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="prctl(2) is Linux's")
def test_the_processes_end_with_a_scan_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", _SCAN], stdout=subprocess.PIPE, text=True) as scan:
        assert scan.stdout is not None
        try:
            workers = [int(scan.stdout.readline()) for _ in range(2)]
            assert all(map(_runs, workers))
        finally:
            scan.send_signal(signal.SIGKILL)
        scan.wait()
        end = time.monotonic() + 3000
        while any(map(_runs, workers)) and time.monotonic() < end:
            time.sleep(0.05)
        assert not any(map(_runs, workers))
