from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from rocport import sandbox
from rocport.numerics import launch, process
from rocport.numerics.config import CaptureConfig
from rocport.numerics.process import Command, CommandError, Ended, Limits, parse_command, run_capture, run_child


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    """Run a few lines in place of launch.py: limits need no PyTorch."""

    def run(code: str, limits: Limits = Limits(60)) -> Ended:  # noqa: B008 - frozen
        script = tmp_path / "child.py"
        script.write_text(code)
        monkeypatch.setattr(process, "_LAUNCH", script)
        monkeypatch.setattr(process, "_GRACE_S", 0.5)  # a job of the background does not hear SIGINT
        return run_child(Command(sys.executable, (), ()), {"task": "none"}, limits)

    return run


@pytest.mark.parametrize(
    ("code", "limits", "reason"),
    [
        ("pass", Limits(60), "ended"),
        ("raise SystemExit(3)", Limits(60), "exit code 3"),
        ("import os; os.abort()", Limits(60), "crashed with SIGABRT"),
        (
            "import os; os.kill(os.getpid(), 9)",
            Limits(60),
            "crashed with SIGKILL (the system killed it, most likely for",
        ),
        ("import time; time.sleep(60)", Limits(1), "still running after 1 s"),
        (
            "import time; x = b'1' * (400 << 20); time.sleep(60)",
            Limits(60, 200 << 20),
            "MiB of memory, the limit is 200",
        ),
        (
            "import subprocess, sys, time\ncode = 'import time; x = b\"1\" * (400 << 20); time.sleep(60)'\n"
            "subprocess.Popen([sys.executable, '-c', code]); time.sleep(60)",
            Limits(60, 200 << 20),
            "the limit is 200",
        ),
    ],
)
def test_how_a_child_ends(child: object, code: str, limits: Limits, reason: str) -> None:
    ended = child(code, limits)  # type: ignore[operator]
    assert reason in ended.reason
    assert ended.ok == (code == "pass")


def test_a_child_that_ignores_the_first_signal_is_killed(child: object) -> None:
    code = "import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)"
    assert child(code, Limits(1)).code == -9  # type: ignore[operator]


def test_a_capture_hears_the_first_signal_where_the_shell_ignores_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job of the background is started so: over its limit it was killed ten seconds later, with nothing written."""
    spec = tmp_path / "spec.json"
    spec.write_text('{"task": "none"}')
    heard: list[object] = []
    monkeypatch.setattr(launch, "_task", lambda _: heard.append(signal.getsignal(signal.SIGINT)))
    monkeypatch.setattr(sys, "argv", ["launch.py", str(spec)])
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        launch.main()
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [signal.default_int_handler]


def test_commands(tmp_path: Path) -> None:
    script = tmp_path / "s.py"
    script.write_text("")
    name = str(script)
    assert parse_command([name, "-x"]) == Command(sys.executable, (), (name, "-x"))
    assert parse_command([sys.executable, "-u", "-X", "dev", "-Wignore", name, "1"]) == Command(
        sys.executable, ("-u", "-X", "dev", "-Wignore"), (name, "1")
    )
    assert parse_command([sys.executable, "-m", "a.b", "-v"]).target == ("-m", "a.b", "-v")
    assert parse_command(["s.py"], tmp_path).target == ("s.py",)
    tool = tmp_path / "tool"
    tool.write_text(f"#!{sys.executable}\nprint(1)\n")
    tool.chmod(0o755)
    assert parse_command([str(tool), "a"]) == Command(sys.executable, (), (str(tool), "a"))


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["no-such-tool"],
        ["/bin/ls"],
        [sys.executable],
        [sys.executable, "-m"],
        [sys.executable, "--what", "a"],
        ["no.py"],
    ],
)
def test_commands_that_cannot_run(words: list[str]) -> None:
    with pytest.raises(CommandError):
        parse_command(words)


def test_what_is_captured_is_confined(tmp_path: Path) -> None:
    if reason := sandbox.why_not():
        pytest.skip(reason)
    folder, outside = tmp_path / "program", tmp_path / "outside"
    folder.mkdir()
    (folder / "program.py").write_text(
        "import torch, socket, subprocess, sys, tempfile\n"
        "open('inside', 'w'); tempfile.mkstemp()\n"
        "for act in (lambda: open('../outside', 'w'), lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)):\n"
        "    try: act()\n    except PermissionError: open('inside', 'a').write('refused ')\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'], start_new_session=True)\n"
        "open('child', 'w').write(str(child.pid))\n"
        "torch.ones(2) + 1\n"
    )
    made = run_capture(
        parse_command([sys.executable, "program.py"], folder),
        tmp_path / "a.golden",
        CaptureConfig(),
        Limits(),
        cwd=folder,
    )
    assert made.ended.ok and (tmp_path / "a.golden").is_file()
    assert (folder / "inside").read_text() == "refused refused " and not outside.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int((folder / "child").read_text()), 0)
