"""`rocport capture`, `rocport compare` and `rocport verify --level numerical` as a user runs them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from rocport.cli import main

pytest.importorskip("torch", reason="capture runs PyTorch programs")
pytest.importorskip("msgpack", reason="golden files need msgpack")

Run = Callable[..., subprocess.CompletedProcess[str]]
_MAIN = "from rocport.cli import main; main()"
_SCRIPT = """
import sys
import torch
scale = float(sys.argv[1])
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU())
y = net(torch.ones(2, 4)) * scale
y.sum().backward()
print("script says", scale)
"""

_COMPILES_NOTHING = """
import sys, torch
torch.nn.Linear(3, 3)(torch.ones(3))
assert "torch._dynamo" not in sys.modules, "recording costs 3 s more than it has to"
"""


@pytest.fixture
def rocport(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """The command in this process, which has torch already; what it starts are processes of their own."""
    (tmp_path / "script.py").write_text(_SCRIPT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        capfd.readouterr()
        with monkeypatch.context() as own, pytest.raises(SystemExit) as ended:
            own.setattr(sys, "argv", ["rocport", *words])
            for stream in ("stdout", "stderr"):
                own.setattr(sys, stream, getattr(sys, stream))  # put back: main() wraps them
            main()
        said = capfd.readouterr()
        assert ended.value.code is None or isinstance(ended.value.code, int)
        return subprocess.CompletedProcess(words, ended.value.code or 0, said.out, said.err)

    return run


def test_record_and_compare(rocport: Run, tmp_path: Path) -> None:
    made = rocport("capture", "-o", "a.golden", "--runs", "2", "--", "script.py", "1")
    assert made.returncode == 0, made.stderr
    assert "script says" not in made.stdout and "script says" in made.stderr
    assert "0 tensors differ between two runs" in made.stdout
    assert not (tmp_path / "a.golden.part").exists()

    same = rocport("compare", "a.golden", "a.golden")
    assert (same.returncode, same.stdout.splitlines()[0]) == (0, "equal: every measured bit agrees"), same.stderr

    other = rocport(
        "compare", "--format", "json", "--out", "b.golden", "a.golden", "--", sys.executable, "script.py", "2"
    )
    assert other.returncode == 1, other.stderr
    result = json.loads(other.stdout)
    first = result["first"]
    assert (result["verdict"], first["call"], first["verdict"]) == ("diverges", "aten.mul.Tensor", "diverges here")
    assert first["site"].startswith("script.py:7 ")
    assert first["symptoms"][0] == {"name": "arguments", "text": "argument 1 is 2.0, was 1.0"}
    assert first["symptoms"][1]["name"] == "scaled"
    assert result["exact_expected"]

    files = rocport("compare", "a.golden", "b.golden")
    assert files.returncode == 1 and "DIVERGES" in files.stdout

    level = ("verify", str(tmp_path), "--level", "numerical", "--golden", "a.golden", "--", sys.executable, "script.py")
    assert rocport(*level, "2").returncode == 1


def test_replay(rocport: Run, tmp_path: Path) -> None:
    assert rocport("capture", "-o", "a.golden", "--full", "--", sys.executable, "script.py", "1").returncode == 0
    replayed = rocport("compare", "--replay", "a.golden")
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
    assert "replayed on" in replayed.stdout
    assert (tmp_path / "a.golden.replay.jsonl").exists()


def test_a_program_that_fails_is_a_result(rocport: Run, tmp_path: Path) -> None:
    for name, code, said in (
        ("raises", "raise ValueError('no')", "exit code 1"),
        ("crashes", "import os; os.kill(os.getpid(), 11)", "SIGSEGV"),
    ):
        (tmp_path / f"{name}.py").write_text(f"import torch\ntorch.ones(3).sum()\n{code}\n")
        made = rocport("capture", "-o", f"{name}.golden", "--", sys.executable, f"{name}.py")
        assert made.returncode == 1, (name, made.stderr)
        assert said in made.stderr, made.stderr
        assert "launch.py" not in made.stderr
        assert ("aten.sum.default" in made.stderr) == (name == "crashes")
        assert (tmp_path / f"{name}.golden").exists()
        refused = rocport("compare", f"{name}.golden", f"{name}.golden")
        assert refused.returncode == 2 and "--partial" in refused.stderr
    assert rocport("compare", "--partial", "raises.golden", "raises.golden").returncode == 0


def test_usage_errors_name_the_next_step(rocport: Run, tmp_path: Path) -> None:
    (tmp_path / "a.golden").write_text("not a golden file")
    (tmp_path / "part.golden.part").mkdir()
    script = ("--", sys.executable, "script.py", "1")
    for words, said in (
        (("capture",), "put it after --"),
        (("capture", "--", sys.executable, "missing.py"), "missing.py: no such file"),
        (("capture", "--", "no-such-command"), "no such command"),
        (("capture", "--", "/bin/ls"), "not a Python program"),
        (("capture", "--", sys.executable), "no script"),
        (("capture", "-o", "a.golden", *script), "--force"),
        (("capture", "-o", "part.golden", *script), "cut off"),
        (("capture", "-o", ".", *script), "is a folder"),
        (("compare", "missing.golden", *script), "rocport capture"),
        (("compare", "a.golden", *script), "not a golden file"),
        (("compare", "a.golden", "nothing-there"), "put a command after --"),
        (("verify", ".", "--level", "numerical"), "--golden"),
        (("verify", ".", "--level", "build", "--", "x.py"), "runs no command"),
    ):
        ran = rocport(*words)
        assert ran.returncode == 2, (words, ran.stdout, ran.stderr)
        assert said in ran.stderr, (words, ran.stderr)
        assert "Traceback" not in ran.stderr


def test_a_folder_that_cannot_be_written(rocport: Run, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    (tmp_path / "locked").mkdir(mode=0o500)
    ran = rocport("capture", "-o", "locked/a.golden", "--", sys.executable, "script.py", "1")
    assert ran.returncode == 2 and "Traceback" not in ran.stderr


def test_interrupting_keeps_what_is_done(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text("import torch, time\nwhile True:\n    torch.ones(3).sum(); time.sleep(0.01)\n")
    child = subprocess.Popen(
        [sys.executable, "-c", _MAIN, "capture", "-o", "a.golden", "--", sys.executable, "long.py"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        # A shell's background job ignores the signal, and so would all that it starts.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    index = tmp_path / "a.golden.part" / "index.msgpack"
    deadline = time.monotonic() + 3600
    while child.poll() is None and time.monotonic() < deadline and not (index.exists() and index.stat().st_size > 5000):
        time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    _, errors = child.communicate(timeout=3600)
    assert child.returncode == 1, errors
    assert "was interrupted" in errors
    from rocport.numerics.golden import open_golden

    assert len(open_golden(tmp_path / "a.golden").calls) > 10


def test_other_ways_to_start_a_program(rocport: Run, tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__main__.py").write_text("import sys, torch\ntorch.ones(int(sys.argv[1])).sum()\n")
    for number, words in enumerate(
        (
            (sys.executable, "-u", "-m", "package", "3"),
            (sys.executable, "-c", _COMPILES_NOTHING),
        )
    ):
        ran = rocport("capture", "--format", "json", "-o", f"{number}.golden", "--", *words)
        assert ran.returncode == 0, ran.stderr
        assert json.loads(ran.stdout)["runs"][0]["ok"]


def test_a_test_suite(rocport: Run, tmp_path: Path) -> None:
    (tmp_path / "test_small.py").write_text(
        "import torch\n"
        "def test_one(): torch.nn.Linear(2, 2)(torch.ones(1, 2))\n"
        "def test_two(): assert float(torch.ones(3).sum()) == 3\n"
    )
    command = [
        sys.executable, "-m", "pytest", "-q", "-p", "rocport.numerics.pytest_plugin", "-p", "no:cacheprovider",
        "--rocport-golden", "t.golden", "test_small.py",
    ]  # fmt: skip
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=3600)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    from rocport.numerics.golden import open_golden

    golden = open_golden(tmp_path / "t.golden")
    assert golden.complete
    scopes = {call.scope for call in golden.calls}
    assert {"test_small.py::test_one::Linear", "test_small.py::test_two"} <= scopes


def test_help_and_version_do_not_import_torch() -> None:
    code = (
        "import sys\nfrom rocport.cli import cmd_capture, cmd_compare\n"
        "assert 'torch' not in sys.modules and 'msgpack' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=3600)
