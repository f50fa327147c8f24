"""Limits of the process that break GPU programs: locked memory, open files, shared memory."""

from __future__ import annotations

from collections.abc import Iterator

from rocport.doctor.check import Check, Result, ok, problem, skipped
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
        yield problem(
            "warn",
            f"locked memory is limited to {int(memlock.value) // 1024} KiB",
            [memlock.evidence],
            "RDMA and RCCL between nodes fail with 'Cannot allocate memory'.",
            (
                "ulimit -l unlimited",
                "# lasting: memlock in /etc/security/limits.conf, LimitMEMLOCK=, --ulimit memlock=-1",
            ),
            "ulimit -l",
            relogin=True,
        )
    rocm = parsed_rocm(machine)
    if files is not None and rocm is not None and rocm.release[:2] == (7, 14) and 0 <= int(files.value) <= 1024:
        found = True
        yield problem(
            "warn",
            f"{files.value} open files, and ROCm 7.14 opens one for every mapping of expandable segments",
            [files.evidence],
            "'hipMemCreate: out of memory' while VRAM is free; mended in ROCm 10.",
            ("ulimit -n 1048576",),
            "ulimit -n",
        )
    if not found:
        yield ok("large enough", *(s.evidence for s in (shm, memlock, files) if s is not None))
