"""Programs under limits, in a group of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from rocport.executor.limits import Limits
from rocport.executor.process import run_process


def test_an_end_and_its_words(tmp_path: Path) -> None:
    done = run_process(["/bin/sh", "-c", "echo out; echo err >&2; exit 3"], tmp_path, os.environ, Limits())
    assert (done.status, done.stdout, done.stderr, done.timed_out) == (3, "out\n", "err\n", False)


def test_a_program_that_does_not_end_is_ended_with_its_children(tmp_path: Path) -> None:
    done = run_process(["/bin/sh", "-c", "sleep 60 & sleep 60"], tmp_path, os.environ, Limits(seconds=0.2))
    assert done.timed_out
    assert done.status == -signal.SIGKILL


def test_processor_time_is_a_limit_of_its_own(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "while True: pass"]
    done = run_process(command, tmp_path, os.environ, Limits(seconds=300, processor_seconds=1))
    assert done.timed_out and done.status == -signal.SIGXCPU


def test_only_the_end_of_much_output_is_kept(tmp_path: Path) -> None:
    done = run_process(["/bin/sh", "-c", "seq 1 1000"], tmp_path, os.environ, Limits(output_bytes=5))
    assert done.stdout == "1000\n"


def test_a_program_does_not_outlive_a_killed_parent(tmp_path: Path) -> None:
    script = (
        "import os\nfrom pathlib import Path\nfrom rocport.executor.base import Limits\n"
        "from rocport.executor.process import run_process\n"
        "run_process(['/bin/sh', '-c', 'echo $$ > child; exec sleep 60'], Path.cwd(), os.environ, Limits())\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path)
    child = tmp_path / "child"
    while not child.exists() or not child.read_text().strip():
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    number = child.read_text().strip()
    for _ in range(250):
        try:
            state = Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            break
        if state == "Z":
            break
        time.sleep(0.02)
    else:
        os.kill(int(number), signal.SIGKILL)
        raise AssertionError("the program lives on")
