"""What a confined program can do, asked of real programs."""

from __future__ import annotations

import errno
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rocport import sandbox
from rocport.cli.running import say_sandbox
from rocport.executor.limits import Limits
from rocport.executor.process import Finished, run_process
from rocport.executor.program import ProgramError, load_program
from rocport.executor.torch_extension import Environment, read_extensions
from rocport.model.folders import NotPrivateError, cache_folder, private
from rocport.sandbox.landlock import abi


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
    _ends_with(signal.SIGKILL, [sys.executable, "-c", script], inside)


def _heed_the_terminal() -> None:
    """What a job in the background, or below nohup, ignores and hands on to its children."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


def _ends_with(number: int, command: list[str], inside: Path, terminal: bool = False) -> int:
    """The status of a command that gets a signal (as of a terminal: all of its group) once its child is ready; the
    child ends with it."""
    parent = subprocess.Popen(command, cwd=inside, start_new_session=terminal, preexec_fn=_heed_the_terminal)
    while not (inside / "ready").exists():
        assert parent.poll() is None
        time.sleep(0.02)
    (os.killpg if terminal else os.kill)(parent.pid, number)
    status = parent.wait()
    deadline = time.monotonic() + 3600
    while _alive((inside / "child").read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return status


_EXEC = "import sys\nfrom rocport.cli.cmd_exec import run_tied\nsys.exit(run_tied([sys.executable, 'program.py'], {}))"


@pytest.mark.skipif(sys.platform != "linux", reason="Linux's process controls")
def test_a_command_that_is_killed_leaves_nothing_running(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(_ESCAPES + "open('ready', 'w')\nimport time\ntime.sleep(600)\n")
    assert _ends_with(signal.SIGKILL, [sys.executable, "-c", _EXEC], tmp_path) == -signal.SIGKILL


@pytest.mark.skipif(sys.platform != "linux", reason="Linux's process controls")
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGQUIT])
def test_a_terminal_that_closes_leaves_nothing_running(number: int, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(_ESCAPES + "open('ready', 'w')\nimport time\ntime.sleep(600)\n")
    assert _ends_with(number, [sys.executable, "-c", _EXEC], tmp_path, terminal=True) == -number


@pytest.mark.skipif(sys.platform != "linux", reason="Linux's process controls")
def test_a_command_decides_what_sigterm_means(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        "import signal, sys\nsignal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\n"
        + _ESCAPES
        + "open('ready', 'w')\nimport time\ntime.sleep(600)\n"
    )
    assert _ends_with(signal.SIGTERM, [sys.executable, "-c", _EXEC], tmp_path) == 7


@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {port}))",
        "import socket; socket.socket(socket.AF_INET6, socket.SOCK_STREAM)",
        "import socket; socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
    ],
)
def test_no_protocol_of_the_network_is_left(code: str, inside: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        done = _run(code.format(port=server.getsockname()[1]), inside)
    assert done.status == 1 and "PermissionError" in done.stderr
    assert _run("import socket; a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))", inside).stdout == "b'x'\n"


def test_no_ring_goes_around_the_filter(inside: Path) -> None:
    done = _run("import ctypes; libc = ctypes.CDLL(None, use_errno=True)\n"
                "print(libc.syscall(425, 4, 0), ctypes.get_errno())", inside)  # fmt: skip
    assert done.stdout == f"-1 {errno.ENOSYS}\n"


def test_it_signals_nothing_outside(inside: Path) -> None:
    if abi() < 6:
        pytest.skip(f"Landlock {abi()} does not scope signals; Linux 6.12 does")
    act = "    try: os.kill(pid, 0); print('reached')\n    except PermissionError: print('refused')"
    done = _run(f"import os\nfor pid in ({os.getpid()}, os.getppid()):\n{act}", inside)
    assert done.stdout == "refused\n" * 2


def test_too_many_processes_are_ended(inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sandbox, "MOST_PROCESSES", 8)
    done = _run("import os, time\nfor _ in range(12):\n    if os.fork() == 0: time.sleep(600)\ntime.sleep(600)", inside)
    assert done.status == -signal.SIGKILL and "more than 8 processes" in done.stderr


def test_memory_files_and_time_are_limited(inside: Path) -> None:
    assert "MemoryError" in _run("bytearray(1 << 30)", inside, memory_bytes=1 << 28).stderr
    many = "import os\nfiles = [os.open('/dev/null', os.O_RDONLY) for _ in range(100)]"
    assert "Too many open files" in _run(many, inside, files=50).stderr
    big = "with open('big', 'wb') as file: file.truncate((1 << 30) + 1)"
    assert _run(big, inside).status != 0 and (inside / "big").stat().st_size == 0
    assert _run("while True: pass", inside, seconds=0.5).timed_out


def test_what_it_caches_only_confined_programs_read(inside: Path) -> None:
    act = f"import os\nprint(os.environ['ROCPORT_CACHE'])\nopen('{cache_folder()}/isa-planted', 'w')"
    done = _run(act, inside)
    assert done.stdout == f"{cache_folder() / 'confined'}\n" and "PermissionError" in done.stderr


def test_a_cache_of_another_user_is_refused_and_an_open_one_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = cache_folder({"ROCPORT_CACHE": str(tmp_path / "a" / "cache")})
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    assert private(folder).stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
    with pytest.raises(NotPrivateError, match="another user"):
        private(folder)


def test_without_landlock_the_command_is_itself_and_it_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sandbox, "abi", lambda: 0)
    assert sandbox.looking(["cc", "-c", "x.c"], [Path("/tmp")]) == ["cc", "-c", "x.c"]
    say_sandbox(True)
    assert "not confined: this system has no Landlock" in capsys.readouterr().err


@pytest.mark.parametrize(
    "makefile",
    [
        "X := $(shell touch {out})\nall:\n\thipcc a.hip\n",
        "all:\n\t+touch {out}; hipcc a.hip\n",
        "all: ; $(eval Y := $(shell touch {out})) hipcc a.hip\n",
        "X != touch {out}\nall:\n\thipcc a.hip\n",
        "include x.mk\nall:\n\thipcc a.hip\nx.mk:\n\ttouch {out}\n",
        "$(file >{out},x)\nall:\n\thipcc a.hip\n",
    ],
)
def test_a_makefile_that_is_asked_changes_nothing(makefile: str, inside: Path, tmp_path: Path) -> None:
    out = tmp_path / "written"
    (inside / "a.hip").write_text("int main() {}\n")
    for place in (out, inside / "written"):
        (inside / "Makefile").write_text(makefile.format(out=place))
        load_program(inside)
        assert not place.exists()


def test_a_setup_py_that_is_read_changes_nothing(inside: Path, tmp_path: Path) -> None:
    out = tmp_path / "written"
    text = f"from setuptools import setup\nfor name in ('{out}', 'written'):\n    open(name, 'w')\nsetup(name='x')\n"
    (inside / "setup.py").write_text(text)
    with pytest.raises(ProgramError, match="PermissionError"):
        read_extensions(inside, Environment(sys.executable, (), "", ()))
    assert not out.exists() and not (inside / "written").exists()
