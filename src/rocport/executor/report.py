# SPDX-License-Identifier: Apache-2.0
"""Reads the runtime's report: hazards with their places, and statistics."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rocport.executor.base import Frame, Hazard

_SYMBOLIZER_TIMEOUT_S = 60
_OWN = re.compile(r"/executor/(?:include|lib)/|^/usr/(?:include|lib)/")

# kind -> (message with {a} and {b}, grave)
HAZARDS: dict[str, tuple[str, bool]] = {
    "inactive-lane": (
        "lane {b} reads lane {a}, which took no part in the operation (it gets 0 on AMD, anything on NVIDIA)",
        False,
    ),
    "absent-lane": (
        "lane {b} reads lane {a}, which has no thread: the block is no multiple of the wavefront",
        False,
    ),
    "mask-32bit": ("a {b}-byte mask ({a:#x}) for a wavefront of 64 lanes; HIP wants 64 bits", True),
    "width-over-wave": ("a shuffle or tile of {a} lanes on a wavefront of {b}", True),
    "divergent-barrier": ("threads of one block wait at different __syncthreads calls", True),
    "launch-config": ("a launch with {a} threads a block and {b} blocks in x is refused", True),
    "unchecked-error": ("a launch failed and the program never asked", True),
    "mask-excludes-caller": ("lane {b} calls with the mask {a:#x}, which does not name it", True),
    "mask-names-inactive": ("the mask {a:#x} names lane {b}, which took no part", False),
    "lane-outside-mask": ("a shuffle reads lane {a}, which its mask {b:#x} does not name", False),
    "out-of-bounds": ("byte {a} of an allocation of {b} bytes was read, written or copied", True),
    "shared-out-of-bounds": ("byte {a} of {b} bytes of dynamic shared memory was read or written", True),
    "uninitialised-read": ("{a} bytes that nobody wrote are read, at offset {b}", True),
    "uninitialised-copy": ("{a} bytes that nobody wrote are copied to the host, from offset {b}", False),
    "no-progress": ("{a} threads spin, and nothing that is left to run can free them", True),
    "shared-race": (
        "threads {a} and {b} of different wavefronts touch the same shared memory with no barrier between; one writes",
        True,
    ),
    "relies-on-lockstep": (
        "lanes of threads {a} and {b} exchange through shared memory with no wave operation or barrier between",
        True,
    ),
    "lds-limit": ("{a} bytes of dynamic shared memory, over the target's limit of {b}", True),
}


def read_report(path: Path, executable: Path) -> tuple[tuple[Hazard, ...], Mapping[str, int]]:
    """Hazards and statistics of one run; both empty when the runtime wrote no report."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return (), {}
    raw: list[dict[str, Any]] = []
    statistics: dict[str, int] = {}
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if "hazard" in record:
            raw.append(record)
        else:
            statistics.update(record.get("statistics", {}))
    addresses = sorted({str(site) for record in raw for site in record["sites"]})
    others = {f"{record['a']:#x}" for record in raw if record["hazard"] == "divergent-barrier"}
    places = symbolize(executable, [*addresses, *sorted(others)])
    hazards: list[Hazard] = []
    for record in raw:
        frames = tuple(frame for site in record["sites"] for frame in places.get(str(site), ()))
        if record["hazard"] == "divergent-barrier":
            other = places.get(f"{record['a']:#x}", ())
            # One call that the compiler copied is one place.
            if frames and other and (frames[0].path, frames[0].line) == (other[0].path, other[0].line):
                continue
        template, grave = HAZARDS[str(record["hazard"])]
        message = template.format(a=record["a"], b=record["b"])
        hazards.append(
            Hazard(
                str(record["hazard"]),
                message,
                str(record["kernel"]),
                int(str(record["count"])),
                frames,
                grave,
            )
        )
    return tuple(hazards), statistics


def symbolize(executable: Path, addresses: list[str]) -> dict[str, tuple[Frame, ...]]:
    """Return addresses -> the places of the calls, inlined ones included, innermost first; our own headers left out."""
    tool = shutil.which("addr2line") or shutil.which("llvm-addr2line")
    if tool is None or not addresses:
        return {}
    # A return address is one past the call; the call is what has the line.
    queries = [f"{int(address, 16) - 1:#x}" for address in addresses]
    try:
        done = subprocess.run(
            [tool, "-a", "-i", "-f", "-C", "-e", str(executable), *queries],
            capture_output=True, text=True, errors="replace", timeout=_SYMBOLIZER_TIMEOUT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return {}
    found: dict[str, list[Frame]] = {}
    current: list[Frame] = []
    lines = done.stdout.splitlines()
    index = 0
    number = -1
    while index < len(lines):
        line = lines[index]
        if re.fullmatch(r"0x[0-9a-f]+", line):
            number += 1
            current = found.setdefault(addresses[number], [])
            index += 1
            continue
        place = lines[index + 1] if index + 1 < len(lines) else "??:0"
        index += 2
        path, _, at = place.partition(" ")[0].rpartition(":")
        if at.isdigit() and int(at) and path != "??" and not _OWN.search(path):
            current.append(Frame(line.split("(")[0][-120:], path, int(at)))
    return {address: tuple(frames) for address, frames in found.items()}
