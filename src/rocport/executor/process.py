# SPDX-License-Identifier: Apache-2.0
"""Runs a program confined and under limits; everything it started ends with it."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rocport.executor.limits import Limits
from rocport.model import cache_folder
from rocport.model.folders import private
from rocport.model.parent import ended_with_parent
from rocport.sandbox import END, confine

_GRACE_S = 1.0


@dataclass(frozen=True)
class Finished:
    """How it ended, and the ends of what it wrote."""

    status: int
    """Exit status; negative: the signal that ended it."""
    stdout: str
    stderr: str
    seconds: float
    timed_out: bool


def run_process(
    command: Sequence[str],
    cwd: Path,
    environment: Mapping[str, str],
    limits: Limits,
    *,
    limit_memory: bool = True,
    writable: Sequence[Path] = (),
) -> Finished:
    """Runs it. A crash or an overrun is a result. `limit_memory` is for what maps no devices: drivers reserve much.

    Where `limits.confined` holds, it writes below `cwd`, a folder of its own that ends with it (TMPDIR), `writable` and
    a cache that only confined programs read, and reaches no network; see `rocport.sandbox`.
    """
    with (
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        tempfile.TemporaryDirectory(prefix="rocport-tmp-") as own,
    ):
        limit = _limiter(limits, limit_memory)
        environment = {**environment, "TMPDIR": own}
        if limits.confined:
            cache = private(cache_folder() / "confined")
            environment = {"ROCPORT_ISA_CACHE": str(cache / "isa"), **environment, "ROCPORT_CACHE": str(cache)}
            limit = confine([cwd, Path(own), cache, *writable], limit)
        started = time.monotonic()
        process = subprocess.Popen(
            list(command), cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
            env=environment, start_new_session=True, preexec_fn=limit,
        )  # fmt: skip
        timed_out = False
        try:
            status = process.wait(limits.seconds)
        except subprocess.TimeoutExpired:
            timed_out = True
            status = -signal.SIGKILL
            # The executor's runtime then says where it was, and reports the hazards it saw.
            _signal(process, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_GRACE_S)
        finally:
            if limits.confined and process.poll() is None:
                process.send_signal(END)
            else:
                _signal(process, signal.SIGKILL)
            process.wait()
        timed_out |= bool(limits.processor_seconds) and status == -signal.SIGXCPU
        seconds = time.monotonic() - started
        texts = [_tail(stream, limits.output_bytes) for stream in (out, err)]
    return Finished(status, texts[0], texts[1], seconds, timed_out)


def _signal(process: subprocess.Popen[bytes], number: int) -> None:
    """Send a signal to the program's group."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _limiter(limits: Limits, memory: bool) -> Callable[[], None]:
    end_with_us = ended_with_parent()

    def limit() -> None:
        # A program that never ends must not outlive us, however we end.
        end_with_us()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        files = limits.files if most == resource.RLIM_INFINITY else min(limits.files, most)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, files))
        size = max(limits.output_bytes, 1 << 30)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        if limits.processor_seconds:
            resource.setrlimit(resource.RLIMIT_CPU, (limits.processor_seconds, limits.processor_seconds + 1))
        if memory:
            # Data, not address space: stacks are reserved and not used.
            resource.setrlimit(resource.RLIMIT_DATA, (limits.memory_bytes, limits.memory_bytes))

    return limit


def _tail(stream: IO[bytes], limit: int) -> str:
    stream.seek(0, os.SEEK_END)
    size = stream.tell()
    stream.seek(max(0, size - limit))
    return stream.read().decode(errors="replace")
