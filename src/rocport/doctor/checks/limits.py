"""Limits of the process that break GPU programs: locked memory, open files, shared memory."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, problem, says, skipped
from rocport.doctor.machine import Machine
from rocport.doctor.versions import parsed_rocm

CHECK = Check("limits", "memory and file limits", ("H024", "H025", "H026"))
MIB = 1 << 20


def run(machine: Machine) -> Iterator[Result]:
    bus = machine.symptoms("shm-bus-error")
    shm, memlock, files = (machine.setting(n) for n in ("shm_bytes", "memlock_bytes", "nofile"))
    if not bus and shm is None and memlock is None and files is None:
        yield skipped("limits are not in the captured text")
        return
    found = False
    contained = machine.setting("container")
    if bus or (shm is not None and contained is not None and int(shm.value) < 1024 * MIB):
        found = True
        yield problem(
            "warn",
            "/dev/shm is small" + (f" ({int(shm.value) // MIB} MiB)" if shm is not None else ""),
            [*(s.evidence for s in bus), shm.evidence if shm else None, contained.evidence if contained else None],
            "DataLoader workers and RCCL share memory there: 'Bus error' when it is full.",
            ("docker run --ipc=host ...   # or --shm-size 16g",),
            "df -h /dev/shm",
        )
    many = len(machine.gpus) > 1
    if memlock is not None and many and 0 <= int(memlock.value) < 64 * MIB:
        found = True
        yield says("limits.locked-memory-limited-kib", [memlock.evidence], kib=int(memlock.value) // 1024)
    rocm = parsed_rocm(machine)
    if files is not None and rocm is not None and rocm.release[:2] == (7, 14) and 0 <= int(files.value) <= 1024:
        found = True
        yield says("limits.open-files-rocm-7-14", [files.evidence], files=files.value)
    if not found:
        yield ok("large enough", *(s.evidence for s in (shm, memlock, files) if s is not None))
