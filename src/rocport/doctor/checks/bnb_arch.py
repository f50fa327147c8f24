"""Does the bitsandbytes library carry code for this GPU? Read from the library itself when it is installed."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.version import Version

from rocport.doctor.check import Check, Result, ok, problem, says, skipped
from rocport.doctor.machine import Evidence, Machine
from rocport.doctor.versions import bitsandbytes_library, hip_version, package_version

CHECK = Check("bnb-arch", "bitsandbytes carries this gfx", ("H067", "H071"), silent=True)
VERIFY = "python -m bitsandbytes"


def run(machine: Machine) -> Iterator[Result]:
    version, hip = package_version(machine, "bitsandbytes"), hip_version(machine)
    failed = machine.symptoms("bnb-no-code")
    gpus = list(machine.targets())
    if failed and not gpus:
        yield says("bnb-arch.bitsandbytes-library-no-code-gpu", [s.evidence for s in failed])
        return
    if version is None or not gpus:
        yield skipped("bitsandbytes or the GPU's gfx is not known")
        return
    library = bitsandbytes_library(machine, version, hip) if hip else ""
    objects = [o for o in machine.facts.code_objects if o.package == "bitsandbytes"]
    read = next((o for o in objects if library and f"_{library}." in o.path and not o.unread), None)
    for gpu, target in gpus:
        if read is not None:
            names = {t.split(":")[0] for t in read.targets}
            if gpu.runtime_gfx in names or target.llvm_generic in names:
                yield ok(f"{gpu.runtime_gfx} is in {library}", read.evidence)
            else:
                what = f"libbitsandbytes_{library} carries no code for {gpu.runtime_gfx}"
                yield _missing(gpu.runtime_gfx, what, [read.evidence])
            continue
        record = next(iter(target.library("bitsandbytes")), None)
        fact = machine.version("bitsandbytes")
        evidence = fact.evidence if fact else None
        if record is None or version < Version("0.49.0"):
            yield skipped(f"what bitsandbytes {version} carries was not measured", evidence)
        elif record.state == "no":
            what = f"no published library of bitsandbytes 0.50.2 carries {target.name}"
            yield _missing(target.name, what, [evidence, gpu.evidence[0]])
        elif library and library not in record.builds and version >= Version("0.50.0"):
            what = f"{library} has no code for {target.name}; of bitsandbytes 0.50.2 have {', '.join(record.builds)}"
            yield _missing(target.name, what, [evidence, gpu.evidence[0]])
        elif library:
            yield ok(f"{target.name} is in the published {library} library", evidence)
        elif hip:
            yield skipped(f"bitsandbytes {version} has no library for HIP {hip}", evidence)
        else:
            yield skipped("torch's HIP version is not known, so neither is the library", evidence)


def _missing(gfx: str, message: str, evidence: list[Evidence | None]) -> Result:
    return problem(
        "fail",
        message,
        evidence,
        "Kernels end with 'invalid device function'.",
        (f"# build it: cmake -DCOMPUTE_BACKEND=hip -DBNB_ROCM_ARCH={gfx} -S . && cmake --build .",),
        VERIFY,
    )
