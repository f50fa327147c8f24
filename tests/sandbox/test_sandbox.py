"""What a confined program can do, asked of real programs."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rocport import sandbox
from rocport.executor.base import Limits
from rocport.executor.process import Finished, run_process


def _run(code: str, cwd: Path, **limits: float | bool) -> Finished:
    return run_process([sys.executable, "-c", code], cwd, os.environ, Limits(**limits))  # type: ignore[arg-type]


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    if reason := sandbox.why_not():
        pytest.skip(reason)
    folder = tmp_path / "inside"
    folder.mkdir()
    return folder


def test_it_writes_in_its_folder_and_in_its_own_temporary_one(inside: Path) -> None:
    done = _run(
        "import os, tempfile\nopen('a', 'w').write('a')\nos.mkdir('d')\nos.replace('a', 'd/b')\n"
        "print(tempfile.mkstemp()[1])\nopen('/dev/null', 'w').write('x')",
        inside,
    )
    assert done.status == 0, done.stderr
    assert (inside / "d" / "b").read_text() == "a"
    assert not Path(done.stdout.strip()).exists()


@pytest.mark.parametrize(
    "act",
    [
        "open('{outside}/new', 'w')",
        "open('{outside}/old', 'a')",
        "os.truncate('{outside}/old', 0)",
        "os.unlink('{outside}/old')",
        "os.rename('{outside}/old', 'old')",
        "os.mkdir('{outside}/d')",
        "os.symlink('x', '{outside}/s')",
        "os.symlink('{outside}', 'way'); open('way/new', 'w')",
    ],
)
def test_it_changes_nothing_outside(act: str, inside: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "old").write_text("old")
    done = _run("import os\n" + act.format(outside=outside), inside)
    assert (done.status == 1 and "PermissionError" in done.stderr) or "Invalid cross-device link" in done.stderr
    assert [path.name for path in outside.iterdir()] == ["old"] and (outside / "old").read_text() == "old"


def test_it_reads_what_it_needs(inside: Path, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("42")
    assert _run(f"print(open('{tmp_path}/data').read())", inside).stdout == "42\n"


def test_it_reaches_no_network(inside: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        done = _run(f"import socket\nsocket.create_connection(('127.0.0.1', {port}), 5)", inside)
    assert done.status == 1 and "PermissionError" in done.stderr


def test_without_the_sandbox_all_is_as_it_was(inside: Path, tmp_path: Path) -> None:
    done = _run(f"open('{tmp_path}/new', 'w').write('x')", inside, confined=False)
    assert done.status == 0 and (tmp_path / "new").exists()


_ESCAPES = (
    "import os, subprocess, sys\n"
    "subprocess.Popen([sys.executable, '-c', \"import os,time; open('pid','w').write(str(os.getpid())); "
    "os.rename('pid', 'child'); time.sleep(600)\"], start_new_session=True)\n"
    "while not os.path.exists('child'): pass\n"
)


def _alive(number: str) -> bool:
    try:
        return Path(f"/proc/{number}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("ends", ["", "os.kill(os.getpid(), 9)\n"])
def test_a_child_with_a_session_of_its_own_ends_with_the_program(ends: str, inside: Path) -> None:
    done = _run(_ESCAPES + ends, inside, seconds=3600)
    assert done.status == (0 if not ends else -signal.SIGKILL)
    assert not _alive((inside / "child").read_text())


def test_all_of_it_ends_when_rocport_is_killed(inside: Path) -> None:
    (inside / "program.py").write_text(_ESCAPES + "open('ready', 'w')\nimport time\ntime.sleep(600)\n")
    script = (
        "import os, sys\nfrom pathlib import Path\nfrom rocport.executor.base import Limits\n"
        "from rocport.executor.process import run_process\n"
        "run_process([sys.executable, 'program.py'], Path.cwd(), os.environ, Limits(seconds=3600))\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=inside)
    while not (inside / "ready").exists():
        assert parent.poll() is None
        time.sleep(0.02)
    parent.kill()
    parent.wait()
    number = (inside / "child").read_text()
    deadline = time.monotonic() + 3600
    while _alive(number):
        assert time.monotonic() < deadline
        time.sleep(0.02)
