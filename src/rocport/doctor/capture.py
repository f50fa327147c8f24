"""Diagnose from what somebody pasted: files or folders of captured output, of any kind and mixed.

Every parser reads every file and takes what it knows; nothing has to be named or sorted first.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from rocport.doctor.gpus import resolve
from rocport.doctor.machine import Facts, Machine, merge
from rocport.doctor.probes import (
    bitsandbytes,
    collect_env,
    dockerfile,
    environment,
    hipconfig,
    kfd,
    lspci,
    messages,
    pip_list,
    rocminfo,
    runtime_log,
    smi,
)
from rocport.doctor.text import MAX_BYTES, clean, decode, looks_binary

MAX_FILES = 2000


class CaptureError(ValueError):
    """A capture that cannot be read; the message names the file and what was expected."""


def parse_text(text: str, where: str) -> Facts:
    """Facts of one capture. Pure; never raises on any text."""
    if dockerfile.is_dockerfile(text):
        return dockerfile.parse(text, where)
    lines = clean(text)
    parts = (
        kfd.parse(lines, where),
        collect_env.parse(lines, where),
        rocminfo.parse(lines, where),
        runtime_log.parse(lines, where),
        smi.parse(lines, where),
        lspci.parse(lines, where),
        hipconfig.parse(lines, where),
        bitsandbytes.parse(lines, where),
        pip_list.parse(lines, where),
        environment.parse(lines, where),
        messages.parse(lines, where),
    )
    return merge(parts)


def machine_from_text(text: str, where: str = "capture") -> Machine:
    """The machine that one capture shows."""
    facts = parse_text(text, where)
    return Machine(facts=facts, gpus=resolve(facts), live=False, notes=_notes(facts, [where]))


def read_captures(paths: Iterable[Path]) -> Machine:
    """The machine that files and folders of captures show, read as one machine.

    Raises CaptureError for a path that is not there, cannot be read or is no text. In a folder, files that are no text
    are passed over and noted.
    """
    files, passed = text_files(paths)
    parts = []
    for file in files:
        with file.open() as handle:
            parts.append((str(file.path), parse_text(decode(handle.read(MAX_BYTES)), str(file.path))))
    return machine_of(parts, passed)


def machine_of(parts: Sequence[tuple[str, Facts]], notes: Sequence[str] = ()) -> Machine:
    """One machine of what several captures show: (name, facts) of each, and what there is to say of the reading."""
    facts = merge(part for _, part in parts)
    return Machine(
        facts=facts, gpus=resolve(facts), live=False, notes=(*_notes(facts, [name for name, _ in parts]), *notes)
    )


@dataclass(frozen=True)
class Capture:
    """A capture that is text. `kept`: what a pipe held, which can be read only once; None for a file."""

    path: Path
    kept: bytes | None = None

    def open(self) -> BinaryIO:
        """The bytes from the first on. Raises CaptureError for a file that cannot be opened any more."""
        return _opened(self.path) if self.kept is None else BytesIO(self.kept)


def text_files(paths: Iterable[Path]) -> tuple[list[Capture], list[str]]:
    """The files of captures that are text, and what was passed over or is read in part.

    Raises CaptureError for a path that is not there, cannot be read or is no text.
    """
    found: list[Capture] = []
    notes: list[str] = []
    for path in paths:
        for file in capture_files(path):
            kept, size = None, 0
            with _opened(file) as handle:
                try:
                    if handle.seekable():
                        data = handle.read(MAX_BYTES)
                        size = handle.seek(0, os.SEEK_END)
                    else:
                        data = kept = handle.read()
                        size = len(kept)
                except OSError as error:
                    raise CaptureError(f"{file}: cannot be read: {error.strerror or error}") from error
            binary = looks_binary(data[:MAX_BYTES])
            if binary and file == path:
                raise CaptureError(f"{file}: not text; expected pasted output such as rocminfo's or collect_env's")
            if binary:
                notes.append(f"{file}: passed over, not text")
                continue
            if size > MAX_BYTES:
                notes.append(f"{file}: the machine is read from the first {MAX_BYTES >> 20} MiB")
            found.append(Capture(file, kept))
    return found, notes


def _opened(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except OSError as error:
        raise CaptureError(f"{file}: cannot be read: {error.strerror or error}") from error


def capture_files(path: Path) -> list[Path]:
    """The files of a capture: the path itself, or what lies in the folder, at most MAX_FILES.

    Raises CaptureError for a path that is not there or a folder that cannot be listed.
    """
    if path.is_dir():
        try:
            found = sorted(p for p in path.rglob("*") if not p.is_symlink() and p.is_file())
        except OSError as error:
            raise CaptureError(f"{path}: cannot be listed: {error.strerror or error}") from error
        return found[:MAX_FILES]
    if not path.exists():
        raise CaptureError(f"{path}: no such file or folder; expected captured output to diagnose")
    return [path]


_KINDS = {
    "kfd": "KFD topology",
    "torch": "torch collect_env",
    "rocminfo": "rocminfo",
    "runtime": "a HIP program's log",
    "amd-smi": "amd-smi",
    "rocm-smi": "rocm-smi",
    "pci": "lspci",
    "hipconfig": "hipconfig",
    "bitsandbytes": "bitsandbytes diagnostics",
    "packages": "package list",
    "env": "environment variables",
    "dockerfile": "a Dockerfile",
}


def _notes(facts: Facts, names: list[str]) -> tuple[str, ...]:
    kinds = [text for key, text in _KINDS.items() if key in facts.probed]
    if not kinds:
        kinds = ["log messages"] if facts.symptoms else ["a GPU's or a processor's name"] if facts.sightings else []
    read = "1 capture" if len(names) == 1 else f"{len(names)} captures"
    if not kinds:
        return (
            f"{read} read; no listing of a machine in it. Useful: rocminfo, python -m torch.utils.collect_env, "
            "amd-smi static, cat /sys/class/kfd/kfd/topology/nodes/*/properties, python -m bitsandbytes",
        )
    return (f"{read} read; found: {', '.join(kinds)}",)
