"""Inputs that are no trees, no texts or no files: part of benchmarks/hostile.py, `--only inputs`.

Each is written into a folder of its own and given to the commands that look at such a thing. It held where every
command ended by itself within a minute of processor time, with an exit code that the documentation names, without a
traceback, and left what it was given as it was.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

Words = Sequence[str]
SOURCE = b"#include <cuda_runtime.h>\nvoid f(void **p) { cudaMalloc(p, 4); }\n"
LOOK = (("scan", "tree"), ("port", "tree", "--diff"),
        ("verify", "tree", "--level", "nvidia-unchanged", "--original", "tree"))  # fmt: skip
TREE = (*LOOK, ("port", "tree", "--out", "out"))
TEXT = (("explain", "tree/log"), ("doctor", "--from", "tree/log"))
CONTENTS: dict[str, dict[str, bytes]] = {
    "a folder without a file": {},
    "empty files": {"a.cu": b"", "setup.py": b"", "pyproject.toml": b"", "a.ipynb": b"", "log": b""},
    "bytes that are no text": {"a.cu": bytes(range(256)) * 64, "setup.py": bytes(range(256)), "log": bytes(range(256))},
    "zeros": {"a.cu": bytes(4096), "setup.py": bytes(64), "CMakeLists.txt": bytes(64), "log": bytes(64)},
    "UTF-8 that is broken": {"a.cu": b"// \xc3(\n" + SOURCE, "setup.py": b"x = '\xc3('\n", "log": b"HIP \xf0\x9f\n"},
    "UTF-16": {name: "\ufeff#include <a>\n".encode("utf-16-le") for name in ("a.cu", "setup.py", "Makefile", "log")},
    "a byte order mark alone": dict.fromkeys(("a.cu", "setup.py", "a.json", "log"), b"\xef\xbb\xbf"),
    "an encoding that is none": {"setup.py": b"# -*- coding: none-such -*-\nx = 1\n"},
    "half a character pair": {"a.ipynb": b'{"cells": [{"cell_type": "code", "source": "\\ud800"}]}', "log": b"\xed"},
    "line ends of other kinds": {"a.cu": SOURCE.replace(b"\n", b"\r"), "setup.py": b"a = 1\r\r\nb = 2\x0c\x0b\x1c\n"},
    "a line of 256 KB": {"a.cu": b"int a = " + b"1 + " * (1 << 16) + b"1;\n", "log": b"a" * (256 << 10)},
    "100,000 brackets": {"a.cu": b"(" * 100_000, "setup.py": b"(" * 100_000, "a.json": b"[" * 100_000},
    "a notebook that is no JSON": {"a.ipynb": b'{"cells": ['},
    "a notebook of another shape": {"a.ipynb": b'{"cells": {"a": [null, 1]}, "metadata": []}'},
    "Python of no version": {"setup.py": b"def f(:\n  print 'a'\n"},
    "TOML that is broken": {"pyproject.toml": b"[tool.rocport\n", "rocport.toml": b"a = [\n"},
    "a number of 9,000 digits": {"rocport.toml": b"jobs = " + b"9" * 9000, "log": b"ROCm version: " + b"9" * 9000},
    "a baseline that is no file": {"rocport.toml": b"baseline = '/dev/zero'\n", "a.cu": SOURCE},
    "an archive named as a source": {"a.cu": b"PK\x03\x04" + bytes(64), "setup.py": b"PK\x05\x06" + bytes(18)},
    "names that a terminal acts on": {"\x1b[2Ja.cu": SOURCE, "\n::error::x.cu": SOURCE, "\u202e.py": b"import torch\n"},
    "a name of 255 bytes": {"a" * 252 + ".cu": SOURCE},
    "a name like an option": {"--out=x.cu": SOURCE, "-": SOURCE, "@file.cu": SOURCE},
    "a manifest that is half written": {"a.cu": SOURCE, "rocport-manifest.json": b'{"schema": 1, "files": {"a.cu'},
    "an undo record that is none": {"a.cu": SOURCE, ".rocport/undo.json": b"\x00"},
    "a repository without objects": {"a.cu": SOURCE, ".git/HEAD": b"ref: refs/heads/none\n", ".git/config": b"[core\n"},
    "a .git that leads nowhere": {"a.cu": SOURCE, ".git": b"gitdir: /none/such\n"},
    "a recording that is cut": {"log": b'{"version": 1, "ops": [{"'},
}  # fmt: skip


def _link(target: str, tree: Path) -> None:
    (tree / "a.cu").symlink_to(target)


def _cycle(tree: Path) -> None:
    (tree / "a.cu").symlink_to("b.cu")
    (tree / "b.cu").symlink_to("a.cu")


def _deep(tree: Path) -> None:
    here = os.open(tree, os.O_RDONLY)
    for _ in range(600):
        os.mkdir("deep", dir_fd=here)
        here, above = os.open("deep", os.O_RDONLY, dir_fd=here), here
        os.close(above)
    os.close(here)


def _huge(tree: Path) -> None:
    with (tree / "a.cu").open("wb") as stream:
        stream.write(SOURCE)
        stream.truncate(8 << 30)


def _no_text(tree: Path) -> None:
    Path(os.fsdecode(os.fsencode(tree) + b"/\xff\xfe.cu")).write_bytes(SOURCE)


def _socket(tree: Path) -> None:
    with socket.socket(socket.AF_UNIX) as end, contextlib.chdir(tree):
        end.bind("a.cu")


def _bomb(tree: Path) -> None:
    with zipfile.ZipFile(tree / "a.whl", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.cu", bytes(64 << 20))


MADE: dict[str, Callable[[Path], None]] = {
    "a link to itself": partial(_link, "a.cu"),
    "two links to each other": _cycle,
    "a link to the folder it lies in": lambda tree: (tree / "again").symlink_to("."),
    "a link to nothing": partial(_link, "none"),
    "a link to a file of the system": partial(_link, "/etc/passwd"),
    "a link to an endless device": partial(_link, "/dev/zero"),
    "a pipe": lambda tree: os.mkfifo(tree / "a.cu"),
    "a socket": _socket,
    "folders 600 deep": _deep,
    "a file of 8 GB": _huge,
    "a name that is no text": _no_text,
    "an archive of zeros": _bomb,
}
OTHERWISE: dict[str, tuple[Words, ...]] = {
    "a path that is not there": tuple(tuple("none" if word.startswith("tree") else word for word in words)
                                      for words in (*TREE, *TEXT)),
    "a path below a file": (("scan", "tree/a.cu/b"), ("port", "tree/a.cu/b", "--diff"), ("explain", "tree/a.cu/b")),
    "an empty path": (("scan", ""), ("port", "", "--diff"), ("explain", "")),
    "a file for a folder": (("scan", "tree/a.cu"), ("port", "tree/a.cu", "--out", "tree/a.cu")),
    "an output that is no folder": (("port", "tree", "--out", "/dev/null"),),
    "a place that cannot be written": (("port", "tree", "--out", "/sys/rocport"),),
}  # fmt: skip


def _small_files() -> None:
    """A disk that takes not one byte."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def _interrupted(number: int) -> None:
    """A signal as soon as something of the tree is opened."""

    def see(event: str, given: tuple[object, ...]) -> None:
        if event == "open" and given and str(given[0]).endswith("a.cu"):
            os.kill(os.getpid(), number)

    sys.addaudithook(see)


def _closed() -> None:
    """As Python starts where both are."""
    os.close(1)
    os.close(2)
    sys.stdout = sys.stderr = None


AROUND: dict[str, Callable[[], None]] = {
    "a disk that takes nothing": _small_files,
    "Ctrl-C": partial(_interrupted, signal.SIGINT),
    "SIGTERM": partial(_interrupted, signal.SIGTERM),
    "a terminal that hung up": partial(_interrupted, signal.SIGHUP),
    "streams that are closed": _closed,
}


def ends(words: Words, at: Path, around: Callable[[], None] = lambda: None) -> tuple[int, str]:
    """(how a command ends, what it says): the exit code, or minus the signal."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 3
        try:
            for stream in (1, 2):
                os.dup2(writing, stream)
            os.close(reading)
            os.chdir(at)
            os.environ.update(ROCPORT_CACHE=str(at / "cache"), HOME=str(at))
            resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
            signal.alarm(600)
            sys.argv = ["rocport", *words]
            sys.stdout, sys.stderr = (io.TextIOWrapper(os.fdopen(stream, "wb", closefd=False)) for stream in (1, 2))
            around()
            from rocport.cli import main

            main()
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 0 if ended.code is None else 1
        except BaseException:
            os.write(writing, traceback.format_exc().encode())
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        said = stream.read().decode("utf-8", "replace")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), said


def state(tree: Path) -> str:
    """Every path below a folder, with its kind, size, time and target."""
    return subprocess.run(
        ["find", str(tree), "-printf", r"%P %y %s %T@ %l\n"], capture_output=True, check=True
    ).stdout.hex()


def inputs() -> Iterator[tuple[str, int, int]]:
    """(an input, commands under which it held, others)."""
    from rocport import api, cli, explain  # noqa: F401
    from rocport.doctor.capture import machine_from_text
    from rocport.verify import nvidia

    # What a command reads of rocport's own is read once, for all children.
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name, "tree")
        tree.mkdir()
        _write(dict.fromkeys(("a.cu", "setup.py", "CMakeLists.txt", "Makefile"), SOURCE), tree)
        api.apply(api.port(tree, api.Settings(layout="both"), jobs=1), Path(name, "out"))
        nvidia.verify(tree, tree)
        machine_from_text("HIP error\n")
        explain.read_bytes(b"HIP error\n", "log")
    made: dict[str, tuple[Callable[[Path], None], tuple[Words, ...], Callable[[], None]]] = {}
    for name, files in CONTENTS.items():
        made[name] = partial(_write, files), (*TREE, *(TEXT if "log" in files else ())), lambda: None
    for name, make in MADE.items():
        made[name] = make, TREE, lambda: None
    for name, commands in OTHERWISE.items():
        made[name] = partial(_write, {"a.cu": SOURCE}), commands, lambda: None
    for name, around in AROUND.items():
        made[name] = partial(_write, {"a.cu": SOURCE, "log": b"HIP error\n"}), (*TREE, *TEXT), around
    for name, (make, commands, around) in made.items():
        outcomes = []
        for words in commands:
            at = Path(tempfile.mkdtemp(prefix="hostile-"))
            (at / "tree").mkdir()
            make(at / "tree")
            before = state(at / "tree")
            status, said = ends(list(words), at, around)
            ordinary = status in (0, 1, 2, 130) or (name in ("SIGTERM", "a terminal that hung up") and status < 0)
            held = ordinary and "Traceback" not in said and state(at / "tree") == before
            if not held:
                print(
                    f"    {name}: {' '.join(words)}: ended with {status}: {said[-300:]!r}", file=sys.stderr, flush=True
                )
            outcomes.append(held)
            shutil.rmtree(at, ignore_errors=True)
        yield f"input: {name}", sum(outcomes), len(outcomes) - sum(outcomes)


def _write(files: dict[str, bytes], tree: Path) -> None:
    for name, data in files.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(data)
