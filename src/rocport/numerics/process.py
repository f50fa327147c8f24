"""The child process that runs the code under test: its command, its limits, and how it ended. No PyTorch."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rocport.model import cache_folder
from rocport.model.folders import private
from rocport.numerics.config import CaptureConfig
from rocport.numerics.golden import INDEX, part_of, seal
from rocport.sandbox import END, confine
from rocport.sandbox.usage import resident

_POLL_S = 0.05
_GRACE_S = 10.0
_CACHES = ("TRITON_CACHE_DIR", "TORCH_EXTENSIONS_DIR", "CUDA_CACHE_PATH")
"""What a confined program compiles at run time and keeps below the home folder otherwise."""
_LAUNCH = Path(__file__).with_name("launch.py")
_NO_VALUE = frozenset("bBdEhiIOPqRsSuvVx")
"""Interpreter flags without a value; -X and -W take one."""


class CommandError(ValueError):
    """A command that cannot be run under capture; the message says what can."""


@dataclass(frozen=True)
class Limits:
    """Of the child: wall-clock seconds, and resident memory of it and its children in bytes."""

    seconds: float = 3600.0
    memory: int | None = None
    confined: bool = True
    """It writes below its folder and what it is for, and reaches no network (`rocport.sandbox`)."""


@dataclass(frozen=True)
class Ended:
    """How the child ended. `place` is the call that was running, where that is known."""

    ok: bool
    reason: str
    code: int | None
    seconds: float
    peak_memory: int
    place: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"ok": self.ok, "reason": self.reason, "code": self.code, "place": self.place}


@dataclass(frozen=True)
class Command:
    """A Python command, taken apart: the interpreter, its flags, and what it runs."""

    interpreter: str
    flags: tuple[str, ...]
    target: tuple[str, ...]


def parse_command(words: Sequence[str], cwd: Path | None = None) -> Command:
    """Take `python [flags] script.py args`, `script.py args`, `pytest args` or a Python entry point apart.

    `cwd` is where it will run: the script's path is meant from there. Raises CommandError.
    """
    if not words:
        raise CommandError("no command; put it after --, such as: -- python train.py --steps 3")
    first, rest = words[0], list(words[1:])
    if first.endswith(".py"):
        return _checked(Command(sys.executable, (), tuple(words)), cwd)
    name = Path(first).name
    if name.startswith(("python", "pypy")):
        found = shutil.which(first)
        if found is None:
            raise CommandError(f"{first}: no such interpreter; name one that is on the PATH")
        flags = []
        while rest and rest[0].startswith("-") and rest[0] not in ("-m", "-c", "-"):
            flag = rest.pop(0)
            flags.append(flag)
            if flag in ("-X", "-W") and rest:
                flags.append(rest.pop(0))
            elif not flag.startswith(("-X", "-W", "--")) and not set(flag[1:]) <= _NO_VALUE:
                raise CommandError(f"{flag}: a flag of the interpreter that rocport does not know")
        return _checked(Command(found, tuple(flags), tuple(rest)), cwd)
    found = shutil.which(first)
    if found is None:
        raise CommandError(f"{first}: no such command; write python script.py, or a Python entry point such as pytest")
    with open(found, "rb") as file:
        line = file.readline(512)
    shebang = line[2:].decode("utf-8", "replace").split() if line.startswith(b"#!") else []
    if not shebang or "python" not in Path(shebang[-1]).name:
        raise CommandError(
            f"{first}: not a Python program; write python script.py, or a Python entry point such as pytest"
        )
    interpreter = shutil.which(shebang[-1]) or shebang[-1]
    return Command(interpreter, (), (found, *rest))


def _checked(command: Command, cwd: Path | None) -> Command:
    if not command.target:
        raise CommandError("no script after the interpreter; write python script.py, or python -m module")
    first = command.target[0]
    if first in ("-m", "-c"):
        if len(command.target) < 2:
            raise CommandError(f"{first} without a value")
    elif not (cwd or Path()).joinpath(first).is_file():
        raise CommandError(f"{first}: no such file; name the script to run")
    return command


Progress = Callable[[float, int], None]
"""Called now and then with seconds and bytes recorded."""


def run_child(
    command: Command, spec: dict[str, Any], limits: Limits, *, environment: dict[str, str] | None = None,
    watched: Path | None = None, progress: Progress | None = None, output: int | None = None, cwd: Path | None = None,
    writable: Sequence[Path] = (),
) -> Ended:  # fmt: skip
    """Run a task of `launch.py` under the command's interpreter. Its stdout goes to our stderr: stdout is for data.

    Where `limits.confined` holds, it writes below `cwd`, `watched`, `writable` and a temporary folder of its own.
    On KeyboardInterrupt the child is told first, so that it can write what it has; then the result says interrupted.
    """
    handle, name = tempfile.mkstemp(suffix=".json", prefix="rocport-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(spec, file)
    words = [command.interpreter, *command.flags, str(_LAUNCH), name, *command.target]
    started = time.monotonic()
    peak, reason = 0, ""
    own = tempfile.mkdtemp(prefix="rocport-tmp-")
    variables = {**os.environ, **(environment or {})}
    enter = None
    if limits.confined:
        cache = private(cache_folder() / "confined")
        variables |= {"TMPDIR": own, "ROCPORT_CACHE": str(cache)}
        variables |= {name: str(cache / name.lower()) for name in _CACHES}
        places = [cwd or Path.cwd(), Path(own), cache, *filter(None, [watched]), *writable]
        enter = confine(places)
    try:
        child = subprocess.Popen(
            words, stdout=sys.stderr.fileno() if output is None else output, stdin=subprocess.DEVNULL,
            stderr=None if output is None else output, env=variables, start_new_session=True, cwd=cwd, preexec_fn=enter,
        )  # fmt: skip
        try:
            while child.poll() is None:
                seconds = time.monotonic() - started
                memory = resident(child.pid, besides=limits.confined)
                peak = max(peak, memory)
                if seconds > limits.seconds:
                    reason = f"still running after {limits.seconds:g} s"
                elif limits.memory is not None and memory > limits.memory:
                    reason = f"used {memory >> 20} MiB of memory, the limit is {limits.memory >> 20} MiB"
                if reason:
                    break
                if progress is not None:
                    progress(seconds, _size(watched))
                with suppress(subprocess.TimeoutExpired):
                    child.wait(_POLL_S)
        except KeyboardInterrupt:
            reason = "interrupted"
        if child.poll() is None:
            _stop(child, limits.confined)
        code = child.returncode
    finally:
        os.unlink(name)
        shutil.rmtree(own, ignore_errors=True)
    if not reason and code:
        reason = _reason(code)
    return Ended(not reason, reason or "ended", code, time.monotonic() - started, peak)


def _reason(code: int) -> str:
    if code > 0:
        return f"exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = " (the system killed it, most likely for memory)" if name == "SIGKILL" else ""
    return f"crashed with {name}{hint}"


def _stop(child: subprocess.Popen[bytes], confined: bool) -> None:
    for number, patience in ((signal.SIGINT, _GRACE_S), (signal.SIGKILL, None)):
        with suppress(ProcessLookupError):
            if confined and patience is None:
                child.send_signal(END)
            else:
                os.killpg(child.pid, number)
        try:
            child.wait(patience)
            return
        except subprocess.TimeoutExpired:
            continue


def _size(folder: Path | None) -> int:
    if folder is None or not folder.is_dir():
        return 0
    return sum(path.stat().st_size for path in folder.iterdir() if path.name == INDEX or path.suffix == ".safetensors")


@dataclass(frozen=True)
class Captured:
    """What `run_capture` made. `manifest` is empty when the child ended before PyTorch was loaded: there is no file."""

    runs: tuple[Ended, ...]
    manifest: dict[str, Any]
    noisy: int | None = None
    """Tensors that differ between two runs; None with one run."""

    @property
    def ended(self) -> Ended:
        """How the run that was kept ended."""
        return self.runs[0]


def run_capture(
    command: Command, golden: Path, config: CaptureConfig, limits: Limits, *, runs: int = 1, keep_compile: bool = False,
    environment: dict[str, str] | None = None, progress: Progress | None = None, cwd: Path | None = None,
) -> Captured:  # fmt: skip
    """Capture a command to `golden`, whatever way it ends; with two runs, note in it what differs between them.

    torch.compile is turned off unless `keep_compile`: compiled code hides its operators. Raises OSError.
    """
    part = part_of(golden).resolve()
    part.mkdir(parents=True)
    variables = ({} if keep_compile else {"TORCHDYNAMO_DISABLE": "1"}) | (environment or {})

    def once(folder: Path) -> Ended:
        spec = {"task": "capture", "part": str(folder), "config": config.to_json()}
        ended = run_child(command, spec, limits, environment=variables, watched=folder, progress=progress, cwd=cwd)
        return ended if ended.ok else replace(ended, place=_place(folder))

    ended = [once(part)]
    if not (part / INDEX).is_file():
        shutil.rmtree(part)
        return Captured(tuple(ended), {})
    noisy = None
    while ended[-1].ok and len(ended) < runs:
        with tempfile.TemporaryDirectory(prefix="rocport-") as folder:
            again = Path(folder) / "again"
            again.mkdir()
            ended.append(once(again))
            if ended[-1].ok:
                result = run_task(command, {"task": "noise", "reference": str(part), "candidate": str(again)}, limits)
                noisy = int(result["noisy"])
    return Captured(tuple(ended), seal(part, golden, ended[0].to_json()), noisy)


class TaskError(Exception):
    """A task of ours did not end well; the message says how."""


def run_task(command: Command, spec: dict[str, Any], limits: Limits, **options: Any) -> dict[str, Any]:
    """Run a task that writes a JSON result, under the command's interpreter. Raises TaskError."""
    with tempfile.TemporaryDirectory(prefix="rocport-") as folder:
        output = Path(folder) / "result.json"
        bare = Command(command.interpreter, command.flags, ())
        places = [Path(folder), *options.pop("writable", ())]
        ended = run_child(bare, {**spec, "output": str(output)}, limits, writable=places, **options)
        if not output.is_file():
            raise TaskError(f"{spec['task']}: {ended.reason}")
        result: dict[str, Any] = json.loads(output.read_text(encoding="utf-8"))
    if "error" in result:
        raise TaskError(str(result["error"]))
    return result


def _place(part: Path) -> str:
    with suppress(OSError):
        return (part / "now").read_bytes().partition(b"\0")[0].decode("utf-8", "replace")
    return ""
