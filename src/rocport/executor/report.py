# SPDX-License-Identifier: Apache-2.0
"""Reads the runtime's report: hazards with their places, and statistics."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from rocport.executor.base import Frame, Hazard, KernelRun
from rocport.executor.lds import base_name, static_lds
from rocport.model import HANGING_S

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
    "uninitialised-read": ("{a} bytes are read that nobody wrote", True),
    "uninitialised-copy": ("{a} bytes that nobody wrote are copied to the host, from offset {b}", False),
    "global-race": (
        "threads {a} and {b} of their blocks write different values to one place of global memory, in no order",
        True,
    ),
    "no-progress": ("{a} threads spin, and nothing that is left to run can free them", True),
    "shared-race": (
        "threads {a} and {b} of different wavefronts touch the same shared memory with no barrier between; one writes",
        True,
    ),
    "relies-on-lockstep": (
        "threads {a} and {b} of one wavefront exchange through shared memory with no wave operation or barrier "
        "between: warp-synchronous code, which wants a __syncwarp()",
        True,
    ),
    "lds-limit": ("{a} bytes of dynamic shared memory, over the target's limit of {b}", True),
}


@dataclass(frozen=True)
class Report:
    """What the runtime saw in one run."""

    hazards: tuple[Hazard, ...] = ()
    statistics: Mapping[str, int] = field(default_factory=dict)
    kernels: tuple[KernelRun, ...] = ()


def read_report(path: Path, executable: Path, quiet: tuple[str, ...] = ()) -> Report:
    """The report of one run, without the hazards of `quiet`; empty when the runtime wrote none."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return Report()
    raw: list[dict[str, Any]] = []
    launched: list[dict[str, Any]] = []
    statistics: dict[str, int] = {}
    for line in lines:
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if "hazard" in record:
            raw.append(record)
        elif "kernel" in record:
            launched.append(record)
        else:
            statistics.update(record.get("statistics", {}))
    limit = statistics.get("lds_limit", 0)
    large = [record for record in launched if record["lds"] <= limit < record["lds"] + _static(executable, record)]
    if "lds-limit" in quiet:
        large = []
    addresses = {str(site) for record in raw for site in record["sites"]}
    addresses |= {f"{record['a']:#x}" for record in raw if record["hazard"] == "divergent-barrier"}
    addresses |= {str(record["site"]) for record in large}
    places = symbolize(executable, sorted(addresses))
    hazards: dict[tuple[str, str], Hazard] = {}
    for hazard in (
        *(found for record in raw if (found := _hazard(record, places)) is not None),
        *(_over_limit(record, _static(executable, record), limit, places) for record in large),
    ):
        before = hazards.get((hazard.kind, hazard.place))
        # A compiler may make several places of one line.
        hazards[hazard.kind, hazard.place] = replace(before, count=before.count + hazard.count) if before else hazard
    kernels: dict[str, KernelRun] = {}
    for record in launched:
        kernel = KernelRun(str(record["kernel"]), record["launches"], record["lds"], record["threads"])
        known = kernels.get(kernel.name)
        kernels[kernel.name] = known.merged(kernel) if known else kernel
    return Report(tuple(hazards.values()), statistics, tuple(kernels.values()))


def _static(executable: Path, record: Mapping[str, Any]) -> int:
    return static_lds(executable).get(base_name(str(record["kernel"])), 0)


def _over_limit(record: Mapping[str, Any], static: int, limit: int, places: Mapping[str, tuple[Frame, ...]]) -> Hazard:
    message = (
        f"{static} bytes of static and {record['lds']} of dynamic shared memory, over the target's limit of {limit}"
    )
    frames = places.get(str(record["site"]), ())
    return Hazard("lds-limit", message, str(record["kernel"]), int(record["launches"]), frames)


def _hazard(record: Mapping[str, Any], places: Mapping[str, tuple[Frame, ...]]) -> Hazard | None:
    kind, a, b = str(record["hazard"]), record["a"], record["b"]
    frames = tuple(dict.fromkeys(frame for site in record["sites"] for frame in places.get(str(site), ())))
    if kind == "divergent-barrier":
        other = places.get(f"{a:#x}", ())
        # One call that the compiler copied is one place.
        if frames and other and (frames[0].path, frames[0].line) == (other[0].path, other[0].line):
            return None
    template, grave = HAZARDS[kind]
    if kind == "uninitialised-copy" and b < 0:
        template, grave = "all of the {a} bytes that are copied to the host were never written", True
    if kind == "uninitialised-read":
        template += " (shared memory)" if b < 0 else " (offset {b} of its allocation)"
    return Hazard(kind, template.format(a=a, b=b), str(record["kernel"]), int(record["count"]), frames, grave)


_ASAN = re.compile(r"ERROR: AddressSanitizer: ([\w-]+)(.*)")
_ASAN_FRAME = re.compile(r"^\s*#\d+ 0x[0-9a-f]+ in (.+?) (/\S+?):(\d+)")
_UBSAN = re.compile(r"^(/[^:\n]+):(\d+):\d+: runtime error: (.*)", re.MULTILINE)


def sanitizer_hazards(stderr: str) -> tuple[Hazard, ...]:
    """What the address and undefined-behaviour sanitizers wrote, as hazards with their places."""
    found: dict[tuple[str, str], Hazard] = {}
    for path, line, message in _UBSAN.findall(stderr):
        if not _OWN.search(path):
            frame = Frame("", path, int(line))
            hazard = Hazard("undefined-behaviour", message, "", 1, (frame,))
            found.setdefault((hazard.kind, hazard.place), hazard)
    lines = stderr.splitlines()
    for number, text in enumerate(lines):
        match = _ASAN.search(text)
        if match is None:
            continue
        frames = []
        for below in lines[number + 1 :]:
            if not below.strip():
                break
            frame_match = _ASAN_FRAME.match(below)
            if frame_match and not _OWN.search(frame_match[2]):
                frames.append(Frame(frame_match[1].split("(")[0], frame_match[2], int(frame_match[3])))
        access = next((each.strip() for each in lines[number + 1 : number + 3] if " of size " in each), "")
        message = f"{match[1]}" + (f": {access.split(' at ')[0]}" if access else "")
        hazard = Hazard("address-sanitizer", message, "", 1, tuple(frames))
        found.setdefault((hazard.kind, hazard.place), hazard)
    return tuple(found.values())


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
            capture_output=True, text=True, errors="replace", timeout=HANGING_S, check=False,
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
